package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/rescue"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// rescueOptions is the command line of pghaul rescue.
type rescueOptions struct {
	Table    string
	Keys     []string
	Column   string
	As       rescue.Format
	File     string
	Snapshot string
	Open     pgflags.Keys
	Jobs     int
	Down     sizeFlag
}

func newRescueCommand(env *environment) *cobra.Command {
	var o rescueOptions
	c := &cobra.Command{
		Use:   "rescue --table NAME [--key RANGE] [STORE|ARCHIVE]",
		Short: "take rows of one table out of a backup, as SQL or CSV, without a server",
		Long: `Takes rows of one table out of a backup in a store, or out of an archive of pghaul or
pg_dump, and writes them as INSERT statements (sql), as CSV, or as a COPY statement
with its data (copy). No server is needed. Nothing of the backup but the table is read,
and no value is changed: rows go out as they were backed up.

--key says which rows: a range FROM..TO, both ends included, either may be left out; or
values with commas between them; values with , or .. in them in double quotes. It may be
given several times. Keys of numeric columns are compared as numbers; dates and timestamps
as they stand in the backup, where TO also takes what begins with it (2026-11-30 is
the whole day); all others, such as texts and enums, byte by byte. The key is the first
column of the primary key unless --column names another.

Of a partitioned table the rows of all its partitions are taken. A script runs in one
transaction: all rows go back in, or none.

Exit status: 0 when rows were found and written; 1 when there was none, or on an
error; 2 if the command line is wrong; 130 if interrupted. A file appears under its
name only when it is complete.`,
		Example: `  pghaul rescue s3://bucket/backups --table orders --key 1000..1999 -o orders.sql
  pghaul rescue shop.dump --table public.users --column email --key 'ann@example.com' --as csv`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRescue(cmd.Context(), env, operand(args), o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.Table, "table", "t", "", "the table: NAME or SCHEMA.NAME, exactly; in double quotes if there is a period in it")
	f.StringArrayVar(&o.Keys, "key", nil, "which rows: FROM..TO, or VALUE,VALUE,...; without it, all")
	f.StringVar(&o.Column, "column", "", "the column that --key is about")
	f.Var(&o.As, "as", "how rows are written: sql, csv or copy")
	f.StringVarP(&o.File, "file", "o", "", "write to this file; default: standard output")
	f.IntVarP(&o.Jobs, "jobs", "j", 4, "pieces of the table that are read at the same time")
	f.Var(&o.Down, "limit-download", "get no more than this much a second from a store, such as 20MB")
	snapshotFlag(c, &o.Snapshot)
	addKeyFlags(c, &o.Open)
	return c
}

func runRescue(ctx context.Context, env *environment, from string, o rescueOptions) error {
	if o.Table == "" {
		return &pgflags.UsageError{Text: "no table is given: name it with --table", TryHelp: true}
	}
	log := ui.NewLog("pghaul rescue", env.stderr)
	r, name, m, err := openBackup(ctx, from, o.Snapshot, all.Options{Down: int64(o.Down)}, &o.Open, log)
	if err != nil {
		return err
	}
	defer r.Close()
	table, err := rescue.Find(r, o.Table)
	if err != nil {
		return fmt.Errorf("rescue rows out of %s: %w", name, err)
	}
	what := "Rows of " + table.Qualified()
	plan, err := rescue.NewPlan(r, table, rescue.Options{
		Key: o.Keys, Column: o.Column, As: o.As, Jobs: o.Jobs, Sums: sumsOf(m),
		Comment: what + " out of " + name + ", by pghaul rescue.",
	})
	if err != nil {
		if errors.Is(err, rescue.ErrForm) {
			return err
		}
		return &pgflags.UsageError{Text: err.Error()}
	}
	if column, order := plan.Describe(); order != nil {
		log.Info("key: column %s, compared as %s", column, order.Name)
		if len(table.PrimaryKey) > 1 && o.Column == "" {
			log.Note("the primary key has several columns (%s): --key is about the first; --column names another", strings.Join(table.PrimaryKey, ", "))
		}
		if order.Name == rescue.ByteOrder {
			log.Note("values of column %s are compared as %s", column, order.Name)
		}
	}
	var res *rescue.Result
	err = writeTo(o.File, env.stdout, func(w io.Writer) (err error) {
		if res, err = plan.Run(ctx, w); err == nil && res.Rows == 0 {
			err = errNothing
		}
		return err
	})
	if errors.Is(err, errNothing) {
		log.Error("no such row in %s: %s were looked at, nothing was written", table.Qualified(), rowsRead(res))
		return silent{exitFailed}
	} else if err != nil {
		return err
	}
	log.Note("rescued %s rows of %s; %s were looked at", ui.Count(res.Rows), table.Qualified(), rowsRead(res))
	return nil
}

// errNothing keeps an empty file from being made.
var errNothing = errors.New("nothing was found")

func rowsRead(res *rescue.Result) string {
	text := ui.Count(res.Read) + " rows"
	if res.Pieces > 1 {
		text += fmt.Sprintf(" in %d of %d pieces", res.Whole, res.Pieces)
	}
	return text
}

// openBackup opens a backup in a store, or an archive. The manifest is nil if there is none.
func openBackup(ctx context.Context, from, selector string, o all.Options, k *pgflags.Keys, log *ui.Log) (r pgarchive.Reader, name string, m *manifest.Manifest, err error) {
	if from == "" || isStore(from) {
		stored, err := openStored(ctx, from, selector, o, k, log)
		if err != nil {
			return nil, "", nil, err
		}
		return stored, stored.name(), stored.snapshot.Manifest, nil
	}
	if r, err = pgarchive.Open(from, pgarchive.FormatUnknown); err != nil {
		return nil, "", nil, err
	}
	b, err := r.Attachment(manifest.AttachmentName)
	if err == nil {
		m, err = manifest.Decode(b)
	} else if errors.Is(err, pgarchive.ErrNoAttachment) {
		err = nil
	}
	if err != nil {
		r.Close()
		return nil, "", nil, err
	}
	return r, from, m, nil
}

// sumsOf returns the digests of the entries that a manifest knows. Rows in binary form are counted otherwise.
func sumsOf(m *manifest.Manifest) map[pgarchive.ID]digest.Sum {
	if m == nil {
		return nil
	}
	out := make(map[pgarchive.ID]digest.Sum)
	for i := range m.Tables {
		for k := range m.Tables[i].Pieces {
			p := &m.Tables[i].Pieces[k]
			out[pgarchive.ID(p.ID)] = p.Sum()
		}
	}
	return out
}
