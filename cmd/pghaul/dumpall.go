package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/dumpall"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/ui"
)

func newDumpallCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:                "dumpall [OPTION]...",
		Short:              "write all databases and roles of a server as a script; takes pg_dumpall's options",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDumpall(cmd.Context(), env, pgflags.Program{Name: "pghaul dumpall", Stdin: env.stdin}, args)
		},
	}
}

func runDumpall(ctx context.Context, env *environment, p pgflags.Program, args []string) error {
	f, err := pgflags.ParseDumpall(p, args)
	switch {
	case errors.Is(err, pgflags.ErrHelp):
		_, err := io.WriteString(env.stdout, pgflags.DumpallHelp(p))
		return err
	case errors.Is(err, pgflags.ErrVersion):
		return printVersion(env, p)
	case err != nil:
		return err
	}
	log := ui.NewLog(p.Name, env.stderr)
	log.Verbose = f.Verbose
	f.Options.Info = func(m string) { log.Info("%s", m) }
	f.Options.Warn = func(m string) { log.Warn("%s", m) }
	f.Options.Warning = func(w catalog.Warning) { showWarning(log, w) }
	f.Options.Database.ToolVersion, f.Options.Database.DumpVersion = version(), spoken

	config, err := globalsDatabase(ctx, f)
	if err != nil {
		return err
	}
	return writeTo(f.File, env.stdout, func(w io.Writer) error { return dumpall.Run(ctx, config, w, f.Options) })
}

// globalsDatabase chooses the database to read the globals from: the one that is named, else
// postgres, else template1.
func globalsDatabase(ctx context.Context, f *pgflags.Dumpall) (*pg.Config, error) {
	base, err := connection(f.Connection())
	if err != nil {
		return nil, err
	}
	if f.Database != "" {
		return base.WithDatabase(f.Database), nil
	}
	config := base.WithDatabase("postgres")
	conn, err := pg.Connect(ctx, config)
	switch {
	case pg.IsNoSuchDatabase(err):
		return base.WithDatabase("template1"), nil
	case err != nil:
		return nil, err
	}
	return config, conn.Close(ctx)
}
