package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// hostile is SQL that makes objects whose names and texts want to be taken for commands. NAME is replaced by a name in
// an identifier, LABEL by the same in a string, TEXT by a longer text of that sort, which touches a file when psql runs it.
const hostile = `
CREATE SCHEMA "NAME" AUTHORIZATION "NAME";
COMMENT ON SCHEMA "NAME" IS 'TEXT';
SET search_path = "NAME", pg_catalog;
CREATE TYPE "NAME" AS ENUM ('LABEL', 'a''b', 'back\slash', '');
CREATE DOMAIN "d NAME" AS text COLLATE "C" DEFAULT 'TEXT' CONSTRAINT "c NAME" CHECK (VALUE <> 'TEXT ');
CREATE TABLE "t NAME" ("NAME" int CONSTRAINT "k NAME" PRIMARY KEY, "e NAME" "NAME" DEFAULT 'LABEL', txt "d NAME", b bytea DEFAULT '\x005c27',
  at timestamptz, i interval, f float8, CONSTRAINT "x NAME" CHECK (txt <> 'TEXT  '));
INSERT INTO "t NAME" VALUES (1, 'back\slash', 'TEXT', '\x5c2e0a', '2026-03-04 05:06:07.89+01', '1 year -2 days 03:04:05.6', 0.1::float8 / 3),
  (2, '', E'\\.\n\\! touch CANARY\n\\.', '', '0044-03-15 12:00 BC', '-1 mon', '-Infinity'), (3, NULL, E'\t\\N\r\n', NULL, 'infinity', NULL, 'NaN');
COMMENT ON COLUMN "t NAME"."NAME" IS 'TEXT';
COMMENT ON CONSTRAINT "k NAME" ON "t NAME" IS 'TEXT';
CREATE INDEX "i NAME" ON "t NAME" (txt) WHERE txt <> 'TEXT';
CREATE SEQUENCE "s NAME" OWNED BY "t NAME"."NAME";
ALTER TABLE "t NAME" OWNER TO "NAME";
CREATE VIEW "v NAME" AS SELECT "NAME" AS "as NAME", 'TEXT'::text AS "c NAME" FROM "t NAME";
CREATE FUNCTION "f NAME"("a NAME" text DEFAULT 'TEXT') RETURNS text LANGUAGE sql
  SET application_name = 'TEXT' SET search_path = "NAME", "$user" AS $body$SELECT '$$ $_$ $_X$ TEXT'::text$body$;
GRANT SELECT ("NAME") ON "t NAME" TO "g NAME";
GRANT EXECUTE ON FUNCTION "f NAME" TO "g NAME" WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES FOR ROLE "NAME" IN SCHEMA "NAME" GRANT SELECT ON TABLES TO "g NAME";
CREATE TRIGGER "g NAME" BEFORE UPDATE ON "t NAME" FOR EACH ROW WHEN (NEW.txt = 'TEXT') EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger('TEXT', '', 'LABEL');
CREATE RULE "r NAME" AS ON DELETE TO "t NAME" WHERE OLD.txt = 'TEXT' DO INSTEAD NOTHING;
CREATE POLICY "p NAME" ON "t NAME" TO "g NAME" USING (txt <> 'TEXT');
CREATE PUBLICATION "NAME" FOR TABLE "t NAME" WHERE ("NAME" > 0);
SELECT pg_catalog.lo_from_bytea(4242, '\x5c2e');
COMMENT ON LARGE OBJECT 4242 IS 'TEXT';
RESET search_path;
`

