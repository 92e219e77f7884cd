package preflight

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func connect(t *testing.T, dsn, user string) *pg.Conn {
	t.Helper()
	c, err := pg.ParseConfig(dsn, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		c.User = user
	}
	conn, err := pg.Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// archive writes an archive of entries, without data, and opens it.
func archive(t *testing.T, header pgarchive.Header, entries ...*pgarchive.Entry) pgarchive.Reader {
	t.Helper()
	file := filepath.Join(t.TempDir(), "archive")
	w, err := pgarchive.Create(file, pgarchive.FormatCustom, pgarchive.WriterOptions{Header: header})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		e.ID = pgarchive.ID(i + 1)
		if e.Section == 0 {
			e.Section = pgarchive.SectionPreData
		}
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := pgarchive.Open(file, pgarchive.FormatUnknown)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// found is a report in a few words, without facts.
func found(r *Report) string {
	var out []string
	for _, f := range r.Findings {
		if f.Level != Fact {
			out = append(out, fmt.Sprintf("%s %s: %s", f.Level, f.Kind, f.Text))
		}
	}
	return strings.Join(out, "\n")
}

func run(t *testing.T, c *pg.Conn, r pgarchive.Reader, b Backup) *Report {
	t.Helper()
	if b.Options == nil {
		b.Options = new(restore.Options)
	}
	var err error
	if b.Plan, err = restore.NewPlan(r, b.Options); err != nil {
		t.Fatal(err)
	}
	b.Header = r.Header()
	rep, err := Check(t.Context(), c, b)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// Every check finds what it is for, and nothing else is said.
func TestCheck(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.EnsureRole(t, "preflight_guest", "preflight_there")
		db := s.NewDatabase(t)
		db.Exec(t, "alter role preflight_guest login")
		super, guest := connect(t, db.DSN, ""), connect(t, db.DSN, "preflight_guest")
		same := pgarchive.Header{ServerVersion: super.VersionString()}
		encoding := db.QueryString(t, "show server_encoding")
		table := &pgarchive.Entry{Desc: "TABLE", Tag: "t", Namespace: "public", Defn: "CREATE TABLE public.t (a integer);\n", DropStmt: "DROP TABLE public.t;\n"}
		with := func(change func(e *pgarchive.Entry)) *pgarchive.Entry {
			e := *table
			change(&e)
			return &e
		}
		for name, tt := range map[string]struct {
			c       *pg.Conn
			header  pgarchive.Header
			entries []*pgarchive.Entry
			b       Backup
			want    string // begins of lines
		}{
			"nothing": {c: super, entries: []*pgarchive.Entry{table}},
			"older server": {c: super, header: pgarchive.Header{ServerVersion: "99.1"}, entries: []*pgarchive.Entry{table},
				want: "blocker version: the server is older"},
			"older server that is meant": {c: super, header: pgarchive.Header{ServerVersion: "99.1"}, entries: []*pgarchive.Entry{table}, b: Backup{IntoOlder: true},
				want: "warning version: the server is older"},
			"extension that is not there": {c: super, entries: []*pgarchive.Entry{{Desc: "EXTENSION", Tag: "no_such_thing", Defn: "CREATE EXTENSION no_such_thing;\n"}},
				b:    Backup{Manifest: &manifest.Manifest{Extensions: []manifest.Extension{{Name: "no_such_thing", Version: "1.2"}}}},
				want: "blocker extension: extension no_such_thing 1.2 is not available"},
			"extension of another version": {c: super, entries: []*pgarchive.Entry{{Desc: "EXTENSION", Tag: "plpgsql", Defn: "CREATE EXTENSION plpgsql;\n"}},
				b:    Backup{Manifest: &manifest.Manifest{Extensions: []manifest.Extension{{Name: "plpgsql", Version: "0.1"}}}},
				want: "warning extension: extension plpgsql is installed in version 1.0, the backup has 0.1"},
			"roles": {c: super, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.Owner = "preflight_there" }),
				{Desc: "ACL", Tag: "TABLE t", Defn: "GRANT SELECT ON TABLE public.t TO preflight_gone;\n"}},
				want: "warning role: 1 role that the backup names does not exist: preflight_gone"},
			"roles that must be there": {c: super, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.Owner = "preflight_gone" })}, b: Backup{Roles: RequireMode},
				want: "blocker role: 1 role"},
			"roles that cannot be made": {c: guest, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.Owner, e.Namespace = "preflight_gone", "pg_temp" })}, b: Backup{Roles: CreateMode},
				want: "warning role: 1 role that the backup names does not exist: preflight_gone; preflight_guest may not create roles"},
			"owner of others": {c: guest, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.Owner, e.Namespace = "preflight_there", "pg_temp" })},
				want: "warning role: preflight_guest is not a member of role preflight_there"},
			"what superusers may": {c: guest, entries: []*pgarchive.Entry{{Desc: "EVENT TRIGGER", Tag: "e", Defn: "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();\n"},
				{Desc: "FUNCTION", Tag: "f()", Defn: "CREATE FUNCTION f() RETURNS integer\n    LANGUAGE c STRICT\n    AS 'x', 'y';\n"}, {Desc: "SCHEMA", Tag: "s", Defn: "CREATE SCHEMA s;\n"}},
				want: "warning privilege: 1 event trigger\nwarning privilege: 1 function in the untrusted language c\nblocker privilege: preflight_guest may not create anything in the database"},
			"encoding": {c: super, entries: []*pgarchive.Entry{{Desc: "DATABASE", Tag: "x", Defn: "CREATE DATABASE x WITH TEMPLATE = template0 ENCODING = 'SQL_ASCII';\n"}, table},
				want: "warning encoding: the backup is of a database without an encoding"},
			"sorting": {c: super, entries: []*pgarchive.Entry{{Desc: "DATABASE", Tag: "x", Defn: "CREATE DATABASE x WITH ENCODING = '" + encoding + "' LOCALE_PROVIDER = libc LOCALE = 'xx_XX';\n"}, table},
				want: "warning locale: the backup is of a database that sorts text by libc xx_XX"},
			"collation": {c: super, entries: []*pgarchive.Entry{{Desc: "COLLATION", Tag: "x", Namespace: "public", Defn: "CREATE COLLATION public.x (provider = libc, locale = 'xx_XX');\n"}},
				want: "warning locale: collation public.x needs the locale xx_XX"},
			"tablespace": {c: super, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.Tablespace = "preflight_space" })},
				want: "blocker tablespace: tablespace preflight_space of 1 object"},
			"tablespace that is not wanted": {c: super, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.Tablespace = "preflight_space" })},
				b: Backup{Options: &restore.Options{NoTablespaces: true}}},
			"access method": {c: super, entries: []*pgarchive.Entry{with(func(e *pgarchive.Entry) { e.TableAM = "columns" })},
				want: "blocker access method: table access method columns of 1 table"},
			"disk": {c: super, entries: []*pgarchive.Entry{table}, b: Backup{Manifest: &manifest.Manifest{LargeObjects: manifest.LargeObjects{Bytes: 1 << 60}}},
				want: "blocker disk: about 2.31"},
			"mapped to nobody": {c: super, entries: []*pgarchive.Entry{table}, b: Backup{Options: &restore.Options{RoleMap: map[string]string{"a": "preflight_gone"}}},
				want: "blocker role: role preflight_gone, which another is mapped to"},
		} {
			t.Run(name, func(t *testing.T) {
				if tt.header.ServerVersion == "" {
					tt.header = same
				}
				if name == "disk" && s.Own() == nil {
					pgtest.Missing(t, "a server of our own, whose disk can be seen")
				}
				got := strings.Split(found(run(t, tt.c, archive(t, tt.header, tt.entries...), tt.b)), "\n")
				got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "warning shared memory") })
				want := strings.Split(tt.want, "\n")
				if s.Major < 15 { // everybody may create something in the schema public
					want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains(s, "in the schema public") })
				}
				ok := len(got) == len(want)
				for i := range want {
					ok = ok && strings.HasPrefix(got[i], want[i]) && (want[i] != "" || got[i] == "")
				}
				if !ok {
					t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), tt.want)
				}
			})
		}
	})
}

