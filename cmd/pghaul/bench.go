package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/bench"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/internal/ui"
)

// benchOptions is the command line of pghaul bench.
type benchOptions struct {
	bench.Options
	JSON  bool
	HTML  string
	Quiet bool
}

func newBenchCommand(env *environment) *cobra.Command {
	var o benchOptions
	c := &cobra.Command{
		Use:   "bench [GROUP]...",
		Short: "measure dumps, restores and copies side by side with pg_dump, pg_restore and pgcopydb",
		Long: `Starts a PostgreSQL server from the programs on this machine, fills databases of its
own, and runs pghaul and the programs it takes the place of in turn. The report has
medians, ratios, the spread, memory and processor time, and how far each line is from
what the server itself needs. The peers are those found beside the server programs and
in PATH. Everything is removed at the end.

Groups: ` + strings.Join(bench.Groups(), ", ") + ` (all of them, if none is named).
All of them, at scale 1, take about an hour on two processors, and 8 GB of disk.

Exit status: 0 if everything was measured; 1 on an error, also of a single program;
2 if the command line is wrong; 130 if interrupted.`,
		ValidArgs: bench.Groups(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Groups = args
			return runBench(cmd.Context(), env, o)
		},
	}
	f := c.Flags()
	f.Float64Var(&o.Scale, "scale", 1, "size of the main database; 1 is about 800 MB")
	f.IntVar(&o.Tables, "tables", 20_000, "number of tables of the group many")
	f.IntVar(&o.Runs, "runs", 3, "runs of each program")
	f.IntVarP(&o.Jobs, "jobs", "j", 2, "jobs of the programs that take them")
	f.IntVar(&o.Major, "major", 0, "major version of the server (default: the newest on this machine)")
	f.StringVar(&o.Dir, "temp-dir", "", "where databases and archives are kept meanwhile (default: the system's folder for temporary files)")
	f.StringVar(&o.HTML, "html", "", "write the report to this file as a page with plots")
	f.BoolVar(&o.JSON, "json", false, "print the report as JSON")
	f.BoolVar(&o.Quiet, "quiet", false, "do not say what is being measured")
	return c
}

func runBench(ctx context.Context, env *environment, o benchOptions) error {
	switch {
	case o.Scale <= 0 || o.Tables <= 0 || o.Runs <= 0 || o.Jobs <= 0:
		return &pgflags.UsageError{Text: "sizes, runs and jobs are numbers above 0", TryHelp: true}
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file: %w", err)
	}
	log := ui.NewLog("pghaul bench", env.stderr)
	o.Program, o.Tool, o.Provider = program, "pghaul "+version(), &localpg.Provider{}
	for _, p := range localpg.Find(ctx) {
		o.Folders = append(o.Folders, p.Dir)
	}
	if !o.Quiet {
		o.Progress = func(text string) { log.Note("%s", text) }
	}
	report, err := bench.Run(ctx, o.Options)
	if err != nil {
		return err
	}
	if o.HTML != "" {
		if err := writeTo(o.HTML, env.stdout, report.WriteHTML); err != nil {
			return err
		}
	}
	write := report.WriteText
	if o.JSON {
		write = report.WriteJSON
	}
	if err := write(env.stdout); err != nil {
		return err
	}
	if failed := report.Failed(); failed > 0 {
		return fmt.Errorf("%d of the programs failed; the report says how", failed)
	}
	return nil
}
