package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

// compareOptions is the command line of pghaul compare.
type compareOptions struct {
	Jobs     int
	Snapshot string
	Keys     pgflags.Keys
	JSON     bool
}

func newCompareCommand(env *environment) *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "compare two databases, or a database and a backup, object by object and row by row",
		Long: `Compares every object, every row, every sequence value and every large object of A
with those of B. Each is a connection string or the name of a database, an archive
with a manifest (a path with a / in it, or the name of a file or folder that is
there), or a store (file:///folder, s3://bucket/prefix), of which --snapshot says which backup.

A database is read in one snapshot, as for a dump. Of two backups only the manifests
are read; what is in them is proven by verify and drill.

Exit status: 0 only if nothing differs; 1 if anything does, or a side could not be
read; 2 if the command line is wrong; 130 if interrupted.`,
		Args: exactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompare(cmd.Context(), env, args[0], args[1], o)
		},
	}
	f := c.Flags()
	f.IntVarP(&o.Jobs, "jobs", "j", 2, "sessions that read a database at the same time")
	snapshotFlag(c, &o.Snapshot)
	addKeyFlags(c, &o.Keys)
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON")
	return c
}

// comparison is the JSON of pghaul compare --json.
type comparison struct {
	Identical   bool                  `json:"identical"`
	A           string                `json:"a"`
	B           string                `json:"b"`
	RootA       string                `json:"root_a"`
	RootB       string                `json:"root_b"`
	Totals      manifest.Totals       `json:"totals"` // of A
	Differences []manifest.Difference `json:"differences"`
	// Allowed are differences of the databases themselves, which are expected when they have different names.
	Allowed []manifest.Difference `json:"allowed"`
}

// side is one of the two things that are compared.
type side struct {
	name     string
	manifest *manifest.Manifest // nil: a database that is still to be read
	config   *pg.Config
}

func runCompare(ctx context.Context, env *environment, a, b string, o compareOptions) error {
	log := ui.NewLog("pghaul compare", env.stderr)
	var sides [2]side
	for i, text := range []string{a, b} {
		var err error
		if sides[i], err = openSide(ctx, text, o, log); err != nil {
			return err
		}
	}
	// What is known already says in which form the rows of the other side are read.
	order := []int{0, 1}
	if sides[0].manifest == nil && sides[1].manifest != nil {
		order = []int{1, 0}
	}
	var known *manifest.Manifest
	for _, i := range order {
		if sides[i].manifest == nil {
			m, err := inspect(ctx, sides[i].config, inspectionLike(known, o.Jobs))
			if err != nil {
				return fmt.Errorf("read %s: %w", sides[i].name, err)
			}
			sides[i].manifest = m
		}
		known = sides[i].manifest
	}
	ma, mb := sides[0].manifest, sides[1].manifest
	c := comparison{
		A: sides[0].name, B: sides[1].name, RootA: ma.Root.String(), RootB: mb.Root.String(), Totals: ma.Totals,
		Differences: []manifest.Difference{}, Allowed: []manifest.Difference{},
	}
	for _, d := range manifest.Compare(ma, mb) {
		if ma.Database != mb.Database && ofDatabase(d) {
			c.Allowed = append(c.Allowed, d)
		} else {
			c.Differences = append(c.Differences, d)
		}
	}
	c.Identical = len(c.Differences) == 0
	if err := writeComparison(env, &c, o.JSON); err != nil {
		return err
	}
	if !c.Identical {
		return silent{exitFailed}
	}
	return nil
}

// ofDatabase reports whether a difference is in the database itself rather than in something in it.
func ofDatabase(d manifest.Difference) bool {
	return d.Namespace == "" && (d.Desc == "DATABASE" || d.Desc == "DATABASE PROPERTIES" || strings.HasPrefix(string(d.Name), "DATABASE "))
}

// inspectionLike reads a database so that its values have the form they have in m; nil is any form.
func inspectionLike(m *manifest.Manifest, jobs int) drill.Inspection {
	o := drill.Inspection{Jobs: jobs}
	if m == nil {
		return o
	}
	o.Settings = m.SessionSettings()
	binary := make(map[[2]string]bool)
	for i := range m.Tables {
		t := &m.Tables[i]
		binary[[2]string{string(t.Namespace), string(t.Name)}] = t.CopyFormat == manifest.BinaryCopy
	}
	o.Binary = func(namespace, name string) bool { return binary[[2]string{namespace, name}] }
	return o
}

func openSide(ctx context.Context, text string, o compareOptions, log *ui.Log) (side, error) {
	switch {
	case strings.HasPrefix(text, "postgres://"), strings.HasPrefix(text, "postgresql://"):
	case isStore(text):
		r, s, err := openRead(text, all.Options{}, &o.Keys, log)
		if err != nil {
			return side{}, err
		}
		defer s.Close()
		b, err := r.Find(ctx, o.Snapshot)
		if err != nil {
			return side{}, err
		}
		snap, err := r.Open(ctx, b)
		if err != nil {
			return side{}, err
		}
		return side{name: r.String() + " " + b.String(), manifest: snap.Manifest}, nil
	case isArchive(text):
		m, err := manifestOf(text)
		return side{name: text, manifest: m}, err
	}
	config, err := connection(&pgflags.Connection{DBName: text})
	if err != nil {
		return side{}, err
	}
	return side{name: config.String(), config: config}, nil
}

// isStore reports whether the text is the address of a store: a URL, or a folder that is not itself an archive.
func isStore(text string) bool {
	if all.IsAddress(text) {
		return true
	}
	if st, err := os.Stat(text); err != nil || !st.IsDir() {
		return false
	}
	_, err := os.Stat(filepath.Join(text, "toc.dat"))
	return errors.Is(err, os.ErrNotExist)
}

// isArchive reports whether the text is the path of an archive rather than the name of a database.
func isArchive(text string) bool {
	if strings.Contains(text, "=") {
		return false
	}
	_, err := os.Stat(text)
	return err == nil || strings.ContainsRune(text, os.PathSeparator)
}

func manifestOf(path string) (*manifest.Manifest, error) {
	r, err := pgarchive.Open(path, pgarchive.FormatUnknown)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := r.Attachment(manifest.AttachmentName)
	if errors.Is(err, pgarchive.ErrNoAttachment) {
		return nil, fmt.Errorf("archive %s has no manifest to compare with; drill it instead", path)
	} else if err != nil {
		return nil, err
	}
	return manifest.Decode(b)
}

func writeComparison(env *environment, c *comparison, asJSON bool) error {
	if asJSON {
		return writeJSON(env.stdout, c)
	}
	verdict := "DIFFERENT"
	if c.Identical {
		verdict = "IDENTICAL"
	}
	_, err := fmt.Fprintf(env.stdout, "%s: %s and %s\n\n  compared  %s objects, %s rows of %s tables, %s, %s sequences\n  roots     %.16s... and %.16s...\n",
		verdict, c.A, c.B, ui.Count(int64(c.Totals.Objects)), ui.Count(c.Totals.Rows), ui.Count(int64(c.Totals.Tables)), ui.Bytes(c.Totals.Bytes),
		ui.Count(int64(c.Totals.Sequences)), c.RootA, c.RootB)
	if err == nil && !c.Identical {
		_, err = fmt.Fprintf(env.stdout, "\nDifferences (%d):\n%s", len(c.Differences), manifest.Report(c.Differences))
	}
	if err == nil && len(c.Allowed) > 0 {
		_, err = fmt.Fprintf(env.stdout, "\nExpected, since the databases have different names (%d):\n%s", len(c.Allowed), manifest.Report(c.Allowed))
	}
	return err
}
