package e2e

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// cluster is what pg_dumpall writes and pg_dump does not: roles, their attributes,
// settings and memberships, tablespaces, privileges on parameters.
const cluster = `
CREATE ROLE pghaul_all_admin CREATEROLE CREATEDB LOGIN PASSWORD 'secret' VALID UNTIL '2030-01-01 00:00:00+00' CONNECTION LIMIT 5;
CREATE ROLE "pghaul all 'odd' \ ""name""" NOINHERIT BYPASSRLS REPLICATION;
CREATE ROLE pghaul_all_member;
CREATE ROLE pghaul_all_group;
COMMENT ON ROLE pghaul_all_group IS 'a group''s comment';
GRANT pghaul_all_group TO pghaul_all_admin WITH ADMIN OPTION;
SET ROLE pghaul_all_admin;
GRANT pghaul_all_group TO pghaul_all_member WITH INHERIT FALSE, SET FALSE;
RESET ROLE;
GRANT pg_read_all_data TO pghaul_all_member;
ALTER ROLE pghaul_all_admin SET search_path = 'a b', "$user", public;
ALTER ROLE pghaul_all_admin SET work_mem = '64MB';
GRANT SET ON PARAMETER work_mem TO pghaul_all_member WITH GRANT OPTION;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE pghaul_all_space OWNER pghaul_all_admin LOCATION '' WITH (random_page_cost = 1.5);
GRANT CREATE ON TABLESPACE pghaul_all_space TO pghaul_all_member;
COMMENT ON TABLESPACE pghaul_all_space IS 'in the data folder';
`

// The script of a whole cluster is the stock pg_dumpall's, and brings an empty server to the same state.
func TestDumpall(t *testing.T) {
	s := pgtest.Version(t, 18)
	s.NeedTool(t, "pg_dumpall")
	src := shop(t, s)
	if _, stderr, err := src.ToolInput(t, strings.NewReader(cluster), "psql", "-qX", "-v", "ON_ERROR_STOP=1"); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	t.Cleanup(func() {
		src.Exec(t, `DROP TABLESPACE pghaul_all_space`)
		src.Exec(t, `REVOKE ALL ON PARAMETER work_mem FROM pghaul_all_member CASCADE`)
		src.Exec(t, `DROP ROLE pghaul_all_member, pghaul_all_group, pghaul_all_admin, "pghaul all 'odd' \ ""name"""`)
	})
	for _, args := range []string{
		"", "-g", "-r", "-t", "-s --clean --if-exists", "-g --no-role-passwords -x --no-comments",
		"--exclude-database=*shop* --exclude-database=template1 --inserts", "--binary-upgrade -s", "-a", "--quote-all-identifiers -O -s",
	} {
		t.Run("pg_dumpall "+args, func(t *testing.T) {
			t.Parallel()
			list := append(strings.Fields(args), "-d", src.DSN)
			same(t, "the text", normal(src.MustTool(t, "pg_dumpall", list...)), normal(must(t, src, "pg_dumpall", list...)))
		})
	}
}
