package restore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) {
	if work := os.Getenv(childVariable); work != "" {
		os.Exit(runChild(work))
	}
	pgtest.Main(m)
}

// shop is a database with something of everything that a restore treats in a way of its own.
const shop = `
create schema shop;
create type shop.state as enum ('open', 'done');
create sequence shop.numbers start 100;
create table shop.customers (id int primary key, name text not null, note text);
create table shop.orders (
  id bigint generated always as identity primary key,
  customer int not null references shop.customers,
  state shop.state not null default 'open',
  total numeric(10,2) check (total >= 0),
  filler text,
  double numeric generated always as (total * 2) stored);
create index orders_state on shop.orders (state);
create index orders_customer on shop.orders using hash (customer);
create table shop.empty (a int);
create table shop.nothing ();
create table "Odd; Näme" ("a b" int, "select" text);
create table shop.events (at date not null, what text) partition by range (at);
create table shop.events_1 partition of shop.events for values from ('2024-01-01') to ('2025-01-01');
create table shop.events_2 partition of shop.events for values from ('2025-01-01') to ('2026-01-01');
create index events_at on shop.events (at);
create table shop.parent (a int); create table shop.child (b int) inherits (shop.parent);
create function shop.noted() returns trigger language plpgsql as $$begin new.note := 'seen'; return new; end$$;
create view shop.open_orders as select * from shop.orders where state = 'open';
create materialized view shop.totals as select customer, sum(total) as total from shop.orders group by customer;
create index totals_customer on shop.totals (customer);
create rule ignore as on insert to shop.empty where new.a < 0 do instead nothing;
comment on table shop.customers is 'who; buys''
 and more';
comment on index shop.orders_state is 'by state';
comment on schema shop is 'the shop';
insert into shop.customers select i, 'customer ' || i, case when i % 3 = 0 then e'tab\there\\and\nline' end from generate_series(1, 2000) i;
insert into shop.orders (customer, state, total, filler)
  select 1 + i % 2000, (array['open','done'])[1 + i % 2]::shop.state, i, repeat(md5(i::text), 1 + i % 4) from generate_series(1, 6000) i;
insert into shop.nothing default values; insert into shop.nothing default values;
insert into "Odd; Näme" values (1, '\.'), (2, e'\\.\n'), (null, null), (3, ''), (4, 'ünï');
insert into shop.events select '2024-01-01'::date + i % 700, 'e' || i from generate_series(1, 3000) i;
insert into shop.parent values (1); insert into shop.child values (2, 3);
select setval('shop.numbers', 4711);
refresh materialized view shop.totals;
create trigger noted before insert on shop.customers for each row execute function shop.noted();
alter table shop.customers enable row level security;
create policy everyone on shop.customers using (true);
create statistics shop.st on state, customer from shop.orders;
select lo_from_bytea(70001, decode(repeat('00ff10', 150000), 'hex')), lo_from_bytea(70002, ''), lo_from_bytea(70003, 'x');
comment on large object 70003 is 'small';
create function shop.watch() returns event_trigger language plpgsql as $$begin end$$;
create event trigger watch on ddl_command_end execute function shop.watch();
comment on event trigger watch is 'watches';
`

// roles own and may use things of the shop.
const shopRoles = `
alter table shop.customers owner to restore_owner;
alter function shop.noted() owner to restore_owner;
alter schema shop owner to restore_owner;
alter large object 70001 owner to restore_owner;
grant select on shop.orders to restore_user;
grant update (name) on shop.customers to restore_user;
grant usage on schema shop to restore_user;
grant select on large object 70003 to restore_user;
alter default privileges in schema shop grant select on tables to restore_user;
`

func newShop(t *testing.T, s *pgtest.Server) *pgtest.DB {
	t.Helper()
	s.EnsureRole(t, "restore_owner", "restore_user")
	db := s.NewDatabase(t, pgtest.Options{Suffix: "shop"})
	db.Exec(t, shop)
	db.Exec(t, shopRoles)
	return db
}

// text is the whole database as the stock pg_dump writes it, without the key that is new every time.
func text(t *testing.T, db *pgtest.DB, args ...string) string {
	t.Helper()
	out := db.MustTool(t, "pg_dump", args...)
	return restrictLine.ReplaceAllString(out, "")
}

