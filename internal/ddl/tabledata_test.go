package ddl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/pgtest"
)

// col is a column of a base type.
func col(name string, oid uint32) catalog.Column {
	return catalog.Column{Name: name, TypeOID: oid, BaseType: oid}
}

func tableData(columns ...catalog.Column) *catalog.TableData {
	t := &catalog.Table{RelKind: 'r', Columns: columns}
	t.Name, t.Schema, t.AccessMethod = "T", &catalog.Schema{}, "heap"
	t.Schema.Name = "app"
	d := &catalog.TableData{Table: t}
	d.Kind = catalog.KindTableData
	return d
}

func TestInserter(t *testing.T) {
	gen := col("g", 23)
	gen.Generated = 's'
	gone := col("gone", 0)
	gone.Dropped = true
	all := []catalog.Column{col("i", 23), gone, col("f", 701), col("b", 16), col("bits", 1560), col("s", 25), gen}
	values := [][][]byte{
		{[]byte("-1"), []byte("NaN"), []byte("t"), []byte("101"), []byte(`it's \`), nil},
		{nil, []byte("1e+30"), []byte("f"), nil, []byte(""), nil},
		{[]byte("7"), []byte("-Infinity"), nil, []byte("0"), nil, nil},
	}
	const (
		row1 = `-1, 'NaN', true, B'101', 'it''s \', DEFAULT`
		row2 = `NULL, 1e+30, false, NULL, '', DEFAULT`
		row3 = `7, '-Infinity', NULL, B'0', NULL, DEFAULT`
	)
	tests := []struct {
		name  string
		opts  catalog.Options
		query string
		want  string
		first int // fields of a row that are handed over
	}{
		{
			name: "one row a statement", opts: catalog.Options{Inserts: true}, first: 6,
			query: `SELECT i, f, b, bits, s, NULL FROM ONLY app."T"`,
			want: `INSERT INTO app."T" VALUES (` + row1 + ");\n" + `INSERT INTO app."T" VALUES (` + row2 + ");\n" +
				`INSERT INTO app."T" VALUES (` + row3 + ");\n\n\n",
		},
		{
			name: "two rows a statement", opts: catalog.Options{RowsPerInsert: 2, OnConflictDoNothing: true}, first: 6,
			query: `SELECT i, f, b, bits, s, NULL FROM ONLY app."T"`,
			want: "INSERT INTO app.\"T\" VALUES\n\t(" + row1 + "),\n\t(" + row2 + ") ON CONFLICT DO NOTHING;\n" +
				"INSERT INTO app.\"T\" VALUES\n\t(" + row3 + ") ON CONFLICT DO NOTHING;\n\n\n",
		},
		{
			name: "with column names", opts: catalog.Options{ColumnInserts: true}, first: 5,
			query: `SELECT i, f, b, bits, s FROM ONLY app."T"`,
			want: `INSERT INTO app."T" (i, f, b, bits, s) VALUES (` + strings.TrimSuffix(row1, ", DEFAULT") + ");\n" +
				`INSERT INTO app."T" (i, f, b, bits, s) VALUES (` + strings.TrimSuffix(row2, ", DEFAULT") + ");\n" +
				`INSERT INTO app."T" (i, f, b, bits, s) VALUES (` + strings.TrimSuffix(row3, ", DEFAULT") + ");\n\n\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := &catalog.Database{Options: test.opts, Info: catalog.Info{StdStrings: true}}
			in := ddl.NewInserter(db, tableData(all...))
			if in.Query() != test.query {
				t.Errorf("query %s, want %s", in.Query(), test.query)
			}
			var got []byte
			for _, v := range values {
				var err error
				if got, err = in.AppendRow(got, v[:test.first]); err != nil {
					t.Fatal(err)
				}
			}
			got = in.Finish(got)
			if string(got) != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if _, err := in.AppendRow(nil, values[0][:2]); err == nil {
				t.Error("no error for a row of two fields")
			}
		})
	}
}

func TestInserterWithoutColumns(t *testing.T) {
	db := &catalog.Database{Options: catalog.Options{RowsPerInsert: 10}}
	in := ddl.NewInserter(db, tableData())
	got, err := in.AppendRow(nil, [][]byte{nil})
	if err != nil {
		t.Fatal(err)
	}
	got, _ = in.AppendRow(got, [][]byte{nil})
	const row = "INSERT INTO app.\"T\" DEFAULT VALUES;\n"
	if want := row + row + "\n\n"; string(in.Finish(got)) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCopyStatements(t *testing.T) {
	gen := col("gen", 23)
	gen.Generated = 'v'
	d := tableData(col("a", 23), gen, col("B", 25))
	db := &catalog.Database{}
	if got, want := ddl.TableDataEntry(db, d).CopyStmt, "COPY app.\"T\" (a, \"B\") FROM stdin;\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := ddl.CopyToSQL(db, d), `COPY app."T" (a, "B") TO stdout`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := `COPY (SELECT a, "B" FROM ONLY app."T" WHERE ctid >= '(10,0)'::pg_catalog.tid AND ctid < '(20,0)'::pg_catalog.tid) TO stdout`
	if got := ddl.CopyRangeSQL(db, d, 10, 20); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !ddl.CanCopyRange(d) {
		t.Error("a plain table cannot be copied by ranges")
	}
	d.Filter = "WHERE a > 0"
	if got, want := ddl.CopyToSQL(db, d), `COPY (SELECT a, "B" FROM app."T" WHERE a > 0) TO stdout`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if ddl.CanCopyRange(d) {
		t.Error("a filtered table can be copied by ranges")
	}
}

// TestSequenceWithoutPrivilege: a value that may not be read is an error that names the sequence,
// and none when it is not dumped.
func TestSequenceWithoutPrivilege(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		s.EnsureRole(t, "pghaul_reader")
		db.Exec(t, `create schema app; grant usage on schema app to pghaul_reader; create sequence app.secret_seq; create sequence app.open_seq;
			grant select on app.open_seq to pghaul_reader`)
		readAs := func(o catalog.Options) error {
			d, info := begin(t, db)
			if err := d.Query(t.Context(), "SET ROLE pghaul_reader", func([][]byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
			_, err := catalog.Read(t.Context(), d, nil, info, o, nil)
			return err
		}
		if err := readAs(catalog.Options{}); err == nil || !strings.Contains(err.Error(), "secret_seq") {
			t.Errorf("error %v, want one that names secret_seq", err)
		}
		for _, o := range []catalog.Options{{NoData: true}, {ExcludeTableData: []string{"app.secret*"}}} {
			if err := readAs(o); err != nil {
				t.Errorf("with %+v: %v", o, err)
			}
		}
	})
}

// TestSessions reads the same over several sessions as over one.
func TestSessions(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.LoadSchema(t, "partition")
		first, info := begin(t, db)
		var snapshot string
		err := first.Query(t.Context(), "SELECT pg_catalog.pg_export_snapshot()", func(v [][]byte) error { snapshot = string(v[0]); return nil })
		if err != nil {
			t.Fatal(err)
		}
		var others []catalog.Opener
		for range 3 {
			d := dumper{db.Conn(t)}
			sql := fmt.Sprintf("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '%s'; SET LOCAL search_path = ''", snapshot)
			if err := d.Query(t.Context(), sql, func([][]byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
			others = append(others, func(context.Context) (catalog.Querier, error) { return d, nil })
		}
		text := func(others ...catalog.Opener) string {
			c, err := catalog.Read(t.Context(), first, others, info, catalog.Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := ddl.Entries(c, c.Objects)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, e := range entries {
				fmt.Fprintf(&b, "%+v\n", *e)
			}
			return b.String()
		}
		if text() != text(others...) {
			t.Error("four sessions read something else than one")
		}
	})
}
