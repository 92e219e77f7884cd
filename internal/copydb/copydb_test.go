package copydb_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/copydb"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/restore"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const source = `
create schema s;
create type s.mood as enum ('good', 'bad');
create table s.a (id int primary key, m s.mood default 'good', t text, b bytea, j jsonb, ts timestamptz default now());
create table s.b (id int references s.a, x int[], primary key (id));
create unlogged table s.u (id int);
create table s.empty (id int);
create table s.p (id int, t text) partition by range (id);
create table s.p1 partition of s.p for values from (0) to (500);
create table s.p2 partition of s.p for values from (500) to (100000);
create index on s.p (t);
create sequence s.numbers;
create materialized view s.v as select m, count(*) from s.a group by m;
insert into s.a select i, case when i % 3 = 0 then 'bad' else 'good' end::s.mood, e'tab\tline\n\\.' || i, decode(md5(i::text), 'hex'), jsonb_build_object('i', i) from generate_series(1, 8000) i;
insert into s.b select i, array[i, null, -i] from generate_series(1, 4000) i;
insert into s.u select i from generate_series(1, 10) i;
insert into s.p select i, 'p' || i from generate_series(1, 1000) i;
select setval('s.numbers', 99);
refresh materialized view s.v;
select lo_from_bytea(70001, decode(repeat('00ff10', 200000), 'hex')), lo_from_bytea(70002, ''), lo_from_bytea(70003, 'x');
`

func config(t *testing.T, db *pgtest.DB) *pg.Config {
	t.Helper()
	c, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var restrictLine = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

func text(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	lines := strings.Split(restrictLine.ReplaceAllString(db.MustTool(t, "pg_dump"), ""), "\n")
	slices.Sort(lines) // rows of a table in pieces arrive in any order
	return strings.Join(lines, "\n")
}

// A copy is what the source is, in the eyes of the stock pg_dump and in our own.
func TestCopy(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
		src.Exec(t, source)
		want := text(t, src)
		check := func(name string, o copydb.Options) {
			t.Run(name, func(t *testing.T) {
				dst := s.NewDatabase(t)
				res, err := copydb.Run(t.Context(), config(t, src), config(t, dst), o, copydb.Progress{})
				if err != nil {
					t.Fatal(err)
				}
				if !res.OK() {
					t.Errorf("errors %v, differences %v", res.Restore.Errors, res.Differences)
				}
				if res.Verified != o.Verify {
					t.Errorf("verified is %v", res.Verified)
				}
				if text(t, dst) != want {
					t.Error("pg_dump of source and target differ")
				}
			})
		}
		cut := copydb.Options{Jobs: 3, Verify: true}
		cut.Dump.PieceBytes = 64 << 10
		cut.Restore.Analyze = true
		check("cut, analyzed", cut)
		if s == pgtest.Newest(t) {
			check("one job, as text", copydb.Options{Jobs: 1, Text: true})
		}
	})
}

// A copy into itself or over something is refused; nothing is changed.
func TestGates(t *testing.T) {
	s := pgtest.Newest(t)
	src, dst := s.NewDatabase(t, pgtest.Options{Suffix: "source"}), s.NewDatabase(t)
	src.Exec(t, "create table t (a int)")
	run := func(to *pgtest.DB, o copydb.Options) error {
		_, err := copydb.Run(t.Context(), config(t, src), config(t, to), o, copydb.Progress{})
		return err
	}
	if err := run(src, copydb.Options{Force: true}); !errors.Is(err, copydb.ErrSameDatabase) {
		t.Errorf("into itself: %v", err)
	}
	for _, sql := range []string{
		"create function f() returns int language sql as 'select 1'",
		"create type e as enum ('a')", "create schema x", "select lo_create(0)",
	} {
		db := s.NewDatabase(t)
		db.Exec(t, sql)
		if err := run(db, copydb.Options{}); !errors.Is(err, copydb.ErrNotEmpty) {
			t.Errorf("after %s: %v", sql, err)
		}
	}
	dst.Exec(t, "create table other (a int)")
	if err := run(dst, copydb.Options{}); !errors.Is(err, copydb.ErrNotEmpty) {
		t.Errorf("into a database with a table: %v", err)
	}
	if err := run(dst, copydb.Options{Force: true}); err != nil {
		t.Errorf("by force: %v", err)
	}
}

// Errors of statements are counted, and a difference is found.
func TestErrors(t *testing.T) {
	s := pgtest.Newest(t)
	src, dst := s.NewDatabase(t, pgtest.Options{Suffix: "source"}), s.NewDatabase(t)
	src.Exec(t, source)
	dst.Exec(t, "create schema s; create table s.a (id int)")
	res, err := copydb.Run(t.Context(), config(t, src), config(t, dst), copydb.Options{Jobs: 2, Force: true, Verify: true}, copydb.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	if res.OK() || res.Restore.Ignored == 0 || len(res.Differences) == 0 {
		t.Errorf("%d errors, %d differences", res.Restore.Ignored, len(res.Differences))
	}
	// The first error ends it, on both sides.
	o := copydb.Options{Jobs: 2, Force: true, Restore: restore.Options{ExitOnError: true}}
	if _, err := copydb.Run(t.Context(), config(t, src), config(t, dst), o, copydb.Progress{}); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := copydb.Run(ctx, config(t, src), config(t, dst), o, copydb.Progress{}); err == nil {
		t.Error("a cancelled copy succeeded")
	}
}
