package ddl

import (
	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// tableAttach renders the attachment of a partition (dumpTableAttach). It is an entry of its own, so that a
// partition can be restored without its parent.
func (r *renderer) tableAttach(a *catalog.TableAttach) error {
	if r.opt.NoSchema {
		return nil
	}
	r.add(&a.Meta, pgarchive.Entry{
		Desc: "TABLE ATTACH", Section: pgarchive.SectionPreData,
		Defn: "ALTER TABLE ONLY " + r.qualified(&a.Parent.Meta) +
			" ATTACH PARTITION " + r.qualified(&a.Partition.Meta) + " " + a.Partition.More().PartBound + ";\n",
		Owner: a.Partition.Owner,
	})
	return nil
}
