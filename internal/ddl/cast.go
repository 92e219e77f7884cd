package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// cast renders a cast (dumpCast in pg_dump.c).
func (r *renderer) cast(c *catalog.Cast) error {
	if r.skip(&c.Meta) {
		return nil
	}
	var function *catalog.Func
	if c.Func != 0 {
		if function = r.db.Func(c.Func); function == nil {
			return fmt.Errorf("could not find function definition for function with OID %d", c.Func)
		}
	}
	name := "(" + r.db.TypeName(c.Source, catalog.ZeroAsNone) + " AS " + r.db.TypeName(c.Target, catalog.ZeroAsNone) + ")"
	var b strings.Builder
	b.WriteString("CREATE CAST " + name + " ")
	switch c.Method {
	case 'b':
		b.WriteString("WITHOUT FUNCTION")
	case 'i':
		b.WriteString("WITH INOUT")
	case 'f':
		if function == nil {
			r.warnf("bogus value in pg_cast.castfunc or pg_cast.castmethod field")
			break
		}
		b.WriteString("WITH FUNCTION " + r.qualifiedSignature(function))
	default:
		r.warnf("bogus value in pg_cast.castmethod field")
	}
	switch c.Context {
	case 'a':
		b.WriteString(" AS ASSIGNMENT")
	case 'i':
		b.WriteString(" AS IMPLICIT")
	}
	b.WriteString(";\n")
	b.WriteString(r.upgradeMember(&c.Meta, "CAST", name, ""))
	r.define(&c.Meta, pgarchive.Entry{
		Tag: "CAST " + name, Desc: "CAST", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP CAST " + name + ";\n",
	})
	r.commentOn(&c.Meta, "CAST", name)
	return nil
}
