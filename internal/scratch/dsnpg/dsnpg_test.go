package dsnpg

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/scratchtest"
)

func TestMain(m *testing.M) {
	heartbeat = 20 * time.Millisecond
	scratchtest.Main(pgtest.Wrap(m), func(ctx context.Context, dsn string) (*scratch.Server, error) {
		config, err := pg.ParseConfig(dsn, pg.Overrides{})
		if err != nil {
			return nil, err
		}
		return (&Provider{Config: config}).Start(ctx, scratch.Spec{})
	})
}

// provider returns a provider for the server of dsn, and what it has reported.
func provider(t *testing.T, dsn string) (p *Provider, reported func() string) {
	t.Helper()
	config, err := pg.ParseConfig(dsn, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	return &Provider{Config: config, Report: func(line string) { lines = append(lines, line) }},
		func() string { return strings.Join(lines, "\n") }
}

func TestProvider(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		p, reported := provider(t, db.DSN)
		scratchtest.Run(t, scratchtest.Harness{
			Provider: p,
			Spec:     scratch.Spec{Major: s.Major},
			Foreign:  true,
			Left: func(t *testing.T) []string {
				return strings.Fields(db.QueryString(t, "select string_agg(datname, ' ') from pg_database where datname like 'pghaul\\_drill\\_%'"))
			},
			Crash: func(t *testing.T, s *scratch.Server) {
				db.Exec(t, fmt.Sprintf("select pg_terminate_backend(pid) from pg_stat_activity where application_name = '%s'", s.Database))
			},
			CrashReason: "the server has ended the session",
			Kept: func(t *testing.T, s *scratch.Server) {
				if got := scratchtest.Query(t, s.DSN, "select count(*) from treasure"); got != "0" {
					t.Errorf("%s rows", got)
				}
				if strings.Contains(reported(), s.Database) {
					t.Errorf("taken for a leftover: %s", reported())
				}
				_, remove, _ := strings.Cut(strings.TrimSuffix(s.Kept, ")"), "(remove: ")
				db.Exec(t, remove)
			},
			Owner: db.DSN,
			Orphaned: func(t *testing.T, info scratch.Info, conn *pgconn.PgConn) {
				conn.Close(t.Context())
				// The server notices the end of its client by itself, at a time of its own.
				for db.QueryString(t, fmt.Sprintf("select count(*) from pg_stat_activity where application_name = '%s'", info.Database)) != "0" {
				}
				next, err := p.Start(t.Context(), scratch.Spec{})
				if err != nil {
					t.Fatal(err)
				}
				if err := next.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				_, remove, found := strings.Cut(reported(), "remove it with ")
				if !found || !strings.HasSuffix(remove, `"`+info.Database+`"`) && !strings.HasSuffix(remove, info.Database) {
					t.Fatalf("reported %q", reported())
				}
				db.Exec(t, remove)
			},
		})
	})
}

func TestRoles(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		p, reported := provider(t, db.DSN)
		server, err := p.Start(t.Context(), scratch.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop(context.Background())
		scratchtest.Query(t, server.DSN, `create role "dsnpg test"; create role dsnpg_other`)
		t.Cleanup(func() { db.Exec(t, "drop role dsnpg_other") })
		server.CreatedRole("dsnpg test")
		scratchtest.Query(t, server.DSN, `create table t (); alter table t owner to "dsnpg test"; grant all on database "`+server.Database+`" to "dsnpg test"`)
		const roles = "select string_agg(rolname, ',' order by rolname) from pg_roles where rolname like 'dsnpg%'"
		if got := db.QueryString(t, roles); got != "dsnpg test,dsnpg_other" {
			t.Errorf("roles %s", got)
		}

		// A role whose database is gone is a leftover.
		db.Exec(t, "create role dsnpg_left; comment on role dsnpg_left is '"+roleMark+prefix+"gone'")
		t.Cleanup(func() { db.Exec(t, "drop role if exists dsnpg_left") })
		next, err := p.Start(t.Context(), scratch.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		next.Stop(t.Context())
		if got := reported(); !strings.HasSuffix(got, "remove it with DROP ROLE dsnpg_left") || strings.Count(got, "\n") > 0 {
			t.Errorf("reported %q", got)
		}
		if err := server.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if got := db.QueryString(t, roles); got != "dsnpg_left,dsnpg_other" {
			t.Errorf("roles left: %s", got)
		}
	})
}

