package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/pgarchive"
)

func rows(texts ...string) (s digest.Sum) {
	for _, t := range texts {
		s.AddRow([]byte(t))
	}
	return s
}

func entries() []*pgarchive.Entry {
	return []*pgarchive.Entry{
		{ID: 1, Desc: "ENCODING", Tag: "ENCODING", Defn: "SET client_encoding = 'UTF8';\n"},
		{ID: 2, Desc: "TABLE", Namespace: "public", Tag: "t", Owner: "alice", Defn: "CREATE TABLE public.t (a int);\n", TableAM: "heap"},
		{ID: 3, Desc: "TABLE DATA", Namespace: "public", Tag: "t", Owner: "alice", CopyStmt: "COPY public.t (a) FROM stdin;\n"},
		{ID: 4, Desc: "INDEX", Namespace: "public", Tag: "t_a", Owner: "alice", Defn: "CREATE INDEX t_a ON public.t (a);\n"},
		{ID: 5, Desc: "ACL", Namespace: "public", Tag: "TABLE t", Owner: "alice", Defn: "GRANT SELECT ON TABLE public.t TO bob;\n"},
		{ID: 6, Desc: "ACL", Namespace: "public", Tag: "TABLE t", Owner: "alice", Defn: "GRANT SELECT ON TABLE public.t TO carol;\n"},
		{ID: 7, Desc: "SEQUENCE SET", Namespace: "public", Tag: "s", Defn: "SELECT pg_catalog.setval('public.s', 1, true);\n"},
	}
}

// Ranges of keys must go on from each other as those of pages do.
func TestKeyRanges(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		ranges []KeyRange
		ok     bool
	}{
		{[]KeyRange{{"id", nil, n(5)}, {"id", n(5), n(9)}, {"id", n(9), nil}}, true},
		{[]KeyRange{{"id", nil, n(-5)}, {"id", n(-5), nil}}, true},
		{[]KeyRange{{"id", nil, n(5)}, {"id", n(6), nil}}, false},
		{[]KeyRange{{"id", nil, n(5)}, {"id", n(4), nil}}, false},
		{[]KeyRange{{"id", n(1), n(5)}, {"id", n(5), nil}}, false},
		{[]KeyRange{{"id", nil, n(5)}, {"id", n(5), n(9)}}, false},
		{[]KeyRange{{"id", nil, n(5)}, {"di", n(5), nil}}, false},
		{[]KeyRange{{"id", nil, nil}, {"id", nil, nil}}, false},
		{[]KeyRange{{"id", nil, n(5)}, {"id", n(5), n(5)}, {"id", n(5), nil}}, false},
	} {
		table := Table{Name: "t"}
		var err error
		for i := range c.ranges {
			table.Pieces = append(table.Pieces, Piece{ID: int32(i + 1), Keys: &c.ranges[i]})
		}
		for i := range table.Pieces {
			err = errors.Join(err, table.checkRange(i))
		}
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.ranges, err)
		}
	}
}

func sample() *Manifest {
	m := &Manifest{
		Format: Format, Version: Version, Tool: Tool{"pghaul", "1.2"}, Server: Server{Version: "18.6", VersionNum: 180006},
		Database: "saas", Snapshot: Snapshot{Time: time.Date(2026, 11, 30, 12, 0, 0, 5000, time.UTC), LSN: "0/16B3748"},
		Complete: true, Settings: map[string]string{"DateStyle": "ISO, MDY"},
		Objects:    Inventory(entries()),
		Sequences:  []Sequence{{"public", "s", 41, true}},
		Extensions: []Extension{{"plpgsql", "1.0", "pg_catalog"}},
		Roles:      []Name{"bob", "alice"},
	}
	t := Table{Namespace: "public", Name: "t"}
	var total digest.Sum
	for i, s := range []digest.Sum{rows("1\n", "2\n"), rows("3\n")} {
		p := Piece{ID: int32(10 + i), Pages: &PageRange{From: uint32(4096 * i), To: uint32(4096 * (1 - i))}}
		p.SetSum(s)
		t.Pieces = append(t.Pieces, p)
		total.Add(s)
	}
	t.SetSum(total)
	u := Table{Namespace: "public", Name: "\xff<&", Pieces: []Piece{{ID: 3}}}
	m.Tables = []Table{t, u}
	m.LargeObjects.SetSum(rows("x"))
	return m
}