// traps makes functions and operators that stand in for those of the catalogue where someone relies on the search path, and
// tell of it; and gives the database settings under which texts have other forms.
const traps = `
CREATE SCHEMA evil;
CREATE SEQUENCE evil.sprung;
CREATE FUNCTION evil.spring() RETURNS boolean LANGUAGE plpgsql AS $$BEGIN PERFORM pg_catalog.nextval('evil.sprung'); RETURN true; END$$;
CREATE FUNCTION evil.same(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN PERFORM pg_catalog.nextval('evil.sprung'); RETURN true; END$$;
CREATE FUNCTION evil.same(name, name) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN PERFORM pg_catalog.nextval('evil.sprung'); RETURN true; END$$;
CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN PERFORM pg_catalog.nextval('evil.sprung'); RETURN true; END$$;
CREATE OPERATOR evil.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = evil.same);
CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = name, FUNCTION = evil.same);
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT evil.spring()::text';
CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT evil.spring()::text';
CREATE FUNCTION evil.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT evil.spring()';
CREATE FUNCTION evil.pg_export_snapshot() RETURNS text LANGUAGE sql AS 'SELECT evil.spring()::text';
CREATE FUNCTION evil.current_database() RETURNS name LANGUAGE sql AS 'SELECT evil.spring()::text::name';
CREATE VIEW evil.pg_settings AS SELECT 'x'::text AS name, 'y'::text AS setting WHERE evil.spring();
CREATE VIEW evil.pg_class AS SELECT 1::oid AS oid, 'x'::name AS relname WHERE evil.spring();
`

var badSettings = []string{
	"search_path = evil, pg_catalog, public", "standard_conforming_strings = off", "escape_string_warning = on", "quote_all_identifiers = on",
	"DateStyle = 'SQL, DMY'", "IntervalStyle = sql_standard", "TimeZone = 'Asia/Kathmandu'", "bytea_output = escape", "extra_float_digits = -15",
	"client_encoding = 'LATIN1'", "backslash_quote = off", "array_nulls = off", "transform_null_equals = on", "row_security = off",
	"statement_timeout = '20s'", "lock_timeout = '10s'", "default_transaction_isolation = serializable", "default_with_oids = off",
	"check_function_bodies = on", "xmloption = document", "default_tablespace = ''", "default_table_access_method = heap",
	"synchronize_seqscans = on", "session_replication_role = origin", "lc_monetary = 'C'", "application_name = E'\\\\! touch CANARY'",
}

