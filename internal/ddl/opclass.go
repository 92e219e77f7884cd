package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// opclass renders an operator class with the operators and functions that belong to it (dumpOpclass in pg_dump.c).
func (r *renderer) opclass(o *catalog.Opclass) error {
	if r.skip(&o.Meta) {
		return nil
	}
	am := r.quote.Ident(o.AMName)
	name := r.quote.Ident(o.Name) + " USING " + am
	if want(&o.Meta, catalog.Definition) {
		d := o.Details
		if d == nil {
			return missingDetails("definition")
		}
		var b strings.Builder
		b.WriteString("CREATE OPERATOR CLASS " + r.qualified(&o.Meta) + "\n    ")
		if d.Default {
			b.WriteString("DEFAULT ")
		}
		b.WriteString("FOR TYPE " + d.InType + " USING " + am)
		if d.Family != "" {
			b.WriteString(" FAMILY " + r.quote.Ident(d.FamilySchema) + "." + r.quote.Ident(d.Family))
		}
		b.WriteString(" AS\n    ")
		items := r.familyMembers(&d.Members)
		if d.KeyType != "-" {
			items = append([]string{"STORAGE " + d.KeyType}, items...)
		}
		if len(items) == 0 {
			// The grammar wants something after AS; storage of the same type is taken as none.
			items = []string{"STORAGE " + d.InType}
		}
		b.WriteString(strings.Join(items, " ,\n    ") + ";\n")
		b.WriteString(r.upgradeMember(&o.Meta, "OPERATOR CLASS", name, schemaName(&o.Meta)))
		r.define(&o.Meta, pgarchive.Entry{
			Desc: "OPERATOR CLASS", Section: pgarchive.SectionPreData, Defn: b.String(),
			DropStmt: "DROP OPERATOR CLASS " + r.qualified(&o.Meta) + " USING " + am + ";\n",
		})
	}
	r.commentOn(&o.Meta, "OPERATOR CLASS", name)
	return nil
}

// familyMembers are the OPERATOR and FUNCTION items of CREATE OPERATOR CLASS and ALTER OPERATOR FAMILY. The types of a
// function are written even where the server could find them itself: for some support functions it could not.
func (r *renderer) familyMembers(m *catalog.FamilyMembers) []string {
	var items []string
	for _, o := range m.Operators {
		item := "OPERATOR " + o.Strategy + " " + o.Operator
		if o.SortFamily != "" {
			item += " FOR ORDER BY " + r.quote.Ident(o.SortSchema) + "." + r.quote.Ident(o.SortFamily)
		}
		items = append(items, item)
	}
	for _, f := range m.Functions {
		item := "FUNCTION " + f.Number
		if f.Left != "" && f.Right != "" {
			item += " (" + f.Left + ", " + f.Right + ")"
		}
		items = append(items, item+" "+f.Function)
	}
	return items
}
