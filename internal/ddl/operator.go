package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// operator renders an operator (dumpOpr in pg_dump.c). One without a function was only named as the commutator or
// negator of another and never created.
func (r *renderer) operator(o *catalog.Operator) error {
	if r.skip(&o.Meta) || o.Code == 0 {
		return nil
	}
	d := o.Details
	if d == nil {
		if want(&o.Meta, catalog.Definition|catalog.Comment) {
			return missingDetails("definition")
		}
		return nil
	}
	if o.OprKind == 'r' {
		r.warnf("postfix operators are not supported anymore (operator \"%s\")", d.Code)
	}
	var b strings.Builder
	schema := r.quote.Ident(o.Schema.Name)
	left, right := "NONE", "NONE"
	b.WriteString("CREATE OPERATOR " + schema + "." + o.Name + " (\n")
	if proc := procRef(d.Code); proc != "" {
		b.WriteString("    FUNCTION = " + proc)
	}
	attr := func(name, value string) {
		if value != "" {
			b.WriteString(",\n    " + name + " = " + value)
		}
	}
	if o.OprKind == 'r' || o.OprKind == 'b' {
		left = d.LeftType
		attr("LEFTARG", left)
	}
	if o.OprKind == 'l' || o.OprKind == 'b' {
		right = d.RightType
		attr("RIGHTARG", right)
	}
	attr("COMMUTATOR", r.operatorRef(o.Commutator))
	attr("NEGATOR", r.operatorRef(o.Negator))
	if d.CanMerge {
		b.WriteString(",\n    MERGES")
	}
	if d.CanHash {
		b.WriteString(",\n    HASHES")
	}
	attr("RESTRICT", procRef(d.Restrict))
	attr("JOIN", procRef(d.Join))
	b.WriteString("\n);\n")

	name := o.Name + " (" + left + ", " + right + ")"
	b.WriteString(r.upgradeMember(&o.Meta, "OPERATOR", name, schemaName(&o.Meta)))
	r.define(&o.Meta, pgarchive.Entry{
		Desc: "OPERATOR", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP OPERATOR " + schema + "." + name + ";\n",
	})
	r.commentOn(&o.Meta, "OPERATOR", name)
	return nil
}
