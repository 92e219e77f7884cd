package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/platform"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/report"
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
	JUnit string
	HTML  string

	Allow        []string
	CheckSQL     []string
	CheckCmd     []string
	CheckTimeout time.Duration
	Platform     string
	AllFiles     bool

	Snapshot string
	Keys     pgflags.Keys
	Down     sizeFlag
	NoRecord bool

	serverFlags
}

func newDrillCommand(env *environment) *cobra.Command {
	var o drillOptions
	c := &cobra.Command{
		Use:   "drill ARCHIVE|STORE",
		Short: "restore an archive into a throwaway server and prove that nothing differs",
		Long: `Restores an archive (a file or a folder, made by pghaul or pg_dump) or a backup in a
store (file:///folder, s3://bucket/prefix) into a throwaway server of the source's
major version, and compares every object and every row with what the source had. The
server is removed at the end, also after an interrupt. The report of a stored backup's
drill is stored beside it: prune never removes the last backup that passed.

` + serverHelp + `

A statement that fails and a difference fail the drill, unless a rule explains them;
then they are listed under it. Some rules always apply:

` + ruleHelp(false) + `
These apply with --allow RULE, or to one object only with --allow RULE:OBJECT:

` + ruleHelp(true) + `
Checks of your own run after the comparison, in the copy. Each statement of a file
(--check-sql) that returns rows must return at least one, and every boolean in them
must be true; any other statement must succeed. A comment line right before a statement
is its name in the report. The statements of a file are one transaction, rolled back.
A command (--check-cmd) is run by sh and must exit with 0; it finds the copy by
PGHAUL_DRILL_DSN, a connection URI, and by PGHOST, PGPORT, PGUSER, PGDATABASE and
PGPASSWORD. When it ends, or the time is over, all processes it started are ended.

Exit status: 0 only if the copy is proven identical, or differs only as rules say, and
all checks passed; 1 if anything else differs or the drill could not be done; 2 if the
command line is wrong; 130 if interrupted.`,
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDrill(cmd.Context(), env, args[0], o)
		},
	}
	f := c.Flags()
	f.IntVarP(&o.Jobs, "jobs", "j", 2, "sessions that restore and compare at the same time")
	f.BoolVar(&o.JSON, "json", false, "print the report as JSON, and progress as JSON lines on standard error")
	f.StringVar(&o.JUnit, "junit", "", "write the report as JUnit XML to this `FILE`, too")
	f.StringVar(&o.HTML, "html", "", "write the report as one HTML page to this `FILE`, too")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress")
	f.StringArrayVar(&o.Allow, "allow", nil, "expect what this `RULE` says (repeat for more)")
	f.StringArrayVar(&o.CheckSQL, "check-sql", nil, "statements of this `FILE` must hold in the copy (repeat for more)")
	f.StringArrayVar(&o.CheckCmd, "check-cmd", nil, "this shell `COMMAND` must succeed (repeat for more)")
	f.DurationVar(&o.CheckTimeout, "check-timeout", drill.DefaultCheckTimeout, "how long a command, or the statements of a file, may take")
	f.StringVar(&o.Platform, "platform", "auto", "managed `PLATFORM` of the source, whose roles and objects stand in: "+strings.Join(platform.Names(), ", ")+", none, or auto: the archive tells")
	f.BoolVar(&o.AllFiles, "verify-all-files", false, "read all files of the platform's storage that are in the backup, not a tenth")
	f.BoolVar(&o.Keep, "keep", false, "leave the server running when the drill does not pass, and say how to connect")
	snapshotFlag(c, &o.Snapshot)
	addKeyFlags(c, &o.Keys)
	o.serverFlags.add(c)
	f.Var(&o.Down, "limit-download", "get no more than this much a second from a store, such as 20MB")
	f.BoolVar(&o.NoRecord, "no-record", false, "do not store the report beside the backup")
	return c
}

// ruleHelp lists the rules that have to be asked for, or the others.
func ruleHelp(asked bool) string {
	var b strings.Builder
	for _, r := range drill.Rules() {
		if r.Asked != asked {
			continue
		}
		name := r.Name
		if r.Object != "" {
			name += "[:" + strings.ToUpper(r.Object) + "]"
		}
		fmt.Fprintf(&b, "  %s\n%s\n", name, ui.Wrap(r.Meaning, 6, 80))
	}
	return b.String()
}

