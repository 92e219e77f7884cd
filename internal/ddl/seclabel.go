package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// secLabel adds the SECURITY LABEL entry of an object, if it has any (dumpSecLabel in pg_dump.c). To be called after comment,
// when m.Dump&catalog.SecLabel is set; the arguments are those of comment.
func (r *renderer) secLabel(kind, name, schema, owner string, id catalog.SubID, dep pgarchive.ID) {
	if r.opt.NoSecurityLabels || !r.wantTexts(kind) {
		return
	}
	target := kind + " "
	if schema != "" {
		target += r.quote.Ident(schema) + "."
	}
	r.secLabelEntry(r.secLabelText(target+name, r.db.Labels[id]), kind+" "+name, schema, owner, dep)
}

// secLabelText returns the statements that set labels on a target.
func (r *renderer) secLabelText(target string, labels []catalog.SecLabelText) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString("SECURITY LABEL FOR " + r.quote.Ident(l.Provider) + " ON " + target + " IS " + r.literal(l.Label) + ";\n")
	}
	return b.String()
}

// secLabelEntry adds an entry with such statements, unless there are none.
func (r *renderer) secLabelEntry(text, tag, schema, owner string, dep pgarchive.ID) {
	if text == "" {
		return
	}
	r.addEntry(pgarchive.Entry{
		Tag:          tag,
		Desc:         "SECURITY LABEL",
		Section:      pgarchive.SectionNone,
		Defn:         text,
		Namespace:    schema,
		Owner:        owner,
		Dependencies: []pgarchive.ID{dep},
	})
}
