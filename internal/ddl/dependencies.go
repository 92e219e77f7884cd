package ddl

import (
	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// resolveDependencies gives each entry without dependencies of its own those of its object. One on an object that has no
// entry (a view's rule, a default inside CREATE TABLE, ...) is replaced by what that object depends on, and
// so on (BuildArchiveDependencies in pg_dump.c). Section boundaries lead nowhere. Unlike there, no
// dependency is listed twice.
func (r *renderer) resolveDependencies() {
	has := make([]bool, int(r.lastID)+1)
	for _, e := range r.entries {
		has[e.ID] = true
	}
	seen := make([]pgarchive.ID, len(r.db.Objects)+1) // the entry for which the object was last visited
	for _, e := range r.entries {
		if e.Dependencies != nil {
			continue
		}
		o := r.db.ByDumpID(catalog.DumpID(e.ID))
		if o == nil {
			continue
		}
		var walk func(m *catalog.Meta)
		walk = func(m *catalog.Meta) {
			if m.Kind == catalog.KindPreDataBoundary || m.Kind == catalog.KindPostDataBoundary {
				return
			}
			for _, d := range m.Deps {
				if int(d) >= len(seen) || d < 1 || seen[d] == e.ID {
					continue
				}
				seen[d] = e.ID
				if has[d] {
					e.Dependencies = append(e.Dependencies, pgarchive.ID(d))
				} else {
					walk(r.db.ByDumpID(d).Base())
				}
			}
		}
		seen[e.ID] = e.ID
		walk(o.Base())
	}
}
