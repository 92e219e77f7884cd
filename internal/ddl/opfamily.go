package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// opfamily renders an operator family with its loose members, those of no operator class (dumpOpfamily in pg_dump.c).
func (r *renderer) opfamily(o *catalog.Opfamily) error {
	if r.skip(&o.Meta) {
		return nil
	}
	am := r.quote.Ident(o.AMName)
	name := r.quote.Ident(o.Name) + " USING " + am
	full := r.qualified(&o.Meta) + " USING " + am
	var b strings.Builder
	b.WriteString("CREATE OPERATOR FAMILY " + full + ";\n")
	if items := r.familyMembers(&o.Loose); len(items) > 0 {
		b.WriteString("ALTER OPERATOR FAMILY " + full + " ADD\n    " + strings.Join(items, " ,\n    ") + ";\n")
	}
	b.WriteString(r.upgradeMember(&o.Meta, "OPERATOR FAMILY", name, schemaName(&o.Meta)))
	r.define(&o.Meta, pgarchive.Entry{
		Desc: "OPERATOR FAMILY", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP OPERATOR FAMILY " + full + ";\n",
	})
	r.commentOn(&o.Meta, "OPERATOR FAMILY", name)
	return nil
}