var restrictLine = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`)

func same(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			t.Errorf("line %d is\n  %.200s\nwant\n  %.200s", i+1, b[i], a[i])
			return
		}
	}
	t.Errorf("%d lines, want %d", len(b), len(a))
}

func config(t *testing.T, db *pgtest.DB) *pg.Config {
	t.Helper()
	c, err := pg.ParseConfig(db.DSN, pg.Overrides{ApplicationName: "pghaul restore test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// onlyReader hides that a file can seek.
type onlyReader struct{ io.Reader }

// open opens an archive; piped archives are read from the beginning to the end.
func open(t *testing.T, file string, piped bool) pgarchive.Reader {
	t.Helper()
	var r pgarchive.Reader
	var err error
	if piped {
		f, ferr := os.Open(file)
		if ferr != nil {
			t.Fatal(ferr)
		}
		t.Cleanup(func() { f.Close() })
		r, err = pgarchive.NewReader(onlyReader{f}, pgarchive.FormatUnknown)
	} else {
		r, err = pgarchive.Open(file, pgarchive.FormatUnknown)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if r.Sequential() != piped {
		t.Fatalf("sequential is %v", r.Sequential())
	}
	return r
}

// messages collects what a restore says.
type messages struct {
	mu   sync.Mutex
	list []string
}

func (m *messages) log(l Level, s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l != Info {
		m.list = append(m.list, l.String()+": "+s)
	}
}

func (m *messages) String() string { return strings.Join(m.list, "\n") }

// mustRun restores and fails the test on any error, ignored ones included.
func mustRun(t *testing.T, r pgarchive.Reader, db *pgtest.DB, o Options) *Result {
	t.Helper()
	m := new(messages)
	o.Log = m.log
	res, err := Run(t.Context(), r, config(t, db), o, nil)
	if err != nil {
		t.Fatalf("restore: %v\n%s", err, m)
	}
	if res.Ignored > 0 || len(res.Errors) > 0 {
		t.Fatalf("restore ignored %d errors:\n%s", res.Ignored, m)
	}
	return res
}

// archives are the ways the stock pg_dump writes an archive.
func archives(t *testing.T, db *pgtest.DB) []archive {
	t.Helper()
	dir := t.TempDir()
	list := []archive{
		{"custom", []string{"-Fc"}, []way{{1, false}, {3, false}, {1, true}, {3, true}}, ""},
		{"custom without compression", []string{"-Fc", "-Z0"}, []way{{3, true}}, ""},
		{"directory", []string{"-Fd", "-j2"}, []way{{1, false}, {3, false}}, ""},
		{"tar", []string{"-Ft"}, []way{{1, true}, {3, false}, {3, true}}, ""},
		{"inserts", []string{"-Fc", "--inserts"}, []way{{1, false}, {3, true}}, ""},
	}
	for i := range list {
		list[i].file = filepath.Join(dir, fmt.Sprint("archive", i))
		db.MustTool(t, "pg_dump", append(list[i].args, "-f", list[i].file)...)
	}
	return list
}

type archive struct {
	name string
	args []string
	ways []way
	file string
}

// way is a way to restore an archive.
type way struct {
	jobs  int
	piped bool
}

func TestRestore(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := newShop(t, s)
		want := text(t, src)
		for _, a := range archives(t, src) {
			for _, way := range a.ways {
				name := fmt.Sprintf("%s, %d jobs", a.name, way.jobs)
				if way.piped {
					name += ", from a pipe"
				}
				t.Run(name, func(t *testing.T) {
					db := s.NewDatabase(t)
					res := mustRun(t, open(t, a.file, way.piped), db, Options{Jobs: way.jobs})
					same(t, want, text(t, db))
					if a.name != "inserts" && res.Rows != 2000+6000+2+5+3000+2 {
						t.Errorf("%d rows", res.Rows)
					}
					if res.LargeObjects != 3 {
						t.Errorf("%d large objects", res.LargeObjects)
					}
				})
			}
		}
	})
}

func dump(t *testing.T, db *pgtest.DB, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "archive")
	db.MustTool(t, "pg_dump", append(args, "-f", file)...)
	return file
}

// The same restore by the stock pg_restore and by us ends in the same database.
func TestLikePgRestore(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	for i, tt := range []struct {
		args string
		o    Options
		pre  bool // into a copy
	}{
		{args: "-s", o: Options{SchemaOnly: true}},
		{args: "-n shop", o: Options{Schemas: []string{"shop"}}},
		{args: "-N shop", o: Options{ExcludeSchemas: []string{"shop"}}},
		{args: "--section=pre-data --section=data", o: Options{Sections: []pgarchive.Section{pgarchive.SectionPreData, pgarchive.SectionData}}},
		{args: "-O -x", o: Options{NoOwner: true, NoPrivileges: true}},
		{args: "--no-comments", o: Options{NoComments: true}},
		{args: "-1", o: Options{SingleTransaction: true}},
		{args: "--use-set-session-authorization", o: Options{UseSetSessionAuthorization: true}},
		{args: "-c --if-exists", o: Options{Clean: true, IfExists: true}, pre: true},
		{args: "-c -1", o: Options{Clean: true, SingleTransaction: true}, pre: true},
	} {
		for _, jobs := range []int{1, 3} {
			if jobs > 1 && (tt.o.SingleTransaction || i%2 == 1) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d jobs", tt.args, jobs), func(t *testing.T) {
				theirs, ours := s.NewDatabase(t, pgtest.Options{Suffix: "a"}), s.NewDatabase(t, pgtest.Options{Suffix: "b"})
				if tt.pre {
					mustRun(t, open(t, file, false), theirs, Options{})
					mustRun(t, open(t, file, false), ours, Options{})
					for _, db := range []*pgtest.DB{theirs, ours} {
						db.Exec(t, "delete from shop.orders; create table shop.more (a int)")
						if !tt.o.IfExists {
							db.Exec(t, "drop table shop.more")
						}
					}
				}
				theirs.Tool(t, "pg_restore", append(strings.Fields(tt.args), "-d", theirs.Name, file)...)
				o := tt.o
				o.Jobs = jobs
				if _, err := Run(t.Context(), open(t, file, false), config(t, ours), o, nil); err != nil {
					t.Fatal(err)
				}
				same(t, text(t, theirs), text(t, ours))
			})
		}
	}
}

// Errors are pg_restore's errors: as many of them, with the same words.
func TestErrors(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := newShop(t, s)
		file := dump(t, src, "-Fc")
		theirs, ours := s.NewDatabase(t, pgtest.Options{Suffix: "a"}), s.NewDatabase(t, pgtest.Options{Suffix: "b"})
		for _, db := range []*pgtest.DB{theirs, ours} {
			db.Exec(t, `create schema shop; create table shop.orders (id int, customer int primary key); create table shop.customers (a text)`)
		}
		_, talk, err := theirs.Tool(t, "pg_restore", "-d", theirs.Name, file)
		if err == nil {
			t.Fatal("pg_restore did not mind")
		}
		m := new(messages)
		res, err := Run(t.Context(), open(t, file, false), config(t, ours), Options{Log: m.log}, nil)
		if err != nil {
			t.Fatal(err)
		}
		clean := func(s string) string {
			var out []string
			for line := range strings.Lines(s) {
				if line = strings.TrimRight(line, " \n"); line != "" {
					out = append(out, strings.TrimPrefix(line, "pg_restore: "))
				}
			}
			return strings.Join(out, "\n")
		}
		// Since 16, ALTER statements name the kind of relation.
		alter := regexp.MustCompile(`(?m)^Command was: ALTER (TABLE|VIEW|SEQUENCE|MATERIALIZED VIEW) (.*) OWNER`)
		same(t, alter.ReplaceAllString(clean(talk), "ALTER $2 OWNER"), alter.ReplaceAllString(clean(m.String()), "ALTER $2 OWNER"))
		if res.Ignored == 0 || res.Ignored != len(res.Errors) {
			t.Errorf("%d errors of %d ignored", res.Ignored, len(res.Errors))
		}
		if e := res.Errors[0]; e.Entry == nil || e.SQLState != "42P06" || e.Statement == "" {
			t.Errorf("first error %+v", e)
		}
		same(t, text(t, theirs), text(t, ours))

		t.Run("one error ends it", func(t *testing.T) {
			_, err := Run(t.Context(), open(t, file, false), config(t, ours), Options{ExitOnError: true}, nil)
			var ee *EntryError
			if !errors.As(err, &ee) || !strings.HasPrefix(err.Error(), "could not execute query: ERROR:  ") {
				t.Errorf("error %v", err)
			}
		})
		t.Run("the callback decides", func(t *testing.T) {
			enough := errors.New("enough")
			n := 0
			_, err := Run(t.Context(), open(t, file, false), config(t, ours), Options{Jobs: 3, OnError: func(e *EntryError) error {
				if n++; n == 3 {
					return enough
				}
				return nil
			}}, nil)
			if !errors.Is(err, enough) || n != 3 {
				t.Errorf("error %v after %d", err, n)
			}
		})
		t.Run("no data for failed tables", func(t *testing.T) {
			db := s.NewDatabase(t, pgtest.Options{Suffix: "c"})
			db.Exec(t, `create schema shop; create table shop.customers (id int, name text, note text)`)
			for _, jobs := range []int{1, 3} {
				if _, err := Run(t.Context(), open(t, file, false), config(t, db), Options{NoDataForFailedTables: true, Jobs: jobs}, nil); err != nil {
					t.Fatal(err)
				}
				if n := db.QueryString(t, "select count(*) from shop.customers"); n != "0" {
					t.Errorf("%s rows", n)
				}
			}
		})
	})
}

func TestCreate(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := newShop(t, s)
		src.Exec(t, "alter database "+src.Name+" set work_mem = '5MB'; comment on database "+src.Name+" is 'mine'")
		want := text(t, src, "-C")
		for _, a := range []struct {
			args []string
			jobs int
			pipe bool
		}{
			{[]string{"-Fc"}, 1, false}, {[]string{"-Fd"}, 2, false}, {[]string{"-Fc"}, 2, true},
		} {
			t.Run(fmt.Sprint(a), func(t *testing.T) {
				file := dump(t, src, a.args...)
				s.DropDatabase(t, src.Name)
				base := s.Database(t, "postgres")
				// Twice: into nothing, and in the place of what is there.
				mustRun(t, open(t, file, a.pipe), base, Options{Create: true, Jobs: a.jobs})
				same(t, want, text(t, src, "-C"))
				mustRun(t, open(t, file, a.pipe), base, Options{Create: true, Clean: true, IfExists: true, Jobs: a.jobs})
				same(t, want, text(t, src, "-C"))
			})
		}
	})
}

// Names and lists choose single entries.
func TestChoice(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fd")
	run := func(t *testing.T, o Options) *pgtest.DB {
		db := s.NewDatabase(t)
		db.Exec(t, "create schema shop; create type shop.state as enum ('open', 'done')")
		mustRun(t, open(t, file, false), db, o)
		return db
	}
	relations := `select string_agg(relname, ' ' order by relname) from pg_class where relnamespace = 'shop'::regnamespace`
	t.Run("table", func(t *testing.T) {
		db := run(t, Options{Tables: []string{"orders"}, Jobs: 2})
		if got := db.QueryString(t, relations); got != "orders" {
			t.Errorf("relations %s", got)
		}
		if got := db.QueryString(t, "select count(*) from shop.orders"); got != "6000" {
			t.Errorf("%s rows", got)
		}
		mustRun(t, open(t, file, false), db, Options{Indexes: []string{"orders_state"}, Jobs: 2})
		if got := db.QueryString(t, relations); got != "orders orders_state" {
			t.Errorf("relations %s", got)
		}
	})
	t.Run("function and trigger", func(t *testing.T) {
		db := run(t, Options{Functions: []string{"noted()"}, Tables: []string{"customers"}})
		mustRun(t, open(t, file, false), db, Options{Triggers: []string{"customers noted"}})
		if got := db.QueryString(t, "select tgname from pg_trigger"); got != "noted" {
			t.Errorf("triggers %s", got)
		}
	})
	t.Run("strict names", func(t *testing.T) {
		_, err := Run(t.Context(), open(t, file, false), config(t, src), Options{Tables: []string{"orders", "nowhere"}, StrictNames: true}, nil)
		if err == nil || err.Error() != `table "nowhere" not found` {
			t.Errorf("error %v", err)
		}
	})
	t.Run("list", func(t *testing.T) {
		var list bytes.Buffer
		if err := List(open(t, file, false), &list, Options{}); err != nil {
			t.Fatal(err)
		}
		if s.Major >= 16 { // before, it showed the level of the compression
			same(t, src.MustTool(t, "pg_restore", "-l", file), list.String())
		}
		var chosen []string
		for line := range strings.Lines(list.String()) {
			if strings.Contains(line, "TABLE shop orders ") || strings.Contains(line, "TABLE DATA shop orders ") || strings.Contains(line, " orders_state ") {
				chosen = append(chosen, line)
			}
		}
		slices.Reverse(chosen) // an order that cannot work …
		name := filepath.Join(t.TempDir(), "list")
		os.WriteFile(name, []byte(strings.Join(chosen, "")), 0o600)
		db := s.NewDatabase(t)
		db.Exec(t, "create schema shop; create type shop.state as enum ('open', 'done')")
		res, err := Run(t.Context(), open(t, file, false), config(t, db), Options{ListFile: name, NoOwner: true}, nil)
		if err != nil || res.Ignored == 0 {
			t.Errorf("%d errors, %v", res.Ignored, err)
		}
		slices.Reverse(chosen) // … and one that can
		os.WriteFile(name, []byte(strings.Join(chosen, "")), 0o600)
		db = run(t, Options{ListFile: name})
		if got := db.QueryString(t, "select count(*) from shop.orders"); got != "6000" {
			t.Errorf("%s rows", got)
		}
	})
}

// Data alone, into tables that are there, with triggers and foreign keys in the way.
func TestDataOnly(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	want := text(t, src)
	for _, jobs := range []int{1, 3} {
		for _, piped := range []bool{false, true} {
			t.Run(fmt.Sprint(jobs, piped), func(t *testing.T) {
				db := s.NewDatabase(t)
				mustRun(t, open(t, file, false), db, Options{NoData: true})
				mustRun(t, open(t, file, piped), db, Options{DataOnly: true, DisableTriggers: true, Jobs: jobs})
				db.Exec(t, "refresh materialized view shop.totals")
				same(t, want, text(t, db))
			})
		}
	}
}

func TestTransactionSize(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	want := text(t, src)
	for _, n := range []int{1, 7, 100000} {
		for _, jobs := range []int{1, 3} {
			db := s.NewDatabase(t)
			mustRun(t, open(t, file, false), db, Options{TransactionSize: n, Jobs: jobs})
			same(t, want, text(t, db))
		}
	}
}

// OnData sees what the archive holds.
func TestOnData(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	for _, piped := range []bool{false, true} {
		db := s.NewDatabase(t)
		var mu sync.Mutex
		sums := make(map[string]*digest.Lines)
		res := mustRun(t, open(t, file, piped), db, Options{Jobs: 2, OnData: func(e *pgarchive.Entry) io.Writer {
			mu.Lock()
			defer mu.Unlock()
			l := new(digest.Lines)
			sums[e.Tag] = l
			return l
		}})
		var rows int64
		for tag, l := range sums {
			if err := l.Close(); err != nil {
				t.Errorf("%s: %v", tag, err)
			}
			rows += l.Sum().Rows
		}
		if rows != res.Rows || sums["orders"].Sum().Rows != 6000 {
			t.Errorf("%d rows seen, %d loaded", rows, res.Rows)
		}
	}
}

func TestScript(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := newShop(t, s)
		file := dump(t, src, "-Fc")
		out := filepath.Join(t.TempDir(), "out.sql")
		var b bytes.Buffer
		if err := Script(t.Context(), open(t, file, false), &b, Options{ServerVersion: s.Version}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(out, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		db := s.NewDatabase(t)
		db.Psql(t, "-f", out)
		same(t, text(t, src), text(t, db))
	})
}
