package restore

import (
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/pgarchive"
)

// Size is how much data an entry has.
type Size struct {
	Rows  int64
	Bytes int64 // uncompressed
}

func (s Size) add(o Size) Size { return Size{s.Rows + o.Rows, s.Bytes + o.Bytes} }

// work is what a step costs, in seconds: for itself, for each row and each byte of the table's COPY text.
type work struct{ fixed, row, byte float64 }

func (w work) of(s Size) float64 {
	return w.fixed + w.row*float64(s.Rows) + w.byte*float64(s.Bytes)
}

// The costs were measured on PostgreSQL 17, tuned as a throwaway server, one process of a 2024 x86 server core
// (see docs/benchmarks-restore.md). Schedules need the proportions only; a prediction is scaled by how
// fast the server at hand answers probeQuery.
var (
	loadWork   = work{0.001, 1.6e-6, 14e-9}
	frozenWork = work{0.002, 1.4e-6, 11e-9} // into an emptied table, with FREEZE
	objectWork = work{0.001, 0, 10e-9}      // large objects
	checkWork  = work{0.0005, 0.2e-6, 0.1e-9}
	scanWork   = work{0.001, 0.2e-6, 0.3e-9} // reading a table for a constraint or a materialized view
	otherWork  = work{fixed: 0.0004}

	// By access method, or operator class where that makes a difference and is not the default one. What a row costs depends on the type as well, of which nothing
	// is known here: a gist index of points takes 2e-6 s a row, of ranges 3.5e-6, of text vectors 12e-6. Of btree the work is that of the first column; each
	// further one adds columnRow. (`pghaul bench index`; hnsw with all of its graph in memory, and ivfflat with 100 lists, of vectors of 384 dimensions.)
	buildWork = map[string]work{
		"btree":          {0.002, 0.8e-6, 0.2e-9},
		"hash":           {0.002, 1.4e-6, 0.3e-9},
		"brin":           {0.002, 0.2e-6, 0.3e-9},
		"gin":            {0.002, 6e-6, 22e-9},
		"jsonb_path_ops": {0.002, 5e-6, 14e-9},
		"gin_trgm_ops":   {0.002, 6e-6, 15e-9},
		"gist":           {0.002, 3.5e-6, 10e-9},
		"gist_trgm_ops":  {0.002, 10e-6, 10e-9},
		"spgist":         {0.002, 3.1e-6, 3e-9},
		"bloom":          {0.002, 0.7e-6, 0.3e-9},
		"ivfflat":        {0.15, 8e-6, 9.5e-9},
		"hnsw":           {0.01, 120e-6, 115e-9},
	}
	buildClasses = []string{"jsonb_path_ops", "gin_trgm_ops", "gist_trgm_ops"}
	unknownBuild = work{0.002, 1e-6, 1e-9}
	keyWork      = work{0.002, 0.36e-6, 0.2e-9} // primary and unique keys: most are in the order of the rows
)

const columnRow = 0.25e-6

// probeQuery is work for the server's processor alone; probeSeconds is how long it took where the costs were measured.
const (
	probeQuery   = "SELECT pg_catalog.count(*) FROM pg_catalog.generate_series(1, 200000) AS g (i) WHERE pg_catalog.hashint4(i) % 7 = 0"
	probeSeconds = 0.040
)

// How much larger data are than what an archive stores of them, as a rule.
var expansion = map[codec.Method]float64{codec.None: 1, codec.Gzip: 4.5, codec.LZ4: 2.5, codec.Zstd: 4}

// bytesPerRow is assumed where rows are not known.
const bytesPerRow = 150

// estimate gives each item its size, its cost and the length of the path that begins with it, and decides which
// tables are loaded in one transaction and which foreign keys are added in two steps.
func (p *Plan) estimate(o *Options, sequential bool) {
	factor := expansion[p.header.Compression.Method]
	if factor == 0 {
		factor = 1
	}
	for _, it := range p.Items {
		it.size, it.known, it.lead, it.split = Size{}, false, nil, nil
		if !it.Entry.HasData {
			continue
		}
		if s, ok := o.Sizes[it.Entry.ID]; ok {
			it.size, it.known = s, true
			continue
		}
		b := int64(float64(max(it.Entry.DataBytes, 0)) * factor)
		it.size = Size{b / bytesPerRow, b}
	}
	for _, it := range p.Items {
		if it.Entry.HasData {
			continue
		}
		it.tableData = nil
		for _, id := range it.needs {
			if dep := p.byID[id]; dep.Entry.Desc == "TABLE DATA" {
				it.tableData = append(it.tableData, dep)
				it.known = dep.known && (it.known || len(it.tableData) == 1)
				it.size = it.size.add(dep.size)
			}
		}
	}
	for _, it := range p.Items {
		if it.Entry.Desc == "MATERIALIZED VIEW DATA" {
			it.size = p.beneath(it)
		}
		it.cost = it.seconds()
	}
	p.paths()
	if !o.Fast || p.jobs < 2 {
		return
	}
	p.splitKeys()
	if !sequential && !o.NoFreeze {
		p.joinPieces()
		p.paths()
	}
}

// beneath is the size of the tables that a view reads, itself or through other views.
func (p *Plan) beneath(it *Item) (size Size) {
	seen := make(map[*Item]bool)
	var visit func(it *Item)
	visit = func(it *Item) {
		for _, id := range it.needs {
			dep := p.byID[id]
			if seen[dep] {
				continue
			}
			seen[dep] = true
			for _, d := range dep.data {
				size = size.add(d.size)
			}
			if strings.HasSuffix(dep.Entry.Desc, "VIEW") {
				visit(dep)
			}
		}
	}
	visit(it)
	return size
}

