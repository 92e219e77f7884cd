package ddl

import (
	"bytes"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// newID gives a dump ID to an entry of no object of its own (comment, ACL, label).
func (r *renderer) newID() pgarchive.ID {
	r.lastID++
	return r.lastID
}

// add appends an entry for m. Set in e what is the entry's own (Desc, Section, Defn,
// DropStmt, CopyStmt, ...); empty ID, CatalogID, Tag, Namespace and Owner are filled
// in from m. Dependencies that are set stay as they are; nil ones become, at the end,
// those of m that have an entry (resolveDependencies).
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
	return r.addEntry(e)
}

// addEntry appends an entry of no catalogue object, with a dump ID of its own if it has none yet.
func (r *renderer) addEntry(e pgarchive.Entry) *pgarchive.Entry {
	if e.ID == 0 {
		e.ID = r.newID()
	}
	if len(r.room) == cap(r.room) {
		r.room = make([]pgarchive.Entry, 0, min(2*cap(r.room)+8, 512))
	}
	r.room = append(r.room, e)
	added := &r.room[len(r.room)-1]
	r.entries = append(r.entries, added)
	return added
}

// begin returns an empty buffer for a text that kept takes. There is one: what kept has taken is no longer in it.
func (r *renderer) begin() *bytes.Buffer {
	r.text.Reset()
	return &r.text
}

// kept returns the text of the buffer. Texts stand together in memory: there are hundreds of thousands.
func (r *renderer) kept(q *bytes.Buffer) string {
	const together = 32 << 10
	n := q.Len()
	if n > together/8 {
		return q.String()
	}
	if r.texts.Cap()-r.texts.Len() < n {
		size := min(max(2*r.texts.Cap(), 256), together)
		r.texts = strings.Builder{}
		r.texts.Grow(max(size, n))
	}
	start := r.texts.Len()
	r.texts.Write(q.Bytes())
	return r.texts.String()[start:]
}

// join returns the texts as one.
func (r *renderer) join(parts ...string) string {
	q := &r.joined
	q.Reset()
	for _, p := range parts {
		q.WriteString(p)
	}
	return r.kept(q)
}

// literal writes s as a string literal for the session settings the archive is restored with.
func (r *renderer) literal(s string) string {
	return sqltext.Literal(s, r.db.Info.StdStrings)
}

// qualified quotes the object's name with its schema.
func (r *renderer) qualified(m *catalog.Meta) string {
	if m.Schema == nil {
		return r.quote.Ident(m.Name)
	}
	return r.quote.Qualified(m.Schema.Name, m.Name)
}
