package ddl

import (
	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// attrDef renders a default that is not part of its table's definition (dumpAttrDef).
func (r *renderer) attrDef(d *catalog.AttrDef) error {
	if r.opt.NoSchema || !d.Separate || d.Dump&catalog.Definition == 0 {
		return nil
	}
	t := d.Table
	column := t.Columns[d.Column-1].Name
	table, quoted := r.qualified(&t.Meta), r.quote.Ident(column)
	r.add(&d.Meta, pgarchive.Entry{
		Tag: t.Name + " " + column, Desc: "DEFAULT", Section: pgarchive.SectionPreData,
		Defn:     "ALTER " + foreign(t) + "TABLE ONLY " + table + " ALTER COLUMN " + quoted + " SET DEFAULT " + d.Expr + ";\n",
		DropStmt: "ALTER " + foreign(t) + "TABLE " + table + " ALTER COLUMN " + quoted + " DROP DEFAULT;\n",
		Owner:    t.Owner,
	})
	return nil
}
