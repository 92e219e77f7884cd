package ddl

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// skip says that nothing of m is to be rendered: of the kinds in these files everything belongs to the schema.
func (r *renderer) skip(m *catalog.Meta) bool {
	return r.opt.NoSchema || m.Dump&m.Has == 0
}

// want says whether component c of m is dumped and exists.
func want(m *catalog.Meta, c catalog.Component) bool { return m.Dump&m.Has&c != 0 }

// define adds the entry of m if its definition is dumped.
func (r *renderer) define(m *catalog.Meta, e pgarchive.Entry) {
	if want(m, catalog.Definition) {
		r.add(m, e)
	}
}

// warnf keeps a warning for the user.
func (r *renderer) warnf(format string, args ...any) {
	r.db.Warnings = append(r.db.Warnings, catalog.Warning{Text: fmt.Sprintf(format, args...)})
}

func schemaName(m *catalog.Meta) string {
	if m.Schema == nil {
		return ""
	}
	return m.Schema.Name
}

// commentOn adds m's comment. kind and name are those of COMMENT ON, the name quoted and without schema.
func (r *renderer) commentOn(m *catalog.Meta, kind, name string) {
	if want(m, catalog.Comment) {
		r.comment(kind, name, schemaName(m), m.Owner, mainID(m), pgarchive.ID(m.DumpID))
	}
}

// labelsOn adds m's security labels, with kind and name as in commentOn.
func (r *renderer) labelsOn(m *catalog.Meta, kind, name string) {
	if want(m, catalog.SecLabel) {
		r.secLabel(kind, name, schemaName(m), m.Owner, mainID(m), pgarchive.ID(m.DumpID))
	}
}

// privilegesOn adds m's privileges. kind and name are those of GRANT, the name quoted and without schema.
func (r *renderer) privilegesOn(m *catalog.Meta, kind, name string) error {
	if !want(m, catalog.ACLPart) {
		return nil
	}
	_, err := r.acl(pgarchive.ID(m.DumpID), 0, kind, name, "", schemaName(m), "", m.Owner, m.ACL)
	return err
}

// operatorRef names an operator where its operand types are known from what stands around it: OPERATOR(schema.name).
// It is empty for OID 0, and, with a warning, for an operator that does not exist.
func (r *renderer) operatorRef(oid uint32) string {
	if oid == 0 {
		return ""
	}
	o := r.db.Operator(oid)
	if o == nil {
		r.warnf("could not find operator with OID %d", oid)
		return ""
	}
	return "OPERATOR(" + r.quote.Ident(o.Schema.Name) + "." + o.Name + ")"
}

// procRef takes the argument types off a regprocedure text. "-" stands for no function and gives "".
func procRef(regprocedure string) string {
	if regprocedure == "-" {
		return ""
	}
	quoted := false
	for i := 0; i < len(regprocedure); i++ {
		switch regprocedure[i] {
		case '"':
			quoted = !quoted
		case '(':
			if !quoted {
				return regprocedure[:i]
			}
		}
	}
	return regprocedure
}

// collateClause is the COLLATE clause of a column or domain, with a space before it; empty for OID 0.
func (r *renderer) collateClause(oid uint32) string {
	if oid == 0 {
		return ""
	}
	c := r.db.Collation(oid)
	if c == nil {
		return ""
	}
	return " COLLATE " + r.qualified(&c.Meta)
}

// optionsClause is an OPTIONS clause with a space before it; empty for no options.
func optionsClause(options string) string {
	if options == "" {
		return ""
	}
	return " OPTIONS (\n    " + options + "\n)"
}

func missingDetails(what string) error {
	return fmt.Errorf("its %s was not read", what)
}
