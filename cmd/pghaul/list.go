package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
)

func newListCommand(env *environment) *cobra.Command {
	var database string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [STORE]",
		Short: "list the backups in a store",
		Long: `Lists the backups in a store, oldest first, complete or not, whether they are
encrypted and signed, and what is known of their drills. It needs no key. STORE is file:///folder, a path, or s3://bucket/prefix; without it,
the environment's PGHAUL_STORE.

Exit status: 0; 1 when the store could not be read; 2 if the command line is wrong.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runList(cmd.Context(), env, operand(args), database, asJSON)
		},
	}
	c.Flags().StringVar(&database, "database", "", "only backups of this database")
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return c
}

func runList(ctx context.Context, env *environment, address, database string, asJSON bool) error {
	log := ui.NewLog("pghaul list", env.stderr)
	r, s, err := openRepo(address, all.Options{}, log)
	if err != nil {
		return err
	}
	defer s.Close()
	backups, err := r.List(ctx, database)
	if err != nil {
		return err
	}
	if asJSON {
		out := []backupJSON{}
		for _, b := range backups {
			out = append(out, describeBackup(b))
		}
		return writeJSON(env.stdout, out)
	}
	if len(backups) == 0 {
		log.Note("there is no backup in %s", r)
		return nil
	}
	w := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "BACKUP\tSTATE\tPROTECTION\tSTORED\tOBJECTS\tDRILL\n")
	for _, b := range backups {
		state := "complete"
		if !b.Complete {
			state = "INCOMPLETE"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", b, state, protection(b), ui.Bytes(b.Bytes), ui.Count(int64(b.Objects)), drillState(b))
	}
	return w.Flush()
}

// shown is the JSON of pghaul show --json.
type shown struct {
	backupJSON
	Store        string               `json:"store"`
	Tool         manifest.Tool        `json:"tool"`
	Server       manifest.Server      `json:"server"`
	Snapshot     manifest.Snapshot    `json:"snapshot"`
	Whole        bool                 `json:"whole_database"`
	Totals       manifest.Totals      `json:"totals"`
	LargeObjects int64                `json:"large_objects"`
	Extensions   []manifest.Extension `json:"extensions"`
	Roles        []manifest.Name      `json:"roles"`
	Root         string               `json:"root"`
	SignedBy     string               `json:"signed_by"` // fingerprint, if a signature was demanded
	Kinds        map[string]int       `json:"kinds"`
	Tables       []map[string]any     `json:"tables"`
}

func newShowCommand(env *environment) *cobra.Command {
	var snapshot string
	var keys pgflags.Keys
	var asJSON, raw bool
	c := &cobra.Command{
		Use:   "show [STORE]",
		Short: "show what is in a backup",
		Long: `Shows what a backup contains and where it comes from, by its manifest, after looking
whether all of its objects are there.

` + keyHelp + `

Exit status: 0; 1 when there is no such backup, or it is incomplete, damaged, of a
newer version, not signed as demanded, or does not open with the key; 2 if the command line is wrong.`,
		Args: optionalStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runShow(cmd.Context(), env, operand(args), snapshot, &keys, asJSON, raw)
		},
	}
	f := c.Flags()
	snapshotFlag(c, &snapshot)
	addKeyFlags(c, &keys)
	f.BoolVar(&asJSON, "json", false, "print a summary as JSON")
	f.BoolVar(&raw, "manifest", false, "print the manifest as it was written, decrypted")
	return c
}

func runShow(ctx context.Context, env *environment, address, selector string, k *pgflags.Keys, asJSON, raw bool) error {
	r, s, err := openRead(address, all.Options{}, k, ui.NewLog("pghaul show", env.stderr))
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := r.Find(ctx, selector)
	if err != nil {
		return err
	}
	snap, err := r.Open(ctx, b)
	if err != nil {
		return err
	}
	switch {
	case raw:
		text, err := snap.File(repo.ManifestName)
		if err != nil {
			return err
		}
		_, err = env.stdout.Write(text)
		return err
	case asJSON:
		return writeJSON(env.stdout, summary(r, snap))
	}
	return writeSummary(env.stdout, summary(r, snap))
}

func summary(r *repo.Repo, s *repo.Snapshot) *shown {
	m := s.Manifest
	out := &shown{
		backupJSON: describeBackup(s.Backup), Store: r.String(), Tool: m.Tool, Server: m.Server, Snapshot: m.Snapshot, Whole: m.Complete,
		Totals: m.Totals, LargeObjects: m.LargeObjects.Count, Extensions: m.Extensions, Roles: m.Roles, Root: m.Root.String(), SignedBy: s.SignedBy,
		Kinds: make(map[string]int), Tables: []map[string]any{},
	}
	for i := range m.Objects {
		out.Kinds[m.Objects[i].Desc]++
	}
	for i := range m.Tables {
		t := &m.Tables[i]
		out.Tables = append(out.Tables, map[string]any{"namespace": t.Namespace, "name": t.Name, "rows": t.Rows, "bytes": t.Bytes, "pieces": len(t.Pieces)})
	}
	return out
}

func writeSummary(w io.Writer, s *shown) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s "+format+"\n", append([]any{name}, args...)...)
	}
	line("backup", "%s/%s in %s", s.Database, s.ID, s.Store)
	line("of", "PostgreSQL %s, by %s %s", s.Server.Version, s.Tool.Name, s.Tool.Version)
	lsn := ""
	if s.Snapshot.LSN != "" {
		lsn = ", WAL position " + s.Snapshot.LSN
	}
	line("snapshot", "%s%s", s.Snapshot.Time.UTC().Format(time.RFC3339), lsn)
	whole := "the whole database"
	if !s.Whole {
		whole = "a part of the database"
	}
	line("contents", "%s: %s objects, %s rows of %s tables, %s, %s sequences, %s large objects", whole,
		ui.Count(int64(s.Totals.Objects)), ui.Count(s.Totals.Rows), ui.Count(int64(s.Totals.Tables)), ui.Bytes(s.Totals.Bytes),
		ui.Count(int64(s.Totals.Sequences)), ui.Count(s.LargeObjects))
	signed := protection(repo.Backup{Encrypted: s.Encrypted, Signed: s.Signed})
	if s.SignedBy != "" {
		signed += " by " + s.SignedBy
	} else if s.Signed {
		signed += " (by whom was not checked: there is no --verify-key)"
	}
	line("protection", "%s", signed)
	line("stored", "%s in %s objects", ui.Bytes(s.Bytes), ui.Count(int64(s.Objects)))
	var names []string
	for _, e := range s.Extensions {
		names = append(names, string(e.Name)+" "+e.Version)
	}
	line("extensions", "%s", orNone(names))
	names = nil
	for _, r := range s.Roles {
		names = append(names, string(r))
	}
	line("roles", "%s", orNone(names))
	line("drill", "%s", drillState(repo.Backup{Drills: s.Drills}))
	line("root", "%s", s.Root)
	_, err := io.WriteString(w, b.String())
	return err
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
