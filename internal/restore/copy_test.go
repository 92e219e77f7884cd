package restore

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/pghaul/pghaul/internal/digest"
)

func TestLineCount(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		rows       int64
		ended      bool
	}{
		{"no rows", "\\.\n\n\n", 0, true},
		{"nothing at all", "", 0, false},
		{"two rows", "a\tb\nc\td\n\\.\n\n\n", 2, true},
		{"rows of a table without columns", "\n\n\n\\.\n\n\n", 3, true},
		{"truncated before the marker", "a\nb\n", 2, false},
		{"truncated within the marker", "a\nb\n\\.", 2, false},
		{"what looks like the marker inside a line", "a\\.\n\\.\n\n\n", 1, true},
		{"a line that begins like the marker", "\\N\n\\.x\n\\.\n\n\n", 2, true},
		{"a backslash alone", "\\\n\\.\n", 1, true},
		{"a row in bits", "\\\\.\n\\.\n", 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.data)+1; size++ {
				var c lineCount
				var rows int64
				for data := tt.data; data != ""; data = data[min(size, len(data)):] {
					rows += c.add([]byte(data[:min(size, len(data))]))
				}
				if rows != tt.rows || c.ended != tt.ended {
					t.Errorf("in pieces of %d: %d rows, ended %v; want %d, %v", size, rows, c.ended, tt.rows, tt.ended)
				}
			}
		})
	}
}

// The quick count and the digest agree on what is a row.
func TestLineCountAgreesWithDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a\\.]{0,4}`)).Draw(t, "lines")
		data := strings.Join(lines, "\n") + "\n\\.\n\n\n"
		var c lineCount
		var d digest.Lines
		var rows int64
		rest := []byte(data)
		for len(rest) > 0 {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			rows += c.add(rest[:n])
			if _, err := d.Write(rest[:n]); err != nil {
				return // rows after the end: not what COPY makes
			}
			rest = rest[n:]
		}
		if rows != d.Sum().Rows || c.ended != (d.Close() == nil) {
			t.Fatalf("%q: %d rows, digest says %d", data, rows, d.Sum().Rows)
		}
	})
}

func TestWithFreeze(t *testing.T) {
	for in, want := range map[string]string{
		"COPY public.t (a, b) FROM stdin;\n":                       "COPY public.t (a, b) FROM stdin WITH (FREEZE);\n",
		"COPY public.t  FROM stdin;\n":                             "COPY public.t  FROM stdin WITH (FREEZE);\n",
		"COPY public.t (a) FROM stdin WITH (FORMAT binary);\n":     "COPY public.t (a) FROM stdin WITH (FORMAT binary, FREEZE);\n",
		"COPY public.t (a) FROM stdin WITH BINARY;\n":              "COPY public.t (a) FROM stdin WITH BINARY;\n",
		"COPY public.\" FROM stdin WITH (\" (a) FROM stdin;\n":     "COPY public.\" FROM stdin WITH (\" (a) FROM stdin WITH (FREEZE);\n",
		"COPY public.\" FROM stdin WITH (x)\" (a) FROM program;\n": "COPY public.\" FROM stdin WITH (x)\" (a) FROM program;\n",
	} {
		if got := withFreeze(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if !isBinary("COPY a FROM stdin WITH (FORMAT binary);\n") || isBinary("COPY \"format binary\" FROM stdin;\n") {
		t.Error("binary format not told from text")
	}
}

func TestStatementSplitter(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		standard   bool
		want       []string
		err        error
	}{
		{name: "none", data: "\n\n", standard: true},
		{name: "two", data: "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);\n\n\n", standard: true,
			want: []string{"INSERT INTO t VALUES (1);", "INSERT INTO t VALUES (2);"}},
		{name: "semicolons and line feeds in strings", data: "INSERT INTO \"a;b\" VALUES ('x;\ny''z;');\n\n", standard: true,
			want: []string{"INSERT INTO \"a;b\" VALUES ('x;\ny''z;');"}},
		{name: "a backslash is only that", data: `INSERT INTO t VALUES ('\');INSERT INTO t VALUES (2);`, standard: true,
			want: []string{`INSERT INTO t VALUES ('\');`, "INSERT INTO t VALUES (2);"}},
		{name: "a backslash escapes", data: `INSERT INTO t VALUES ('\';\\');X;`,
			want: []string{`INSERT INTO t VALUES ('\';\\');`, "X;"}},
		{name: "several lines", data: "INSERT INTO t VALUES\n\t(1),\n\t(2);\n", standard: true,
			want: []string{"INSERT INTO t VALUES\n\t(1),\n\t(2);"}},
		{name: "truncated", data: "INSERT INTO t VALUES (1);\nINSERT INTO t VALU", standard: true,
			want: []string{"INSERT INTO t VALUES (1);"}, err: errUnfinished},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(tt.data), iotest.OneByteReader(strings.NewReader(tt.data))} {
				s := statementSplitter{in: in, standard: tt.standard}
				var got []string
				var err error
				for {
					var sql string
					if sql, err = s.next(); err != nil {
						break
					}
					got = append(got, sql)
				}
				if err == io.EOF {
					err = nil
				}
				if strings.Join(got, "|") != strings.Join(tt.want, "|") || !errors.Is(err, tt.err) {
					t.Errorf("got %q, %v; want %q, %v", got, err, tt.want, tt.err)
				}
			}
		})
	}
}

func TestFill(t *testing.T) {
	broken := errors.New("broken")
	b := make([]byte, 4)
	if n, err := fill(iotest.OneByteReader(strings.NewReader("abcdef")), b); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := fill(iotest.DataErrReader(strings.NewReader("ab")), b); n != 2 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := fill(io.MultiReader(bytes.NewReader([]byte("a")), iotest.ErrReader(broken)), b); n != 1 || err != broken {
		t.Errorf("%d, %v", n, err)
	}
}
