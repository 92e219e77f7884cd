package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/ui"
)

func newDumpCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:                "dump [OPTION]... [DBNAME]",
		Short:              "dump a database into a file or folder; takes pg_dump's options",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDump(cmd.Context(), env, pgflags.Program{Name: "pghaul dump", Stdin: env.stdin}, args)
		},
	}
}

func runDump(ctx context.Context, env *environment, p pgflags.Program, args []string) error {
	f, err := pgflags.ParseDump(p, args)
	switch {
	case errors.Is(err, pgflags.ErrHelp):
		_, err := io.WriteString(env.stdout, pgflags.DumpHelp(p))
		return err
	case errors.Is(err, pgflags.ErrVersion):
		return printVersion(env, p)
	case err != nil:
		return err
	}
	log := ui.NewLog(p.Name, env.stderr)
	log.Verbose = f.Verbose
	for _, w := range f.Warnings {
		log.Warn("%s", w)
	}
	source, err := connection(&f.Connection)
	if err != nil {
		return err
	}
	f.Options.ToolVersion = version()
	f.Options.DumpVersion = spoken
	f.Options.ScriptManifest = f.JSON
	meter := ui.NewMeter("dumping", ui.ModeFor(env.stderr, f.JSON, p.Stock || f.Quiet), env.stderr, log)
	res, err := dump.Run(ctx, source, f.Options, dumpProgress{meter, log})
	meter.Stop()
	if err != nil {
		return err
	}
	if p.Stock || f.Quiet && !f.JSON {
		return nil
	}
	return reportDump(env, f, res, meter, log)
}

// dumpResult is the JSON of pghaul dump --json.
type dumpResult struct {
	Database string          `json:"database"`
	File     string          `json:"file"`
	Format   string          `json:"format"`
	Totals   manifest.Totals `json:"totals"`
	Root     string          `json:"root"`
	Seconds  float64         `json:"seconds"`
}

func reportDump(env *environment, f *pgflags.Dump, res *dump.Result, meter *ui.Meter, log *ui.Log) error {
	t := res.Totals
	if t == (manifest.Totals{}) { // rows as INSERT statements are not counted
		log.Note("dumped in %s", ui.Duration(meter.Elapsed()))
		return nil
	}
	if m := res.Manifest; f.JSON && f.Options.File != "" {
		return writeJSON(env.stdout, dumpResult{
			Database: string(m.Database), File: f.Options.File, Format: f.Options.Format.String(),
			Totals: m.Totals, Root: m.Root.String(), Seconds: meter.Elapsed().Seconds(),
		})
	}
	log.Note("dumped %s objects, %s rows of %s tables, %s in %s",
		ui.Count(int64(t.Objects)), ui.Count(t.Rows), ui.Count(int64(t.Tables)), ui.Bytes(t.Bytes), ui.Duration(meter.Elapsed()))
	return nil
}

// dumpProgress shows a dump on a meter.
type dumpProgress struct {
	m   *ui.Meter
	log *ui.Log
}

var (
	_ dump.Progress = dumpProgress{}
	_ dump.Warner   = dumpProgress{}
)

func (p dumpProgress) Planned(plan *dump.Plan)                { p.m.Total(plan.Bytes, len(plan.Items)) }
func (p dumpProgress) Started(i *dump.Item)                   { p.m.Start(i.Name()) }
func (p dumpProgress) Copied(_ *dump.Item, rows, bytes int64) { p.m.Add(bytes, rows) }

func (p dumpProgress) Finished(_ *dump.Item, err error) {
	if err == nil {
		p.m.Finish()
	}
}

func (p dumpProgress) Message(warning bool, text string) {
	if warning {
		p.log.Warn("%s", text)
	} else {
		p.log.Info("%s", text)
	}
}

func (p dumpProgress) Warning(w catalog.Warning) { showWarning(p.log, w) }

// showWarning writes a warning about a database.
func showWarning(log *ui.Log, w catalog.Warning) {
	log.Warn("%s", w.Text)
	for _, d := range w.Details {
		log.Detail("%s", d)
	}
	for _, h := range w.Hints {
		log.Hint("%s", h)
	}
}
