package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// twoBackups backs a database up, changes it and backs it up again. It returns the store and the IDs.
func twoBackups(t *testing.T, db *pgtest.DB, change string) (store string, ids []string) {
	t.Helper()
	store = filepath.Join(t.TempDir(), "store")
	for i := range 2 {
		if i == 1 {
			db.Exec(t, change)
		}
		var made struct{ ID string }
		out := must(t, db, "pghaul", "backup", "--json", "--quiet", "--piece-size=1MB", "--to", store, "-d", db.DSN)
		if err := json.Unmarshal([]byte(out), &made); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	return store, ids
}

// Every kind of change between two backups is named, by manifests alone.
func TestDiff(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t, pgtest.Options{})
	db.Exec(t, `
CREATE TABLE same (a int);
CREATE TABLE grows (a int, b text); INSERT INTO grows SELECT i, repeat('x', 500) FROM generate_series(1, 5000) i;
CREATE TABLE goes (a int); INSERT INTO goes VALUES (1);
CREATE TABLE swaps (a int); INSERT INTO swaps VALUES (1);
CREATE SEQUENCE seq;
CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS $$ SELECT $1
+ 1 $$;
CREATE VIEW v AS SELECT 1 AS a;
CREATE EXTENSION hstore VERSION '1.7';
`)
	store, ids := twoBackups(t, db, `
UPDATE swaps SET a = 2;
INSERT INTO grows VALUES (0, 'y');
DROP TABLE goes;
CREATE TABLE comes (a int PRIMARY KEY);
SELECT nextval('seq');
CREATE OR REPLACE FUNCTION f(int) RETURNS int LANGUAGE sql AS $$ SELECT $1
+ 2 $$;
COMMENT ON VIEW v IS 'a view';
ALTER EXTENSION hstore UPDATE TO '1.8';
`)
	r := command(t, nil, nil, "pghaul", "diff", store, ids[0], ids[1])
	if r.code != 1 {
		t.Fatalf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, want := range []string{
		"DIFFERENT\n", "~ public.swaps: 1 rows, contents changed\n", "~ public.grows: 5,000 -> 5,001 rows (+1), ", "of 3 pieces: pages ", "- public.goes: 1 rows, 2 B\n",
		"+ public.comes: 0 rows", "+ TABLE public.comes\n", "+ CONSTRAINT public.comes comes_pkey\n", "- TABLE public.goes\n", "+ COMMENT public.VIEW v\n",
		"~ public.seq: value 1,false -> 1,true\n", "~ hstore: version 1.7 -> 1.8\n", "~ FUNCTION public.f(integer): definition\n", "    -+ 1 $_$;\n    ++ 2 $_$;\n",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout, "public.same") {
		t.Errorf("an equal table is named:\n%s", r.stdout)
	}
	t.Setenv("PGHAUL_STORE", store)
	var equal struct{ Identical bool }
	out := must(t, nil, "pghaul", "diff", "--json", ids[1], "latest")
	if err := json.Unmarshal([]byte(out), &equal); err != nil || !equal.Identical {
		t.Errorf("a backup and itself: %v\n%s", err, out)
	}
	// An archive has the same contents as the backup that was taken at the same time.
	file := filepath.Join(t.TempDir(), "x.dump")
	must(t, db, "pghaul", "dump", "-Fc", "-f", file, "-d", db.DSN)
	must(t, nil, "pghaul", "diff", "latest", file)
	if r := command(t, nil, nil, "pghaul", "diff", "latest"); r.code != 2 {
		t.Errorf("one operand: exit status %d", r.code)
	}
}

// Rows that are rescued are those of the server: its CSV byte for byte, and as statements the same rows in a copy of the table.
func TestRescue(t *testing.T) {
	s := pgtest.Newest(t)
	s.NeedTool(t, "psql")
	db := s.NewDatabase(t, pgtest.Options{})
	db.Exec(t, `
CREATE TABLE rows (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "Odd ""name" text, b bytea, n numeric, at timestamptz, u uuid, a text[], j jsonb, x xml, gone int, g int GENERATED ALWAYS AS (id * 2) STORED);
ALTER TABLE rows DROP COLUMN gone;
INSERT INTO rows ("Odd ""name", b, n, at, u, a, j, x)
SELECT CASE i % 8 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN E'tab\there\nnew\\line\r\v\b' WHEN 3 THEN 'quote " and '' and , and ;' WHEN 4 THEN '\N' WHEN 5 THEN '\.' WHEN 6 THEN ' ümläut ' ELSE repeat('long ', 300) END,
  decode(md5(i::text), 'hex'), (i - 3000) / 7.0, timestamptz '2026-01-01 UTC' + i * interval '1 minute', md5(i::text)::uuid, ARRAY['a b', NULL, '"\'], '{"k": "\\ \""}', '<a>&amp;</a>'
FROM generate_series(1, 6000) i;
CREATE TABLE single (v text); INSERT INTO single VALUES ('\.'), (''), (NULL), ('a');
`)
	store, ids := twoBackups(t, db, "DELETE FROM rows WHERE id BETWEEN 100 AND 4000")
	csv := func(sql string) string {
		return db.MustTool(t, "psql", "-XAtq", "-d", db.DSN, "-c", "COPY ("+sql+") TO STDOUT (FORMAT csv, HEADER)")
	}
	const columns = `id, "Odd ""name", b, n, at, u, a, j, x`

	for _, c := range []struct{ args, where string }{
		{"--key=..99", "id <= 99"},
		{"--key=4001..4500", "id BETWEEN 4001 AND 4500"},
		{"--key=1,50,5999", "id IN (1, 50, 5999)"},
		{"--column=n --key=-500..-417.25", "n BETWEEN -500 AND -417.25"},
		{"--column=u --key=00000000-0000-0000-0000-000000000000..0fffffff-ffff-ffff-ffff-ffffffffffff", "u < '10000000-0000-0000-0000-000000000000'"},
		{"--column=at --key=2026-01-05..2026-01-05", "at >= '2026-01-05 UTC' AND at < '2026-01-06 UTC'"},
	} {
		args := append([]string{"rescue", store, "--table", "public.rows", "--as", "csv"}, strings.Fields(c.args)...)
		same(t, c.args, csv("SELECT "+columns+" FROM rows WHERE "+c.where), must(t, db, "pghaul", args...))
	}
	same(t, "a table of one column", csv("SELECT * FROM single"), must(t, nil, "pghaul", "rescue", store, "-t", "single", "--as", "csv"))

	// What was deleted comes back, from the backup before.
	file := filepath.Join(t.TempDir(), "rows.sql")
	for _, as := range []string{"sql", "copy"} {
		db.Exec(t, "DELETE FROM rows WHERE id BETWEEN 100 AND 4000")
		must(t, db, "pghaul", "rescue", store, "--snapshot", ids[0], "--table", "rows", "--key", "100..4000", "--as", as, "-o", file)
		db.MustTool(t, "psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", db.DSN, "-f", file)
		if r := command(t, db, nil, "pghaul", "compare", "--snapshot", ids[0], store, db.DSN); r.code != 0 {
			t.Errorf("after %s: %s%s", as, r.stdout, r.stderr)
		}
	}

	none := filepath.Join(t.TempDir(), "none.csv")
	r := command(t, nil, nil, "pghaul", "rescue", store, "-t", "rows", "--key", "200..300", "-o", none)
	if _, err := os.Stat(none); r.code != 1 || err == nil || !strings.Contains(r.stderr, "no such row in public.rows") {
		t.Errorf("no rows: exit status %d, %v\n%s", r.code, err, r.stderr)
	}
	binary := filepath.Join(t.TempDir(), "binary.dump")
	must(t, db, "pghaul", "dump", "-Fc", "--copy-format=auto", "-f", binary, "-d", db.DSN)
	if r := command(t, nil, nil, "pghaul", "rescue", binary, "-t", "single"); r.code != 1 || !strings.Contains(r.stderr, "binary form") {
		t.Errorf("binary rows: exit status %d\n%s", r.code, r.stderr)
	}
	flip(t, filepath.Join(store, "*", ids[1], "*.dat.*"))
	if r := command(t, nil, nil, "pghaul", "rescue", store, "-t", "rows", "-o", none); r.code != 1 || !strings.Contains(r.stderr, "damaged") {
		t.Errorf("a flipped bit: exit status %d\n%s", r.code, r.stderr)
	}
}

// An estimate comes near the backup that is then taken, of tables with and without statistics, short and long rows.
func TestEstimate(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t, pgtest.Options{})
	db.Exec(t, `
CREATE TABLE counted (id int PRIMARY KEY, a text, b timestamptz);
INSERT INTO counted SELECT i, 'some text ' || i, now() FROM generate_series(1, 40000) i;
ANALYZE counted;
CREATE TABLE never (a text) WITH (autovacuum_enabled = off);
INSERT INTO never SELECT repeat(md5(i::text), 10) FROM generate_series(1, 8000) i;
CREATE TABLE long (a text, EXCLUDE USING hash (a WITH =));
ALTER TABLE long ALTER a SET STORAGE EXTERNAL;
INSERT INTO long SELECT (SELECT string_agg(md5(i || '-' || k), '') FROM generate_series(1, 400) k) FROM generate_series(1, 300) i;
CREATE TABLE parent (a int) PARTITION BY RANGE (a);
CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE TABLE nothing ();
SELECT lo_from_bytea(0, decode(repeat('00ff', 1000), 'hex'));
`)
	var e struct {
		Tables                           int
		Rows, Dump_Bytes, Stored_Bytes   int64
		Wire_Bytes, Locks, Large_Objects int64
		Backup_Seconds, Restore_Seconds  float64
		Problems                         []string
	}
	if err := json.Unmarshal([]byte(must(t, db, "pghaul", "estimate", "--json", db.DSN)), &e); err != nil {
		t.Fatal(err)
	}
	var made struct {
		Totals       struct{ Rows, Bytes int64 }
		Stored_Bytes int64
	}
	if err := json.Unmarshal([]byte(must(t, db, "pghaul", "backup", "--json", "--quiet", "--to", t.TempDir(), "-d", db.DSN)), &made); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want int64) {
		t.Helper()
		if ratio := float64(got) / float64(want); ratio < 1/1.5 || ratio > 1.5 {
			t.Errorf("%s: estimated %d, and there are %d: %.2f", what, got, want, ratio)
		}
	}
	near("rows", e.Rows, made.Totals.Rows)
	near("bytes", e.Dump_Bytes, made.Totals.Bytes)
	near("stored", e.Stored_Bytes, made.Stored_Bytes)
	if e.Tables != 5 || e.Locks != 6 || e.Large_Objects != 1 || e.Wire_Bytes <= e.Dump_Bytes || e.Backup_Seconds <= 0 || e.Restore_Seconds <= 0 || len(e.Problems) > 0 {
		t.Errorf("estimate: %+v", e)
	}
	out := must(t, db, "pghaul", "estimate", "--no-sample", "--egress-price", "0.5", "--bandwidth", "1MB", db.DSN)
	if !strings.Contains(out, "at $0.5 a GB") || !strings.Contains(out, " and 1.00 MiB/s") {
		t.Errorf("estimate:\n%s", out)
	}
	if r := command(t, db, nil, "pghaul", "estimate", "postgres://u:secret@localhost/x"); r.code != 2 || strings.Contains(r.stderr, "secret") {
		t.Errorf("a password on the command line: exit status %d\n%s", r.code, r.stderr)
	}
}

