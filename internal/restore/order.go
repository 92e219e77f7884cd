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

// order works out what each item waits for and what it locks (fix_dependencies in pg_backup_archiver.c).
func (p *Plan) order() {
	for _, it := range p.Items {
		seen := make(map[pgarchive.ID]bool, len(it.Entry.Dependencies))
		add := func(id pgarchive.ID) {
			if !seen[id] && id != it.Entry.ID {
				seen[id] = true
				it.needs = append(it.needs, id)
			}
		}
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
			case "TABLE DATA", "TABLE":
			default:
				continue
			}
			// Most post-data entries alter the table, which needs an exclusive lock;
			// CREATE INDEX does not (identify_locking_dependencies).
			if it.Entry.Desc != "INDEX" {
				it.locks = append(it.locks, id)
			}
			if it.Entry.Namespace == dep.Entry.Namespace && strings.HasPrefix(it.Entry.Tag, dep.Entry.Tag+" ") {
				it.ownData = append(it.ownData, dep)
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
	p.sorted = sorted
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
