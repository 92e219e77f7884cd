package dump

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
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
	db, err := catalog.Read(t.Context(), d.holder.conn, nil, info, d.opts.Options, nil)
	if err != nil {
		t.Fatal(err)
	}
	return db.Tables
}

// A dump whose number of jobs nobody asked for takes the connections that it gets; one with -j fails, and names the cause.
func TestFewConnections(t *testing.T) {
	s := pgtest.Newest(t)
	role := "few_" + strconv.Itoa(os.Getpid())
	s.EnsureRole(t, role)
	db := s.NewDatabase(t)
	db.Exec(t, "CREATE TABLE t AS SELECT generate_series(1, 1000) AS a; GRANT SELECT ON t TO "+role+"; ALTER ROLE "+role+" LOGIN CONNECTION LIMIT 3")
	c := config(t, db)
	c.User = role
	for _, fewer := range []bool{true, false} {
		told := false
		o := Options{Format: pgarchive.FormatDirectory, File: filepath.Join(t.TempDir(), "d"), Jobs: 6, FewerJobs: fewer, NoSync: true, DumpVersion: "18.6"}
		r, err := Run(t.Context(), c, o, &recorder{said: func(text string) { told = told || strings.Contains(text, "using 2 connections beside the first") }})
		switch {
		case fewer && (err != nil || r.Totals.Rows != 1000 || !told):
			t.Errorf("as many as there are: error %v, told %v", err, told)
		case !fewer && (!tooManyConnections(err) || !strings.Contains(err.Error(), "connect worker")):
			t.Errorf("-j6: error %v", err)
		}
		waitUntilGone(t, db, role)
	}
}

// waitUntilGone returns when the role has no session left: a server process outlives its connection for a moment.
func waitUntilGone(t *testing.T, db *pgtest.DB, role string) {
	t.Helper()
	db.Exec(t, `DO $$BEGIN FOR i IN 1 .. 1000 LOOP
  PERFORM pg_stat_clear_snapshot();
  EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = '`+role+`');
  PERFORM pg_sleep(0.01);
END LOOP; END$$`)
}
