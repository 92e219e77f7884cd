package order

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/catalog"
)

// world is a hand-made database whose objects are known by short labels.
type world struct {
	t      *testing.T
	db     *catalog.Database
	oid    uint32
	label  map[string]catalog.Object
	name   map[catalog.DumpID]string
	schema *catalog.Schema
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, db: &catalog.Database{}, oid: 16384, label: map[string]catalog.Object{}, name: map[catalog.DumpID]string{}}
	w.schema = &catalog.Schema{}
	w.add("schema", catalog.KindSchema, w.schema, "s")
	return w
}

func (w *world) add(label string, k catalog.Kind, o catalog.Object, name string) {
	m := o.Base()
	m.Kind, m.Name = k, name
	w.oid++
	m.ID = catalog.ID{Class: uint32(k), OID: w.oid}
	if k != catalog.KindSchema {
		m.Schema = w.schema
	}
	w.db.Add(o)
	w.label[label] = o
	w.name[m.DumpID] = label
}

func (w *world) table(label string, relkind byte) *catalog.Table {
	t := &catalog.Table{RelKind: relkind}
	w.add(label, catalog.KindTable, t, label)
	return t
}

// deps makes the first of each "a>b c" depend on the others.
func (w *world) deps(list ...string) {
	w.t.Helper()
	for _, d := range list {
		from, to, ok := strings.Cut(d, ">")
		if !ok || w.label[from] == nil {
			w.t.Fatalf("bad dependency %q", d)
		}
		for _, l := range strings.Fields(to) {
			if w.label[l] == nil {
				w.t.Fatalf("bad dependency %q", d)
			}
			w.label[from].Base().AddDep(w.label[l].Base().DumpID)
		}
	}
}

