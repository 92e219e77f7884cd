package ddl_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/order"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var (
	update = flag.Bool("update", false, "rewrite the goldens from the output of pg_dump 18")
	oracle = flag.Bool("oracle", false, "compare with pg_dump 18 itself also where the golden agrees")
)

// variant is one way to dump a schema file: arguments of pg_dump and what they mean for us.
type variant struct {
	args   []string
	adjust func(*catalog.Options, *pgarchive.ScriptOptions)
}

var schemaOnly = variant{
	args: []string{"-s"},
	adjust: func(o *catalog.Options, s *pgarchive.ScriptOptions) {
		o.NoData, s.DumpData, s.DumpStatistics = true, false, false
	},
}

// variants are the schema files that say more when dumped in another way than -s.
var variants = map[string]variant{
	"database": {
		args: []string{"-s", "-C"},
		adjust: func(o *catalog.Options, s *pgarchive.ScriptOptions) {
			schemaOnly.adjust(o, s)
			o.Create, s.CreateDB = true, true
		},
	},
	"extconfig":   {adjust: func(*catalog.Options, *pgarchive.ScriptOptions) {}},
	"largeobject": {adjust: func(*catalog.Options, *pgarchive.ScriptOptions) {}},
	"sequence":    {adjust: func(*catalog.Options, *pgarchive.ScriptOptions) {}},
	"tabledata":   {adjust: func(*catalog.Options, *pgarchive.ScriptOptions) {}},
	"relstats": {
		args: []string{"--no-data", "--statistics"},
		adjust: func(o *catalog.Options, s *pgarchive.ScriptOptions) {
			o.NoData, s.DumpData = true, false
			o.Statistics, s.DumpStatistics = true, true
		},
	},
	"order": {adjust: func(*catalog.Options, *pgarchive.ScriptOptions) {}},
	"clean": {
		args: []string{"-s", "-c", "--if-exists"},
		adjust: func(o *catalog.Options, s *pgarchive.ScriptOptions) {
			schemaOnly.adjust(o, s)
			o.Clean, s.Clean, o.IfExists, s.IfExists = true, true, true, true
		},
	},
}

// TestGolden loads each testdata/schemas/*.sql into every server at hand and compares our script with the golden, which
// pg_dump 18 wrote on a server of version 18. On an older server, where a file makes other objects, pg_dump 18 is
// asked itself. Goldens are rewritten by -update; -oracle asks pg_dump also where the golden agrees.
func TestGolden(t *testing.T) {
	root := pgtest.Root(t)
	files, err := filepath.Glob(filepath.Join(root, "testdata", "schemas", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema files in testdata/schemas (%v)", err)
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".sql")
			t.Run(name, func(t *testing.T) {
				v, ok := variants[name]
				if !ok {
					v = schemaOnly
				}
				db := s.NewDatabase(t, pgtest.Options{Suffix: name})
				db.LoadSchema(t, name)
				got := script(t, db, v)

				golden := strings.TrimSuffix(file, ".sql") + ".golden"
				if s.Major == 18 && *update {
					writeGolden(t, golden, db, v)
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatalf("%v (write it with -update beside a pg_dump 18)", err)
				}
				same := string(want) == got
				if s.Major == 18 && !same {
					t.Errorf("against %s (-golden +ours):\n%s", filepath.Base(golden), diffLines(string(want), got))
				}
				if same && !*oracle || s.Major == 18 && !*oracle {
					return
				}
				text, ok := oracleScript(t, db, v)
				switch {
				case !ok && s.Major == 18:
				case !ok:
					pgtest.Missing(t, "pg_dump 18, to write what "+filepath.Base(golden)+" would be on an older server")
				case text != got:
					t.Errorf("against pg_dump (-pg_dump +ours):\n%s", diffLines(text, got))
				}
			})
		}
	})
}

