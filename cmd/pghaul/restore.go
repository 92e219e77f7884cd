package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/preflight"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

func newRestoreCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:                "restore [OPTION]... [FILE]",
		Short:              "restore a database from an archive; takes pg_restore's options",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestore(cmd.Context(), env, pgflags.Program{Name: "pghaul restore", Stdin: env.stdin}, args)
		},
	}
}

func runRestore(ctx context.Context, env *environment, p pgflags.Program, args []string) error {
	f, err := pgflags.ParseRestore(p, args)
	switch {
	case errors.Is(err, pgflags.ErrHelp):
		_, err := io.WriteString(env.stdout, pgflags.RestoreHelp(p))
		return err
	case errors.Is(err, pgflags.ErrVersion):
		return printVersion(env, p)
	case err != nil:
		return err
	}
	log := ui.NewLog(p.Name, env.stderr)
	log.Verbose = f.Verbose
	f.Options.Log = restoreLog(log)
	r, err := openInput(ctx, p, f, env.stdin, log)
	if err != nil {
		return err
	}
	defer r.Close()
	if !p.Stock {
		f.Options.Sizes = sizes(r)
	}
	switch {
	case f.List:
		return writeTo(f.File, env.stdout, func(w io.Writer) error { return restore.List(r, w, f.Options) })
	case f.DryRun:
		return dryRun(ctx, env, f, r)
	case f.DBName == "":
		return writeTo(f.File, env.stdout, func(w io.Writer) error { return restore.Script(ctx, r, w, f.Options) })
	}
	return restoreInto(ctx, env, p, f, r, log)
}

// restoreLog shows the messages of a restore.
func restoreLog(log *ui.Log) func(restore.Level, string) {
	return func(l restore.Level, text string) {
		switch l {
		case restore.Error:
			log.Error("%s", text)
		case restore.Warning:
			log.Warn("%s", text)
		default:
			log.Info("%s", text)
		}
	}
}

// knownManifest returns the archive's manifest, nil if it has none or it cannot be read: then less is known, and who wants proof asks for a
// drill.
func knownManifest(r pgarchive.Reader) *manifest.Manifest {
	if r.Sequential() {
		return nil // it is at the end
	}
	if s, ok := r.(*storedArchive); ok {
		return s.snapshot.Manifest
	}
	b, err := r.Attachment(manifest.AttachmentName)
	if err != nil {
		return nil
	}
	m, err := manifest.Decode(b)
	if err != nil {
		return nil
	}
	return m
}

// sizes returns what the archive's manifest, if it has one, says of the sizes of its data.
func sizes(r pgarchive.Reader) map[pgarchive.ID]restore.Size {
	m := knownManifest(r)
	if m == nil {
		return nil
	}
	out := make(map[pgarchive.ID]restore.Size)
	for i := range m.Tables {
		for _, p := range m.Tables[i].Pieces {
			out[pgarchive.ID(p.ID)] = restore.Size{Rows: p.Rows, Bytes: p.Bytes}
		}
	}
	return out
}

// openInput opens what the command line names: an archive, or a backup in a store.
func openInput(ctx context.Context, p pgflags.Program, f *pgflags.Restore, stdin io.Reader, log *ui.Log) (pgarchive.Reader, error) {
	if !p.Stock && isStore(f.Input) {
		return openStored(ctx, f.Input, f.Snapshot, all.Options{Down: f.Down}, &f.Keys, log)
	}
	if f.Snapshot != "" {
		return nil, &pgflags.UsageError{Text: "--snapshot is for backups in a store, whose address is file:///folder or s3://bucket/prefix", TryHelp: true}
	}
	return openArchive(f.Input, f.Format, stdin)
}

func openArchive(name string, format pgarchive.Format, stdin io.Reader) (pgarchive.Reader, error) {
	if name != "" {
		return pgarchive.Open(name, format)
	}
	r, err := pgarchive.NewReader(stdin, format)
	if err != nil {
		return nil, fmt.Errorf("read archive from standard input: %w", err)
	}
	return r, nil
}

func restoreInto(ctx context.Context, env *environment, p pgflags.Program, f *pgflags.Restore, r pgarchive.Reader, log *ui.Log) error {
	target, err := connection(&f.Connection)
	if err != nil {
		return err
	}
	roles := new(preflight.RoleChanges)
	if !p.Stock {
		if roles, err = prepareTarget(ctx, env, f, r, target, log); err != nil {
			return err
		}
	}
	meter := ui.NewMeter("restoring", ui.ModeFor(env.stderr, f.JSON, p.Stock || f.NoProgress), env.stderr, log)
	res, err := restore.Run(ctx, r, target, f.Options, restoreProgress{meter})
	meter.Stop()
	if err != nil {
		return restoreEnded(err, res, log)
	}
	if !p.Stock {
		if err := reportRestore(env, f, res, roles, log); err != nil {
			return err
		}
	}
	if res.Ignored > 0 || len(res.Skipped) > 0 && f.Roles != string(preflight.SkipMode) {
		return silent{exitFailed}
	}
	return nil
}

