package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/dumpall"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

func newBackupCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:                "backup [OPTION]... --to=ADDRESS [DBNAME]",
		Short:              "back a database up into a store: a folder or a bucket of S3, Google or Azure",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBackup(cmd.Context(), env, args)
		},
	}
}

func runBackup(ctx context.Context, env *environment, args []string) error {
	p := pgflags.Program{Name: "pghaul backup", Stdin: env.stdin}
	f, err := pgflags.ParseBackup(p, args)
	switch {
	case errors.Is(err, pgflags.ErrHelp):
		_, err := io.WriteString(env.stdout, pgflags.BackupHelp(p))
		return err
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
	sealer, signer, err := locks(&f.Locks)
	if err != nil {
		return err
	}
	extra, err := newBeside(ctx, f, log)
	if err != nil {
		return err
	}
	r, s, err := openRepo(f.To, all.Options{Create: true, Up: f.Up}, log)
	if err != nil {
		return err
	}
	defer s.Close()
	meter := ui.NewMeter("backing up", ui.ModeFor(env.stderr, f.JSON, f.Quiet), env.stderr, log)
	w, res, err := backUp(ctx, source, r, f, extra, dumpProgress{meter, log}, func(s repo.Start) repo.Start {
		s.Sealer, s.Signer = sealer, signer
		return s
	})
	meter.Stop()
	if err != nil {
		return err
	}
	signedBy := ""
	if signer != nil {
		signedBy = signer.Fingerprint()
	}
	return reportBackup(env, f, r, w, signedBy, res, extra.stored(), meter, log)
}

// backUp dumps the source into a new backup, or goes on with an incomplete one, and completes it. After an error nothing of it is left,
// or what is left is no backup.
func backUp(ctx context.Context, source *pg.Config, r *repo.Repo, f *pgflags.Backup, extra *beside, progress dumpProgress, start func(repo.Start) repo.Start) (*repo.Writer, *dump.Result, error) {
	b := &resumption{repo: r, flags: f, log: progress.log, start: start}
	for {
		o := f.Options
		o.ToolVersion, o.DumpVersion = version(), spoken
		o.Prepare = b.prepare
		o.Archive = func(wo pgarchive.WriterOptions) (pgarchive.Writer, error) {
			w, err := b.archive(ctx, wo)
			if err == nil {
				extra.start(ctx, b.writer)
			}
			return w, err
		}
		o.Complete = func(ctx context.Context, res *dump.Result) error {
			if !f.NoGlobals {
				text, err := globals(ctx, source)
				if err != nil {
					return err
				}
				if err := b.writer.Put(repo.GlobalsName, text); err != nil {
					return err
				}
			}
			if err := extra.complete(ctx, source, b.writer, res); err != nil {
				return err
			}
			return b.finish(ctx, res)
		}
		res, err := dump.Run(ctx, source, o, dumpRecorder{progress, b})
		extra.stop()
		switch {
		case err == nil:
			b.end()
			return b.writer, res, nil
		case b.changed(err):
			if err := b.startAnew(ctx, err); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, b.failed(ctx, err)
		}
	}
}

// globals returns the script that makes the roles and tablespaces of a server. Passwords stay where they are.
func globals(ctx context.Context, source *pg.Config) ([]byte, error) {
	var text bytes.Buffer
	err := dumpall.Run(ctx, source, &text, dumpall.Options{
		GlobalsOnly: true, NoRolePasswords: true,
		Database: dump.Options{Script: pgarchive.NewScriptOptions(), DumpVersion: spoken},
	})
	return text.Bytes(), err
}

// backupResult is the JSON of pghaul backup --json.
type backupResult struct {
	Store    string          `json:"store"`
	Database string          `json:"database"`
	ID       string          `json:"id"`
	Totals   manifest.Totals `json:"totals"`
	Root     string          `json:"root"`
	Objects  int             `json:"stored_objects"`
	Stored   int64           `json:"stored_bytes"`

	Encrypted bool   `json:"encrypted"`
	SignedBy  string `json:"signed_by"` // fingerprint of the key; "" if it is not signed

	Files *storedFiles `json:"storage,omitempty"` // of a platform

	Seconds float64 `json:"seconds"`
}

func reportBackup(env *environment, f *pgflags.Backup, r *repo.Repo, w *repo.Writer, signedBy string, res *dump.Result, files *storedFiles, meter *ui.Meter, log *ui.Log) error {
	m, t := res.Manifest, res.Manifest.Totals
	b := w.Backup()
	if f.JSON {
		return writeJSON(env.stdout, backupResult{
			Store: r.String(), Database: b.Database, ID: b.ID, Totals: t, Root: m.Root.String(),
			Objects: b.Objects, Stored: b.Bytes, Encrypted: b.Encrypted, SignedBy: signedBy, Files: files, Seconds: meter.Elapsed().Seconds(),
		})
	}
	if f.Quiet {
		return nil
	}
	log.Note("backed up %s objects, %s rows of %s tables, %s, stored as %s, in %s",
		ui.Count(int64(t.Objects)), ui.Count(t.Rows), ui.Count(int64(t.Tables)), ui.Bytes(t.Bytes), ui.Bytes(b.Bytes), ui.Duration(meter.Elapsed()))
	log.Note("it is %s in %s%s", b, r, protected(b, signedBy))
	return nil
}

// protected says how a backup is protected, if it is.
func protected(b repo.Backup, signedBy string) string {
	switch {
	case b.Encrypted && b.Signed:
		return ", encrypted, and signed by " + signedBy
	case b.Encrypted:
		return ", encrypted"
	case b.Signed:
		return ", signed by " + signedBy
	}
	return ""
}