func TestReadsWhatItWrites(t *testing.T) {
	m := sample()
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if d := cmp.Diff(m, got, cmpopts.IgnoreFields(Object{}, "Definition")); d != "" {
		t.Error(d)
	}
	again, err := got.Encode()
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("the second writing differs (%v):\n%s", err, again)
	}
	if d := Compare(m, got); len(d) > 0 {
		t.Errorf("differs from itself:\n%s", Report(d))
	}
	if want := (Totals{Objects: 4, Tables: 2, Pieces: 3, Sequences: 1, Rows: 3, Bytes: 7}); got.Totals != want {
		t.Errorf("totals %+v, want %+v", got.Totals, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", string(good), "", "unexpected end"},
		{"another format", `"pghaul-manifest"`, `"pigz"`, `format is "pigz"`},
		{"newer version", `"version": 1,`, `"version": 2,`, "use a newer pghaul"},
		{"version 0", `"version": 1,`, `"version": 0,`, "version 0 is not valid"},
		{"unknown member", `"complete"`, `"compleat"`, "unknown field"},
		{"syntax", `"complete":`, `"complete"`, "line "},
		{"a row less", `"rows":2,`, `"rows":1,`, "is not the sum of its pieces"},
		{"gap between pieces", `"from":4096`, `"from":4097`, "leave a gap"},
		{"an id twice", `"id":11`, `"id":10`, "used twice"},
		{"sequence value", `"last_value":41`, `"last_value":42`, "does not fit the contents"},
		{"sequence left out", `{"namespace":"public","name":"s","last_value":41,"is_called":true}`, ``, "totals"},
		{"short hash", `"fingerprint":"`, `"fingerprint":"00`, "64 lower-case"},
		{"role twice", `"bob"`, `"alice"`, "listed twice"},
		{"a name that is neither", `"bob"`, `{}`, "neither"},
		{"more after it", "\n}\n", "\n}\n{}", ""},
	} {
		bad := strings.Replace(string(good), c.old, c.new, 1)
		if bad == string(good) {
			t.Fatalf("%s: nothing to replace", c.name)
		}
		if _, err := Decode([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	newer := strings.Replace(string(good), `"version": 1,`, `"version": 9, "more": [],`, 1)
	if _, err := Decode([]byte(newer)); !errors.Is(err, ErrNewer) {
		t.Errorf("newer version gives %v", err)
	}
}

func TestCompareNamesEachDifference(t *testing.T) {
	object := func(m *Manifest, desc string) *Object {
		for i := range m.Objects {
			if m.Objects[i].Desc == desc {
				return &m.Objects[i]
			}
		}
		t.Fatalf("no %s", desc)
		return nil
	}
	with := func(change func(e []*pgarchive.Entry) []*pgarchive.Entry) func(*Manifest) {
		return func(m *Manifest) { m.Objects = Inventory(change(entries())) }
	}
	for _, c := range []struct {
		name   string
		change func(m *Manifest)
		want   string
	}{
		{"nothing", func(m *Manifest) {}, ""},
		{"other dump IDs and pieces", func(m *Manifest) {
			m.Tables[0].Pieces = []Piece{{ID: 99}}
			m.Tables[0].Pieces[0].SetSum(m.Tables[0].Sum())
		}, ""},
		{"index dropped", with(func(e []*pgarchive.Entry) []*pgarchive.Entry { return append(e[:3:3], e[4:]...) }), "INDEX public.t_a is missing\n"},
		{"index altered", with(func(e []*pgarchive.Entry) []*pgarchive.Entry {
			e[3].Defn = "CREATE UNIQUE INDEX t_a ON public.t (a);\n"
			return e
		}), "INDEX public.t_a: definition differs\n"},
		{"policy added", with(func(e []*pgarchive.Entry) []*pgarchive.Entry {
			return append(e, &pgarchive.Entry{ID: 8, Desc: "POLICY", Namespace: "public", Tag: "t p", Defn: "CREATE POLICY"})
		}), "POLICY public.t p is extra\n"},
		{"grant altered", with(func(e []*pgarchive.Entry) []*pgarchive.Entry {
			e[4].Defn = "GRANT ALL ON TABLE public.t TO bob;\n"
			return e
		}), "ACL public.TABLE t: definition differs\n"},
		{"one of two grants left out", with(func(e []*pgarchive.Entry) []*pgarchive.Entry { return append(e[:4:4], e[5:]...) }), "ACL public.TABLE t is missing\n"},
		{"owner", with(func(e []*pgarchive.Entry) []*pgarchive.Entry { e[1].Owner = "bob"; return e }), "TABLE public.t: owner differs: alice, bob\n"},
		{"access method", func(m *Manifest) { object(m, "TABLE").TableAM = "zheap" }, "TABLE public.t: access method differs: heap, zheap\n"},
		{"sequence value", func(m *Manifest) { m.Sequences[0].LastValue++ }, "SEQUENCE SET public.s: value differs: 41,true, 42,true\n"},
		{"one row less", func(m *Manifest) { m.Tables[0].SetSum(rows("1\n", "2\n")) },
			"TABLE DATA public.t: rows differs: 3, 2\nTABLE DATA public.t: bytes differs: 6, 4\n"},
		{"one row changed", func(m *Manifest) { m.Tables[0].SetSum(rows("1\n", "2\n", "4\n")) }, "TABLE DATA public.t: digest differs: "},
		{"table without its rows", func(m *Manifest) { m.Tables = m.Tables[:1] }, "TABLE DATA public.\xff<& is missing\n"},
		{"large object", func(m *Manifest) { m.LargeObjects.SetSum(rows("y")) }, "BLOBS: digest differs"},
		{"extension version", func(m *Manifest) { m.Extensions[0].Version = "1.1" }, "EXTENSION VERSION plpgsql: version differs: 1.0, 1.1\n"},
		{"setting", func(m *Manifest) { m.Settings = map[string]string{"DateStyle": "German"} }, "SETTING DateStyle: value differs: ISO, MDY, German\n"},
	} {
		b := sample()
		c.change(b)
		got := Report(Compare(sample(), b))
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
		// The same after a round through the document, where definitions are not known.
		doc, err := sample().Encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		if again := Report(Compare(read, b)); again != got {
			t.Errorf("%s, read back:\n%swant\n%s", c.name, again, got)
		}
	}
}

func TestExtraCountsOnlyForCompleteManifests(t *testing.T) {
	a, b := sample(), sample()
	a.Complete = false
	a.Tables = a.Tables[:1]
	a.Sequences = nil
	if d := Compare(a, b); len(d) > 0 {
		t.Errorf("differences:\n%s", Report(d))
	}
}

func TestRootFollowsContents(t *testing.T) {
	root := func(change func(m *Manifest)) Hash {
		m := sample()
		change(m)
		m.Seal()
		return m.Root
	}
	want := root(func(m *Manifest) {})
	if got := root(func(m *Manifest) { m.Tool.Version = "2"; m.Snapshot.LSN = "" }); got != want {
		t.Error("root depends on who made the backup")
	}
	for name, change := range map[string]func(m *Manifest){
		"table":  func(m *Manifest) { m.Tables[0].SetSum(rows("1\n")) },
		"object": func(m *Manifest) { m.Objects = m.Objects[1:] },
		"role":   func(m *Manifest) { m.Roles = nil },
	} {
		if root(change) == want {
			t.Errorf("root does not depend on a %s", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":"pghaul-manifest","version":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		out, err := m.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := Decode(out); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

func TestInventoryOfLargeObjects(t *testing.T) {
	grouped := []*pgarchive.Entry{
		{ID: 1, Desc: "BLOB METADATA", Tag: "16400..16401", Owner: "alice", Defn: "16400\n16401\n"},
		{ID: 2, Desc: "BLOBS", Tag: "16400..16401", HasData: true},
		{ID: 3, Desc: "ACL", Tag: "LARGE OBJECTS 16400..16401", Owner: "alice", Dependencies: []pgarchive.ID{1}, Defn: "GRANT SELECT ON LARGE OBJECT 16400 TO bob;\n"},
		{ID: 4, Desc: "BLOB METADATA", Tag: "16402", Owner: "bob", Defn: "16402\n"},
	}
	single := []*pgarchive.Entry{
		{ID: 9, Desc: "BLOB", Tag: "16402", Owner: "bob", Defn: "SELECT pg_catalog.lo_create('16402');\n"},
		{ID: 1, Desc: "BLOB", Tag: "16400", Owner: "alice", Defn: "SELECT pg_catalog.lo_create('16400');\n"},
		{ID: 3, Desc: "ACL", Tag: "LARGE OBJECT 16400", Owner: "alice", Dependencies: []pgarchive.ID{1}, Defn: "GRANT SELECT ON LARGE OBJECT 16400 TO bob;\n"},
		{ID: 5, Desc: "BLOB", Tag: "16401", Owner: "alice", Defn: "SELECT pg_catalog.lo_create('16401');\n"},
		{ID: 6, Desc: "ACL", Tag: "LARGE OBJECT 16401", Owner: "alice", Dependencies: []pgarchive.ID{5}, Defn: "GRANT SELECT ON LARGE OBJECT 16401 TO bob;\n"},
		{ID: 7, Desc: "BLOBS", Tag: "BLOBS", HasData: true},
	}
	a, b := Inventory(grouped), Inventory(single)
	if d := cmp.Diff(a, b); d != "" || len(a) != 5 {
		t.Errorf("%d objects; grouped and single differ:\n%s", len(a), d)
	}
	single[4].Defn = "GRANT ALL ON LARGE OBJECT 16401 TO bob;\n"
	got := Report(Compare(&Manifest{Objects: a, Complete: true}, &Manifest{Objects: Inventory(single)}))
	if got != "ACL LARGE OBJECT 16401: definition differs\n" {
		t.Error(got)
	}

	many := &pgarchive.Entry{ID: 1, Desc: "BLOB METADATA", Tag: "1..20000", Owner: "alice"}
	for i := range 20000 {
		many.Defn += fmt.Sprintln(i + 1)
	}
	a = Inventory([]*pgarchive.Entry{many})
	many.Owner = "bob"
	b = Inventory([]*pgarchive.Entry{many})
	if len(a) != 1 || a[0].Tag != "20000" || a[0].Fingerprint == b[0].Fingerprint {
		t.Errorf("%+v, %+v", a, b)
	}
}
