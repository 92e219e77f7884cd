package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// trigger renders a trigger (dumpTrigger). One that a partition has from its parent exists
// already; only its state is set.
func (r *renderer) trigger(o *catalog.Trigger) error {
	if r.opt.NoSchema {
		return nil
	}
	t := o.Table
	table, name := r.qualified(&t.Meta), r.quote.Ident(o.Name)
	var q strings.Builder
	drop := ""
	if !o.IsPartition {
		q.WriteString(o.Def + ";\n")
		drop = "DROP TRIGGER " + name + " ON " + table + ";\n"
		q.WriteString(r.dependsOnExtensions(&o.Meta, "TRIGGER", name+" ON "+table))
	}
	if o.IsPartition || o.Enabled != 'O' {
		state := map[byte]string{'D': "DISABLE", 'A': "ENABLE ALWAYS", 'R': "ENABLE REPLICA"}[o.Enabled]
		if state == "" {
			state = "ENABLE"
		}
		q.WriteString("\nALTER " + foreign(t) + "TABLE " + table + " " + state + " TRIGGER " + name + ";\n")
	}
	if o.Dump&catalog.Definition != 0 {
		r.add(&o.Meta, pgarchive.Entry{
			Tag: t.Name + " " + o.Name, Desc: "TRIGGER", Section: pgarchive.SectionPostData,
			Defn: q.String(), DropStmt: drop, Owner: t.Owner,
		})
	}
	if o.Dump&catalog.Comment != 0 {
		r.comment("TRIGGER "+name+" ON", r.quote.Ident(t.Name), t.Schema.Name, t.Owner, mainID(&o.Meta), pgarchive.ID(o.DumpID))
	}
	return nil
}
