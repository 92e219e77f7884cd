// Command pghaul backs up PostgreSQL databases, restores them, and proves that the
// backups restore. Called by the name pg_dump, pg_restore or pg_dumpall it
// takes that program's place.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/ui"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // an error, restore errors, or a drill that found a difference
	exitUsage       = 2   // the command line is wrong (commands of our own; the stock names use 1)
	exitInterrupted = 130 // ended by a signal
)

func main() { os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// environment is what a command sees of the outside.
type environment struct {
	stdin  io.Reader
	stdout io.Writer
	stderr *os.File
}

// run runs the program whose name and arguments are args and returns its exit status.
func run(args []string, stdin io.Reader, stdout io.Writer, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	env := &environment{stdin: stdin, stdout: stdout, stderr: stderr}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	var err error
	switch name {
	case "pg_dump":
		err = runDump(ctx, env, pgflags.Program{Name: name, Stock: true, Stdin: stdin}, args[1:])
	case "pg_restore":
		err = runRestore(ctx, env, pgflags.Program{Name: name, Stock: true, Stdin: stdin}, args[1:])
	case "pg_dumpall":
		err = runDumpall(ctx, env, pgflags.Program{Name: name, Stock: true, Stdin: stdin}, args[1:])
	default:
		name = "pghaul"
		root := newRootCommand(env)
		root.SetArgs(args[1:])
		var cmd *cobra.Command
		if cmd, err = root.ExecuteContextC(ctx); cmd != nil {
			name = cmd.CommandPath()
		}
		if cmd == root && err != nil { // cobra's own words for an unknown command
			err = &pgflags.UsageError{Text: err.Error(), TryHelp: true}
		}
	}
	return exitStatus(ctx, name, err, stderr)
}

// isStock says whether a program is called by the name of one whose place we take.
func isStock(name string) bool {
	return name == "pg_dump" || name == "pg_restore" || name == "pg_dumpall"
}

// silent is an error that has been shown already.
type silent struct{ status int }

func (s silent) Error() string { return fmt.Sprintf("exit status %d", s.status) }

// exitStatus shows err and returns the status that goes with it.
func exitStatus(ctx context.Context, name string, err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	log := ui.NewLog(name, stderr)
	var done silent
	var usage *pgflags.UsageError
	switch {
	case errors.As(err, &done):
		return done.status
	case ctx.Err() != nil:
		log.Error("interrupted")
		return exitInterrupted
	case errors.As(err, &usage):
		if usage.Bare {
			fmt.Fprintf(stderr, "%s: %s\n", name, usage.Text)
		} else {
			log.Error("%s", usage.Text)
		}
		if usage.TryHelp {
			log.Hint("Try \"%s --help\" for more information.", name)
		}
		if isStock(name) {
			return exitFailed
		}
		return exitUsage
	}
	showError(log, err)
	return exitFailed
}

func newRootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "pghaul",
		Short: "back up PostgreSQL databases, restore them, prove that the backups restore",
		Long: `pghaul backs up PostgreSQL databases, restores them, and proves that the backups
restore. It needs no client programs. It reads and writes the archives of
pg_dump, and takes the command lines of pg_dump and pg_restore.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           version(),
	}
	root.SetVersionTemplate("pghaul {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &pgflags.UsageError{Text: err.Error(), TryHelp: true}
	})
	root.SetIn(env.stdin)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.PersistentFlags().String("config", "", "configuration `FILE`; default: the environment's PGHAUL_CONFIG, ~/.config/pghaul/config.yaml or /etc/pghaul/config.yaml")
	files := newFilesCommand(env)
	for _, c := range files.Commands() {
		configured(c, storeOperand)
	}
	root.AddCommand(newDumpCommand(env), newDumpallCommand(env), newBenchCommand(env), newDemoCommand(env), newKeeperCommand(env), files,
		configuredBackup(newBackupCommand(env)), configuredRestore(newRestoreCommand(env)),
		configured(newDrillCommand(env), storeOperand), configured(newVerifyCommand(env), storeOperand), configured(newListCommand(env), storeOperand),
		configured(newShowCommand(env), storeOperand), configured(newPruneCommand(env), storeOperand), configured(newRescueCommand(env), storeOperand),
		configured(newDiffCommand(env), diffOperands),
		configured(newCopyCommand(env), databaseOperand), configured(newCompareCommand(env), databaseOperand), configured(newEstimateCommand(env), databaseOperand))
	return root
}

// version is the program's own version, from the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development version"
	}
	return info.Main.Version
}

// spoken is the version of PostgreSQL whose programs' language we speak.
const spoken = "18.6"

// printVersion answers --version of a stock program as that program does.
func printVersion(env *environment, p pgflags.Program) error {
	if p.Stock {
		_, err := fmt.Fprintf(env.stdout, "%s (PostgreSQL) %s (pghaul %s)\n", p.Name, spoken, version())
		return err
	}
	_, err := fmt.Fprintf(env.stdout, "%s %s\n", p.Name, version())
	return err
}