// sort sorts and returns the labels in order, checking that no dependency was hurt.
func (w *world) sort() []string {
	w.t.Helper()
	pre, post := &catalog.Boundary{}, &catalog.Boundary{}
	w.add("PRE", catalog.KindPreDataBoundary, pre, "PRE-DATA BOUNDARY")
	w.add("POST", catalog.KindPostDataBoundary, post, "POST-DATA BOUNDARY")
	pre.Schema, post.Schema = nil, nil
	w.db.PreDataBoundary, w.db.PostDataBoundary = pre, post
	ordered, err := Sort(w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(ordered) != len(w.db.Objects) {
		w.t.Fatalf("%d of %d objects came out", len(ordered), len(w.db.Objects))
	}
	seen := map[catalog.DumpID]bool{}
	var out []string
	for _, o := range ordered {
		m := o.Base()
		for _, d := range m.Deps {
			if !seen[d] {
				w.t.Errorf("%s stands before %s, on which it depends", w.name[m.DumpID], w.name[d])
			}
		}
		seen[m.DumpID] = true
		out = append(out, w.name[m.DumpID])
	}
	return out
}

func (w *world) want(got []string, want string) {
	w.t.Helper()
	if s := strings.Join(got, " "); s != want {
		w.t.Errorf("order:\n%s\nwant\n%s", s, want)
	}
}

func TestKindsAndNames(t *testing.T) {
	w := newWorld(t)
	w.table("t2", 'r')
	w.table("t1", 'r')
	w.add("idx", catalog.KindIndex, &catalog.Index{}, "a")
	w.add("data2", catalog.KindTableData, &catalog.TableData{}, "t2")
	w.add("data1", catalog.KindTableData, &catalog.TableData{}, "t1")
	w.add("ext", catalog.KindExtension, &catalog.Extension{}, "e")
	w.add("fn", catalog.KindFunc, &catalog.Func{}, "f")
	w.add("trig", catalog.KindTrigger, &catalog.Trigger{Table: w.label["t1"].(*catalog.Table)}, "z")
	w.add("fk", catalog.KindFKConstraint, &catalog.Constraint{Separate: true, Table: w.label["t1"].(*catalog.Table)}, "fk")
	w.add("refresh", catalog.KindRefreshMatview, &catalog.TableData{}, "a")
	w.add("lo", catalog.KindLargeObject, &catalog.LargeObject{}, "1")
	w.add("lodata", catalog.KindLargeObjectData, &catalog.LargeObject{}, "1")
	w.want(w.sort(), "schema ext fn t1 t2 PRE data1 data2 lo lodata POST idx trig fk refresh")
}

func TestLegacyLargeObjects(t *testing.T) {
	w := newWorld(t)
	w.db.Options.LegacyLargeObjects = true
	w.add("lodata", catalog.KindLargeObjectData, &catalog.LargeObject{}, "BLOBS")
	w.add("lo", catalog.KindLargeObject, &catalog.LargeObject{}, "1")
	w.table("t", 'r')
	w.want(w.sort(), "schema t lo PRE lodata POST")
}

func TestDependencyMovesLittle(t *testing.T) {
	w := newWorld(t)
	for _, l := range []string{"a", "b", "c", "d"} {
		w.table(l, 'r')
	}
	w.deps("b>d")
	w.want(w.sort(), "schema a d b c PRE POST")
}

func TestViewAndRule(t *testing.T) {
	w := newWorld(t)
	v := w.table("v", 'v')
	rule := &catalog.Rule{Table: v, Type: '1', Instead: true}
	w.add("rule", catalog.KindRule, rule, "_RETURN")
	w.deps("v>rule", "rule>v")
	w.want(w.sort(), "schema rule v PRE POST")
	if v.DummyView || rule.Separate {
		t.Error("a view alone was taken apart")
	}
}

func TestViewAndRuleWithOthers(t *testing.T) {
	w := newWorld(t)
	tab := w.table("t", 'r')
	v := w.table("v", 'v')
	rule := &catalog.Rule{Table: v, Type: '1', Instead: true}
	w.add("rule", catalog.KindRule, rule, "_RETURN")
	w.add("pkey", catalog.KindConstraint, &catalog.Constraint{Table: tab, Type: 'p', Separate: true}, "t_pkey")
	w.deps("v>rule", "rule>v t pkey", "pkey>t")
	w.want(w.sort(), "schema t v PRE POST pkey rule")
	if !v.DummyView || !rule.Separate {
		t.Error("the view was not made a dummy")
	}
	if len(w.db.Warnings) > 0 {
		t.Errorf("warnings: %v", w.db.Warnings)
	}
}

func TestMatviewBehindIndex(t *testing.T) {
	w := newWorld(t)
	tab := w.table("t", 'r')
	m := w.table("m", 'm')
	rowType := &catalog.Type{}
	w.add("mtype", catalog.KindDummyType, rowType, "m")
	rule := &catalog.Rule{Table: m, Type: '1', Instead: true}
	w.add("rule", catalog.KindRule, rule, "_RETURN")
	w.add("pkey", catalog.KindConstraint, &catalog.Constraint{Table: tab, Type: 'p', Separate: true}, "t_pkey")
	w.deps("m>rule", "rule>m t pkey", "pkey>t", "mtype>m")
	w.want(w.sort(), "schema t PRE POST pkey rule m mtype")
	if !m.PostponedDef {
		t.Error("the materialized view was not postponed")
	}
}

func TestFunctionBehindIndex(t *testing.T) {
	w := newWorld(t)
	tab := w.table("t", 'r')
	f := &catalog.Func{}
	w.add("f", catalog.KindFunc, f, "f")
	w.add("pkey", catalog.KindConstraint, &catalog.Constraint{Table: tab, Type: 'p', Separate: true}, "t_pkey")
	w.deps("f>t pkey", "pkey>t")
	w.want(w.sort(), "schema t PRE POST pkey f")
	if !f.PostponedDef {
		t.Error("the function was not postponed")
	}
}

func TestTypeAndFunctions(t *testing.T) {
	w := newWorld(t)
	shell, typ := &catalog.Type{}, &catalog.Type{Shell: nil}
	typ.Shell = shell
	w.add("type", catalog.KindType, typ, "ty")
	w.add("shell", catalog.KindShellType, shell, "ty")
	shell.Dump = catalog.None
	w.add("in", catalog.KindFunc, &catalog.Func{}, "in")
	w.add("out", catalog.KindFunc, &catalog.Func{}, "out")
	w.deps("type>in out", "in>type", "out>type")
	w.want(w.sort(), "schema shell in out type PRE POST")
	if shell.Dump&catalog.Definition == 0 {
		t.Error("the shell type is not dumped")
	}
}

func TestCheckConstraint(t *testing.T) {
	for _, long := range []bool{false, true} {
		w := newWorld(t)
		tab := w.table("t", 'r')
		c := &catalog.Constraint{Table: tab, Type: 'c'}
		w.add("check", catalog.KindConstraint, c, "ck")
		w.deps("t>check", "check>t")
		want := "schema check t PRE POST"
		if long {
			w.add("f", catalog.KindFunc, &catalog.Func{}, "f")
			w.deps("check>f", "f>t")
			want = "schema t f PRE POST check"
		}
		w.want(w.sort(), want)
		if c.Separate != long {
			t.Errorf("separate is %v in a loop of others: %v", c.Separate, long)
		}
	}
}

func TestDefault(t *testing.T) {
	for _, long := range []bool{false, true} {
		w := newWorld(t)
		tab := w.table("t", 'r')
		d := &catalog.AttrDef{Table: tab, Column: 1}
		w.add("default", catalog.KindAttrDef, d, "t")
		w.deps("t>default", "default>t")
		want := "schema default t PRE POST"
		if long {
			w.add("f", catalog.KindFunc, &catalog.Func{}, "f")
			w.deps("default>f", "f>t")
			want = "schema t f default PRE POST"
		}
		w.want(w.sort(), want)
		if d.Separate != long {
			t.Errorf("separate is %v in a loop of others: %v", d.Separate, long)
		}
	}
}

func TestDomainConstraint(t *testing.T) {
	w := newWorld(t)
	d := &catalog.Type{TypType: 'd'}
	w.add("domain", catalog.KindType, d, "d")
	c := &catalog.Constraint{Domain: d, Type: 'c'}
	w.add("check", catalog.KindConstraint, c, "ck")
	w.add("f", catalog.KindFunc, &catalog.Func{}, "f")
	w.deps("domain>check", "check>domain f", "f>domain")
	w.want(w.sort(), "schema domain f PRE POST check")
	if !c.Separate {
		t.Error("the constraint is not separate")
	}
}

func TestPartitionIndexes(t *testing.T) {
	w := newWorld(t)
	parent, part := &catalog.Index{}, &catalog.Index{}
	w.add("parent", catalog.KindIndex, parent, "i")
	w.add("part", catalog.KindIndex, part, "j")
	part.ParentOID = parent.ID.OID
	w.deps("parent>part", "part>parent")
	w.want(w.sort(), "schema PRE POST part parent")
}

func TestTableAlone(t *testing.T) {
	w := newWorld(t)
	w.table("t", 'r')
	w.deps("t>t")
	w.want(w.sort(), "schema t PRE POST")
	if len(w.db.Warnings) > 0 {
		t.Errorf("warnings: %v", w.db.Warnings)
	}
}

func TestForeignKeyCircle(t *testing.T) {
	w := newWorld(t)
	w.add("a", catalog.KindTableData, &catalog.TableData{}, "a")
	w.add("b", catalog.KindTableData, &catalog.TableData{}, "b")
	w.add("c", catalog.KindTableData, &catalog.TableData{}, "c")
	w.deps("a>b", "b>a", "c>c")
	w.want(w.sort(), "schema PRE a b c POST")
	got := fmt.Sprint(w.db.Warnings)
	for _, text := range []string{"among these tables: [a b]", "on this table: [c]", "--disable-triggers"} {
		if !strings.Contains(got, text) {
			t.Errorf("no %q in the warnings %s", text, got)
		}
	}
}

func TestUnknownLoop(t *testing.T) {
	w := newWorld(t)
	w.add("a", catalog.KindFunc, &catalog.Func{}, "a")
	w.add("b", catalog.KindFunc, &catalog.Func{}, "b")
	w.deps("a>b", "b>a")
	w.sort()
	if len(w.db.Warnings) != 1 || w.db.Warnings[0].Text != "could not resolve dependency loop among these items:" ||
		!strings.HasPrefix(w.db.Warnings[0].Details[0], "FUNCTION a  (ID 2 OID ") {
		t.Errorf("warnings: %v", w.db.Warnings)
	}
}

// TestTieBreaks checks that objects of one name come in the order of what tells them apart, whatever their OIDs.
func TestTieBreaks(t *testing.T) {
	w := newWorld(t)
	typ := func(name string) uint32 {
		o := &catalog.Type{}
		w.add(name, catalog.KindDummyType, o, name)
		id := catalog.ID{Class: catalog.ClassType, OID: o.ID.OID}
		w.db.AddAlias(id, o)
		return o.ID.OID
	}
	text, boolean := typ("text"), typ("bool")
	for label, args := range map[string][]uint32{"f(text)": {text}, "f()": {}, "f(bool,text)": {boolean, text}, "f(bool)": {boolean}} {
		w.add(label, catalog.KindFunc, &catalog.Func{ArgTypes: args}, "f")
	}
	for _, k := range []string{"b", "l"} {
		w.add("op"+k, catalog.KindOperator, &catalog.Operator{OprKind: k[0]}, "+")
	}
	t2, t1 := w.table("t2", 'r'), w.table("t1", 'r')
	for _, tab := range []*catalog.Table{t2, t1} {
		w.add("policy-"+tab.Name, catalog.KindPolicy, &catalog.Policy{Table: tab}, "p")
		w.add("check-"+tab.Name, catalog.KindConstraint, &catalog.Constraint{Table: tab, Separate: true}, "c")
	}
	w.add("check-domain", catalog.KindConstraint, &catalog.Constraint{Domain: &catalog.Type{}, Separate: true}, "c")
	w.add("fam-btree", catalog.KindOpfamily, &catalog.Opfamily{AMName: "btree"}, "ops")
	w.add("class-hash", catalog.KindOpclass, &catalog.Opclass{AMName: "hash"}, "ops")
	w.add("class-btree", catalog.KindOpclass, &catalog.Opclass{AMName: "btree"}, "ops")
	w.want(w.sort(), "schema f() f(bool) f(text) f(bool,text) opl opb class-btree class-hash fam-btree t1 t2 bool text PRE POST "+
		"check-domain check-t1 check-t2 policy-t1 policy-t2")
}

// TestRandom sorts random graphs and checks that every dependency that is left holds.
func TestRandom(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for range 200 {
		w := newWorld(t)
		n := 2 + rnd.Intn(30)
		var labels []string
		for i := range n {
			l := fmt.Sprintf("t%02d", i)
			w.table(l, 'r')
			labels = append(labels, l)
		}
		for range rnd.Intn(2 * n) {
			w.deps(labels[rnd.Intn(n)] + ">" + labels[rnd.Intn(n)])
		}
		got := w.sort()
		slices.Sort(got)
		if len(slices.Compact(got)) != n+3 {
			t.Fatalf("objects are missing or double: %v", got)
		}
	}
}

func TestPlaceSet(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	for _, n := range []int{0, 1, 63, 64, 65, 4096, 4097, 300_000} {
		s := newPlaceSet(n)
		in := make(map[int]bool)
		take := func() {
			last := -1
			for i := range in {
				last = max(last, i)
			}
			if got := s.takeLast(); got != last {
				t.Fatalf("of %d places the last is %d, not %d", n, last, got)
			}
			delete(in, last)
		}
		for range min(n, 500) {
			i := rnd.Intn(n)
			s.add(i)
			in[i] = true
			if rnd.Intn(3) == 0 {
				take()
			}
		}
		for len(in) > 0 {
			take()
		}
		take() // there is none
	}
}
