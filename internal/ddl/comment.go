package ddl

import (
	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// wantTexts says whether comments, or labels, of a kind of object are dumped: they belong to
// the definitions, those of large objects to the data.
func (r *renderer) wantTexts(kind string) bool {
	if kind == "LARGE OBJECT" {
		return !r.opt.NoData || r.opt.BinaryUpgrade
	}
	return !r.opt.NoSchema
}

// comment adds the COMMENT entry of an object, if it has one (dumpComment in pg_dump.c). To be called after the object's own
// entry, when m.Dump&catalog.Comment is set. kind and name are as in COMMENT ON kind [schema.]name, name already
// quoted; for a trigger and the like kind is "TRIGGER name ON". dep is the object's entry.
func (r *renderer) comment(kind, name, schema, owner string, id catalog.SubID, dep pgarchive.ID) {
	text, ok := r.db.Comments[id]
	if ok && r.wantComments(kind) {
		r.commentEntry(kind, name, schema, owner, text, dep)
	}
}

func (r *renderer) wantComments(kind string) bool { return !r.opt.NoComments && r.wantTexts(kind) }

// commentOver is comment for an object that initdb makes with a comment: that one is not dumped, and when it is
// gone, its absence is (dumpCommentExtended).
func (r *renderer) commentOver(initdb, kind, name, schema, owner string, id catalog.SubID, dep pgarchive.ID) {
	text := r.db.Comments[id]
	if text != initdb && r.wantComments(kind) {
		r.commentEntry(kind, name, schema, owner, text, dep)
	}
}

func (r *renderer) commentEntry(kind, name, schema, owner, text string, dep pgarchive.ID) {
	target := kind + " "
	if schema != "" {
		target += r.quote.Ident(schema) + "."
	}
	r.addEntry(pgarchive.Entry{
		Tag:          kind + " " + name,
		Desc:         "COMMENT",
		Section:      pgarchive.SectionNone,
		Defn:         "COMMENT ON " + target + name + " IS " + r.literal(text) + ";\n",
		Namespace:    schema,
		Owner:        owner,
		Dependencies: []pgarchive.ID{dep},
	})
}

// mainID names the object itself, not a part of it, for comment and secLabel.
func mainID(m *catalog.Meta) catalog.SubID { return catalog.SubID{ID: m.ID} }
