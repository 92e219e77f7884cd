package dump

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestCutCoversTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const block = 8192
		size := tableSize{
			heap:   rapid.Int64Range(0, 1<<24).Draw(t, "pages") * block,
			toast:  rapid.Int64Range(0, 1<<38).Draw(t, "toast"),
			isHeap: true,
		}
		piece := rapid.Int64Range(1, 1<<32).Draw(t, "piece")
		ranges := cut(size, block, piece)
		if len(ranges) == 0 {
			if size.heap+size.toast > piece && size.heap >= 2*block {
				t.Fatalf("%+v is not cut", size)
			}
			return
		}
		if size.heap+size.toast <= piece || len(ranges) < 2 {
			t.Fatalf("%d pieces", len(ranges))
		}
		var from uint32
		for i, r := range ranges {
			last := i == len(ranges)-1
			if r.From != from || (r.To == 0) != last || !last && r.To <= r.From {
				t.Fatalf("piece %d is %+v, expected to start at %d", i, r, from)
			}
			from = r.To
		}
	})
	if cut(tableSize{heap: 1 << 30}, 8192, 1<<20) != nil {
		t.Error("a table of another access method is cut")
	}
	if cut(tableSize{heap: 1 << 30, isHeap: true}, 8192, -1) != nil {
		t.Error("a table is cut although that is switched off")
	}
}

// small is a database of two tables and what depends on them.
func small() (*catalog.Database, []*pgarchive.Entry) {
	db := &catalog.Database{Info: catalog.Info{Version: 180000}}
	public := &catalog.Schema{Meta: catalog.Meta{Kind: catalog.KindSchema, Name: "public"}}
	var entries []*pgarchive.Entry
	add := func(o catalog.Object, e pgarchive.Entry) pgarchive.ID {
		db.Add(o)
		m := o.Base()
		e.ID, e.Tag, e.Namespace = pgarchive.ID(m.DumpID), m.Name, "public"
		entries = append(entries, &e)
		return e.ID
	}
	table := func(oid uint32, name string) *catalog.Table {
		return &catalog.Table{
			Meta:    catalog.Meta{Kind: catalog.KindTable, ID: catalog.ID{Class: catalog.ClassRelation, OID: oid}, Name: name, Schema: public},
			RelKind: 'r', AccessMethod: "heap",
			Columns: []catalog.Column{{Name: "id"}, {Name: "old", Dropped: true}, {Name: "Twice", Generated: 's'}, {Name: "Body"}},
		}
	}
	big, little := table(16400, "big"), table(16401, "little")
	bigID := add(big, pgarchive.Entry{Desc: "TABLE", Section: pgarchive.SectionPreData, Defn: "CREATE TABLE"})
	littleID := add(little, pgarchive.Entry{Desc: "TABLE", Section: pgarchive.SectionPreData, Defn: "CREATE TABLE"})
	data := func(t *catalog.Table) catalog.Object {
		return &catalog.TableData{Meta: catalog.Meta{Kind: catalog.KindTableData, Name: t.Name, Schema: public}, Table: t}
	}
	bigData := add(data(big), pgarchive.Entry{Desc: "TABLE DATA", Section: pgarchive.SectionData, Dependencies: []pgarchive.ID{bigID}, CopyStmt: "COPY public.big (id, \"Body\") FROM stdin;\n"})
	littleData := add(data(little), pgarchive.Entry{Desc: "TABLE DATA", Section: pgarchive.SectionData, Dependencies: []pgarchive.ID{littleID}, CopyStmt: "COPY public.little (id, \"Body\") FROM stdin;\n"})
	index := func(name string) *catalog.Index {
		return &catalog.Index{Meta: catalog.Meta{Kind: catalog.KindIndex, Name: name}}
	}
	add(index("big_i"), pgarchive.Entry{Desc: "INDEX", Section: pgarchive.SectionPostData, Defn: "CREATE INDEX", Dependencies: []pgarchive.ID{bigID}})
	add(index("little_i"), pgarchive.Entry{Desc: "INDEX", Section: pgarchive.SectionPostData, Defn: "CREATE INDEX", Dependencies: []pgarchive.ID{littleID}})
	add(index("fk"), pgarchive.Entry{Desc: "FK CONSTRAINT", Section: pgarchive.SectionPostData, Defn: "ALTER TABLE", Dependencies: []pgarchive.ID{littleData, bigData}})
	add(index("view"), pgarchive.Entry{Desc: "VIEW", Section: pgarchive.SectionPreData, Defn: "CREATE VIEW", Dependencies: []pgarchive.ID{bigID}})
	return db, entries
}

