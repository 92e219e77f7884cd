package catalog_test

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
)

// readAsNewer reads a database as if its server called itself version 19.
func readAsNewer(t *testing.T, db *pgtest.DB, o catalog.Options) (*catalog.Database, error) {
	t.Helper()
	i := info(db)
	i.Version, i.VersionString = 190001, "19.1"
	session := newSession(t, db)
	defer session.conn.Close(t.Context()) // its locks would be in the way of what comes next
	return catalog.Read(t.Context(), session, nil, i, o, nil)
}

// TestSelfCheck reads a server that says it is newer than this package. All objects of the schema files are
// accounted for, and what 18 did not have, is found.
func TestSelfCheck(t *testing.T) {
	s := pgtest.Newest(t)
	if s.Major != 18 {
		pgtest.Missing(t, "PostgreSQL 18 server")
	}
	for _, name := range []string{
		"aggregate", "constraint", "foreigntable", "inherit", "matview", "opclass", "order", "partition", "policy",
		"publication", "rule", "statsext", "textsearch", "trigger", "type_domain", "type_range",
	} {
		db := s.NewDatabase(t, pgtest.Options{Suffix: name})
		db.LoadSchema(t, name)
		c, err := readAsNewer(t, db, catalog.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, w := range c.Warnings {
			if strings.Contains(w.Text, "catalogs of this server") {
				t.Fatalf("%s: %+v", name, w)
			}
		}
	}
}

// TestSelfCheckFinds adds to the catalogues what a later version might.
func TestSelfCheckFinds(t *testing.T) {
	s := pgtest.Newest(t)
	if s.Major != 18 {
		pgtest.Missing(t, "PostgreSQL 18 server")
	}
	db := s.NewDatabase(t)
	db.Exec(t, `set allow_system_table_mods = on;
create table t (a int); create table pg_catalog.pg_graph (oid oid, grname name)`)
	c, err := readAsNewer(t, db, catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 1 || len(c.Warnings[0].Details) != 1 || c.Warnings[0].Details[0] != "not read: pg_graph" {
		t.Errorf("warnings %+v, want one that names pg_graph", c.Warnings)
	}
	db.Exec(t, `set allow_system_table_mods = on; insert into pg_catalog.pg_graph values (20000, 'g')`)
	if _, err := readAsNewer(t, db, catalog.Options{}); err == nil || !strings.Contains(err.Error(), "pg_graph") {
		t.Errorf("error %v, want one that names pg_graph", err)
	}
}