// TestGivenDatabase is about a role that may not create databases.
func TestGivenDatabase(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, "create role dsnpg_owner login password 'secret'; alter database "+db.Name+" owner to dsnpg_owner")
		t.Cleanup(func() {
			db.Exec(t, "drop owned by dsnpg_owner cascade; alter database "+db.Name+" owner to postgres; drop role dsnpg_owner")
		})
		c, err := pg.ParseConfig(db.DSN, pg.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		dsn := fmt.Sprintf("host='%s' port=%s user=dsnpg_owner dbname=%s sslmode=disable", c.Hosts[0].Name, c.Hosts[0].Port, db.Name)
		p, reported := provider(t, dsn)
		server, err := p.Start(t.Context(), scratch.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		if server.Database != db.Name || !strings.Contains(reported(), "role dsnpg_owner may not create databases") {
			t.Errorf("database %s: %s", server.Database, reported())
		}
		scratchtest.Query(t, server.DSN, "create schema s create table t (a int); create table public.t (); create function f() returns int language sql as 'select 1'; select lo_create(0)")
		if err := server.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if got := db.QueryString(t, "select count(*) from pg_largeobject_metadata"); got != "0" {
			t.Errorf("%s large objects are left", got)
		}

		db.Exec(t, "create table precious ()")
		_, err = p.Start(t.Context(), scratch.Spec{})
		if err == nil || !strings.Contains(err.Error(), "is not empty: it has table public.precious") {
			t.Errorf("got error %v", err)
		}
		if got := db.QueryString(t, "select count(*) from precious"); got != "0" {
			t.Error("the table is gone")
		}
	})
}

// TestEmpty creates all kinds of objects in a given database, and has it emptied.
func TestEmpty(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	config, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pg.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	db.Exec(t, "create extension pg_trgm") // is there before, and stays
	i := &instance{config: config, admin: conn, report: func(string) {}}
	if err := i.takeGiven(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"accessmethod", "aggregate", "cast", "collation", "conversion", "eventtrigger", "extension", "foreign", "foreigntable",
		"function", "largeobject", "matview", "opclass", "operator", "partition", "policy", "publication", "rule", "statsext",
		"textsearch", "transform", "trigger", "type_base", "type_composite", "type_domain", "type_enum", "type_range", "view",
	} {
		db.LoadSchema(t, name)
		items, err := inventory(t.Context(), conn)
		if err != nil || len(items) <= len(i.before) {
			t.Fatalf("%s: found %v, %v", name, items, err)
		}
		if err := i.empty(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if objects, err := restore.UserObjects(t.Context(), conn, 10); err != nil || len(objects) > 0 {
			t.Errorf("%s: left: %v %v", name, objects, err)
		}
	}
	if got := db.QueryString(t, "select string_agg(extname, ' ' order by extname) from pg_extension"); got != "pg_trgm plpgsql" {
		t.Errorf("extensions %s", got)
	}
}

func TestVersion(t *testing.T) {
	s := pgtest.Newest(t)
	p, reported := provider(t, s.NewDatabase(t).DSN)
	if _, err := p.Start(t.Context(), scratch.Spec{Major: s.Major + 1}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("PostgreSQL %d or newer is needed", s.Major+1)) {
		t.Errorf("got error %v", err)
	}
	server, err := p.Start(t.Context(), scratch.Spec{Major: s.Major - 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(reported(), fmt.Sprintf("the source %d", s.Major-1)) {
		t.Errorf("reported %q", reported())
	}
}
