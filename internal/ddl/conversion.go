package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// conversion renders an encoding conversion (dumpConversion in pg_dump.c).
func (r *renderer) conversion(c *catalog.Conversion) error {
	if r.skip(&c.Meta) {
		return nil
	}
	name := r.quote.Ident(c.Name)
	var b strings.Builder
	b.WriteString("CREATE ")
	if c.Default {
		b.WriteString("DEFAULT ")
	}
	b.WriteString("CONVERSION " + r.qualified(&c.Meta) + " FOR " + r.literal(c.From) + " TO " + r.literal(c.To) + " FROM " + c.Proc + ";\n")
	b.WriteString(r.upgradeMember(&c.Meta, "CONVERSION", name, schemaName(&c.Meta)))
	r.define(&c.Meta, pgarchive.Entry{
		Desc: "CONVERSION", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP CONVERSION " + r.qualified(&c.Meta) + ";\n",
	})
	r.commentOn(&c.Meta, "CONVERSION", name)
	return nil
}
