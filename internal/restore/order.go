package restore

import (
	"strings"

	"github.com/pghaul/pghaul/internal/graph"
	"github.com/pghaul/pghaul/pgarchive"
)

// Keys of the graph that are no entries: they stand between the passes.
const (
	mainDone pgarchive.ID = -1
	aclDone  pgarchive.ID = -2
)

// order works out what each item waits for, what it locks, and how long the
// path is that begins with it (fix_dependencies in pg_backup_archiver.c).
func (p *Plan) order() {
	for _, it := range p.Items {
		seen := make(map[pgarchive.ID]bool, len(it.Entry.Dependencies))
		add := func(id pgarchive.ID) {
			if !seen[id] && id != it.Entry.ID {
				seen[id] = true
				it.needs = append(it.needs, id)
			}
		}
		it.bytes = it.Entry.DataBytes
		for _, id := range it.Entry.Dependencies {
			dep := p.byID[id]
			switch {
			case dep == nil: // not in the archive
			case it.Entry.Section == pgarchive.SectionPostData && len(dep.data) > 0:
				// After the table means after its data, all pieces of them.
				for _, d := range dep.data {
					add(d.Entry.ID)
				}
			default:
				add(id)
			}
		}
		if it.Entry.Section != pgarchive.SectionPostData {
			continue
		}
		for _, id := range it.needs {
			dep := p.byID[id]
			switch dep.Entry.Desc {
			case "TABLE DATA":
				it.bytes += dep.Entry.DataBytes
			case "TABLE":
			default:
				continue
			}
			// Most post-data entries alter the table, which needs an exclusive lock;
			// CREATE INDEX does not (identify_locking_dependencies).
			if it.Entry.Desc != "INDEX" {
				it.locks = append(it.locks, id)
			}
		}
	}
	g := new(graph.Graph[pgarchive.ID])
	for _, it := range p.Items {
		g.Add(it.Entry.ID)
		for _, id := range it.needs {
			g.Edge(id, it.Entry.ID)
		}
	}
	// An entry that waits for one of a later pass is of that pass itself. Entries
	// on a cycle are not in the sorted list, keep their pass, and have no path.
	sorted, _ := g.Sorted(nil)
	for _, id := range sorted {
		it := p.byID[id]
		for _, n := range it.needs {
			it.Pass = max(it.Pass, p.byID[n].Pass)
		}
	}
	for _, it := range p.Items {
		it.cost = it.estimate()
		it.path = it.cost
	}
	for i := len(sorted) - 1; i >= 0; i-- {
		it := p.byID[sorted[i]]
		for _, n := range it.needs {
			dep := p.byID[n]
			dep.path = max(dep.path, dep.cost+it.path)
		}
	}
}

// graph is the graph of the items and the borders between the passes.
func (p *Plan) graph() *graph.Graph[pgarchive.ID] {
	g := new(graph.Graph[pgarchive.ID])
	for _, it := range p.Items {
		g.Add(it.Entry.ID)
	}
	g.Edge(mainDone, aclDone)
	for _, it := range p.Items {
		id := it.Entry.ID
		for _, n := range it.needs {
			g.Edge(n, id)
		}
		switch it.Pass {
		case pgarchive.PassMain:
			g.Edge(id, mainDone)
		case pgarchive.PassACL:
			g.Edge(mainDone, id)
			g.Edge(id, aclDone)
		default:
			g.Edge(aclDone, id)
		}
	}
	return g
}

// before is the order in which a scheduler prefers entries: the longest path
// first, then the archive's order.
func (p *Plan) before(a, b pgarchive.ID) bool {
	x, y := p.byID[a], p.byID[b]
	switch {
	case x == nil || y == nil: // a border between passes costs nothing
		return x == nil && y != nil
	case x.path != y.path:
		return x.path > y.path
	}
	return x.place < y.place
}

// accessMethodCost is the work of building an index for each byte of the table, in terms of loading
// it: measured for btree, gin and hnsw, guessed for the others. Only the proportions matter, and those roughly.
var accessMethodCost = map[string]float64{
	"btree": 0.4, "hash": 0.5, "brin": 0.1, "gin": 3, "gist": 3, "spgist": 2, "bloom": 0.5, "ivfflat": 5, "hnsw": 20,
}

// estimate is the item's own cost.
func (it *Item) estimate() float64 {
	if it.Want&wantAny == 0 {
		return 0
	}
	size := float64(it.bytes)
	switch it.Entry.Desc {
	case "TABLE DATA", "BLOBS":
		return size + 1
	case "INDEX":
		if c, ok := accessMethodCost[accessMethod(it.Entry.Defn)]; ok {
			return c*size + 1
		}
		return 0.5*size + 1
	case "CONSTRAINT":
		return 0.4*size + 1
	case "FK CONSTRAINT":
		return 0.2*size + 1
	case "CHECK CONSTRAINT":
		return 0.1*size + 1
	}
	return 1
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
