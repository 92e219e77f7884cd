package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/copydb"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/ui"
)

// copyOptions is the command line of pghaul copy.
type copyOptions struct {
	Jobs         int
	Force        bool
	Verify       bool
	Text         bool
	Analyze      bool
	NoOwner      bool
	NoPrivileges bool
	ExitOnError  bool
	JSON         bool
	Quiet        bool
	Verbose      int
}

func newCopyCommand(env *environment) *cobra.Command {
	var o copyOptions
	c := &cobra.Command{
		Use:   "copy SOURCE TARGET",
		Short: "copy a database into another, without storing anything in between",
		Long: `Copies everything in the database SOURCE into the database TARGET, which must exist
and be empty. Both are connection strings or names of databases. Rows stream from one
server to the other over several connections; indexes of tables that have arrived are
built while others are still on their way. SOURCE is read in one snapshot and stays in use.

Exit status: 0 only if everything was copied, and with --verify if every object and
every row was found equal; 1 if there was an error or a difference; 2 if the command
line is wrong; 130 if interrupted. What was copied until then stays in TARGET.`,
		Args: exactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCopy(cmd.Context(), env, args[0], args[1], o)
		},
	}
	f := c.Flags()
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "connections to each side that work at the same time (default: as many as this machine has processors, 2 to 8)")
	f.BoolVar(&o.Force, "force", false, "copy into a database that is not empty")
	f.BoolVar(&o.Verify, "verify", false, "read TARGET back and compare every object and every row")
	f.BoolVar(&o.Text, "text", false, "send all rows as text, also between servers of the same version")
	f.BoolVar(&o.Analyze, "analyze", false, "gather planner statistics of each table when it is complete")
	f.BoolVarP(&o.NoOwner, "no-owner", "O", false, "leave the owners to be the connected role")
	f.BoolVarP(&o.NoPrivileges, "no-privileges", "x", false, "no GRANT and REVOKE")
	f.BoolVarP(&o.ExitOnError, "exit-on-error", "e", false, "stop at the first error; otherwise errors are counted")
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON, and progress as JSON lines on standard error")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress")
	f.CountVarP(&o.Verbose, "verbose", "v", "say what is being done")
	return c
}

func runCopy(ctx context.Context, env *environment, from, to string, o copyOptions) error {
	source, err := pg.ParseConfig(from, pg.Overrides{AskPassword: askPassword})
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	target, err := pg.ParseConfig(to, pg.Overrides{AskPassword: askPassword})
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	log := ui.NewLog("pghaul copy", env.stderr)
	log.Verbose = o.Verbose
	meter := ui.NewMeter("copying", ui.ModeFor(env.stderr, o.JSON, o.Quiet), env.stderr, log)
	res, err := copydb.Run(ctx, source, target, copydb.Options{
		Dump:    dump.Options{ToolVersion: version(), DumpVersion: spoken},
		Restore: restore.Options{NoOwner: o.NoOwner, NoPrivileges: o.NoPrivileges, ExitOnError: o.ExitOnError, Analyze: o.Analyze, Log: restoreLog(log)},
		Jobs:    o.Jobs, Force: o.Force, Verify: o.Verify, Text: o.Text,
	}, copydb.Progress{Dump: copySource{log: log}, Restore: restoreProgress{meter}, Phase: meter.Phase})
	meter.Stop()
	switch {
	case errors.Is(err, copydb.ErrNotEmpty):
		log.Error("%s", err)
		log.Hint("Name an empty database, or use --force to add to this one.")
		return silent{exitFailed}
	case err != nil:
		return err
	}
	if err := reportCopy(env, o, res, meter, log); err != nil {
		return err
	}
	if !res.OK() {
		return silent{exitFailed}
	}
	return nil
}

// copyResult is the JSON of pghaul copy --json.
type copyResult struct {
	Rows        int64    `json:"rows"`
	Bytes       int64    `json:"bytes"`
	Entries     int      `json:"entries"`
	Seconds     float64  `json:"seconds"`
	Verified    bool     `json:"verified"`
	Root        string   `json:"root"`
	Errors      []string `json:"errors"`
	Differences []string `json:"differences"`
}

func reportCopy(env *environment, o copyOptions, res *copydb.Result, meter *ui.Meter, log *ui.Log) error {
	if o.JSON {
		out := copyResult{
			Rows: res.Manifest.Totals.Rows, Bytes: res.Manifest.Totals.Bytes, Entries: res.Restore.Entries,
			Seconds: meter.Elapsed().Seconds(), Verified: res.Verified, Root: res.Manifest.Root.String(),
			Errors: []string{}, Differences: []string{},
		}
		for _, e := range res.Restore.Errors {
			out.Errors = append(out.Errors, e.Error())
		}
		for _, d := range res.Differences {
			out.Differences = append(out.Differences, d.String())
		}
		return writeJSON(env.stdout, out)
	}
	if len(res.Differences) > 0 {
		fmt.Fprint(env.stdout, manifest.Report(res.Differences))
	}
	if o.Quiet {
		return nil
	}
	text := ""
	if res.Verified && res.OK() {
		text = ", and found equal"
	}
	log.Note("copied %s objects, %s rows of %s tables, %s in %s%s%s", ui.Count(int64(res.Manifest.Totals.Objects)), ui.Count(res.Manifest.Totals.Rows),
		ui.Count(int64(res.Manifest.Totals.Tables)), ui.Bytes(res.Manifest.Totals.Bytes), ui.Duration(meter.Elapsed()), text, predicted(res.Restore))
	return nil
}

// copySource takes the messages of the half that reads; what it reads is counted when it arrives.
type copySource struct {
	dump.NoProgress
	log *ui.Log
}

func (c copySource) Message(warning bool, text string) {
	if warning {
		c.log.Warn("%s", text)
	} else {
		c.log.Info("%s", text)
	}
}
