package pgarchive_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/pgarchive"
)

func session(t *testing.T, entries []*pgarchive.Entry, o *pgarchive.ScriptOptions) (*pgarchive.Session, *pgarchive.Selected) {
	t.Helper()
	sel, err := o.Select(entries)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pgarchive.NewSession(entries, sel, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, sel
}

// A session is told nothing that its server does not know.
func TestSessionStart(t *testing.T) {
	entries := small().Entries
	for _, c := range []struct {
		target int
		lacks  []string
	}{
		{0, nil},
		{180000, nil},
		{160000, []string{"transaction_timeout = 0;"}},
		{90200, []string{"SET transaction_timeout", "SET idle_in_transaction_session_timeout", "SET lock_timeout", "SET row_security"}},
	} {
		o := pgarchive.NewScriptOptions()
		o.TargetVersion = c.target
		s, _ := session(t, entries, o)
		got := strings.Join(s.Start(), "\n")
		all := []string{"SET statement_timeout = 0;", "SET client_encoding = 'UTF8';", "SET client_min_messages = warning;"}
		if c.target == 0 || c.target >= 170000 {
			all = append(all, "SET transaction_timeout = 0;", "SET row_security = off;")
		}
		for _, want := range all {
			if !strings.Contains(got, want) {
				t.Errorf("target %d lacks %s", c.target, want)
			}
		}
		for _, bad := range c.lacks {
			if strings.Contains(strings.ReplaceAll(got, "idle_in_transaction_session", "idle"), strings.ReplaceAll(bad, "idle_in_transaction_session", "idle")) {
				t.Errorf("target %d has %s", c.target, bad)
			}
		}
	}
}

// A direct restore sends what a script says: the same statements in the same order.
func TestSessionLikeScript(t *testing.T) {
	archives := zoo(t)
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		for _, c := range scriptCases {
			if c.name == "create" || c.name == "create-transactions" || c.name == "verbose" || strings.Contains(strings.Join(c.args, " "), "transaction") {
				continue // with what only a script has
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				r, err := pgarchive.Open(archives[name], 0)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				o := c.options()
				s, sel := session(t, r.Entries(), o)
				got := s.Start()
				for _, d := range s.Drops(r.Entries()) {
					got = append(got, d.SQL...)
				}
				for _, e := range sel.Order(r.Entries()) {
					w := sel.Wanted(e.ID)
					got = append(got, s.Entry(e, w)...)
					if e.HasData && w&pgarchive.WantData != 0 {
						got = append(got, s.BeginData(e)...)
						got = append(got, s.EndData(e)...)
					}
				}
				var b bytes.Buffer
				if err := pgarchive.WriteScript(ctx, &b, dataless{r}, o); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(sqlLines(b.String()), sqlLines(strings.Join(got, "\n"))); d != "" {
					t.Errorf("session differs from script (-script +session):\n%.4000s", d)
				}
			})
		}
	}
}

// sqlLines returns the lines of a script that are neither empty nor comment, meta-commands or a frame of data.
func sqlLines(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "--") || strings.HasPrefix(line, `\`) || strings.HasPrefix(line, "COPY ") ||
			line == "BEGIN;" || line == "COMMIT;" {
			continue
		}
		out = append(out, line)
	}
	return out
}

// dataless is an archive without its data.
type dataless struct{ pgarchive.Reader }

func (d dataless) Data(ctx context.Context, id pgarchive.ID) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

func (d dataless) LargeObjects(ctx context.Context, id pgarchive.ID) (pgarchive.LargeObjectReader, error) {
	return noLOs{}, nil
}

type noLOs struct{}

func (noLOs) Next() (uint32, io.Reader, error) { return 0, nil, io.EOF }
func (noLOs) Close() error                     { return nil }

func TestTrimCopyEnd(t *testing.T) {
	long := strings.Repeat("0123456789\n", 50_000)
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{pgarchive.CopyEnd, ""},
		{"a\n" + pgarchive.CopyEnd, "a\n"},
		{"a\n", "a\n"},
		{"a", "a"},
		{"\\.\n\n", "\\.\n\n"},
		{pgarchive.CopyEnd + pgarchive.CopyEnd, pgarchive.CopyEnd},
		{long, long},
		{long + pgarchive.CopyEnd, long},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			got, err := io.ReadAll(pgarchive.TrimCopyEnd(r))
			if err != nil || string(got) != c.want {
				t.Errorf("TrimCopyEnd(%.20q): %d bytes, error %v; want %d", c.in, len(got), err, len(c.want))
			}
		}
	}
	if _, err := io.ReadAll(pgarchive.TrimCopyEnd(iotest.ErrReader(errFull))); err != errFull {
		t.Errorf("error %v", err)
	}
}

// Data of a COPY get the end that psql and pg_restore need, if they lack it.
func TestCopyEndAdded(t *testing.T) {
	const end = pgarchive.CopyEnd
	for _, c := range []struct{ in, want string }{
		{"", end},
		{end, end},
		{"a\n", "a\n" + end},
		{"a\n\\.\n", "a\n" + end},
		{"a\n\\.\n\n", "a\n" + end},
		{"a\n" + end, "a\n" + end},
		{"a\\\\.\n\n\n", "a\\\\.\n\n\n" + end}, // the row "a\." and two empty ones
	} {
		all := small()
		all.Data[3] = c.in
		var b bytes.Buffer
		w, err := pgarchive.NewCustomWriter(&b, target{pgarchive.FormatCustom, "none"}.options(t, all.Header))
		if err != nil {
			t.Fatal(err)
		}
		if err := all.write(w, nil); err != nil {
			t.Fatal(err)
		}
		got, err := readBytes(b.Bytes(), false)
		if err != nil {
			t.Fatal(err)
		}
		if got.Data[3] != c.want {
			t.Errorf("%q became %q, want %q", c.in, got.Data[3], c.want)
		}
	}
}

// Names with newlines stay within their comment, and keys are checked.
func TestScriptIsSafe(t *testing.T) {
	all := small()
	all.Entries[1].Tag = "x\n\\! echo hacked\n"
	all.Entries[1].Namespace = "s\r\nselect hacked();"
	all.Entries[1].Owner = "o\nselect hacked();"
	all.Header.ServerVersion = "18\nselect hacked();"
	o := pgarchive.NewScriptOptions()
	o.RestrictKey = testKey
	var b bytes.Buffer
	w, err := pgarchive.NewPlainWriter(&b, *o, pgarchive.WriterOptions{Header: all.Header})
	if err != nil {
		t.Fatal(err)
	}
	if err := all.write(w, nil); err != nil {
		t.Fatal(err)
	}
	inQuotes := false
	for line := range strings.Lines(b.String()) {
		if !inQuotes && (strings.HasPrefix(line, "select hacked") || strings.HasPrefix(line, `\!`)) {
			t.Errorf("line of its own: %s", line)
		}
		if strings.Count(line, `"`)%2 == 1 {
			inQuotes = !inQuotes
		}
	}
	for _, key := range []string{"", "a b", "a\n", "ä", "x;"} {
		if err := pgarchive.CheckRestrictKey(key); err == nil {
			t.Errorf("key %q was taken", key)
		}
	}
	if key := pgarchive.NewRestrictKey(); len(key) != 63 || pgarchive.CheckRestrictKey(key) != nil {
		t.Errorf("key %q", key)
	}
}