// render shows a plan: entries with their dependencies, then the statements that read.
func render(p *Plan) string {
	var b strings.Builder
	for _, e := range p.Entries {
		fmt.Fprintf(&b, "%d %s %s %v %s\n", e.ID, e.Desc, e.Tag, e.Dependencies, e.Defn)
	}
	for _, i := range p.Items {
		fmt.Fprintf(&b, "%d %s: %s\n", i.Entry.ID, i.Name(), i.Query)
	}
	return b.String()
}

func TestPlanCutsBigTables(t *testing.T) {
	db, entries := small()
	p := &planner{
		db: db, opts: &Options{Format: pgarchive.FormatDirectory}, blockSize: 8192,
		sizes: map[uint32]tableSize{16400: {heap: 150 << 20, toast: 20 << 20, isHeap: true}, 16401: {heap: 8192, isHeap: true}},
	}
	plan, err := p.plan(entries)
	if err != nil {
		t.Fatal(err)
	}
	const want = `1 TABLE big [] CREATE TABLE
2 TABLE little [] CREATE TABLE
3 TABLE DATA big [1] -- load via partition root public.big
9 TABLE DATA big [1] -- load via partition root public.big
10 TABLE DATA big [1] -- load via partition root public.big
4 TABLE DATA little [2] 
5 INDEX big_i [1 3 9 10] CREATE INDEX
6 INDEX little_i [2] CREATE INDEX
7 FK CONSTRAINT fk [4 3 9 10] ALTER TABLE
8 VIEW view [1] CREATE VIEW
3 public.big pages 0-6399: COPY (SELECT id, "Body" FROM ONLY public.big WHERE ctid >= '(0,0)'::pg_catalog.tid AND ctid < '(6400,0)'::pg_catalog.tid) TO stdout
9 public.big pages 6400-12799: COPY (SELECT id, "Body" FROM ONLY public.big WHERE ctid >= '(6400,0)'::pg_catalog.tid AND ctid < '(12800,0)'::pg_catalog.tid) TO stdout
10 public.big pages 12800-: COPY (SELECT id, "Body" FROM ONLY public.big WHERE ctid >= '(12800,0)'::pg_catalog.tid) TO stdout
4 public.little: COPY public.little (id, "Body") TO stdout
`
	if d := cmp.Diff(want, render(plan)); d != "" {
		t.Error(d)
	}
	for _, i := range plan.Items {
		if !i.Entry.HasData {
			t.Errorf("%s has no data", i.Name())
		}
		if (i.Entry.Tag == "big") != strings.Contains(i.Entry.CopyStmt, "public.big ") {
			t.Errorf("%s is loaded by %s", i.Name(), i.Entry.CopyStmt)
		}
	}
}

func TestPlanLeavesTablesWhole(t *testing.T) {
	for name, change := range map[string]func(p *planner, t *catalog.TableData){
		"plain":          func(p *planner, t *catalog.TableData) { p.opts.Format = pgarchive.FormatPlain },
		"server 13":      func(p *planner, t *catalog.TableData) { p.db.Info.Version = 130000 },
		"switched off":   func(p *planner, t *catalog.TableData) { p.opts.PieceBytes = -1 },
		"filter":         func(p *planner, t *catalog.TableData) { t.Filter = "WHERE id > 5" },
		"foreign table":  func(p *planner, t *catalog.TableData) { t.Table.RelKind = 'f' },
		"access method":  func(p *planner, t *catalog.TableData) { t.Table.AccessMethod = "columnar" },
		"inserts":        func(p *planner, t *catalog.TableData) { p.db.Options.Inserts = true },
		"column inserts": func(p *planner, t *catalog.TableData) { p.db.Options.ColumnInserts = true },
	} {
		db, entries := small()
		p := &planner{
			db: db, opts: &Options{Format: pgarchive.FormatCustom}, blockSize: 8192,
			sizes: map[uint32]tableSize{16400: {heap: 1 << 30, isHeap: true}},
		}
		change(p, db.ByDumpID(3).(*catalog.TableData))
		plan, err := p.plan(entries)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Items) != 2 || strings.HasPrefix(plan.Items[0].Entry.Defn, "--") {
			t.Errorf("%s:\n%s", name, render(plan))
		}
	}
}

