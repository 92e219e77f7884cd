package restore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pghaul/pghaul/pgarchive"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// toc is a small archive: a table in three pieces, one in one, and what hangs on them.
func toc() []*pgarchive.Entry {
	const (
		none = pgarchive.SectionNone
		pre  = pgarchive.SectionPreData
		data = pgarchive.SectionData
		post = pgarchive.SectionPostData
	)
	entry := func(id pgarchive.ID, s pgarchive.Section, desc, tag, defn string, deps ...pgarchive.ID) *pgarchive.Entry {
		e := &pgarchive.Entry{ID: id, Section: s, Desc: desc, Tag: tag, Namespace: "public", Owner: "ann", Defn: defn, Dependencies: deps}
		if s == pre {
			e.DropStmt = fmt.Sprintf("DROP %s public.%s;\n", desc, tag)
		}
		return e
	}
	rows := func(id pgarchive.ID, tag string, table pgarchive.ID, size int64) *pgarchive.Entry {
		e := entry(id, data, "TABLE DATA", tag, "", table)
		e.HasData, e.DataBytes, e.CopyStmt = true, size, "COPY public."+tag+" (a) FROM stdin;\n"
		return e
	}
	piece := func(id pgarchive.ID, tag string, table pgarchive.ID, size int64) *pgarchive.Entry {
		e := rows(id, tag, table, size)
		e.Defn = "-- load via partition root public." + tag
		return e
	}
	encoding := entry(1, pre, "ENCODING", "ENCODING", "SET client_encoding = 'UTF8';\n")
	encoding.Namespace, encoding.DropStmt = "", ""
	return []*pgarchive.Entry{
		encoding,
		entry(10, pre, "TABLE", "big", "CREATE TABLE public.big (a integer);\n"),
		entry(11, none, "COMMENT", "TABLE big", "COMMENT ON TABLE public.big IS 'x';\n", 10),
		entry(12, pre, "TABLE", "small", "CREATE TABLE public.small (a integer);\n"),
		entry(13, none, "ACL", "TABLE big", "GRANT SELECT ON TABLE public.big TO bob;\n", 10),
		entry(14, pre, "MATERIALIZED VIEW", "sums", "CREATE MATERIALIZED VIEW public.sums AS SELECT 1 WITH NO DATA;\n", 10),
		piece(20, "big", 10, 4000), piece(21, "big", 10, 3000), piece(22, "big", 10, 5000),
		rows(23, "small", 12, 7000),
		entry(30, post, "CONSTRAINT", "big_pkey", "ALTER TABLE ONLY public.big ADD CONSTRAINT big_pkey PRIMARY KEY (a);\n", 10),
		entry(31, post, "INDEX", "big_gin", "CREATE INDEX big_gin ON public.big USING gin (a);\n", 10),
		entry(32, post, "INDEX", "small_a", "CREATE INDEX small_a ON public.small USING btree (a);\n", 12),
		entry(33, post, "INDEX", "sums_a", "CREATE INDEX sums_a ON public.sums USING btree (a);\n", 14),
		entry(34, none, "COMMENT", "INDEX sums_a", "COMMENT ON INDEX public.sums_a IS 'y';\n", 33),
		entry(35, post, "EVENT TRIGGER", "watch", "CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION public.f();\n"),
		entry(36, none, "COMMENT", "COLUMN of what comes late", "COMMENT ON EVENT TRIGGER watch IS 'z';\n", 35),
		entry(40, post, "FK CONSTRAINT", "small big", "ALTER TABLE ONLY public.small ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES public.big(a);\n", 30, 10, 12),
		entry(41, data, "MATERIALIZED VIEW DATA", "sums", "REFRESH MATERIALIZED VIEW public.sums;\n", 14),
	}
}

func planOf(t testing.TB, o Options) *Plan {
	t.Helper()
	p, err := newPlan(toc(), o.scriptOptions(), o.jobs())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanGolden(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"everything", Options{}},
		{"clean-jobs", Options{Clean: true, IfExists: true, Jobs: 4}},
		{"data-only", Options{DataOnly: true}},
		{"table", Options{Tables: []string{"big"}, Indexes: []string{"big_gin"}}},
		{"post-data", Options{Sections: []pgarchive.Section{pgarchive.SectionPostData}, NoPrivileges: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := planOf(t, tt.o).Write(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "plan-"+tt.name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
		})
	}
}

// What depends on a table waits for all its data, and locks the table unless it is an index.
func TestOrder(t *testing.T) {
	p := planOf(t, Options{})
	for _, tt := range []struct {
		id           pgarchive.ID
		needs, locks []pgarchive.ID
		pass         pgarchive.Pass
	}{
		{11, []pgarchive.ID{10}, nil, pgarchive.PassMain},
		{13, []pgarchive.ID{10}, nil, pgarchive.PassACL},
		{20, []pgarchive.ID{10}, nil, pgarchive.PassMain},
		{30, []pgarchive.ID{20, 21, 22}, []pgarchive.ID{20, 21, 22}, pgarchive.PassMain},
		{31, []pgarchive.ID{20, 21, 22}, nil, pgarchive.PassMain},
		{33, []pgarchive.ID{14}, nil, pgarchive.PassMain},
		{36, []pgarchive.ID{35}, nil, pgarchive.PassPostACL}, // because of what it waits for
		{40, []pgarchive.ID{30, 20, 21, 22, 23}, []pgarchive.ID{20, 21, 22, 23}, pgarchive.PassMain},
	} {
		it := p.byID[tt.id]
		if !slices.Equal(it.needs, tt.needs) || !slices.Equal(it.locks, tt.locks) || it.Pass != tt.pass {
			t.Errorf("entry %d needs %v, locks %v, pass %d; want %v, %v, %d", tt.id, it.needs, it.locks, it.Pass, tt.needs, tt.locks, tt.pass)
		}
	}
	if b := p.byID[31].size.Bytes; b != 12000 {
		t.Errorf("the index works on %d bytes", b)
	}
}

