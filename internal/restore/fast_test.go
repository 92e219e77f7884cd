package restore

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

const keyed = `
create table a (id int primary key, t text);
create table b (id int primary key, a int references a, t text);
create table c (id int, a int references a deferrable initially deferred, b int references b on delete cascade);
create table "odd name" (id int, b int);
alter table "odd name" add constraint "a key; FOREIGN KEY (" foreign key (b) references b(id);
alter table "odd name" add constraint waits foreign key (id) references a not valid;
create table parts (id int primary key) partition by range (id);
create table parts1 partition of parts for values from (0) to (1000);
create table into_parts (id int references parts);
create index on c using gin ((array[a, b]));
create materialized view sums as select a, count(*) from b group by a;
comment on constraint c_a_fkey on c is 'a comment';
insert into a select i, repeat('x', 100) from generate_series(1, 3000) i;
insert into b select i, i, 'b' from generate_series(1, 3000) i;
insert into c select i, 1 + i % 3000, 1 + i % 3000 from generate_series(1, 5000) i;
insert into "odd name" select i, i from generate_series(1, 100) i;
insert into parts select i from generate_series(1, 900) i;
insert into into_parts select i from generate_series(1, 900) i;
refresh materialized view sums;
create publication everything for all tables;
`

// large makes everything look worth splitting and joining.
func large(r pgarchive.Reader) map[pgarchive.ID]Size {
	m := make(map[pgarchive.ID]Size)
	for _, e := range r.Entries() {
		if e.HasData {
			m[e.ID] = Size{1e6, 1e8}
		}
	}
	return m
}

// The ways of Fast end in the same database, whatever is taken apart or put together.
func TestFast(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := s.NewDatabase(t, pgtest.Options{Suffix: "keyed"})
		src.Exec(t, keyed)
		want := text(t, src)
		file := cut(t, dump(t, src, "-Fc"), "b", 3, pgarchive.FormatDirectory)
		r := open(t, file, false)
		o := Options{Jobs: 3, Fast: true, Analyze: true, Sizes: large(r)}
		p, err := NewPlan(r, &o)
		if err != nil {
			t.Fatal(err)
		}
		split, joined := 0, 0
		for _, it := range p.Items {
			if it.split != nil {
				split++
			}
			if it.lead != nil {
				joined++
			}
		}
		if split != 3 || joined != 3 {
			t.Errorf("%d keys are split, want 3; %d pieces are joined, want 3", split, joined)
		}
		db := s.NewDatabase(t)
		res := mustRun(t, r, db, o)
		same(t, want, text(t, db))
		if n := db.QueryString(t, "select count(*) from pg_constraint where contype = 'f' and not convalidated"); n != "1" {
			t.Errorf("%s keys are not validated, want the one that is not in the source", n)
		}
		if n := db.QueryString(t, "select count(*) from pg_stats where schemaname = 'public' and tablename in ('a', 'b', 'c')"); n != "8" {
			t.Errorf("statistics of %s columns, want 8", n)
		}
		if res.Rows != 3000+3000+5000+100+900+900 {
			t.Errorf("%d rows", res.Rows)
		}
		if res.Predicted <= 0 {
			t.Errorf("predicted %v", res.Predicted)
		}
	})
}

// A build for which the server has not enough with the settings that were chosen is done again with the server's own: here the disk for a sort in little memory.
func TestMakeDo(t *testing.T) {
	s := pgtest.Newest(t)
	src := s.NewDatabase(t)
	src.Exec(t, "create table t as select (random() * 1e15)::bigint as v from generate_series(1, 300000); create index on t (v)")
	file := dump(t, src, "-Fc")
	for _, ledger := range []bool{false, true} {
		r := open(t, file, false)
		db := s.NewDatabase(t)
		db.Exec(t, "do $$ begin execute format('alter database %I set temp_file_limit = 1024', current_database()); end $$")
		mustRun(t, r, db, Options{Jobs: 2, Fast: true, Ledger: ledger, Sizes: large(r)})
		if n := db.QueryString(t, "select count(*) from pg_indexes where tablename = 't'"); n != "1" {
			t.Errorf("ledger %v: %s indexes", ledger, n)
		}
	}
}

