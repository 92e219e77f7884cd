package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/linediff"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/store/all"
	"github.com/pghaul/pghaul/internal/ui"
	"github.com/pghaul/pghaul/pgarchive"
)

func newDiffCommand(env *environment) *cobra.Command {
	var asJSON bool
	var keys pgflags.Keys
	c := &cobra.Command{
		Use:   "diff [STORE] A B",
		Short: "show what changed from one backup to another",
		Long: `Shows what changed from backup A to backup B: objects with the text of their
definitions, rows and bytes of tables, sequences, extensions, roles, settings, and the
server. Only manifests and tables of contents are read, no rows: of a table is known
how many rows it had and whether they are the same, not which ones changed.

A and B are backups in STORE (without it, the environment's PGHAUL_STORE): latest, ID,
DATABASE/latest or DATABASE/ID. Either may also be an archive with a manifest: a file
or folder that is there.

Exit status, as that of diff: 0 when both hold the same; 1 when they do not, or
one could not be read; 2 if the command line is wrong. A newer server alone is shown
and is no difference.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 || len(args) == 3 {
				return nil
			}
			return &pgflags.UsageError{Text: fmt.Sprintf("%d arguments were given, two or three wanted: %s", len(args), cmd.UseLine()), TryHelp: true}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			address := ""
			if len(args) == 3 {
				address, args = args[0], args[1:]
			}
			return runDiff(cmd.Context(), env, address, args[0], args[1], &keys, asJSON)
		},
	}
	addKeyFlags(c, &keys)
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return c
}

// diffSide describes one of the two backups.
type diffSide struct {
	Name     string            `json:"name"`
	Server   manifest.Server   `json:"server"`
	Snapshot manifest.Snapshot `json:"snapshot"`
	Whole    bool              `json:"whole_database"`
	Totals   manifest.Totals   `json:"totals"`
	Root     string            `json:"root"`
}

// diffResult is the JSON of pghaul diff --json.
type diffResult struct {
	Identical bool     `json:"identical"`
	A         diffSide `json:"a"`
	B         diffSide `json:"b"`
	*manifest.Changes
}

func runDiff(ctx context.Context, env *environment, address, a, b string, k *pgflags.Keys, asJSON bool) error {
	log := ui.NewLog("pghaul diff", env.stderr)
	ma, nameA, err := openManifest(ctx, address, a, k, log)
	if err != nil {
		return err
	}
	mb, nameB, err := openManifest(ctx, address, b, k, log)
	if err != nil {
		return err
	}
	out := diffResult{A: newDiffSide(nameA, ma), B: newDiffSide(nameB, mb), Changes: manifest.Diff(ma, mb)}
	out.Identical = out.Changes.Empty()
	if asJSON {
		err = writeJSON(env.stdout, out)
	} else {
		err = out.write(env.stdout)
	}
	if err == nil && !out.Identical {
		err = silent{exitFailed}
	}
	return err
}

func newDiffSide(name string, m *manifest.Manifest) diffSide {
	return diffSide{Name: name, Server: m.Server, Snapshot: m.Snapshot, Whole: m.Complete, Totals: m.Totals, Root: m.Root.String()}
}

// openManifest reads the manifest, with the definitions of its objects, of an archive or a backup in a store.
func openManifest(ctx context.Context, address, text string, k *pgflags.Keys, log *ui.Log) (m *manifest.Manifest, name string, err error) {
	var r pgarchive.Reader
	switch _, statErr := os.Stat(text); {
	case address == "" && statErr == nil && !isStore(text):
		if m, err = manifestOf(text); err != nil {
			return nil, "", err
		}
		r, err = pgarchive.Open(text, pgarchive.FormatUnknown)
		name = text
	default:
		selector := text
		if address == "" && isStore(text) {
			address, selector = text, "latest"
		}
		var stored *storedArchive
		if stored, err = openStored(ctx, address, selector, all.Options{}, k, log); err == nil {
			r, name, m = stored, stored.name(), stored.snapshot.Manifest
		}
	}
	if err != nil {
		return nil, "", err
	}
	m.Define(manifest.Inventory(r.Entries()))
	return m, name, r.Close()
}

// write writes the result for people.
func (d *diffResult) write(w io.Writer) error {
	var b strings.Builder
	verdict := "DIFFERENT"
	if d.Identical {
		verdict = "IDENTICAL"
	}
	fmt.Fprintf(&b, "%s\n", verdict)
	for _, s := range []struct {
		name string
		diffSide
	}{{"A", d.A}, {"B", d.B}} {
		fmt.Fprintf(&b, "  %s  %s\n     PostgreSQL %s, %s, %s objects, %s rows of %s tables, %s\n", s.name, s.Name, s.Server.Version,
			s.Snapshot.Time.UTC().Format(time.RFC3339), ui.Count(int64(s.Totals.Objects)), ui.Count(s.Totals.Rows), ui.Count(int64(s.Totals.Tables)), ui.Bytes(s.Totals.Bytes))
		if !s.Whole {
			fmt.Fprintf(&b, "     It holds a part of its database; what was left out counts as missing here.\n")
		}
	}
	if d.Database != nil {
		fmt.Fprintf(&b, "\nDatabase: %s -> %s\n", d.Database.A, d.Database.B)
	}
	section(&b, "Objects", d.Objects, diffObject)
	section(&b, "Tables", d.Tables, diffTable)
	section(&b, "Sequences", d.Sequences, diffField)
	section(&b, "Extensions", d.Extensions, diffField)
	section(&b, "Roles", d.Roles, diffField)
	section(&b, "Settings", d.Settings, diffField)
	if l := d.LargeObjects; l != nil {
		fmt.Fprintf(&b, "\nLarge objects: %s\n", amounts("objects", l.A.Count, l.B.Count, l.A.Bytes, l.B.Bytes))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// section writes the things of one kind, if there are any.
func section[T any](b *strings.Builder, title string, items []T, write func(*strings.Builder, T)) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d):\n", title, len(items))
	for _, i := range items {
		write(b, i)
	}
}

// sign is how a change is marked.
func sign(c manifest.Change) string {
	switch c {
	case manifest.Missing:
		return "-"
	case manifest.Extra:
		return "+"
	}
	return "~"
}

func dotted(namespace, name manifest.Name) string {
	if namespace == "" {
		return string(name)
	}
	return string(namespace + "." + name)
}

// diffObject writes what became of an object, a changed definition line by line.
func diffObject(b *strings.Builder, d manifest.Difference) {
	fmt.Fprintf(b, "%s %s %s", sign(d.Change), d.Desc, dotted(d.Namespace, d.Name))
	switch {
	case d.Change != manifest.Differs:
		b.WriteByte('\n')
	case d.Field != "definition":
		fmt.Fprintf(b, ": %s %s -> %s\n", d.Field, orDefault(d.A), orDefault(d.B))
	default:
		b.WriteString(": definition\n")
		for line := range strings.Lines(linediff.Unified(string(d.A), string(d.B))) {
			b.WriteString("    " + line)
		}
	}
}

func orDefault(n manifest.Name) string {
	if n == "" {
		return "(default)"
	}
	return string(n)
}

// diffField writes what became of something that has a value rather than a definition.
func diffField(b *strings.Builder, d manifest.Difference) {
	fmt.Fprintf(b, "%s %s", sign(d.Change), dotted(d.Namespace, d.Name))
	switch {
	case d.Change == manifest.Differs:
		fmt.Fprintf(b, ": %s %s -> %s", d.Field, d.A, d.B)
	case d.A+d.B != "":
		fmt.Fprintf(b, " %s", d.A+d.B)
	}
	b.WriteByte('\n')
}

// diffTable writes what became of a table's rows.
func diffTable(b *strings.Builder, t manifest.TableChange) {
	fmt.Fprintf(b, "%s %s: ", sign(t.Change), dotted(t.Namespace, t.Name))
	switch {
	case t.B == nil:
		fmt.Fprintf(b, "%s rows, %s\n", ui.Count(t.A.Rows), ui.Bytes(t.A.Bytes))
		return
	case t.A == nil:
		fmt.Fprintf(b, "%s rows, %s\n", ui.Count(t.B.Rows), ui.Bytes(t.B.Bytes))
		return
	case t.Forms != nil:
		fmt.Fprintf(b, "%s -> %s rows, in %s form -> in %s form, which cannot be compared further\n", ui.Count(t.A.Rows), ui.Count(t.B.Rows), t.Forms.A, t.Forms.B)
		return
	}
	b.WriteString(amounts("rows", t.A.Rows, t.B.Rows, t.A.Bytes, t.B.Bytes))
	if t.Filters != nil {
		fmt.Fprintf(b, ", chosen by \"%s\" -> \"%s\"", t.Filters.A, t.Filters.B)
	}
	if t.Pieces > 1 {
		fmt.Fprintf(b, ", %d of %d pieces%s", len(t.Changed), t.Pieces, pagesOf(t.Changed))
	}
	b.WriteByte('\n')
}

// amounts says how number and size of something changed; if neither did, that the contents did.
func amounts(what string, a, b, bytesA, bytesB int64) string {
	var parts []string
	if a != b {
		parts = append(parts, fmt.Sprintf("%s -> %s %s (%+d)", ui.Count(a), ui.Count(b), what, b-a))
	} else {
		parts = append(parts, ui.Count(a)+" "+what)
	}
	if bytesA != bytesB {
		parts = append(parts, fmt.Sprintf("%s -> %s (%+d bytes)", ui.Bytes(bytesA), ui.Bytes(bytesB), bytesB-bytesA))
	}
	if a == b {
		parts = append(parts, "contents changed")
	}
	return strings.Join(parts, ", ")
}

// shownRanges is how many ranges of pages are shown.
const shownRanges = 5

// pagesOf names the pages of pieces, neighbours together.
func pagesOf(pieces []manifest.Piece) string {
	var ranges []manifest.PageRange
	for _, p := range pieces {
		if p.Pages == nil {
			return ""
		}
		if n := len(ranges); n > 0 && ranges[n-1].To == p.Pages.From {
			ranges[n-1].To = p.Pages.To
		} else {
			ranges = append(ranges, *p.Pages)
		}
	}
	if len(ranges) == 0 {
		return ""
	}
	var texts []string
	for i, r := range ranges {
		switch {
		case i == shownRanges:
			return ": pages " + strings.Join(texts, ", ") + fmt.Sprintf(" and %d more ranges", len(ranges)-i)
		case r.To == 0:
			texts = append(texts, fmt.Sprintf("%d-", r.From))
		default:
			texts = append(texts, fmt.Sprintf("%d-%d", r.From, r.To-1))
		}
	}
	return ": pages " + strings.Join(texts, ", ")
}
