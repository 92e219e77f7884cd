package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// rule renders a rule (dumpRule). The one that makes a view is rendered only if the view had to be
// created as a dummy, and then as the view that replaces it.
func (r *renderer) rule(o *catalog.Rule) error {
	if r.opt.NoSchema || !o.Separate {
		return nil
	}
	t := o.Table
	table, name := r.qualified(&t.Meta), r.quote.Ident(o.Name)
	var q strings.Builder
	var drop string
	if o.Type == '1' && o.Instead {
		body, err := r.viewBody(t)
		if err != nil {
			return err
		}
		q.WriteString("CREATE OR REPLACE VIEW " + table + body)
		// Such a rule cannot be dropped, but replaced by one that needs nothing.
		drop = "CREATE OR REPLACE VIEW " + table + " AS\n" + r.dummySelect(t) + ";\n"
	} else {
		q.WriteString(o.Def + "\n")
		drop = "DROP RULE " + name + " ON " + table + ";\n"
	}
	if state := map[byte]string{'A': "ENABLE ALWAYS", 'R': "ENABLE REPLICA", 'D': "DISABLE"}[o.Enabled]; o.Enabled != 'O' {
		fmt.Fprintf(&q, "ALTER TABLE %s ", table)
		if state != "" {
			fmt.Fprintf(&q, "%s RULE %s;\n", state, name)
		}
	}
	if o.Dump&catalog.Definition != 0 {
		r.add(&o.Meta, pgarchive.Entry{
			Tag: t.Name + " " + o.Name, Desc: "RULE", Section: pgarchive.SectionPostData,
			Defn: q.String(), DropStmt: drop, Owner: t.Owner,
		})
	}
	if o.Dump&catalog.Comment != 0 {
		r.comment("RULE "+name+" ON", r.quote.Ident(t.Name), t.Schema.Name, t.Owner, mainID(&o.Meta), pgarchive.ID(o.DumpID))
	}
	return nil
}