// What goes wrong on the fast ways goes wrong as on the others.
func TestFastErrors(t *testing.T) {
	s := pgtest.Newest(t)
	src := s.NewDatabase(t, pgtest.Options{Suffix: "keyed"})
	src.Exec(t, keyed)
	src.Exec(t, `set session_replication_role = replica; insert into c values (0, 99999, 1); insert into b values (3001, 1, 'twice'), (3002, 1, 'bad');`)
	file := cut(t, dump(t, src, "-Fc"), "b", 3, pgarchive.FormatDirectory)
	var texts, errors []string
	for _, fast := range []bool{false, true} {
		r := open(t, file, false)
		db := s.NewDatabase(t)
		m := new(messages)
		o := Options{Jobs: 2, Fast: fast, Sizes: large(r), Log: m.log}
		bad := false
		if fast {
			// One piece cannot be read the first time: all are loaded again.
			o.OnData = func(e *pgarchive.Entry) io.Writer {
				if e.Tag == "b" && !bad {
					bad = true
					return failing{}
				}
				return nil
			}
		}
		res, err := Run(context.Background(), r, config(t, db), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Ignored != 2 { // the key, and the comment on it
			t.Errorf("fast %v: %d errors, want 2:\n%s", fast, res.Ignored, m)
		}
		if bad != fast {
			t.Errorf("fast %v: a piece failed: %v", fast, bad)
		}
		texts = append(texts, text(t, db))
		slices.Sort(m.list)
		errors = append(errors, m.String())
	}
	same(t, sorted(texts[0]), sorted(texts[1])) // pieces side by side leave rows in any order
	same(t, errors[0], errors[1])
	if !strings.Contains(errors[1], `violates foreign key constraint "c_a_fkey"`) || strings.Contains(texts[1], "c_a_fkey") {
		t.Errorf("the key that does not hold: %s", errors[1])
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestSplitKey(t *testing.T) {
	for defn, want := range map[string]string{
		"ALTER TABLE ONLY public.c\n    ADD CONSTRAINT c_a FOREIGN KEY (a) REFERENCES public.a(id);\n":                          "ALTER TABLE ONLY public.c\n    VALIDATE CONSTRAINT c_a;",
		"ALTER TABLE ONLY public.c\n    ADD CONSTRAINT c_a FOREIGN KEY (a) REFERENCES public.a(id) NOT VALID;\n":                "",
		"ALTER TABLE ONLY public.c\n    ADD CONSTRAINT c_a FOREIGN KEY (a) REFERENCES public.a(id) NOT ENFORCED;\n":             "",
		"ALTER TABLE public.c\n    ADD CONSTRAINT c_a FOREIGN KEY (a) REFERENCES public.a(id);\n":                               "",
		"ALTER TABLE ONLY public.c\n    ADD CONSTRAINT \"x FOREIGN KEY (\" FOREIGN KEY (a) REFERENCES public.a(id);\n":          "",
		"ALTER TABLE ONLY public.c\n    ADD CONSTRAINT u UNIQUE (a);\n":                                                         "",
		"ALTER TABLE ONLY public.\"a;\n\"\n    ADD CONSTRAINT c_a FOREIGN KEY (a) REFERENCES public.a(id) ON DELETE CASCADE;\n": "",
	} {
		got := ""
		if k := newSplitKey(defn); k != nil {
			got = k.check
		}
		if got != want {
			t.Errorf("%s\nis checked by %q, want %q", defn, got, want)
		}
	}
}

func TestIndexColumns(t *testing.T) {
	for sql, want := range map[string]int{
		"CREATE INDEX i ON public.t USING btree (a);\n":                         1,
		"CREATE INDEX i ON public.t USING btree (a, lower(b), c) WHERE (a, b)":  3,
		"ALTER TABLE ONLY public.t\n    ADD CONSTRAINT k PRIMARY KEY (a, b);\n": 2,
		"nothing": 1,
	} {
		if got := indexColumns(sql); got != want {
			t.Errorf("%s has %d columns, want %d", sql, got, want)
		}
	}
}
