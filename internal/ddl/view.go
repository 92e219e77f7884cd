package ddl

import (
	"bytes"
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
)

// createView renders CREATE VIEW. A dummy has the view's columns but reads nothing; the
// real view replaces it later, by its rule.
func (r *renderer) createView(q *bytes.Buffer, t *catalog.Table, name string) error {
	r.upgradeClassOIDs(q, t.ID.OID)
	q.WriteString("CREATE VIEW " + name)
	if t.DummyView {
		fmt.Fprintf(q, " AS\n%s;\n", r.dummySelect(t))
		return nil
	}
	body, err := r.viewBody(t)
	if err != nil {
		return err
	}
	q.WriteString(body)
	return nil
}

// viewBody renders what follows the name in CREATE [OR REPLACE] VIEW.
func (r *renderer) viewBody(t *catalog.Table) (string, error) {
	var q bytes.Buffer
	opts, err := r.reloptions(t.More().Options, "")
	if err != nil {
		return "", err
	}
	if opts != "" {
		q.WriteString(" WITH (" + opts + ")")
	}
	q.WriteString(" AS\n" + t.More().ViewDef)
	if t.More().CheckOption != "" {
		q.WriteString("\n  WITH " + t.More().CheckOption + " CHECK OPTION")
	}
	q.WriteString(";\n")
	return q.String(), nil
}

// dummySelect renders a query with the view's columns: their names, types and collations,
// which CREATE OR REPLACE VIEW cannot change (createDummyViewAsClause).
func (r *renderer) dummySelect(t *catalog.Table) string {
	var q bytes.Buffer
	q.WriteString("SELECT")
	for i := range t.Columns {
		c := &t.Columns[i]
		if i > 0 {
			q.WriteByte(',')
		}
		fmt.Fprintf(&q, "\n    NULL::%s%s AS %s", c.TypeName, r.collateClause(c.Collation), r.quote.Ident(c.Name))
	}
	return q.String()
}