func TestGates(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	c := connect(t, db.DSN, "")
	header := pgarchive.Header{ServerVersion: c.VersionString()}
	r := archive(t, header, &pgarchive.Entry{Desc: "TABLE", Tag: "t", Namespace: "public", Defn: "CREATE TABLE public.t (a integer);\n"})
	id, err := c.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source := &manifest.Manifest{Source: &manifest.Source{System: id.System, DatabaseOID: id.OID}}
	other := &manifest.Manifest{Source: &manifest.Source{System: id.System, DatabaseOID: id.OID + 1}}
	check := func(what string, b Backup, want string) {
		t.Helper()
		if got := found(run(t, c, r, b)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: found %s, want %s", what, got, want)
		}
	}
	check("the source", Backup{Manifest: source}, "blocker source: database \""+db.Name+"\" is the one")
	check("the source, meant", Backup{Manifest: source, IntoSource: true}, "warning source")
	check("another", Backup{Manifest: other}, "")
	check("empty", Backup{}, "")
	db.Exec(t, "create table x (a int); create schema y")
	check("not empty", Backup{}, "blocker nonempty: the database is not empty: it has table public.x, schema y")
	check("not empty, meant", Backup{IntoNonempty: true}, "warning nonempty")
	for name, o := range map[string]restore.Options{
		"resume": {Resume: true}, "clean": {Clean: true}, "a table": {Tables: []string{"t"}}, "data": {DataOnly: true}, "no definitions": {NoSchema: true},
	} {
		check(name, Backup{Options: &o}, "")
	}
	made := archive(t, header, &pgarchive.Entry{Desc: "DATABASE", Tag: db.Name, Defn: "CREATE DATABASE x;\n"})
	if got := found(run(t, c, made, Backup{Options: &restore.Options{Create: true}})); !strings.HasPrefix(got, "blocker nonempty: the database to create") {
		t.Errorf("create: found %s", got)
	}
	if got := found(run(t, c, made, Backup{Options: &restore.Options{Create: true, Clean: true}, Manifest: source})); !strings.HasPrefix(got, "blocker source") {
		t.Errorf("create instead of the source: found %s", got)
	}
}

