package rescue

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/pgarchive"
)

// archive writes an archive with a few tables.
func archive(t *testing.T) pgarchive.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.dump")
	w, err := pgarchive.Create(path, pgarchive.FormatCustom, pgarchive.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	entries := []*pgarchive.Entry{
		{ID: 1, Desc: "ENCODING", Tag: "ENCODING", Section: pgarchive.SectionPreData, Defn: "SET client_encoding = 'UTF8';\n"},
		{ID: 2, Desc: "DOMAIN", Namespace: "public", Tag: "positive", Section: pgarchive.SectionPreData,
			Defn: "CREATE DOMAIN public.positive AS integer\n\tCONSTRAINT c CHECK ((VALUE > 0));\n"},
		{ID: 3, Desc: "TABLE", Namespace: "public", Tag: "t", Section: pgarchive.SectionPreData, Defn: `CREATE TABLE public.t (
    id public.positive NOT NULL,
    "a ""b" character varying(20) DEFAULT 'x, "y" (z'::character varying,
    n numeric(10,2),
    at timestamp(3) without time zone,
    CONSTRAINT c CHECK ((n > (0)::numeric))
);
`},
		{ID: 4, Desc: "SEQUENCE", Namespace: "public", Tag: "t_id_seq", Section: pgarchive.SectionPreData,
			Defn: "ALTER TABLE public.t ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (\n    SEQUENCE NAME public.t_id_seq\n);\n"},
		{ID: 5, Desc: "TABLE", Namespace: "app", Tag: "t", Section: pgarchive.SectionPreData, Defn: "CREATE TABLE app.t (\n    x integer\n)\nINHERITS (public.t);\n"},
		{ID: 6, Desc: "TABLE", Namespace: "public", Tag: "parts", Section: pgarchive.SectionPreData, Defn: "CREATE TABLE public.parts (\n    k integer,\n    v text\n)\nPARTITION BY RANGE (k);\n"},
		{ID: 7, Desc: "TABLE ATTACH", Namespace: "public", Tag: "p1", Section: pgarchive.SectionPreData, Defn: "ALTER TABLE ONLY public.parts ATTACH PARTITION public.p1 FOR VALUES FROM (0) TO (10);\n"},
		{ID: 8, Desc: "TABLE ATTACH", Namespace: "public", Tag: "p2", Section: pgarchive.SectionPreData, Defn: "ALTER TABLE ONLY public.parts ATTACH PARTITION public.p2 FOR VALUES FROM (10) TO (20);\n"},
		{ID: 9, Desc: "VIEW", Namespace: "public", Tag: "v", Section: pgarchive.SectionPreData, Defn: "CREATE VIEW public.v AS\n SELECT 1;\n"},
	}
	data := map[pgarchive.ID]string{
		20: "1\tone\t1.50\t\\N\n2\t\t\\N\t2026-01-01 00:00:00\n10\tten\\\\\\n\t-3\t\\N\n\\.\n\n\n",
		21: "7\n\\.\n\n\n", 22: "1\ta\n3\tc\n\\.\n\n\n", 23: "d\t14\n\\.\n\n\n",
		24: "PGCOPY", 25: "INSERT INTO public.i VALUES (1);\n",
	}
	for _, e := range []pgarchive.Entry{
		{ID: 20, Namespace: "public", Tag: "t", CopyStmt: "COPY public.t (id, \"a \"\"b\", n, at) FROM stdin;\n"},
		{ID: 21, Namespace: "app", Tag: "t", CopyStmt: "COPY app.t (x) FROM stdin;\n"},
		{ID: 22, Namespace: "public", Tag: "p1", CopyStmt: "COPY public.p1 (k, v) FROM stdin;\n"},
		{ID: 23, Namespace: "public", Tag: "p2", CopyStmt: "COPY public.p2 (v, k) FROM stdin;\n"},
		{ID: 24, Namespace: "public", Tag: "b", CopyStmt: "COPY public.b (x) FROM stdin WITH (FORMAT binary);\n"},
		{ID: 25, Namespace: "public", Tag: "i"},
	} {
		e.Desc, e.Section, e.HasData = "TABLE DATA", pgarchive.SectionData, true
		entries = append(entries, &e)
	}
	entries = append(entries, &pgarchive.Entry{ID: 30, Desc: "CONSTRAINT", Namespace: "public", Tag: "t t_pkey", Section: pgarchive.SectionPostData,
		Defn: "ALTER TABLE ONLY public.t\n    ADD CONSTRAINT t_pkey PRIMARY KEY (id);\n"})
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range entries {
		if !e.HasData {
			continue
		}
		d, err := w.Data(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(d, data[e.ID]); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := pgarchive.Open(path, pgarchive.FormatUnknown)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestFind(t *testing.T) {
	r := archive(t)
	table, err := Find(r, "public.t")
	if err != nil {
		t.Fatal(err)
	}
	want := []Column{{"id", "integer"}, {`a "b`, "character varying"}, {"n", "numeric"}, {"at", "timestamp without time zone"}}
	if !slices.Equal(table.Columns, want) || !slices.Equal(table.PrimaryKey, []string{"id"}) || !table.always {
		t.Errorf("table is %+v", table)
	}
	if inherited, err := Find(r, "app.t"); err != nil || inherited.Columns[0] != (Column{"x", "integer"}) {
		t.Errorf("app.t: %+v, %v", inherited, err)
	}
	if parts, err := Find(r, "parts"); err != nil || len(parts.Pieces) != 2 {
		t.Errorf("parts: %+v, %v", parts, err)
	}
	for name, want := range map[string]string{
		"t": "name one of app.t, public.t", "public.T": "did you mean", "v": "is a view", "b": "binary form", "i": "INSERT statements",
		"nothing like that": "no such table", `"public.t"`: "no such table", "a.b.c": "neither NAME nor SCHEMA.NAME", `"x`: "quotes do not end",
	} {
		if _, err := Find(r, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestRun(t *testing.T) {
	r := archive(t)
	for _, c := range []struct {
		name, table string
		o           Options
		want        string
	}{
		{"inserts", "public.t", Options{Key: []string{"2..10"}},
			"-- -\nBEGIN;\nSET LOCAL client_encoding = 'UTF8';\nSET LOCAL xmloption = content;\n\n" +
				`INSERT INTO public.t (id, "a ""b", n, at) OVERRIDING SYSTEM VALUE VALUES ('2', '', NULL, '2026-01-01 00:00:00');` + "\n" +
				`INSERT INTO public.t (id, "a ""b", n, at) OVERRIDING SYSTEM VALUE VALUES ('10', E'ten\\` + "\n', '-3', NULL);\n\nCOMMIT;\n"},
		{"csv", "public.t", Options{As: CSV, Key: []string{"1,2"}}, "id,\"a \"\"b\",n,at\n1,one,1.50,\n2,\"\",,2026-01-01 00:00:00\n"},
		{"another column", "public.t", Options{As: CSV, Column: "n", Key: []string{"..0"}}, "id,\"a \"\"b\",n,at\n10,\"ten\\\n\",-3,\n"},
		{"escaped key", "public.t", Options{As: CSV, Column: `a "b`, Key: []string{"ten\\\n"}}, "id,\"a \"\"b\",n,at\n10,\"ten\\\n\",-3,\n"},
		{"partitions with columns in another order", "parts", Options{As: Copy, Jobs: 2},
			"-- -\nBEGIN;\nSET LOCAL client_encoding = 'UTF8';\nSET LOCAL xmloption = content;\n\nCOPY public.parts (k, v) FROM stdin;\n1\ta\n3\tc\n14\td\n\\.\n\nCOMMIT;\n"},
		{"one key in the second partition", "parts", Options{As: CSV, Column: "k", Key: []string{"14"}}, "k,v\n14,d\n"},
		{"nothing", "public.t", Options{Key: []string{"11"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := Find(r, c.table)
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewPlan(r, table, c.o)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := p.Run(t.Context(), &out); err != nil || out.String() != c.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), c.want)
			}
		})
	}
	table, _ := Find(r, "public.t")
	for _, o := range []Options{{Key: []string{"x"}}, {Column: "id"}, {Column: "idd", Key: []string{"1"}}} {
		if _, err := NewPlan(r, table, o); err == nil {
			t.Errorf("options %+v are accepted", o)
		}
	}
	p, err := NewPlan(r, table, Options{Sums: map[pgarchive.ID]digest.Sum{20: {Rows: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("another digest: %v", err)
	}
}

// A writer that fails ends the run, with rows still waiting.
func TestWriteFails(t *testing.T) {
	r := archive(t)
	table, err := Find(r, "parts")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(r, table, Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if _, err := p.Run(t.Context(), failing{full}); !errors.Is(err, full) {
		t.Errorf("error is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Whatever the texts of an archive are, looking through them ends.
func FuzzContents(f *testing.F) {
	f.Add("CREATE TABLE public.t (\n    a public.d,\n    b text DEFAULT E'\\'(',\n    CONSTRAINT c CHECK ((a > 0))\n)\nINHERITS (public.t, public.t);\n",
		"ALTER TABLE ONLY public.t ATTACH PARTITION public.t FOR VALUES FROM (0) TO (1);\n", "COPY public.t (a, \"b \"\"c\") FROM stdin;\n",
		"ALTER TABLE ONLY public.t\n    ADD CONSTRAINT t_pkey PRIMARY KEY (a, b WITHOUT OVERLAPS);\n", "CREATE DOMAIN public.d AS public.d;\n")
	f.Fuzz(func(t *testing.T, table, attach, copyStmt, constraint, domain string) {
		c := newContents([]*pgarchive.Entry{
			{Desc: "TABLE", Namespace: "public", Tag: "t", Defn: table}, {Desc: "TABLE ATTACH", Namespace: "public", Tag: "t", Defn: attach},
			{Desc: "TABLE ATTACH", Namespace: "public", Tag: "t", Defn: attach}, {Desc: "CONSTRAINT", Defn: constraint}, {Desc: "SEQUENCE", Defn: attach},
			{Desc: "DOMAIN", Namespace: "public", Tag: "d", Defn: domain},
		})
		here := at{"public", "t"}
		c.leaves(here)
		for _, typ := range c.columnTypes(here) {
			c.base(typ)
		}
		if _, err := copyColumns(copyStmt); err != nil && len(err.Error()) > 1000 {
			t.Errorf("error is %v", err)
		}
		if parts, err := splitName(table); err == nil {
			if _, err := c.lookUp(parts); err != nil && table == "t" {
				t.Error(err)
			}
		}
		if k, err := ParseKey([]string{domain}, texts); err == nil {
			k.Has([]byte(attach))
		}
	})
}