// A name of the configuration file stands for a database, its store and its settings.
func TestConfiguration(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t, pgtest.Options{})
	db.Exec(t, "CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1), (2); CREATE SCHEMA left_out; CREATE TABLE left_out.x (a int)")
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	file := filepath.Join(dir, "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("databases:\n  shop:\n    dsn: \"" + db.DSN + "\"\n    password: ${E2E_SECRET}\n    store: " + store + "\n    compress: gzip:1\n    schemas: {exclude: [left_*]}\n    retention: {last: 1}\n")
	t.Setenv("PGHAUL_CONFIG", file)
	t.Setenv("E2E_SECRET", "not shown")
	must(t, nil, "pghaul", "backup", "shop")
	must(t, nil, "pghaul", "backup", "--quiet", "--dbname=shop", "-Z", "zstd:1") // what is given counts
	var list []struct{ ID, Database string }
	if err := json.Unmarshal([]byte(must(t, nil, "pghaul", "list", "shop", "--json")), &list); err != nil || len(list) != 2 || list[0].Database != db.Name {
		t.Fatalf("list: %v, %+v", err, list)
	}
	for i, suffix := range []string{"gz", "zst"} {
		if files, _ := filepath.Glob(filepath.Join(store, "*", list[i].ID, "*.dat."+suffix)); len(files) != 1 {
			t.Errorf("backup %d has %d files of rows with suffix %s", i, len(files), suffix)
		}
	}
	if out := must(t, nil, "pghaul", "restore", "-l", "shop"); !strings.Contains(out, "TABLE DATA public t ") || strings.Contains(out, "left_out") {
		t.Errorf("restore -l:\n%s", out)
	}
	must(t, nil, "pghaul", "show", "shop")
	must(t, nil, "pghaul", "verify", "shop", "--snapshot", list[0].ID)
	must(t, nil, "pghaul", "diff", "shop", list[0].ID, "latest")
	must(t, nil, "pghaul", "rescue", "shop", "-t", "t", "--key", "2")
	must(t, nil, "pghaul", "estimate", "shop")
	must(t, nil, "pghaul", "compare", "shop", "shop")
	if out := must(t, nil, "pghaul", "prune", "shop", "--dry-run"); !strings.Contains(out, "remove "+db.Name+"/"+list[0].ID) {
		t.Errorf("prune:\n%s", out)
	}
	if r := command(t, nil, nil, "pghaul", "drill", "shop", "--quiet"); r.code != 0 {
		t.Errorf("drill: exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	write("databases:\n  shop:\n    dsn: x\n    stroe: y\n")
	if r := command(t, nil, nil, "pghaul", "list", "shop"); r.code != 1 || !strings.Contains(r.stderr, "did you mean store?") {
		t.Errorf("a wrong key: exit status %d\n%s", r.code, r.stderr)
	}
}
