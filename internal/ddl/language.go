package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// language renders a procedural language (dumpProcLang in pg_dump.c). Where its functions are not dumped, it is written
// without them, which a server takes as CREATE EXTENSION.
func (r *renderer) language(l *catalog.Language) error {
	if r.skip(&l.Meta) {
		return nil
	}
	handler, inline, validator := r.dumpedFunc(l.Handler), r.dumpedFunc(l.Inline), r.dumpedFunc(l.Validator)
	name := r.quote.Ident(l.Name)
	var b strings.Builder
	if handler != "" && (inline != "" || l.Inline == 0) && (validator != "" || l.Validator == 0) {
		b.WriteString("CREATE ")
		if l.Trusted {
			b.WriteString("TRUSTED ")
		}
		b.WriteString("PROCEDURAL LANGUAGE " + name + " HANDLER " + handler)
		if l.Inline != 0 {
			b.WriteString(" INLINE " + inline)
		}
		if l.Validator != 0 {
			b.WriteString(" VALIDATOR " + validator)
		}
	} else {
		b.WriteString("CREATE OR REPLACE PROCEDURAL LANGUAGE " + name)
	}
	b.WriteString(";\n")
	b.WriteString(r.upgradeMember(&l.Meta, "LANGUAGE", name, ""))
	r.define(&l.Meta, pgarchive.Entry{
		Desc: "PROCEDURAL LANGUAGE", Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP PROCEDURAL LANGUAGE " + name + ";\n",
	})
	r.commentOn(&l.Meta, "LANGUAGE", name)
	r.labelsOn(&l.Meta, "LANGUAGE", name)
	if !l.Trusted {
		return nil // nobody but superusers may be granted it
	}
	return r.privilegesOn(&l.Meta, "LANGUAGE", name)
}

// dumpedFunc is the qualified name of a function of which something is dumped, else "".
func (r *renderer) dumpedFunc(oid uint32) string {
	f := r.db.Func(oid)
	if f == nil || f.Dump&f.Has == 0 {
		return ""
	}
	return r.qualified(&f.Meta)
}
