package catalog_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// session is a Querier over a plain connection that counts its queries.
type session struct {
	conn    *pgconn.PgConn
	queries atomic.Int64
}

func (s *session) Query(ctx context.Context, sql string, row func(values [][]byte) error) error {
	s.queries.Add(1)
	results := s.conn.Exec(ctx, sql)
	for results.NextResult() {
		r := results.ResultReader()
		for r.NextRow() {
			if err := row(r.Values()); err != nil {
				results.Close()
				return err
			}
		}
		if _, err := r.Close(); err != nil {
			results.Close()
			return fmt.Errorf("%w\n%s", err, sql)
		}
	}
	return results.Close()
}

func newSession(t *testing.T, db *pgtest.DB) *session {
	t.Helper()
	s := &session{conn: db.Conn(t)}
	set := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT pg_catalog.set_config('search_path', '', false)"
	if err := s.Query(t.Context(), set, func([][]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

func info(db *pgtest.DB) catalog.Info {
	return catalog.Info{Name: db.Name, Version: db.Server.Version, Encoding: "UTF8", StdStrings: true, User: "postgres"}
}

// read reads a database over some sessions and returns how many queries that took.
func read(t *testing.T, db *pgtest.DB, o catalog.Options, sessions int) (*catalog.Database, int64, error) {
	t.Helper()
	list := []*session{newSession(t, db)}
	var others []catalog.Opener
	for range sessions - 1 {
		s := newSession(t, db)
		list = append(list, s)
		others = append(others, func(context.Context) (catalog.Querier, error) { return s, nil })
	}
	c, err := catalog.Read(t.Context(), list[0], others, info(db), o, nil)
	var n int64
	for _, s := range list {
		n += s.queries.Load() - 1
	}
	return c, n, err
}

// TestSchemaFiles reads databases of some schema files over several sessions at once. (What is read, of all files on every
// version, is judged by the goldens of package ddl.)
func TestSchemaFiles(t *testing.T) {
	s := pgtest.Newest(t)
	for _, name := range []string{"acl", "comment", "database", "extension", "foreigntable", "largeobject", "order", "partition", "textsearch", "view"} {
		t.Run(name, func(t *testing.T) {
			db := s.NewDatabase(t, pgtest.Options{Suffix: name})
			db.LoadSchema(t, name)
			if _, _, err := read(t, db, catalog.Options{Create: true}, 3); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestQueriesAreConstant holds that the number of queries does not grow with the number of objects.
func TestQueriesAreConstant(t *testing.T) {
	s := pgtest.Newest(t)
	count := func(tables int) int64 {
		db := s.NewDatabase(t)
		db.Exec(t, fmt.Sprintf(`do $$ begin for i in 1..%d loop
  execute format('create table t%%s (id integer primary key, a text default ''x'' check (a <> ''''), b integer unique)', i);
  execute format('create index on t%%s (a)', i);
  execute format('create view v%%s as select * from t%%s', i, i);
  execute format('comment on table t%%s is ''x''', i);
  execute format('create function f%%s() returns integer language sql as ''select 1''', i);
end loop; end $$`, tables))
		_, n, err := read(t, db, catalog.Options{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	few, many := count(1), count(40)
	if few != many {
		t.Errorf("%d queries for 1 table, %d for 40", few, many)
	}
	t.Logf("%d queries", many)
}
