package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// publication renders a publication without its tables and schemas (dumpPublication in pg_dump.c).
func (r *renderer) publication(p *catalog.Publication) error {
	if r.skip(&p.Meta) {
		return nil
	}
	name := r.quote.Ident(p.Name)
	var b strings.Builder
	b.WriteString("CREATE PUBLICATION " + name)
	if p.AllTables {
		b.WriteString(" FOR ALL TABLES")
	}
	var publish []string
	for _, op := range []struct {
		name string
		on   bool
	}{{"insert", p.Insert}, {"update", p.Update}, {"delete", p.Delete}, {"truncate", p.Truncate}} {
		if op.on {
			publish = append(publish, op.name)
		}
	}
	b.WriteString(" WITH (publish = '" + strings.Join(publish, ", ") + "'")
	if p.ViaRoot {
		b.WriteString(", publish_via_partition_root = true")
	}
	if p.GenCols == 's' {
		b.WriteString(", publish_generated_columns = stored")
	}
	b.WriteString(");\n")
	r.define(&p.Meta, pgarchive.Entry{
		Desc: "PUBLICATION", Section: pgarchive.SectionPostData, Defn: b.String(), DropStmt: "DROP PUBLICATION " + name + ";\n",
	})
	r.commentOn(&p.Meta, "PUBLICATION", name)
	r.labelsOn(&p.Meta, "PUBLICATION", name)
	return nil
}

// publicationRel renders a table's membership (dumpPublicationTable). It has no DROP, since dropping the table does that; its
// owner is the publication's, who must be the one to run it.
func (r *renderer) publicationRel(p *catalog.PublicationRel) error {
	if r.skip(&p.Meta) {
		return nil
	}
	var b strings.Builder
	b.WriteString("ALTER PUBLICATION " + r.quote.Ident(p.Publication.Name) + " ADD TABLE ONLY " + r.qualified(&p.Table.Meta))
	if p.Columns != nil {
		b.WriteString(" (" + r.quote.Idents(p.Columns) + ")")
	}
	if p.Where != nil {
		b.WriteString(" WHERE (" + *p.Where + ")") // not every expression has its own parentheses
	}
	b.WriteString(";\n")
	r.define(&p.Meta, pgarchive.Entry{
		Tag: p.Publication.Name + " " + p.Table.Name, Desc: "PUBLICATION TABLE", Section: pgarchive.SectionPostData,
		Owner: p.Publication.Owner, Defn: b.String(),
	})
	return nil
}

// publicationSchema renders a schema's membership (dumpPublicationNamespace).
func (r *renderer) publicationSchema(p *catalog.PublicationSchema) error {
	if r.skip(&p.Meta) {
		return nil
	}
	r.define(&p.Meta, pgarchive.Entry{
		Tag: p.Publication.Name + " " + p.Published.Name, Namespace: p.Published.Name,
		Desc: "PUBLICATION TABLES IN SCHEMA", Section: pgarchive.SectionPostData, Owner: p.Publication.Owner,
		Defn: "ALTER PUBLICATION " + r.quote.Ident(p.Publication.Name) + " ADD TABLES IN SCHEMA " + r.quote.Ident(p.Published.Name) + ";\n",
	})
	return nil
}
