package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// transform renders a transform (dumpTransform in pg_dump.c).
func (r *renderer) transform(t *catalog.Transform) error {
	if r.skip(&t.Meta) {
		return nil
	}
	name := "FOR " + r.db.TypeName(t.Type, catalog.ZeroAsNone) + " LANGUAGE " + r.quote.Ident(t.Lang)
	if t.FromSQL == 0 && t.ToSQL == 0 {
		r.warnf("bogus transform definition, at least one of trffromsql and trftosql should be nonzero")
	}
	var items []string
	for _, f := range []struct {
		what string
		oid  uint32
	}{{"FROM SQL WITH FUNCTION ", t.FromSQL}, {"TO SQL WITH FUNCTION ", t.ToSQL}} {
		if f.oid == 0 {
			continue
		}
		function := r.db.Func(f.oid)
		if function == nil {
			return fmt.Errorf("could not find function definition for function with OID %d", f.oid)
		}
		items = append(items, f.what+r.qualifiedSignature(function))
	}
	var b strings.Builder
	b.WriteString("CREATE TRANSFORM " + name + " (" + strings.Join(items, ", ") + ");\n")
	b.WriteString(r.upgradeMember(&t.Meta, "TRANSFORM", name, ""))
	r.define(&t.Meta, pgarchive.Entry{
		Tag: "TRANSFORM " + name, Desc: "TRANSFORM", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP TRANSFORM " + name + ";\n",
	})
	r.commentOn(&t.Meta, "TRANSFORM", name)
	return nil
}