// restoreEnded shows why a restore came to no end, and how it can be resumed.
func restoreEnded(err error, res *restore.Result, log *ui.Log) error {
	var refused *restore.LedgerError
	switch {
	case errors.As(err, &refused):
		log.Error("%s", refused.Reason)
		log.Hint("%s", refused.WayOut)
		return silent{exitFailed}
	case res.Resumable:
		log.Note("What was restored stays, and is recorded in the schema %s. Use the same command with --resume to go on.", restore.LedgerSchema)
	}
	return err
}

// restoreResult is the JSON of pghaul restore --json.
type restoreResult struct {
	Entries      int      `json:"entries"`
	Resumed      int      `json:"resumed"` // entries that an interrupted restore had done
	Rows         int64    `json:"rows"`
	Bytes        int64    `json:"bytes"`
	LargeObjects int      `json:"large_objects"`
	Seconds      float64  `json:"seconds"`
	Predicted    float64  `json:"predicted_seconds"` // how long it was expected to take
	Errors       []string `json:"errors"`

	RolesCreated []string          `json:"roles_created"`
	RolesMapped  map[string]string `json:"roles_mapped"`
	RoleNotes    []string          `json:"role_notes"` // what created roles have not got
	Skipped      []string          `json:"skipped"`    // statements left out for want of a role
}

func reportRestore(env *environment, f *pgflags.Restore, res *restore.Result, roles *preflight.RoleChanges, log *ui.Log) error {
	if f.JSON {
		out := restoreResult{Entries: res.Entries, Resumed: res.Resumed, Rows: res.Rows, Bytes: res.Bytes,
			LargeObjects: res.LargeObjects, Seconds: res.Duration.Seconds(), Predicted: res.Predicted.Seconds(), Errors: []string{}}
		for _, e := range res.Errors {
			out.Errors = append(out.Errors, e.Error())
		}
		out.RolesCreated, out.RoleNotes = append([]string{}, roles.Created...), append([]string{}, roles.Notes...)
		out.RolesMapped, out.Skipped = map[string]string{}, []string{}
		maps.Copy(out.RolesMapped, f.Options.RoleMap)
		for _, s := range res.Skipped {
			out.Skipped = append(out.Skipped, s.String())
		}
		return writeJSON(env.stdout, out)
	}
	reportRoles(f, res, roles, log)
	if !f.NoProgress {
		text := "restored"
		if res.Resumed > 0 {
			text = fmt.Sprintf("found %s entries restored before, and restored", ui.Count(int64(res.Resumed)))
		}
		log.Note("%s %s entries, %s rows, %s in %s%s", text, ui.Count(int64(res.Entries)), ui.Count(res.Rows), ui.Bytes(res.Bytes), ui.Duration(res.Duration), predicted(res))
	}
	return nil
}

// predicted says how good the prediction was, for restores that take long enough to have had one.
func predicted(res *restore.Result) string {
	if res.Predicted < time.Second || res.Duration < time.Second || res.Resumed > 0 {
		return ""
	}
	return fmt.Sprintf(" (predicted %s, off by %+.0f %%)", ui.Duration(res.Predicted), 100*(res.Predicted.Seconds()/res.Duration.Seconds()-1))
}

// restoreProgress shows a restore on a meter.
type restoreProgress struct{ m *ui.Meter }

var _ restore.BuildProgress = restoreProgress{}

func (p restoreProgress) Building(e *pgarchive.Entry, phase string, done, total int64) {
	text := e.Desc + " " + e.Tag + ": " + phase
	if total > 0 {
		text += fmt.Sprintf(" %d %%", min(100, done*100/total))
	}
	p.m.Start(text)
}

func (p restoreProgress) Plan(t restore.Totals)             { p.m.Total(t.DataBytes, t.Entries) }
func (p restoreProgress) EntryStarted(e *pgarchive.Entry)   { p.m.Start(e.Desc + " " + e.Tag) }
func (p restoreProgress) EntryDone(*pgarchive.Entry, error) { p.m.Finish() }

func (p restoreProgress) Data(_ *pgarchive.Entry, bytes, rows int64) { p.m.Add(bytes, rows) }

// writeTo gives write the file of that name, or stdout for "" and "-". A file
// appears under its name only when it is complete and on disk.
func writeTo(name string, stdout io.Writer, write func(io.Writer) error) (err error) {
	if name == "" || name == "-" {
		return write(stdout)
	}
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() { // a device or a pipe
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("could not open output file: %w", err)
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := createBeside(name)
	if err != nil {
		return fmt.Errorf("could not open output file \"%s\": %w", name, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write \"%s\": %w", name, err)
	}
	return os.Rename(f.Name(), name)
}

// createBeside creates a file that will take the name: with the mode of the file that has it now, or that which
// the user's umask leaves.
func createBeside(name string) (*os.File, error) {
	dir, base := filepath.Split(name)
	for try := 1; ; try++ {
		f, err := os.OpenFile(dir+"."+base+"."+rand.Text()[:10], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		} else if err != nil {
			return nil, err
		}
		if st, err := os.Stat(name); err == nil {
			if err := f.Chmod(st.Mode().Perm()); err != nil {
				f.Close()
				os.Remove(f.Name())
				return nil, err
			}
		}
		return f, nil
	}
}
