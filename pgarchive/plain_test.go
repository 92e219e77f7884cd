package pgarchive_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/pgarchive"
)

// A plain archive made from the entries and data of a custom one is what pg_dump -Fp
// wrote of the same database.
func TestPlainLikeStock(t *testing.T) {
	for _, c := range []struct {
		archive, script string
		set             func(o *pgarchive.ScriptOptions)
	}{
		{"pg18-gzip.custom", "plain-pg18.sql", func(o *pgarchive.ScriptOptions) {}},
		{"pg18-inserts.custom", "plain-pg18-create-inserts.sql", func(o *pgarchive.ScriptOptions) { o.CreateDB, o.Clean, o.IfExists = true, true, true }},
	} {
		for _, compression := range []string{"none", "gzip", "lz4", "zstd"} {
			t.Run(c.script+"/"+compression, func(t *testing.T) {
				want, err := os.ReadFile(filepath.Join("testdata", "zoo", c.script))
				if err != nil {
					t.Fatal(err)
				}
				all := readFile(t, zoo(t)[c.archive])
				tg := target{pgarchive.FormatPlain, compression}
				o := tg.options(t, all.Header)
				o.Script = pgarchive.NewScriptOptions()
				o.Script.RestrictKey = testKey
				c.set(o.Script)
				path := filepath.Join(t.TempDir(), "x.sql")
				w, err := pgarchive.Create(path, pgarchive.FormatPlain, o)
				if err != nil {
					t.Fatal(err)
				}
				if err := all.write(w, map[string]string{"manifest.json": "{}"}); err != nil {
					t.Fatal(err)
				}
				if got := decompress(t, path, o.Header.Compression); got != string(want) {
					t.Errorf("script differs from pg_dump's (-stock +ours):\n%s", clipDiff(string(want), got))
				}
				if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(names) > 0 {
					t.Errorf("left over: %q", names)
				}
			})
		}
	}
}

// Data that are not wanted need not be given, those that are must, and in order.
func TestPlainOrder(t *testing.T) {
	all := readFile(t, zoo(t)["pg18-gzip.custom"])
	start := func(set func(o *pgarchive.ScriptOptions)) (pgarchive.Writer, *bytes.Buffer, []*pgarchive.Entry) {
		s := pgarchive.NewScriptOptions()
		set(s)
		var b bytes.Buffer
		w, err := pgarchive.NewPlainWriter(&b, *s, pgarchive.WriterOptions{Header: all.Header})
		if err != nil {
			t.Fatal(err)
		}
		var data []*pgarchive.Entry
		for _, e := range all.Entries {
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
			if e.HasData {
				data = append(data, e)
			}
		}
		return w, &b, data
	}
	all.Header.Compression = pgarchive.Compression{}

	w, b, _ := start(func(o *pgarchive.ScriptOptions) { o.DumpData = false })
	if err := w.Close(); err != nil {
		t.Errorf("without data: %v", err)
	}
	if !strings.HasSuffix(b.String(), "\n\n") || strings.Contains(b.String(), "COPY") {
		t.Error("a script without data has data or no end")
	}

	w, _, _ = start(func(o *pgarchive.ScriptOptions) {})
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "were not written") {
		t.Errorf("data that are missing: error %v", err)
	}

	w, _, data := start(func(o *pgarchive.ScriptOptions) {})
	if _, err := w.Data(data[1].ID); err == nil {
		t.Error("data out of order: no error")
	}
}
