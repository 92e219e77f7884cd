package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// drillOptions is the command line of pghaul drill.
type drillOptions struct {
	Jobs  int
	JSON  bool
	Quiet bool
	Keep  bool
}

func newDrillCommand(env *environment) *cobra.Command {
	var o drillOptions
	c := &cobra.Command{
		Use:   "drill ARCHIVE",
		Short: "restore an archive into a throwaway server and prove that nothing differs",
		Long: `Restores an archive (a file or a folder, made by pghaul or pg_dump) into a throwaway
server of the source's major version, started from the PostgreSQL programs on
this machine, and compares every object and every row with what the source had.
The server is removed at the end, also after an interrupt.

Exit status: 0 only if the copy is proven identical; 1 if anything differs or the
drill could not be done; 2 if the command line is wrong; 130 if interrupted.`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDrill(cmd.Context(), env, args[0], o)
		},
	}
	f := c.Flags()
	f.IntVarP(&o.Jobs, "jobs", "j", 2, "sessions that restore and compare at the same time")
	f.BoolVar(&o.JSON, "json", false, "print the report as JSON, and progress as JSON lines on standard error")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress")
	f.BoolVar(&o.Keep, "keep", false, "keep the server's folder when the drill does not pass")
	return c
}

func runDrill(ctx context.Context, env *environment, archive string, o drillOptions) error {
	r, err := pgarchive.Open(archive, pgarchive.FormatUnknown)
	if err != nil {
		return err
	}
	defer r.Close()
	log := ui.NewLog("pghaul drill", env.stderr)
	meter := ui.NewMeter("drilling", ui.ModeFor(env.stderr, o.JSON, o.Quiet), env.stderr, log)
	report, err := drill.Run(ctx, archive, r, drill.Options{
		Jobs:     o.Jobs,
		Provider: &localpg.Provider{},
		Inspect:  inspect,
		Progress: restoreProgress{meter},
		Phase:    meter.Phase,
		Keep:     o.Keep,
	})
	meter.Stop()
	if err != nil {
		return err
	}
	if err := writeReport(env.stdout, report, o.JSON); err != nil {
		return err
	}
	if !report.Identical {
		return silent{exitFailed}
	}
	return nil
}

func writeReport(w io.Writer, r *drill.Report, asJSON bool) error {
	if !asJSON {
		return r.WriteText(w, ui.Bytes, ui.Count, ui.Duration)
	}
	return writeJSON(w, r)
}

func writeJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}
