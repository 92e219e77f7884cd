package dump

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
)

// A dump without rows needs no more locks than the server has; one with rows says at once that they do not suffice.
func TestFewLocks(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, `DO $$BEGIN FOR i IN 1 .. 30 LOOP EXECUTE format('CREATE TABLE t%s (a int PRIMARY KEY)', i); END LOOP; END$$`)
	start := func(noData bool) *dumper {
		d := &dumper{config: config(t, db), opts: Options{Options: catalog.Options{NoData: noData}}, progress: NoProgress{}}
		t.Cleanup(func() { d.close(t.Context()) })
		if err := d.connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.facts.maxLocks, d.facts.maxConnections, d.facts.maxPrepared = 2, 10, 0
		return d
	}
	d := start(true)
	if _, entries, _, err := d.readCatalog(t.Context()); err != nil || len(entries) < 60 {
		t.Fatalf("%d entries, error %v", len(entries), err)
	}
	held := db.QueryString(t, `SELECT count(*) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND relation >= 16384 AND pid <> pg_backend_pid()`)
	if held != "0" {
		t.Errorf("%s locks held", held)
	}
	for _, sql := range []string{"DROP TABLE t3", "CREATE INDEX more ON t4 (a)", "ALTER TABLE t5 ADD b int"} {
		d := start(true)
		if err := d.lockTables(t.Context(), tablesOf(t, d)); err != nil {
			t.Fatal(err)
		}
		if err := d.checkUnlocked(t.Context()); err != nil {
			t.Errorf("nothing was altered: %v", err)
		}
		db.Exec(t, sql)
		if err := d.checkUnlocked(t.Context()); err == nil || !strings.Contains(err.Error(), "altered meanwhile") {
			t.Errorf("%s: error %v", sql, err)
		}
	}
	_, _, _, err := start(false).readCatalog(t.Context())
	if e, ok := err.(*Error); !ok || !strings.Contains(e.Hint, "max_locks_per_transaction") {
		t.Errorf("with rows: error %v", err)
	}
}

// tablesOf reads the tables of a database whose dump has begun.
func tablesOf(t *testing.T, d *dumper) []*catalog.Table {
	t.Helper()
	info := catalog.Info{Name: d.facts.database, Version: d.holder.conn.Version(), User: d.facts.user, Encoding: "UTF8", StdStrings: true}
	db, err := catalog.Read(t.Context(), []catalog.Querier{d.holder.conn}, info, d.opts.Options, nil)
	if err != nil {
		t.Fatal(err)
	}
	return db.Tables
}
