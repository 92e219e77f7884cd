package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pgtest"
)

const filterSchema = `
create schema a; create schema "B"; create schema ab;
create table a.t1 (id integer primary key);
create table a.t2 (id integer);
create view a.v as select * from a.t1;
create sequence a.s;
create table "B"."T" (id integer);
create table ab.parent (id integer) partition by range (id);
create table ab.child partition of ab.parent for values from (0) to (10) partition by range (id);
create table ab.grandchild partition of ab.child for values from (0) to (5);
create table public.t1 (id integer);
create table public.hidden (id integer);
create function a.f() returns integer language sql as 'select 1';
create cast (a.t1 as integer) with function a.f2(a.t1);
`

// dumped are the definitions that are wanted, in the words "schema.name" or "name", sorted, of some kinds.
func dumped(db *catalog.Database, kinds ...catalog.Kind) string {
	var out []string
	for _, o := range db.Objects {
		m := o.Base()
		if m.Dump&m.Has&catalog.Definition == 0 || !slices.Contains(kinds, m.Kind) {
			continue
		}
		name := m.Name
		if m.Schema != nil {
			name = m.Schema.Name + "." + name
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestPatterns(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, strings.Replace(filterSchema, "create cast", "create function a.f2(a.t1) returns integer language sql as 'select 1';\ncreate cast", 1))
	all := "B.T a.s a.t1 a.t2 a.v ab.child ab.grandchild ab.parent public.hidden public.t1"
	for _, c := range []struct {
		name    string
		o       catalog.Options
		tables  string
		other   string // schemas, functions, casts
		failure string
	}{
		{name: "everything", tables: all, other: "B a a.f a.f2 ab t1 int4"},
		{name: "schema", o: catalog.Options{IncludeSchemas: []string{"a"}}, tables: "a.s a.t1 a.t2 a.v", other: "a a.f a.f2"},
		{name: "schema pattern", o: catalog.Options{IncludeSchemas: []string{"A*"}}, tables: "a.s a.t1 a.t2 a.v ab.child ab.grandchild ab.parent", other: "a a.f a.f2 ab"},
		{name: "quoted schema", o: catalog.Options{IncludeSchemas: []string{`"B"`}}, tables: "B.T", other: "B"},
		{name: "excluded schema", o: catalog.Options{ExcludeSchemas: []string{"a?", "public"}}, tables: "B.T a.s a.t1 a.t2 a.v", other: "B a a.f a.f2 t1 int4"},
		{name: "table on the search path", o: catalog.Options{IncludeTables: []string{"t*"}}, tables: "public.t1"},
		{name: "qualified table", o: catalog.Options{IncludeTables: []string{"a.t?", "*.s"}}, tables: "a.s a.t1 a.t2"},
		{name: "table with database", o: catalog.Options{IncludeTables: []string{db.Name + ".a.t1"}}, tables: "a.t1"},
		{name: "table and children", o: catalog.Options{IncludeTablesAndChildren: []string{"ab.parent"}}, tables: "ab.child ab.grandchild ab.parent"},
		{name: "excluded tables", o: catalog.Options{ExcludeTables: []string{"a.t*"}, ExcludeTablesAndChildren: []string{"ab.child"}},
			tables: "B.T a.s a.v ab.parent public.hidden public.t1", other: "B a a.f a.f2 ab t1 int4"},
		{name: "nothing excluded", o: catalog.Options{ExcludeSchemas: []string{"none"}, ExcludeTables: []string{"none"}, StrictNames: true},
			tables: all, other: "B a a.f a.f2 ab t1 int4"},
		{name: "no schema", o: catalog.Options{IncludeSchemas: []string{"nope"}}, failure: "no matching schemas were found"},
		{name: "no table", o: catalog.Options{IncludeTables: []string{"nope"}}, failure: "no matching tables were found"},
		{name: "no extension", o: catalog.Options{IncludeExtensions: []string{"nope"}}, failure: "no matching extensions were found"},
		{name: "one of two", o: catalog.Options{IncludeSchemas: []string{"nope", "a"}}, tables: "a.s a.t1 a.t2 a.v", other: "a a.f a.f2"},
		{name: "strict schema", o: catalog.Options{IncludeSchemas: []string{"a", "nope"}, StrictNames: true},
			failure: `no matching schemas were found for pattern "nope"`},
		{name: "strict table", o: catalog.Options{IncludeTables: []string{"a.t1", "a.nope"}, StrictNames: true},
			failure: `no matching tables were found for pattern "a.nope"`},
		{name: "strict extension", o: catalog.Options{IncludeExtensions: []string{"plpgsql", "nope"}, StrictNames: true},
			failure: `no matching extensions were found for pattern "nope"`},
		{name: "foreign server", o: catalog.Options{IncludeForeignData: []string{"nope"}},
			failure: `no matching foreign servers were found for pattern "nope"`},
		{name: "dots", o: catalog.Options{IncludeTables: []string{"x.y.z.w"}},
			failure: "improper relation name (too many dotted names): x.y.z.w"},
		{name: "other database", o: catalog.Options{IncludeTables: []string{"x.y.z"}},
			failure: "cross-database references are not implemented: x.y.z"},
		{name: "schema of other database", o: catalog.Options{IncludeSchemas: []string{"x.y"}},
			failure: "cross-database references are not implemented: x.y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := read(t, db, c.o, 1)
			if c.failure != "" {
				if err == nil || err.Error() != c.failure {
					t.Fatalf("error %v, want %s", err, c.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := dumped(got, catalog.KindTable); s != c.tables {
				t.Errorf("tables %s\nwant   %s", s, c.tables)
			}
			if s := dumped(got, catalog.KindSchema, catalog.KindFunc, catalog.KindCast); strings.TrimSpace(s) != c.other {
				t.Errorf("others %s\nwant   %s", s, c.other)
			}
		})
	}
}

// TestNoMatchIsTyped holds that a caller can tell the error apart.
func TestNoMatchIsTyped(t *testing.T) {
	s := pgtest.Newest(t)
	_, _, err := read(t, s.NewDatabase(t), catalog.Options{IncludeSchemas: []string{"nope"}}, 1)
	var no *catalog.NoMatchError
	if !errors.As(err, &no) || no.What != "schemas" {
		t.Errorf("error %v", err)
	}
}

// TestUnknownKindStops checks that what this version does not know stops the read with its name.
func TestUnknownKindStops(t *testing.T) {
	s := pgtest.Newest(t)
	for _, c := range []struct{ name, sql, want string }{
		{"relation", "create view public.odd as select 1; update pg_class set relkind = 'Z' where relname = 'odd'",
			`dump relation public.odd: its kind "Z" is not known to this version`},
		{"type", "create type public.odd as enum (); update pg_type set typtype = 'Z' where typname = 'odd'",
			`dump type public.odd: its kind "Z" is not known to this version`},
		{"constraint", "create table public.t (a integer constraint odd check (a > 0)); update pg_constraint set contype = 'Z' where conname = 'odd'",
			`dump constraint public.odd: its kind "Z" is not known to this version`},
		{"catalog", "create table public.t (); insert into pg_depend values ('pg_authid'::regclass, 99999, 0, 'pg_class'::regclass, 'public.t'::regclass, 0, 'n')",
			`dump object 99999 of catalog pg_authid: objects of this catalog are not known to this version`},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := s.NewDatabase(t)
			db.Exec(t, c.sql)
			_, _, err := read(t, db, catalog.Options{}, 1)
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// TestRoleDetails checks which roles travel with a database, and what is known of them.
func TestRoleDetails(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.EnsureRole(t, "pghaul_r_owner", "pghaul_r_granted", "pghaul_r_group", "pghaul_r_apart")
		db := s.NewDatabase(t)
		db.Exec(t, `grant pghaul_r_group to pghaul_r_owner; grant pghaul_r_apart to pghaul_r_owner with admin option;
create table t (a integer); alter table t owner to pghaul_r_owner;
grant select on t to pghaul_r_granted; grant select (a) on t to pghaul_r_group`)
		c, _, err := read(t, db, catalog.Options{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range c.RoleDetails {
			if !strings.HasPrefix(r.Name, "pghaul_r_") {
				continue
			}
			names = append(names, r.Name)
			if r.Name == "pghaul_r_owner" {
				if len(r.MemberOf) != 1 || r.MemberOf[0].Role != "pghaul_r_group" || r.MemberOf[0].Admin || !r.MemberOf[0].Set {
					t.Errorf("memberships of the owner: %+v", r.MemberOf)
				}
				if r.Login || r.Super || !r.Inherit || r.ConnLimit != -1 {
					t.Errorf("attributes of the owner: %+v", r)
				}
			}
		}
		if got := strings.Join(names, " "); got != "pghaul_r_granted pghaul_r_group pghaul_r_owner" {
			t.Errorf("roles %s", got)
		}
	})
}