const globals = `
CREATE ROLE preflight_new;
ALTER ROLE preflight_new WITH SUPERUSER NOINHERIT CREATEROLE CREATEDB LOGIN NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 3 PASSWORD 'secret' VALID UNTIL '2040-01-01 00:00:00+00';
COMMENT ON ROLE preflight_new IS 'it''s; new';
CREATE ROLE "preflight Odd";
ALTER ROLE "preflight Odd" WITH NOSUPERUSER INHERIT NOCREATEROLE NOCREATEDB NOLOGIN NOREPLICATION BYPASSRLS;
ALTER ROLE preflight_there WITH SUPERUSER;
ALTER ROLE preflight_new SET work_mem TO '5MB';
GRANT "preflight Odd" TO preflight_new WITH ADMIN OPTION, INHERIT FALSE GRANTED BY postgres;
GRANT preflight_there TO preflight_new WITH INHERIT TRUE GRANTED BY nobody_here;
GRANT preflight_lost TO preflight_new WITH INHERIT TRUE;
GRANT preflight_there TO preflight_guest;
`

func TestCreateRoles(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.EnsureRole(t, "preflight_guest", "preflight_there")
		db := s.NewDatabase(t)
		db.Exec(t, "drop role if exists preflight_maker; create role preflight_maker login createrole")
		t.Cleanup(func() { db.Exec(t, `drop role if exists preflight_new, "preflight Odd", preflight_maker`) })
		names := []string{"preflight Odd", "preflight_new", "preflight_there"}
		made, err := CreateRoles(t.Context(), connect(t, db.DSN, ""), names, globals)
		if err != nil {
			t.Fatal(err)
		}
		if len(made.Created) != 2 || len(made.Notes) != 0 || made.Failed["preflight_there"] == "" {
			t.Errorf("%+v", made)
		}
		const state = `select string_agg(concat_ws(' ', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolbypassrls, rolconnlimit, rolpassword,
			array(select r.rolname || m.admin_option from pg_auth_members m join pg_roles r on r.oid = m.roleid where m.member = a.oid order by 1),
			(select setconfig from pg_db_role_setting where setrole = a.oid), shobj_description(oid, 'pg_authid')), e'\n' order by rolname)
			from pg_authid a where rolname in ('preflight_new', 'preflight Odd', 'preflight_there')`
		want := "preflight Odd f t f f f t -1 {}\n" +
			"preflight_new t f t t f f 3 {\"preflight Oddtrue\",preflight_therefalse} {work_mem=5MB} it's; new\n" +
			"preflight_there f t f f f f -1 {}"
		if got := db.QueryString(t, state); got != want {
			t.Errorf("roles are\n%s\nwant\n%s", got, want)
		}
		db.Exec(t, `drop role preflight_new, "preflight Odd"`)

		made, err = CreateRoles(t.Context(), connect(t, db.DSN, "preflight_maker"), names[:2], globals)
		if err != nil {
			t.Fatal(err)
		}
		if len(made.Created) != 2 || len(made.Notes) < 2 {
			t.Errorf("%+v", made)
		}
		if can := db.QueryString(t, "select pg_has_role('preflight_maker', 'preflight Odd', 'MEMBER')"); can != "t" {
			t.Error("who made a role cannot give it anything")
		}
		made, err = CreateRoles(t.Context(), connect(t, db.DSN, "preflight_guest"), []string{"preflight_lost"}, "")
		if err != nil || made.Failed["preflight_lost"] == "" {
			t.Errorf("%+v %v", made, err)
		}
	})
}
