package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// accessMethod renders an access method (dumpAccessMethod in pg_dump.c).
func (r *renderer) accessMethod(a *catalog.AccessMethod) error {
	if r.skip(&a.Meta) {
		return nil
	}
	name := r.quote.Ident(a.Name)
	kind := ""
	switch a.AMType {
	case 'i':
		kind = "INDEX"
	case 't':
		kind = "TABLE"
	default:
		r.warnf("invalid type \"%c\" of access method \"%s\"", a.AMType, name)
		return nil
	}
	var b strings.Builder
	b.WriteString("CREATE ACCESS METHOD " + name + " TYPE " + kind + " HANDLER " + a.Handler + ";\n")
	b.WriteString(r.upgradeMember(&a.Meta, "ACCESS METHOD", name, ""))
	r.define(&a.Meta, pgarchive.Entry{
		Desc: "ACCESS METHOD", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP ACCESS METHOD " + name + ";\n",
	})
	r.commentOn(&a.Meta, "ACCESS METHOD", name)
	return nil
}
