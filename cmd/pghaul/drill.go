package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// drillOptions is the command line of pghaul drill.
type drillOptions struct {
	Jobs  int
	JSON  bool
	Quiet bool
	Keep  bool

	Snapshot string
	Keys     pgflags.Keys
	Down     sizeFlag
	NoRecord bool
}

func newDrillCommand(env *environment) *cobra.Command {
	var o drillOptions
	c := &cobra.Command{
		Use:   "drill ARCHIVE|STORE",
		Short: "restore an archive into a throwaway server and prove that nothing differs",
		Long: `Restores an archive (a file or a folder, made by pghaul or pg_dump) or a backup in a
store (file:///folder, s3://bucket/prefix) into a throwaway server of the source's
major version, started from the PostgreSQL programs on this machine, and compares
every object and every row with what the source had. The server is removed at the
end, also after an interrupt. The report of a stored backup's drill is stored beside
it: prune never removes the last backup that passed.

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
	snapshotFlag(c, &o.Snapshot)
	addKeyFlags(c, &o.Keys)
	f.Var(&o.Down, "limit-download", "get no more than this much a second from a store, such as 20MB")
	f.BoolVar(&o.NoRecord, "no-record", false, "do not store the report beside the backup")
	return c
}

func runDrill(ctx context.Context, env *environment, archive string, o drillOptions) error {
	log := ui.NewLog("pghaul drill", env.stderr)
	var r pgarchive.Reader
	var stored *storedArchive
	var err error
	if all.IsAddress(archive) {
		if stored, err = openStored(ctx, archive, o.Snapshot, all.Options{Down: int64(o.Down)}, &o.Keys, log); err == nil {
			r, archive = stored, stored.name()
		}
	} else {
		r, err = pgarchive.Open(archive, pgarchive.FormatUnknown)
	}
	if err != nil {
		return err
	}
	defer r.Close()
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
	if stored != nil && !o.NoRecord && errors.Is(err, store.ErrDamaged) { // that is an answer, too
		err = errors.Join(err, record(ctx, stored, map[string]string{"error": err.Error()}, time.Now(), false))
	}
	if err != nil {
		return err
	}
	if err := writeReport(env.stdout, report, o.JSON); err != nil {
		return err
	}
	if stored != nil && !o.NoRecord {
		if err := record(ctx, stored, report, report.Started, report.Identical); err != nil {
			return fmt.Errorf("%w; with --no-record nothing is stored", err)
		}
	}
	if !report.Identical {
		return silent{exitFailed}
	}
	return nil
}

// record stores the report of a drill beside the backup.
func record(ctx context.Context, a *storedArchive, report any, at time.Time, passed bool) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	d := repo.Drill{Time: at.UTC().Truncate(time.Second), Passed: passed}
	return a.snapshot.RecordDrill(ctx, d, append(text, '\n'))
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