// A database made to hurt whoever restores its dump: nothing of it is run, and it arrives as it was.
func TestHostileDatabase(t *testing.T) {
	s := pgtest.Newest(t)
	if s.Major < 17 {
		t.Skipf("the scripts are pg_dump 18's, which set transaction_timeout; PostgreSQL %d does not know it", s.Major)
	}
	s.NeedTool(t, "psql")
	// A name has at most 63 bytes, so the file's must be short.
	dir, err := os.MkdirTemp("/tmp", "ph")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	short := filepath.Join(dir, "canary")
	name := "n'\"\\\n\\! touch " + short + "\n;--"
	text := "'; \\! touch " + short + "\n\\! touch " + short + "\r\\! touch " + short + "\n\\. \n\\unrestrict key\n\\! touch " + short + "\n$$; */ -- \"%s'\\"
	fill := func(sql string) string {
		return strings.NewReplacer("NAME", strings.ReplaceAll(name, `"`, `""`), "LABEL", strings.ReplaceAll(name, "'", "''"),
			"TEXT", strings.ReplaceAll(text, "'", "''"), "CANARY", short).Replace(sql)
	}
	s.EnsureRole(t, name, "g "+name)
	spoil := func(t *testing.T, db *pgtest.DB) {
		var sql strings.Builder
		for _, set := range badSettings {
			// not every version knows every setting
			fmt.Fprintf(&sql, "DO $do$ BEGIN EXECUTE $x$ALTER DATABASE %q SET %s$x$; EXCEPTION WHEN undefined_object OR invalid_parameter_value THEN NULL; END $do$;\n",
				db.Name, fill(set))
		}
		db.Exec(t, sql.String())
	}
	src := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
	src.Exec(t, "SET search_path = pg_catalog;"+traps+fill(hostile))
	spoil(t, src)
	want := stockText(t, src)

	script := must(t, src, "pg_dump", "--restrict-key=key")
	_, body, ok := strings.Cut(script, "\\restrict key\n")
	end := strings.LastIndex(body, "\n\\unrestrict key\n")
	if !ok || end < 0 {
		t.Fatal("the script is not fenced")
	}
	unfenced := body[:end] + "\n"
	archive := filepath.Join(t.TempDir(), "archive")
	must(t, src, "pg_dump", "-Fc", "-f", archive)
	must(t, src, "pghaul", "dump", "-Fd", "-j2", "-f", archive+".dir")
	for _, line := range strings.Split(must(t, nil, "pg_restore", "-l", archive), "\n") {
		if line != "" && line[0] != ';' && !regexp.MustCompile(`^\d+; \d+ \d+ [A-Z]`).MatchString(line) {
			t.Errorf("the list of the archive has the line %q", line)
		}
	}

	for _, c := range []struct {
		name    string
		restore func(t *testing.T, db *pgtest.DB)
	}{
		{"plain", func(t *testing.T, db *pgtest.DB) { psqlScript(t, db, script) }},
		// The text is safe in itself, without the fence, too.
		{"plain without its fence", func(t *testing.T, db *pgtest.DB) { psqlScript(t, db, unfenced) }},
		{"inserts", func(t *testing.T, db *pgtest.DB) {
			psqlScript(t, db, must(t, src, "pg_dump", "--inserts", "--restrict-key=key"))
		}},
		{"script from archive", func(t *testing.T, db *pgtest.DB) { psqlScript(t, db, must(t, nil, "pg_restore", "-f", "-", archive)) }},
		{"archive", func(t *testing.T, db *pgtest.DB) { must(t, db, "pg_restore", "-e", "-d", db.DSN, archive) }},
		{"folder in jobs", func(t *testing.T, db *pgtest.DB) {
			must(t, db, "pghaul", "restore", "-j2", "-d", db.DSN, archive+".dir")
		}},
		{"stock pg_restore", func(t *testing.T, db *pgtest.DB) { db.MustTool(t, "pg_restore", "-e", "-d", db.DSN, archive) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
			spoil(t, db)
			c.restore(t, db)
			if _, err := os.Stat(short); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("a command out of the dump was run (%v)", err)
			}
			same(t, "the copy", want, stockText(t, db))
		})
	}
	if got := src.QueryString(t, "SELECT pg_catalog.concat(is_called) FROM evil.sprung"); got != "f" {
		t.Error("the dump ran functions of the database")
	}
}

// stockText is the database as the stock pg_dump writes it under settings of its own.
func stockText(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return strings.ReplaceAll(normal(db.MustTool(t, "pg_dump", "-d", db.DSN+" options='-c standard_conforming_strings=on -c quote_all_identifiers=off'")), db.Name, "DATABASE")
}

// psqlScript runs a script with psql.
func psqlScript(t *testing.T, db *pgtest.DB, script string) {
	t.Helper()
	c := db.Command(t, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", db.DSN, "-f", "-")
	c.Dir = t.TempDir()
	c.Stdin = strings.NewReader(script)
	var talk bytes.Buffer
	c.Stderr = &talk
	if err := c.Run(); err != nil {
		t.Fatalf("psql: %v\n%s", err, talk.String())
	}
}

var helpOption = regexp.MustCompile(`(?m)^ +(?:-(.), )?--([a-z-]+)|^ +-(.) `)

// The help of each program names the options that the help of the stock program of version 18 names.
func TestHelpNamesTheStockOptions(t *testing.T) {
	for _, name := range []string{"pg_dump", "pg_restore", "pg_dumpall"} {
		program, ok := pgtest.StockProgram(t, 18, name)
		if !ok {
			pgtest.Missing(t, name+" 18")
		}
		out, err := exec.Command(program, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		options := func(text string) []string {
			var all []string
			for _, m := range helpOption.FindAllStringSubmatch(text, -1) {
				all = append(all, strings.Join(m[1:], " "))
			}
			slices.Sort(all)
			return slices.DeleteFunc(slices.Compact(all), func(o string) bool {
				return strings.HasSuffix(o, "blobs ") // old names, which are taken but not told
			})
		}
		if d := cmp.Diff(options(string(out)), options(must(t, nil, name, "--help"))); d != "" {
			t.Errorf("%s (-stock +ours):\n%s", name, d)
		}
	}
}
