package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// aggSignature is an aggregate's name with its input types, (*) for none (format_aggregate_signature in pg_dump.c).
func (r *renderer) aggSignature(a *catalog.Agg, quoted bool) string {
	if len(a.ArgTypes) == 0 {
		return r.funcName(&a.Func, quoted) + "(*)"
	}
	return r.funcSignature(&a.Func, quoted)
}

// aggregate renders an aggregate (dumpAgg in pg_dump.c).
func (r *renderer) aggregate(a *catalog.Agg) error {
	if r.skip(&a.Meta) {
		return nil
	}
	d := a.AggDetails
	if d == nil {
		return missingDetails("definition")
	}
	args := func(list string) string {
		if len(a.ArgTypes) == 0 {
			list = "*"
		}
		return r.quote.Ident(a.Name) + "(" + list + ")"
	}
	signature, schema := args(d.IdentityArgs), r.quote.Ident(a.Schema.Name)

	if want(&a.Meta, catalog.Definition) {
		var b strings.Builder
		fmt.Fprintf(&b, "CREATE AGGREGATE %s.%s (\n", schema, args(d.Args))
		if err := r.aggDetails(&b, a); err != nil {
			return err
		}
		b.WriteString("\n);\n")
		b.WriteString(r.upgradeMember(&a.Meta, "AGGREGATE", signature, schemaName(&a.Meta)))
		r.define(&a.Meta, pgarchive.Entry{
			Tag: r.aggSignature(a, false), Desc: "AGGREGATE", Section: pgarchive.SectionPreData, Defn: b.String(),
			DropStmt: fmt.Sprintf("DROP AGGREGATE %s.%s;\n", schema, signature),
		})
	}
	r.commentOn(&a.Meta, "AGGREGATE", signature)
	r.labelsOn(&a.Meta, "AGGREGATE", signature)
	// there is no GRANT ON AGGREGATE
	return r.privilegesOn(&a.Meta, "FUNCTION", r.funcSignature(&a.Func, true))
}

func (r *renderer) aggDetails(b *strings.Builder, a *catalog.Agg) error {
	d := a.AggDetails
	fmt.Fprintf(b, "    SFUNC = %s,\n    STYPE = %s", d.TransFunc, d.TransType)
	attr := func(name, value string) { b.WriteString(",\n    " + name + " = " + value) }
	proc := func(name, regproc string) {
		if regproc != "-" {
			attr(name, regproc)
		}
	}
	if d.TransSpace != "0" {
		attr("SSPACE", d.TransSpace)
	}
	if d.InitVal != nil {
		attr("INITCOND", r.literal(*d.InitVal))
	}
	if err := finalFunc(b, a, "FINALFUNC", d.FinalFunc, d.FinalExtra, d.FinalModify); err != nil {
		return err
	}
	proc("COMBINEFUNC", d.CombineFunc)
	proc("SERIALFUNC", d.SerialFunc)
	proc("DESERIALFUNC", d.DeserialFunc)
	if d.MTransFunc != "-" {
		attr("MSFUNC", d.MTransFunc)
		attr("MINVFUNC", d.MInvTransFunc)
		attr("MSTYPE", d.MTransType)
	}
	if d.MTransSpace != "0" {
		attr("MSSPACE", d.MTransSpace)
	}
	if d.MInitVal != nil {
		attr("MINITCOND", r.literal(*d.MInitVal))
	}
	if err := finalFunc(b, a, "MFINALFUNC", d.MFinalFunc, d.MFinalExtra, d.MFinalModify); err != nil {
		return err
	}
	if op := r.operatorRef(d.SortOp); op != "" {
		attr("SORTOP", op)
	}
	if d.AggKind == 'h' {
		b.WriteString(",\n    HYPOTHETICAL")
	}
	switch d.Parallel {
	case 'u':
	case 's':
		attr("PARALLEL", "safe")
	case 'r':
		attr("PARALLEL", "restricted")
	default:
		return fmt.Errorf("unrecognized proparallel value for function \"%s\"", a.Name)
	}
	return nil
}

// finalFunc writes a final function with its _EXTRA and _MODIFY, the latter unless it is the default of the kind of
// aggregate; 0 stands for the default.
func finalFunc(b *strings.Builder, a *catalog.Agg, name, regproc string, extra bool, modify byte) error {
	if regproc == "-" {
		return nil
	}
	b.WriteString(",\n    " + name + " = " + regproc)
	if extra {
		b.WriteString(",\n    " + name + "_EXTRA")
	}
	byDefault := byte('w')
	if a.AggDetails.AggKind == 'n' {
		byDefault = 'r'
	}
	if modify == byDefault || modify == 0 {
		return nil
	}
	how := map[byte]string{'r': "READ_ONLY", 's': "SHAREABLE", 'w': "READ_WRITE"}[modify]
	if how == "" {
		column := map[string]string{"FINALFUNC": "aggfinalmodify", "MFINALFUNC": "aggmfinalmodify"}[name]
		return fmt.Errorf("unrecognized %s value for aggregate \"%s\"", column, a.Name)
	}
	b.WriteString(",\n    " + name + "_MODIFY = " + how)
	return nil
}
