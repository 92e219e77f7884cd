package ddl

import (
	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// newID gives a dump ID to an entry of no object of its own (comment, ACL, label).
func (r *renderer) newID() pgarchive.ID {
	r.lastID++
	return r.lastID
}

// add appends an entry for m. Set in e what is the entry's own (Desc, Section, Defn,
// DropStmt, CopyStmt, ...); empty ID, CatalogID, Tag, Namespace, Owner and
// Dependencies are filled in from m.
func (r *renderer) add(m *catalog.Meta, e pgarchive.Entry) *pgarchive.Entry {
	if e.ID == 0 {
		e.ID = pgarchive.ID(m.DumpID)
	}
	if e.CatalogID == (pgarchive.CatalogID{}) {
		e.CatalogID = pgarchive.CatalogID{TableOID: m.ID.Class, OID: m.ID.OID}
	}
	if e.Tag == "" {
		e.Tag = m.Name
	}
	if e.Namespace == "" && m.Schema != nil {
		e.Namespace = m.Schema.Name
	}
	if e.Owner == "" {
		e.Owner = m.Owner
	}
	if e.Dependencies == nil {
		e.Dependencies = depIDs(m.Deps)
	}
	r.entries = append(r.entries, &e)
	return &e
}

func depIDs(deps []catalog.DumpID) []pgarchive.ID {
	out := make([]pgarchive.ID, len(deps))
	for i, d := range deps {
		out[i] = pgarchive.ID(d)
	}
	return out
}

// qualified quotes the object's name with its schema.
func (r *renderer) qualified(m *catalog.Meta) string {
	if m.Schema == nil {
		return r.quote.Ident(m.Name)
	}
	return r.quote.Qualified(m.Schema.Name, m.Name)
}