// engine makes the options of the drill itself.
func (o *drillOptions) engine(log *ui.Log) (drill.Options, error) {
	out := drill.Options{Jobs: o.Jobs, Inspect: inspect, Keep: o.Keep, CheckTimeout: o.CheckTimeout}
	if o.Quiet {
		log = nil
	}
	var err error
	if out.Provider, err = o.serverFlags.provider(log); err != nil {
		return out, err
	}
	for _, text := range o.Allow {
		a, err := drill.ParseAllowance(text)
		if err != nil {
			return out, &pgflags.UsageError{Text: "--allow: " + err.Error(), TryHelp: true}
		}
		out.Allow = append(out.Allow, a)
	}
	for _, file := range o.CheckSQL {
		out.Checks = append(out.Checks, drill.Check{SQL: file})
	}
	for _, command := range o.CheckCmd {
		if strings.TrimSpace(command) == "" {
			return out, &pgflags.UsageError{Text: "--check-cmd: the command is empty"}
		}
		out.Checks = append(out.Checks, drill.Check{Command: command})
	}
	if o.CheckTimeout <= 0 {
		return out, &pgflags.UsageError{Text: "--check-timeout: a time above 0 is wanted, such as 10m"}
	}
	if out.Platform = o.Platform; o.Platform == "auto" {
		out.Platform = ""
	} else if o.Platform != drill.NoPlatform {
		if _, err := platform.ByName(o.Platform); err != nil {
			return out, &pgflags.UsageError{Text: "--platform: " + err.Error()}
		}
	}
	return out, nil
}

func runDrill(ctx context.Context, env *environment, archive string, o drillOptions) error {
	log := ui.NewLog("pghaul drill", env.stderr)
	options, err := o.engine(log)
	if err != nil {
		return err
	}
	files, err := reportFiles(&o)
	if err != nil {
		return err
	}
	var r pgarchive.Reader
	var stored *storedArchive
	if isStore(archive) {
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
	if err := besideForDrill(&options, stored, o.AllFiles); err != nil {
		return err
	}
	meter := ui.NewMeter("drilling", ui.ModeFor(env.stderr, o.JSON, o.Quiet), env.stderr, log)
	options.Progress, options.Phase = restoreProgress{meter}, meter.Phase
	found, err := drill.Run(ctx, archive, r, options)
	meter.Stop()
	if stored != nil && !o.NoRecord && errors.Is(err, store.ErrDamaged) { // that is an answer, too
		err = errors.Join(err, record(ctx, stored, map[string]string{"error": err.Error()}, time.Now(), false))
	}
	if err != nil {
		return err
	}
	if err := writeReport(env.stdout, found, o.JSON); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.save(env.stdout, func(w io.Writer) error { return f.write(w, found) }); err != nil {
			return err
		}
	}
	if stored != nil && !o.NoRecord {
		if err := record(ctx, stored, found, found.Started, found.Passed); err != nil {
			return fmt.Errorf("%w; with --no-record nothing is stored", err)
		}
	}
	if !found.Passed {
		return silent{exitFailed}
	}
	return nil
}

// reportFile is a file that is to hold a report.
type reportFile struct {
	path  string
	write func(io.Writer, *drill.Report) error
}

// reportFiles returns the files that are asked for, once it is known that they can be written: a drill is not to be done in vain.
func reportFiles(o *drillOptions) ([]reportFile, error) {
	var files []reportFile
	for _, f := range []reportFile{{o.JUnit, report.JUnit}, {o.HTML, report.HTML}} {
		if f.path == "" {
			continue
		}
		if err := f.save(io.Discard, func(io.Writer) error { return errTried }); !errors.Is(err, errTried) {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

var errTried = errors.New("only tried")

// save writes the file, or stdout for "-".
func (f *reportFile) save(stdout io.Writer, write func(io.Writer) error) error {
	if err := writeTo(f.path, stdout, write); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// record stores the report of a drill beside the backup.
func record(ctx context.Context, a *storedArchive, what any, at time.Time, passed bool) error {
	text, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	d := repo.Drill{Time: at.UTC().Truncate(time.Second), Passed: passed}
	return a.snapshot.RecordDrill(ctx, d, append(text, '\n'))
}

func writeReport(w io.Writer, r *drill.Report, asJSON bool) error {
	if !asJSON {
		return report.Text(w, r)
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
