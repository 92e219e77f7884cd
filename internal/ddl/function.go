package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// funcSignature is a function's name with its input types, enough to refer to it. The name is quoted for use in
// statements, and left as it is for tags (format_function_signature in pg_dump.c).
func (r *renderer) funcSignature(f *catalog.Func, quoted bool) string {
	return r.funcName(f, quoted) + "(" + r.typeNames(f.ArgTypes) + ")"
}

func (r *renderer) funcName(f *catalog.Func, quoted bool) string {
	if quoted {
		return r.quote.Ident(f.Name)
	}
	return f.Name
}

func (r *renderer) typeNames(oids []uint32) string {
	names := make([]string, len(oids))
	for i, oid := range oids {
		names[i] = r.db.TypeName(oid, catalog.ZeroIsError)
	}
	return strings.Join(names, ", ")
}

// qualifiedSignature is funcSignature with the schema, whatever the search path is.
func (r *renderer) qualifiedSignature(f *catalog.Func) string {
	return r.quote.Ident(f.Schema.Name) + "." + r.funcSignature(f, true)
}

// function renders a function, window function or procedure (dumpFunc in pg_dump.c).
func (r *renderer) function(f *catalog.Func) error {
	if r.skip(&f.Meta) {
		return nil
	}
	d := f.Details
	if d == nil {
		return missingDetails("definition")
	}
	signature := r.quote.Ident(f.Name) + "(" + d.IdentityArgs + ")"
	schema := r.quote.Ident(f.Schema.Name)
	kind := "FUNCTION"
	if d.ProKind == 'p' {
		kind = "PROCEDURE"
	}

	if want(&f.Meta, catalog.Definition) {
		var b strings.Builder
		fmt.Fprintf(&b, "CREATE %s %s.%s(%s)", kind, schema, r.quote.Ident(f.Name), d.Args)
		switch {
		case d.ProKind == 'p':
		case d.Result != nil:
			b.WriteString(" RETURNS " + *d.Result)
		default:
			b.WriteString(" RETURNS ")
			if d.RetSet {
				b.WriteString("SETOF ")
			}
			b.WriteString(r.db.TypeName(f.RetType, catalog.ZeroIsError))
		}
		b.WriteString("\n    LANGUAGE " + r.quote.Ident(f.Lang))
		if err := r.funcAttributes(&b, f); err != nil {
			return err
		}
		b.WriteString("\n    " + r.funcBody(d) + ";\n")
		for _, e := range d.DependsOnExtension {
			fmt.Fprintf(&b, "\nALTER %s %s.%s DEPENDS ON EXTENSION %s;", kind, schema, signature, r.quote.Ident(e))
		}
		b.WriteString(r.upgradeMember(&f.Meta, kind, signature, schemaName(&f.Meta)))
		section := pgarchive.SectionPreData
		if f.PostponedDef {
			section = pgarchive.SectionPostData
		}
		r.define(&f.Meta, pgarchive.Entry{
			Tag: r.funcSignature(f, false), Desc: kind, Section: section, Defn: b.String(),
			DropStmt: fmt.Sprintf("DROP %s %s.%s;\n", kind, schema, signature),
		})
	}
	r.commentOn(&f.Meta, kind, signature)
	r.labelsOn(&f.Meta, kind, signature)
	return r.privilegesOn(&f.Meta, kind, signature)
}

// funcAttributes writes what stands between the language and the body. Defaults are left out, so
// that the text suits as many versions as it can.
func (r *renderer) funcAttributes(b *strings.Builder, f *catalog.Func) error {
	d := f.Details
	for i, t := range d.TransformTypes {
		if i == 0 {
			b.WriteString(" TRANSFORM ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString("FOR TYPE " + r.db.TypeName(t, catalog.ZeroAsNone))
	}
	if d.ProKind == 'w' {
		b.WriteString(" WINDOW")
	}
	switch d.Volatile {
	case 'v':
	case 'i':
		b.WriteString(" IMMUTABLE")
	case 's':
		b.WriteString(" STABLE")
	default:
		return fmt.Errorf("unrecognized provolatile value for function \"%s\"", f.Name)
	}
	if d.Strict {
		b.WriteString(" STRICT")
	}
	if d.SecurityDefiner {
		b.WriteString(" SECURITY DEFINER")
	}
	if d.Leakproof {
		b.WriteString(" LEAKPROOF")
	}
	defaultCost := "100"
	if f.Lang == "internal" || f.Lang == "c" {
		defaultCost = "1"
	}
	if d.Cost != "0" && d.Cost != defaultCost {
		b.WriteString(" COST " + d.Cost)
	}
	if d.RetSet && d.Rows != "0" && d.Rows != "1000" {
		b.WriteString(" ROWS " + d.Rows)
	}
	if d.Support != "-" {
		b.WriteString(" SUPPORT " + d.Support)
	}
	switch d.Parallel {
	case 'u':
	case 's':
		b.WriteString(" PARALLEL SAFE")
	case 'r':
		b.WriteString(" PARALLEL RESTRICTED")
	default:
		return fmt.Errorf("unrecognized proparallel value for function \"%s\"", f.Name)
	}
	for _, item := range d.Config {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			continue
		}
		b.WriteString("\n    SET " + r.quote.Ident(name) + " TO " + r.settingValue(name, value))
	}
	return nil
}

// settingValue writes a setting's value: one literal, or one for each element of the settings that are lists of quoted
// names, which the server has stored quoted in a way that SQL does not read back.
func (r *renderer) settingValue(name, value string) string {
	if !sqltext.IsListSetting(name) {
		return r.literal(value)
	}
	elems, err := sqltext.SplitSettingList(value, ',')
	if err != nil {
		return ""
	}
	for i, e := range elems {
		elems[i] = r.literal(e)
	}
	return strings.Join(elems, ", ")
}

// funcBody is the AS clause, or the body of an SQL-standard function.
func (r *renderer) funcBody(d *catalog.FuncDetails) string {
	switch {
	case d.SQLBody != nil:
		return *d.SQLBody
	case d.Bin == "" && r.opt.DisableDollarQuoting:
		return "AS " + r.literal(d.Src)
	case d.Bin == "":
		return "AS " + sqltext.DollarQuote(d.Src, "")
	case d.Src == "":
		return "AS " + r.literal(d.Bin)
	case r.opt.DisableDollarQuoting || !strings.ContainsAny(d.Src, `'\`):
		return "AS " + r.literal(d.Bin) + ", " + r.literal(d.Src)
	}
	return "AS " + r.literal(d.Bin) + ", " + sqltext.DollarQuote(d.Src, "")
}
