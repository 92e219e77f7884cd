package drill_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// Whatever is done to a stored archive, the drill does not pass, and says what is wrong.
func TestTamperedArchive(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, `CREATE TABLE a (i int PRIMARY KEY, v text); INSERT INTO a SELECT i, 'value ' || i FROM generate_series(1000, 1999) i;
CREATE TABLE b (i int PRIMARY KEY, v text); INSERT INTO b SELECT i, 'value ' || i FROM generate_series(2000, 2999) i;
CREATE VIEW v AS SELECT 12345 AS n;
CREATE SEQUENCE s; SELECT setval('s', 4321);
SELECT lo_from_bytea(77, 'a large object');`)
	config, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	take := func(name string) string {
		path := filepath.Join(dir, name)
		o := dump.Options{Format: pgarchive.FormatDirectory, File: path, NoSync: true} // not compressed: nothing but the drill can tell
		if _, err := dump.Run(t.Context(), config, o, dump.NoProgress{}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	earlier := take("earlier")
	db.Exec(t, "UPDATE a SET v = 'other 1500' WHERE i = 1500")
	good := take("good")

	// fileWith returns the archive's file that holds this.
	fileWith := func(t *testing.T, archive, text string) string {
		t.Helper()
		entries, err := os.ReadDir(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(archive, e.Name()))
			if err == nil && strings.HasSuffix(e.Name(), ".dat") && bytes.Contains(b, []byte(text)) {
				return filepath.Join(archive, e.Name())
			}
		}
		t.Fatalf("no file with %q", text)
		return ""
	}
	edit := func(file string, f func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, archive string) {
			path := filepath.Join(archive, file)
			if strings.HasPrefix(file, "with ") {
				path = fileWith(t, archive, file[5:])
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if b = f(b); b == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(from, to string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
	}
	rowA, rowB := "value 1001", "value 2001"
	for name, c := range map[string]struct {
		tamper func(*testing.T, string)
		want   string // in the error, or in the findings, apart by semicolons
	}{
		"nothing":             {func(*testing.T, string) {}, ""},
		"a row's text":        {edit("with "+rowA, flip(rowA, "valuE 1001")), "in the archive, TABLE DATA public.a: digest; in the copy, TABLE DATA public.a: digest"},
		"a row removed":       {edit("with "+rowA, flip("1001\tvalue 1001\n", "")), "TABLE DATA public.a"},
		"rows swapped":        {edit("with "+rowA, flip("1001\tvalue 1001\n1002\tvalue 1002\n", "1001\tvalue 1002\n1002\tvalue 1001\n")), "TABLE DATA public.a"},
		"cut after a row":     {edit("with "+rowA, func(b []byte) []byte { return b[:bytes.Index(b, []byte("1500\t"))] }), "public.a"},
		"ended early":         {edit("with "+rowA, func(b []byte) []byte { return append(b[:bytes.Index(b, []byte("1500\t"))], "\\.\n\n\n"...) }), "TABLE DATA public.a"},
		"data removed":        {edit("with "+rowA, func([]byte) []byte { return nil }), "no such file"},
		"large object":        {edit("with a large object", flip("large", "Large")), "BLOBS"},
		"a view's definition": {edit("toc.dat", flip("12345", "12346")), "VIEW public.v"},
		"a sequence's value":  {edit("toc.dat", flip("4321", "4322")), "SEQUENCE SET public.s"},
		"contents cut":        {edit("toc.dat", func(b []byte) []byte { return b[:len(b)/2] }), "table of contents"},
		"contents removed":    {edit("toc.dat", func([]byte) []byte { return nil }), "toc.dat"},
		"manifest changed":    {edit("manifest.json", flip(`"last_value":4321`, `"last_value":4322`)), "root"},
		"manifest cut":        {edit("manifest.json", func(b []byte) []byte { return b[:len(b)/2] }), "manifest"},
		"manifest newer":      {edit("manifest.json", flip(`"version": 1`, `"version": 99`)), "newer"},
		"files swapped": {func(t *testing.T, archive string) {
			a, b := fileWith(t, archive, rowA), fileWith(t, archive, rowB)
			for _, r := range [][2]string{{a, a + "x"}, {b, a}, {a + "x", b}} {
				if err := os.Rename(r[0], r[1]); err != nil {
					t.Fatal(err)
				}
			}
		}, "TABLE DATA public.a"},
		"manifest of another backup": {func(t *testing.T, archive string) {
			copyFile(t, filepath.Join(earlier, "manifest.json"), filepath.Join(archive, "manifest.json"))
		}, "TABLE DATA public.a"},
		"data of another backup": {func(t *testing.T, archive string) {
			copyFile(t, fileWith(t, earlier, rowA), fileWith(t, archive, rowA))
		}, "TABLE DATA public.a"},
	} {
		t.Run(name, func(t *testing.T) {
			archive := filepath.Join(t.TempDir(), "archive")
			if err := os.CopyFS(archive, os.DirFS(good)); err != nil {
				t.Fatal(err)
			}
			c.tamper(t, archive)
			r, err := pgarchive.Open(archive, pgarchive.FormatUnknown)
			var report *drill.Report
			if err == nil {
				defer r.Close()
				report, err = drill.Run(t.Context(), archive, r, drill.Options{Provider: shared{s.DSN}, Inspect: inspect})
			}
			var text []string
			if err != nil {
				text = []string{err.Error()}
			} else {
				for _, f := range report.Differences {
					text = append(text, f.String())
				}
			}
			passed := err == nil && report.Passed
			all := strings.Join(text, "\n")
			for _, want := range strings.Split(c.want, "; ") {
				if passed != (want == "") || !strings.Contains(all, want) {
					t.Errorf("passed %v, want %q: %s", passed, want, all)
				}
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
