package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// A drill on a server of the user's leaves nothing there, neither databases nor roles, and touches nothing.
func TestDrillOnServer(t *testing.T) {
	s := pgtest.Newest(t)
	src := shop(t, s)
	src.Exec(t, "CREATE ROLE pghaul_e2e_gone; CREATE TABLE of_gone (a int); ALTER TABLE of_gone OWNER TO pghaul_e2e_gone")
	t.Cleanup(func() { src.Exec(t, "DROP ROLE IF EXISTS pghaul_e2e_gone") })
	archive := filepath.Join(t.TempDir(), "archive")
	must(t, src, "pghaul", "dump", "-Fd", "-f", archive)
	src.Exec(t, "DROP TABLE of_gone; DROP ROLE pghaul_e2e_gone")
	before := text(t, src)
	const there = "SELECT coalesce(string_agg(name, ' '), '') FROM (SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles) AS x (name) " +
		"WHERE name LIKE 'pghaul\\_drill\\_%' OR name = 'pghaul_e2e_gone'"

	out := must(t, nil, "pghaul", "drill", "--quiet", archive, "--server", src.DSN, "--check-cmd", `test "$PGDATABASE" != "`+src.Name+`"`)
	for _, want := range []string{"DIFFERS AS EXPECTED", "by the rule database-given", "ROLE pghaul_e2e_gone", "checks     1 of 1 passed"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if got := src.QueryString(t, there); got != "" {
		t.Errorf("left on the server: %s", got)
	}

	// The same where nothing may be created but what goes into one database, which is empty.
	given := s.NewDatabase(t, pgtest.Options{Suffix: "given"})
	given.Exec(t, "CREATE ROLE pghaul_e2e_drill LOGIN; ALTER DATABASE "+given.Name+" OWNER TO pghaul_e2e_drill")
	t.Cleanup(func() {
		given.Exec(t, "ALTER DATABASE "+given.Name+" OWNER TO CURRENT_USER; DROP OWNED BY pghaul_e2e_drill; DROP ROLE pghaul_e2e_drill")
	})
	small := s.NewDatabase(t, pgtest.Options{Suffix: "small"})
	small.Exec(t, "ALTER DATABASE "+small.Name+" OWNER TO pghaul_e2e_drill")
	t.Cleanup(func() {
		small.Exec(t, "ALTER DATABASE "+small.Name+" OWNER TO CURRENT_USER; DROP OWNED BY pghaul_e2e_drill")
	})
	small.Exec(t, "SET ROLE pghaul_e2e_drill; CREATE SCHEMA app; CREATE TABLE app.t (a int PRIMARY KEY, b text); INSERT INTO app.t SELECT i, i::text FROM generate_series(1, 1000) i; CREATE EXTENSION pg_trgm; SELECT lo_create(0)")
	must(t, small, "pghaul", "dump", "-Fd", "-f", archive+"-small")
	r := command(t, given, nil, "pghaul", "drill", archive+"-small", "--server", "dbname="+given.Name+" user=pghaul_e2e_drill")
	if r.code != 0 || !strings.Contains(r.stdout, "DIFFERS AS EXPECTED") || !strings.Contains(r.stderr, "database "+given.Name+", which is empty, is used") {
		t.Errorf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	const objects = "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = 'app') + (SELECT count(*) FROM pg_extension WHERE extname <> 'plpgsql') + (SELECT count(*) FROM pg_largeobject_metadata)"
	if got := given.QueryString(t, objects); got != "0" {
		t.Errorf("%s objects are left in the given database", got)
	}

	// The source's own server, and the source's database as the given one.
	src.Exec(t, "CREATE ROLE pghaul_e2e_none LOGIN; GRANT CONNECT ON DATABASE "+src.Name+" TO pghaul_e2e_none")
	t.Cleanup(func() { src.Exec(t, "DROP OWNED BY pghaul_e2e_none; DROP ROLE pghaul_e2e_none") })
	r = command(t, src, nil, "pghaul", "drill", "--quiet", archive, "--server", "dbname="+src.Name+" user=pghaul_e2e_none")
	if r.code != 1 || !strings.Contains(r.stderr, "may not create databases, and database "+src.Name+" is not empty") {
		t.Errorf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	same(t, "the source", before, text(t, src))
}