// paths works out the longest path that begins with each item.
func (p *Plan) paths() {
	for _, it := range p.Items {
		it.path = it.cost
	}
	for i := len(p.sorted) - 1; i >= 0; i-- {
		it := p.byID[p.sorted[i]]
		for _, n := range it.needs {
			dep := p.byID[n]
			dep.path = max(dep.path, dep.cost+it.path)
		}
	}
}

// seconds is the item's own cost.
func (it *Item) seconds() float64 {
	if it.Want&wantAny == 0 {
		return 0
	}
	switch it.Entry.Desc {
	case "TABLE DATA":
		if !it.streamed() {
			return 0
		}
		if it.pieces == 1 {
			return frozenWork.of(it.size)
		}
		return loadWork.of(it.size)
	case "BLOBS":
		return objectWork.of(it.size)
	case "INDEX":
		am := it.method()
		w, ok := buildWork[am]
		if !ok {
			w = unknownBuild
		}
		for _, class := range buildClasses {
			if strings.Contains(it.Entry.Defn, class) {
				w = buildWork[class]
			}
		}
		if am == "hnsw" || am == "ivfflat" {
			return w.of(it.vectors())
		}
		return w.of(it.size) + columnRow*float64(it.size.Rows)*float64(indexColumns(it.Entry.Defn)-1)
	case "CONSTRAINT":
		w := keyWork
		if am := it.method(); am != "btree" { // an exclusion constraint
			w = buildWork[am]
		}
		return w.of(it.size) + columnRow*float64(it.size.Rows)*float64(indexColumns(it.Entry.Defn)-1)
	case "FK CONSTRAINT":
		return checkWork.of(it.own())
	case "CHECK CONSTRAINT", "MATERIALIZED VIEW DATA":
		return scanWork.of(it.size)
	}
	return otherWork.fixed
}

// vectors is the size of a table that holds vectors: rows are long, and the text form is more than twice as long as the binary one.
func (it *Item) vectors() Size {
	s := it.size
	for _, d := range it.tableData {
		if isBinary(d.Entry.CopyStmt) {
			s.Bytes += d.size.Bytes * 7 / 5
		}
	}
	if !it.known {
		s.Rows = min(s.Rows, s.Bytes/2000)
	}
	return s
}

// own is the size of the table a constraint belongs to, without those it refers to.
func (it *Item) own() Size {
	var s Size
	for _, d := range it.ownData {
		s = s.add(d.size)
	}
	return s
}

// accessMethod is the access method of a CREATE INDEX statement.
func accessMethod(sql string) string {
	_, rest, ok := strings.Cut(sql, " USING ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// indexColumns counts the columns of an index or key: the commas of the first list in parentheses.
func indexColumns(sql string) int {
	if _, rest, ok := strings.Cut(sql, " USING "); ok {
		sql = rest
	}
	i := strings.IndexByte(sql, '(')
	if i < 0 {
		return 1
	}
	n, depth := 1, 0
	for _, c := range sql[i:] {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return n
			}
		case ',':
			if depth == 1 {
				n++
			}
		}
	}
	return n
}

// Predicted is how long the restore will take on a server like the one on which the costs were measured.
func (p *Plan) Predicted() time.Duration {
	return time.Duration(p.simulate() * float64(time.Second))
}

// simulate plays the schedule through and returns its length in seconds. Each job is taken to have a processor of its own.
func (p *Plan) simulate() float64 {
	total := 0.0
	for _, it := range p.Items {
		total += it.cost
	}
	if p.jobs < 2 {
		return total
	}
	type task struct {
		it  *Item
		end float64
	}
	ready := p.graph().ReadySet(p.before)
	s := &scheduler{
		run: &run{plan: p}, ready: ready,
		shared: make(map[pgarchive.ID]int), exclusive: make(map[pgarchive.ID]int), checking: make(map[pgarchive.ID]int),
	}
	now := 0.0
	for _, it := range p.Items { // the definitions are made by one connection
		if it.section == pgarchive.SectionPreData && it.Pass == pgarchive.PassMain {
			now += it.cost
			ready.Done(it.Entry.ID)
		}
	}
	var running []task
	for {
		for len(running) < p.jobs {
			id, ok := ready.Next(func(id pgarchive.ID) bool {
				it := p.byID[id]
				return it == nil || it.cost == 0 || !s.conflicts(it)
			})
			if !ok {
				break
			}
			it := p.byID[id]
			if it == nil || it.cost == 0 {
				ready.Done(id)
				continue
			}
			s.hold(it, 1)
			running = append(running, task{it, now + it.cost})
		}
		if len(running) == 0 {
			return now
		}
		first := 0
		for i := range running {
			if running[i].end < running[first].end {
				first = i
			}
		}
		t := running[first]
		running = append(running[:first], running[first+1:]...)
		now = t.end
		s.hold(t.it, -1)
		ready.Done(t.it.Entry.ID)
	}
}

// Paths returns, for each data entry, the seconds of the longest path of work that begins with it.
func (p *Plan) Paths() map[pgarchive.ID]float64 {
	m := make(map[pgarchive.ID]float64)
	for _, it := range p.Items {
		if it.streamed() {
			m[it.Entry.ID] = it.path
		}
	}
	return m
}