// writeGolden writes pg_dump's script of the database.
func writeGolden(t *testing.T, file string, db *pgtest.DB, v variant) {
	t.Helper()
	text, ok := oracleScript(t, db, v)
	if !ok {
		pgtest.Missing(t, "pg_dump 18")
		return
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func diffLines(want, got string) string {
	return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
}

// dumper reads a database as the dump does, without its connection layer.
type dumper struct{ conn *pgconn.PgConn }

func (d dumper) Query(ctx context.Context, sql string, row func(values [][]byte) error) error {
	results := d.conn.Exec(ctx, sql)
	for results.NextResult() {
		r := results.ResultReader()
		for r.NextRow() {
			if err := row(r.Values()); err != nil {
				results.Close()
				return err
			}
		}
		if _, err := r.Close(); err != nil {
			results.Close()
			return fmt.Errorf("%w\n%s", err, sql)
		}
	}
	if err := results.Close(); err != nil {
		return fmt.Errorf("%w\n%s", err, sql)
	}
	return nil
}

// begin opens a transaction with pg_dump's session settings.
func begin(t *testing.T, db *pgtest.DB) (dumper, catalog.Info) {
	t.Helper()
	conn := db.Conn(t)
	d := dumper{conn}
	set := `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL DateStyle = ISO; SET LOCAL IntervalStyle = postgres; SET LOCAL extra_float_digits = 3; SET LOCAL synchronize_seqscans = off;
SELECT pg_catalog.set_config('search_path', '', false)`
	if err := d.Query(t.Context(), set, func([][]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return d, catalog.Info{
		Name:          db.Name,
		Version:       db.Server.Version,
		VersionString: conn.ParameterStatus("server_version"),
		Encoding:      conn.ParameterStatus("server_encoding"),
		StdStrings:    conn.ParameterStatus("standard_conforming_strings") == "on",
		User:          conn.ParameterStatus("session_authorization"),
	}
}

// read reads and orders a database.
func read(t *testing.T, db *pgtest.DB, o catalog.Options) (dumper, *catalog.Database, []catalog.Object) {
	t.Helper()
	d, info := begin(t, db)
	if o.QuoteAllIdentifiers {
		if err := d.Query(t.Context(), "SET LOCAL quote_all_identifiers = true", func([][]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Read(t.Context(), d, nil, info, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	ordered, err := order.Sort(c)
	if err != nil {
		t.Fatal(err)
	}
	return d, c, ordered
}

// script is our script of the database.
func script(t *testing.T, db *pgtest.DB, v variant) string {
	t.Helper()
	var o catalog.Options
	so := *pgarchive.NewScriptOptions()
	so.RestrictKey = "key"
	v.adjust(&o, &so)
	d, c, ordered := read(t, db, o)
	entries, err := ddl.Entries(c, ordered)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := pgarchive.NewPlainWriter(&out, so, pgarchive.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	sel, err := so.Selection.Select(entries)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.HasData && sel.Wanted(e.ID)&pgarchive.WantData != 0 {
			writeData(t, d, c, w, e)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return normal(out.String(), db)
}

func writeData(t *testing.T, d dumper, c *catalog.Database, w pgarchive.Writer, e *pgarchive.Entry) {
	t.Helper()
	if e.Desc == "BLOBS" {
		lw, err := w.LargeObjects(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, oid := range c.ByDumpID(catalog.DumpID(e.ID)).(*catalog.LargeObject).OIDs {
			one, err := lw.Create(oid)
			if err != nil {
				t.Fatal(err)
			}
			sql := fmt.Sprintf("SELECT pg_catalog.encode(pg_catalog.lo_get(%d), 'hex')", oid)
			if err := d.Query(t.Context(), sql, func(v [][]byte) error {
				b, err := hex.DecodeString(string(v[0]))
				if err == nil {
					_, err = one.Write(b)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := one.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := lw.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := w.Data(e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if e.CopyStmt == "" {
		in := ddl.NewInserter(c, c.ByDumpID(catalog.DumpID(e.ID)).(*catalog.TableData))
		err := d.Query(t.Context(), in.Query(), func(v [][]byte) error {
			text, err := in.AppendRow(nil, v)
			if err == nil {
				_, err = data.Write(text)
			}
			return err
		})
		if err == nil {
			_, err = data.Write(in.Finish(nil))
		}
		if err == nil {
			err = data.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	sql := ddl.CopyToSQL(c, c.ByDumpID(catalog.DumpID(e.ID)).(*catalog.TableData))
	if _, err := d.conn.CopyTo(t.Context(), data, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
}

var programLine = regexp.MustCompile(`(?m)^-- Dumped (from|by) .*\n`)

// normal takes out of a script what names the program, the server's minor version and the test's database.
func normal(script string, db *pgtest.DB) string {
	return strings.ReplaceAll(programLine.ReplaceAllString(script, ""), db.Name, "DATABASE")
}

// Later minor versions of 17 keep an option of their own for each column. Their pg_dump leaves it out, as we do;
// that of 18 does not know it.
var (
	attverLine = regexp.MustCompile(`(?m)^ALTER (FOREIGN )?TABLE ONLY [^;]*? SET \(pg_attver=\d+\);\n`)
	attverMore = regexp.MustCompile(`(pg_attver=\d+, |, pg_attver=\d+)`)
)

// oracleScript is the script of pg_dump 18, if it is at hand; older ones write other text.
func oracleScript(t *testing.T, db *pgtest.DB, v variant) (string, bool) {
	t.Helper()
	program, ok := pgtest.StockProgram(t, 18, "pg_dump")
	if !ok {
		return "", false
	}
	args := append(slices.Clone(v.args), "--restrict-key=key")
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), append(db.Env(), "LC_ALL=C.UTF-8")...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("pg_dump %s: %v\n%s", strings.Join(args, " "), err, talk.String())
	}
	return attverMore.ReplaceAllString(attverLine.ReplaceAllString(normal(string(out), db), ""), ""), true
}
