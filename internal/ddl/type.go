package ddl

import (
	"bytes"
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// typ renders a type of any typtype (dumpType and dumpShellType in pg_dump.c). Row types, arrays and multiranges have
// no entry: they come with their table, element or range type.
func (r *renderer) typ(t *catalog.Type) error {
	if r.skip(&t.Meta) || t.Kind == catalog.KindDummyType {
		return nil
	}
	if t.Kind == catalog.KindShellType {
		r.shellType(t)
		return nil
	}
	var b bytes.Buffer
	kind, drop := "TYPE", ""
	if want(&t.Meta, catalog.Definition) {
		var err error
		switch {
		case t.TypType == 'b' && t.More().BaseDef != nil:
			r.baseType(&b, t)
			drop = " CASCADE" // it and its functions need each other
		case t.TypType == 'd' && t.More().Domain != nil:
			kind = "DOMAIN"
			r.domain(&b, t)
		case t.TypType == 'c':
			r.compositeType(&b, t)
		case t.TypType == 'e':
			r.enumType(&b, t)
		case t.TypType == 'r' && t.More().Range != nil:
			r.rangeType(&b, t)
		case t.TypType == 'p' && !t.Defined:
			r.upgradeTypeOIDs(&b, t.ID.OID, false, nil)
			fmt.Fprintf(&b, "CREATE TYPE %s;\n", r.qualified(&t.Meta))
		case t.TypType == 'b', t.TypType == 'd', t.TypType == 'r':
			err = missingDetails("definition")
		default:
			r.warnf("typtype of data type \"%s\" appears to be invalid", t.Name)
			return nil
		}
		if err != nil {
			return err
		}
	} else if t.TypType == 'd' {
		kind = "DOMAIN"
	}

	name := r.quote.Ident(t.Name)
	b.WriteString(r.upgradeMember(&t.Meta, kind, name, schemaName(&t.Meta)))
	r.define(&t.Meta, pgarchive.Entry{
		Desc: kind, Section: pgarchive.SectionPreData, Defn: b.String(),
		DropStmt: "DROP " + kind + " " + r.qualified(&t.Meta) + drop + ";\n",
	})
	r.commentOn(&t.Meta, kind, name)
	r.labelsOn(&t.Meta, kind, name)
	if err := r.privilegesOn(&t.Meta, "TYPE", name); err != nil {
		return err
	}
	switch t.TypType {
	case 'd':
		r.domainConstraintComments(t)
	case 'c':
		r.attributeComments(t)
	}
	return nil
}

// shellType has no DROP: that of the base type does it. It also keeps a restore from setting
// the owner, which is possible only when the type is complete.
func (r *renderer) shellType(t *catalog.Type) {
	var b bytes.Buffer
	r.upgradeTypeOIDs(&b, t.ShellOf.ID.OID, false, nil)
	fmt.Fprintf(&b, "CREATE TYPE %s;\n", r.qualified(&t.Meta))
	r.define(&t.Meta, pgarchive.Entry{Desc: "SHELL TYPE", Section: pgarchive.SectionPreData, Defn: b.String()})
}

func (r *renderer) enumType(b *bytes.Buffer, t *catalog.Type) {
	name := r.qualified(&t.Meta)
	r.upgradeTypeOIDs(b, t.ID.OID, false, nil)
	fmt.Fprintf(b, "CREATE TYPE %s AS ENUM (", name)
	if !r.opt.BinaryUpgrade {
		for i, l := range t.More().Enum {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n    " + r.literal(l.Label))
		}
	}
	b.WriteString("\n);\n")
	if r.opt.BinaryUpgrade {
		for i, l := range t.More().Enum {
			if i == 0 {
				b.WriteString("\n-- For binary upgrade, must preserve pg_enum oids\n")
			}
			fmt.Fprintf(b, "SELECT pg_catalog.binary_upgrade_set_next_pg_enum_oid('%d'::pg_catalog.oid);\n", l.OID)
			fmt.Fprintf(b, "ALTER TYPE %s ADD VALUE %s;\n\n", name, r.literal(l.Label))
		}
	}
}

func (r *renderer) rangeType(b *bytes.Buffer, t *catalog.Type) {
	d := t.More().Range
	r.upgradeTypeOIDs(b, t.ID.OID, false, d)
	fmt.Fprintf(b, "CREATE TYPE %s AS RANGE (\n    subtype = %s", r.qualified(&t.Meta), d.Subtype)
	if d.Multirange != nil {
		b.WriteString(",\n    multirange_type_name = " + *d.Multirange)
	}
	if !d.OpclassDefault {
		b.WriteString(",\n    subtype_opclass = " + r.quote.Ident(d.OpclassSchema) + "." + r.quote.Ident(d.Opclass))
	}
	if c := r.db.Collation(d.Collation); c != nil {
		b.WriteString(",\n    collation = " + r.qualified(&c.Meta))
	}
	if d.Canonical != "-" {
		b.WriteString(",\n    canonical = " + d.Canonical)
	}
	if d.SubDiff != "-" {
		b.WriteString(",\n    subtype_diff = " + d.SubDiff)
	}
	b.WriteString("\n);\n")
}

func (r *renderer) baseType(b *bytes.Buffer, t *catalog.Type) {
	d := t.More().BaseDef
	// There may be a shell already, but then setting the OID does no harm, and the array's is needed.
	r.upgradeTypeOIDs(b, t.ID.OID, false, nil)
	length := d.Len
	if length == "-1" {
		length = "variable"
	}
	fmt.Fprintf(b, "CREATE TYPE %s (\n    INTERNALLENGTH = %s", r.qualified(&t.Meta), length)
	attr := func(name, value string) { b.WriteString(",\n    " + name + " = " + value) }
	proc := func(name, regproc string) {
		if regproc != "-" {
			attr(name, regproc)
		}
	}
	attr("INPUT", d.Input)
	attr("OUTPUT", d.Output)
	proc("RECEIVE", d.Receive)
	proc("SEND", d.Send)
	proc("TYPMOD_IN", d.TypmodIn)
	proc("TYPMOD_OUT", d.TypmodOut)
	proc("ANALYZE", d.Analyze)
	if d.Collatable {
		attr("COLLATABLE", "true")
	}
	if d.Default.Text != nil {
		attr("DEFAULT", r.typeDefault(d.Default))
	}
	proc("SUBSCRIPT", d.Subscript)
	if t.ElemOID != 0 {
		attr("ELEMENT", r.db.TypeName(t.ElemOID, catalog.ZeroIsError))
	}
	if d.Category != "U" {
		attr("CATEGORY", r.literal(d.Category))
	}
	if d.Preferred {
		attr("PREFERRED", "true")
	}
	if d.Delimiter != "," {
		attr("DELIMITER", r.literal(d.Delimiter))
	}
	switch d.Align {
	case 'c':
		attr("ALIGNMENT", "char")
	case 's':
		attr("ALIGNMENT", "int2")
	case 'i':
		attr("ALIGNMENT", "int4")
	case 'd':
		attr("ALIGNMENT", "double")
	}
	switch d.Storage {
	case 'p':
		attr("STORAGE", "plain")
	case 'e':
		attr("STORAGE", "external")
	case 'x':
		attr("STORAGE", "extended")
	case 'm':
		attr("STORAGE", "main")
	}
	if d.ByVal {
		b.WriteString(",\n    PASSEDBYVALUE")
	}
	b.WriteString("\n);\n")
}

// typeDefault writes the default's expression, or its value as a literal.
func (r *renderer) typeDefault(d catalog.TypeDefault) string {
	if d.Literal {
		return r.literal(*d.Text)
	}
	return *d.Text
}

func (r *renderer) domain(b *bytes.Buffer, t *catalog.Type) {
	d := t.More().Domain
	r.upgradeTypeOIDs(b, t.ID.OID, true, nil)
	fmt.Fprintf(b, "CREATE DOMAIN %s AS %s%s", r.qualified(&t.Meta), d.Definition, r.collateClause(d.Collation))
	if d.NotNull {
		switch n := t.More().NotNull; {
		case n == nil: // before 17 it has no name
			b.WriteString(" NOT NULL")
		case n.Separate:
		case n.Name == t.Name+"_not_null": // the name it gets by itself
			b.WriteString(" NOT NULL")
		default:
			b.WriteString(" CONSTRAINT " + r.quote.Ident(n.Name) + " " + n.Def)
		}
	}
	if d.Default.Text != nil {
		b.WriteString(" DEFAULT " + r.typeDefault(d.Default))
	}
	for _, c := range t.More().Checks {
		if !c.Separate {
			b.WriteString("\n\tCONSTRAINT " + r.quote.Ident(c.Name) + " " + c.Def)
		}
	}
	b.WriteString(";\n")
}

// domainConstraintComments adds the comments of the constraints that stand in CREATE DOMAIN.
func (r *renderer) domainConstraintComments(t *catalog.Type) {
	constraints := t.More().Checks
	if t.More().NotNull != nil {
		constraints = append(constraints[:len(constraints):len(constraints)], t.More().NotNull)
	}
	for _, c := range constraints {
		if !c.Separate && want(&c.Meta, catalog.Comment) {
			r.comment("CONSTRAINT "+r.quote.Ident(c.Name)+" ON DOMAIN", r.quote.Ident(t.Name), schemaName(&t.Meta), t.Owner,
				catalog.SubID{ID: c.ID}, pgarchive.ID(t.DumpID))
		}
	}
}

func (r *renderer) compositeType(b *bytes.Buffer, t *catalog.Type) {
	name := r.qualified(&t.Meta)
	if r.opt.BinaryUpgrade {
		r.upgradeTypeOIDs(b, t.ID.OID, false, nil)
		r.upgradeClassOIDs(b, t.RelOID)
	}
	fmt.Fprintf(b, "CREATE TYPE %s AS (", name)
	var dropped bytes.Buffer
	first := true
	for _, a := range t.More().Attrs {
		if a.Dropped && !r.opt.BinaryUpgrade {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		attname := r.quote.Ident(a.Name)
		if !a.Dropped {
			b.WriteString("\n\t" + attname + " " + a.Type + r.collateClause(a.Collation))
			continue
		}
		// its place is kept by a dummy that gets its length and alignment and is dropped again
		b.WriteString("\n\t" + attname + " INTEGER /* dummy */")
		dropped.WriteString("\n-- For binary upgrade, recreate dropped column.\n")
		fmt.Fprintf(&dropped, "UPDATE pg_catalog.pg_attribute\nSET attlen = %s, attalign = '%s', attbyval = false\n", a.Len, a.Align)
		fmt.Fprintf(&dropped, "WHERE attname = %s\n  AND attrelid = %s::pg_catalog.regclass;\n", r.literal(a.Name), r.literal(name))
		fmt.Fprintf(&dropped, "ALTER TYPE %s DROP ATTRIBUTE %s;\n", name, attname)
	}
	b.WriteString("\n);\n")
	b.WriteString(dropped.String())
}

// attributeComments adds the comments on the attributes of a composite type, which the catalogue has as
// those of columns of its relation.
func (r *renderer) attributeComments(t *catalog.Type) {
	if !want(&t.Meta, catalog.Comment) {
		return
	}
	for _, a := range t.More().Attrs {
		if a.Dropped || a.Num <= 0 {
			continue
		}
		r.comment("COLUMN", r.quote.Ident(t.Name)+"."+r.quote.Ident(a.Name), schemaName(&t.Meta), t.Owner,
			catalog.SubID{ID: catalog.ID{Class: catalog.ClassRelation, OID: t.RelOID}, Sub: int32(a.Num)}, pgarchive.ID(t.DumpID))
	}
}