// bigSizes are sizes in the plan's proportions, large enough to matter.
func bigSizes(p *Plan) map[pgarchive.ID]Size {
	sizes := make(map[pgarchive.ID]Size)
	for _, it := range p.Items {
		if it.Entry.HasData {
			sizes[it.Entry.ID] = Size{it.Entry.DataBytes * 1e3, it.Entry.DataBytes * 1e5}
		}
	}
	return sizes
}

// The head of the longest path comes first, not the largest piece of data.
func TestPriority(t *testing.T) {
	p := planOf(t, Options{})
	p.estimate(&Options{Sizes: bigSizes(p)}, false)
	s := p.graph().ReadySet(p.before)
	for _, it := range p.Items {
		if it.section == pgarchive.SectionPreData && it.Pass == pgarchive.PassMain {
			s.Done(it.Entry.ID)
		}
	}
	var order []pgarchive.ID
	for {
		id, ok := s.Ready()
		if !ok {
			break
		}
		order = append(order, id)
		s.Done(id)
	}
	// 23 has more data than any piece of big, but behind those waits a gin index.
	want := []pgarchive.ID{22, 20, 21, 31, 23, 30, 32, 40, 33, 34, mainDone, 13, aclDone, 41, 35, 36}
	if !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// A scheduler never runs two items of which one locks what the other needs, whatever finishes when.
func TestNoLockConflicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := newPlan(toc(), (&Options{}).scriptOptions(), 1)
		if err != nil {
			t.Fatal(err)
		}
		s := &scheduler{
			run:       &run{plan: p, r: seekable{}},
			ready:     p.graph().ReadySet(p.before),
			shared:    make(map[pgarchive.ID]int),
			exclusive: make(map[pgarchive.ID]int),
		}
		var running []*Item
		done := make(map[pgarchive.ID]bool)
		for {
			for len(running) < 3 {
				it, _ := s.next()
				if it == nil {
					break
				}
				for _, other := range running {
					for _, id := range it.locks {
						if slices.Contains(other.needs, id) {
							t.Fatalf("%d locks %d, which the running %d needs", it.Entry.ID, id, other.Entry.ID)
						}
					}
					for _, id := range other.locks {
						if slices.Contains(it.needs, id) {
							t.Fatalf("%d needs %d, which the running %d locks", it.Entry.ID, id, other.Entry.ID)
						}
					}
				}
				for _, id := range it.needs {
					if !done[id] {
						t.Fatalf("%d runs before %d", it.Entry.ID, id)
					}
				}
				s.hold(it, 1)
				it.started = true
				running = append(running, it)
			}
			if len(running) == 0 {
				break
			}
			i := rapid.IntRange(0, len(running)-1).Draw(t, "finishes")
			it := running[i]
			running = slices.Delete(running, i, i+1)
			s.hold(it, -1)
			it.done = true
			done[it.Entry.ID] = true
			s.ready.Done(it.Entry.ID)
		}
		for _, it := range p.Items {
			if !it.done {
				t.Fatalf("%d was not done", it.Entry.ID)
			}
		}
	})
}

// seekable is an archive of which only that matters.
type seekable struct{ pgarchive.Reader }

func (seekable) Sequential() bool { return false }

// Entries that wait for each other are not lost.
func TestCycle(t *testing.T) {
	entries := toc()
	for _, e := range entries {
		switch e.ID {
		case 31:
			e.Dependencies = append(e.Dependencies, 40)
		case 40:
			e.Dependencies = append(e.Dependencies, 31)
		}
	}
	p, err := newPlan(entries, (&Options{}).scriptOptions(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &scheduler{run: &run{plan: p, o: &Options{}, r: seekable{}}, ready: p.graph().ReadySet(p.before),
		shared: make(map[pgarchive.ID]int), exclusive: make(map[pgarchive.ID]int)}
	var order []pgarchive.ID
	for {
		it, _ := s.next()
		if it == nil {
			if it, _, err = s.missed(); err != nil {
				t.Fatal(err)
			}
		}
		if it == nil {
			break
		}
		it.started, it.done = true, true
		order = append(order, it.Entry.ID)
		s.ready.Done(it.Entry.ID)
	}
	if i, j := slices.Index(order, 31), slices.Index(order, 13); len(order) != len(p.Wanted()) || i < 0 || j < i {
		t.Errorf("order %v", order)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, ""},
		{Options{DataOnly: true, SchemaOnly: true}, "options -s/--schema-only and -a/--data-only cannot be used together"},
		{Options{Clean: true, DataOnly: true}, "options -c/--clean and -a/--data-only cannot be used together"},
		{Options{SingleTransaction: true, Jobs: 2}, "cannot specify both --single-transaction and multiple jobs"},
		{Options{IfExists: true}, "option --if-exists requires option -c/--clean"},
		{Options{Create: true, SingleTransaction: true}, "options -C/--create and -1/--single-transaction cannot be used together"},
		{Options{Statistics: true, NoStatistics: true}, "options --statistics and --no-statistics cannot be used together"},
	} {
		got := ""
		if err := tt.o.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.o, got, tt.want)
		}
	}
}