func TestWantedEntriesKeepsDependencies(t *testing.T) {
	_, entries := small()
	sel := pgarchive.NewSelection()
	sel.Sections = []pgarchive.Section{pgarchive.SectionPreData, pgarchive.SectionPostData}
	kept, changed, err := wantedEntries(entries, sel)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	got := ""
	for _, e := range kept {
		got += fmt.Sprintln(e.ID, e.Desc, e.Dependencies)
	}
	const want = "1 TABLE []\n2 TABLE []\n5 INDEX [1]\n6 INDEX [2]\n7 FK CONSTRAINT [2 1]\n8 VIEW [1]\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLockStatements(t *testing.T) {
	public := &catalog.Schema{Meta: catalog.Meta{Name: "public"}}
	var tables []*catalog.Table
	for i := range 9000 {
		tables = append(tables, &catalog.Table{Meta: catalog.Meta{Name: fmt.Sprintf("Table %d", i), Schema: public}})
	}
	got := lockStatements(tables, sqltext.Quoter{}, 0)
	names := 0
	for _, sql := range got {
		if len(sql) > maxLockStatement+200 {
			t.Errorf("statement of %d bytes", len(sql))
		}
		if !strings.HasPrefix(sql, "LOCK TABLE ONLY public.\"Table ") || !strings.HasSuffix(sql, "\" IN ACCESS SHARE MODE") {
			t.Errorf("statement %.80s ...", sql)
		}
		names += strings.Count(sql, "ONLY ")
	}
	if names != len(tables) || len(got) < 2 {
		t.Errorf("%d names in %d statements", names, len(got))
	}
	if lockStatements(nil, sqltext.Quoter{}, 0) != nil {
		t.Error("statements for no tables")
	}
}

func TestLockHintNamesASettingThatSuffices(t *testing.T) {
	f := &serverFacts{maxLocks: 64, maxConnections: 100, maxPrepared: 0}
	hint := f.lockHint(20000)
	if !strings.Contains(hint, "max_locks_per_transaction to 251") {
		t.Error(hint)
	}
}

// Whatever the bounds, the ranges between them hold each value once.
func TestKeyPartsCoverTheKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64().Draw(t, "low")
		high := rapid.Int64Min(low).Draw(t, "high")
		var histogram []string
		for _, v := range rapid.SliceOfN(rapid.Int64(), 0, 30).Draw(t, "histogram") {
			histogram = append(histogram, fmt.Sprint(v))
		}
		n := rapid.Int64Range(2, 20).Draw(t, "pieces")
		bounds := divide(low, high, histogram, n)
		if int64(len(bounds)) >= n || !slices.IsSorted(bounds) {
			t.Fatalf("bounds %v for %d pieces", bounds, n)
		}
		parts := keyParts("id", bounds)
		for _, v := range append(slices.Clone(bounds), low, high, rapid.Int64().Draw(t, "value")) {
			in := 0
			for _, p := range parts {
				if (p.keys.From == nil || v >= *p.keys.From) && (p.keys.To == nil || v < *p.keys.To) {
					in++
				}
			}
			if len(parts) > 0 && in != 1 {
				t.Fatalf("%d is in %d of the ranges between %v", v, in, bounds)
			}
		}
	})
}

func TestContentsAddsPieces(t *testing.T) {
	db, entries := small()
	p := &planner{
		db: db, opts: &Options{Format: pgarchive.FormatDirectory, PieceBytes: 8192}, blockSize: 8192,
		sizes: map[uint32]tableSize{16400: {heap: 3 * 8192, isHeap: true}},
	}
	plan, err := p.plan(entries)
	if err != nil {
		t.Fatal(err)
	}
	for n, i := range plan.Items {
		for k := range n + 1 {
			i.sum.AddRow([]byte(fmt.Sprint(n, k)))
		}
	}
	tables, _ := contents(plan.Items)
	m := &manifest.Manifest{Database: "x", Server: manifest.Server{VersionNum: 180000}, Tables: tables}
	if n := slices.IndexFunc(tables, func(t manifest.Table) bool { return t.Name == "big" }); n < 0 || tables[n].Rows != 6 || len(tables[n].Pieces) != 3 {
		t.Errorf("tables %+v", m.Tables)
	}
}

func TestPieceBytes(t *testing.T) {
	for _, c := range []struct {
		o    Options
		mib  int64 // of all tables
		want int64 // MiB
	}{
		{Options{Format: pgarchive.FormatDirectory}, 10_000, 64},
		{Options{Format: pgarchive.FormatDirectory}, 100, 64}, // one job waits for nobody
		{Options{Format: pgarchive.FormatDirectory, Jobs: 2}, 10_000, 64},
		{Options{Format: pgarchive.FormatDirectory, Jobs: 2}, 640, 20},
		{Options{Format: pgarchive.FormatDirectory, Jobs: 2}, 100, 8},
		{Options{Format: pgarchive.FormatCustom, Jobs: 8}, 10_000, 32},
		{Options{Format: pgarchive.FormatCustom, Jobs: 100}, 100_000, 8},
		{Options{Format: pgarchive.FormatCustom, Jobs: 8, PieceBytes: 3 << 20}, 10_000, 3},
	} {
		if got := c.o.pieceBytes(c.mib << 20); got != c.want<<20 {
			t.Errorf("%+v, %d MiB: %d bytes, want %d MiB", c.o, c.mib, got, c.want)
		}
	}
}
