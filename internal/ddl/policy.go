package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

var policyCommands = map[byte]string{'*': "", 'r': " FOR SELECT", 'a': " FOR INSERT", 'w': " FOR UPDATE", 'd': " FOR DELETE"}

// policy renders a policy, or that a table has row security enabled (dumpPolicy).
func (r *renderer) policy(o *catalog.Policy) error {
	if r.opt.NoSchema {
		return nil
	}
	t := o.Table
	table := r.qualified(&t.Meta)
	if o.PolicyName == "" {
		if o.Dump&catalog.Definition != 0 {
			r.add(&o.Meta, pgarchive.Entry{
				Desc: "ROW SECURITY", Section: pgarchive.SectionPostData,
				Defn:  "ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY;",
				Owner: t.Owner, Dependencies: []pgarchive.ID{pgarchive.ID(t.DumpID)},
			})
		}
		return nil
	}
	cmd, ok := policyCommands[o.Cmd]
	if !ok {
		return fmt.Errorf("unexpected policy command type: %c", o.Cmd)
	}
	name := r.quote.Ident(o.PolicyName)
	var q strings.Builder
	q.WriteString("CREATE POLICY " + name + " ON " + table)
	if !o.Permissive {
		q.WriteString(" AS RESTRICTIVE")
	}
	q.WriteString(cmd)
	if o.Roles != "" {
		q.WriteString(" TO " + o.Roles)
	}
	if o.Using != nil {
		q.WriteString(" USING (" + *o.Using + ")")
	}
	if o.WithCheck != nil {
		q.WriteString(" WITH CHECK (" + *o.WithCheck + ")")
	}
	q.WriteString(";\n")
	if o.Dump&catalog.Definition != 0 {
		r.add(&o.Meta, pgarchive.Entry{
			Tag: t.Name + " " + o.Name, Desc: "POLICY", Section: pgarchive.SectionPostData,
			Defn: q.String(), DropStmt: "DROP POLICY " + name + " ON " + table + ";\n", Owner: t.Owner,
		})
	}
	if o.Dump&catalog.Comment != 0 {
		r.comment("POLICY "+name+" ON", r.quote.Ident(t.Name), t.Schema.Name, t.Owner, mainID(&o.Meta), pgarchive.ID(o.DumpID))
	}
	return nil
}
