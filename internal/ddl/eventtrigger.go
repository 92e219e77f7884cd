package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// eventTrigger renders an event trigger (dumpEventTrigger in pg_dump.c).
func (r *renderer) eventTrigger(e *catalog.EventTrigger) error {
	if r.skip(&e.Meta) {
		return nil
	}
	name := r.quote.Ident(e.Name)
	var b strings.Builder
	b.WriteString("CREATE EVENT TRIGGER " + name + " ON " + r.quote.Ident(e.Event))
	if e.Tags != "" {
		b.WriteString("\n         WHEN TAG IN (" + e.Tags + ")")
	}
	b.WriteString("\n   EXECUTE FUNCTION " + e.Func + "();\n")
	if e.Enabled != 'O' {
		state := "ENABLE"
		switch e.Enabled {
		case 'D':
			state = "DISABLE"
		case 'A':
			state = "ENABLE ALWAYS"
		case 'R':
			state = "ENABLE REPLICA"
		}
		b.WriteString("\nALTER EVENT TRIGGER " + name + " " + state + ";\n")
	}
	b.WriteString(r.upgradeMember(&e.Meta, "EVENT TRIGGER", name, ""))
	r.define(&e.Meta, pgarchive.Entry{
		Desc: "EVENT TRIGGER", Section: pgarchive.SectionPostData, Defn: b.String(),
		DropStmt: "DROP EVENT TRIGGER " + name + ";\n",
	})
	r.commentOn(&e.Meta, "EVENT TRIGGER", name)
	r.labelsOn(&e.Meta, "EVENT TRIGGER", name)
	return nil
}
