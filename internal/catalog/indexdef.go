package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Most indexes are plain: columns of a built-in type under its default operator class, without expressions,
// predicate, options or included columns. Their definition is written here as pg_get_indexdef does (pg_get_indexdef_worker in
// src/backend/utils/adt/ruleutils.c), which takes the server longer than everything else that is read of
// an index. Of the others that differ in nothing but the names of index and table it is asked for one.

// indexFacts is what the definitions of plain indexes are made of.
type indexFacts struct {
	classes map[uint32]opclassFacts // built-in default operator classes
	quoted  map[string]bool         // key words that the server quotes
}

type opclassFacts struct{ method, input uint32 }

// plainMethods are the access methods whose plain indexes are written here: they have no operator classes with options.
var plainMethods = map[uint32]string{403: "btree", 405: "hash", 2742: "gin"}

const (
	firstNormalObjectID = 16384 // lower OIDs are built in (access/transam.h)
	defaultCollation    = 100   // pg_collation.dat
	cCollation          = 950   // of type name
	typeName            = 19
	indexDesc           = 1 // INDOPTION_DESC, catalog/pg_index.h
	indexNullsFirst     = 2
)

func fetchIndexFacts(ctx context.Context, q Querier) (*indexFacts, error) {
	f := &indexFacts{classes: make(map[uint32]opclassFacts), quoted: make(map[string]bool)}
	err := query(ctx, q, `SELECT oid, opcmethod, opcintype FROM pg_catalog.pg_opclass WHERE opcdefault AND oid < `+
		strconv.Itoa(firstNormalObjectID), func(v *row) {
		oid := v.oid()
		f.classes[oid] = opclassFacts{v.oid(), v.oid()}
	})
	if err != nil {
		return nil, err
	}
	err = query(ctx, q, `SELECT word FROM pg_catalog.pg_get_keywords() WHERE catcode <> 'U'`, func(v *row) { f.quoted[v.str()] = true })
	return f, err
}

// bare says that the server writes the name without quotes.
func (f *indexFacts) bare(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && !f.quoted[name]
}

// definition writes the definition of a plain index of the table; ok is false if it is not plain.
func (f *indexFacts) definition(x *indexRow, t *Table, columns []Column) (def string, ok bool) {
	method := plainMethods[x.method]
	n := len(x.Keys)
	if !x.ordinary || x.trees || x.Options != nil || method == "" || x.NullsNotDistinct || x.NKeyAtts != n || len(x.classes) != n || len(x.collations) != n || len(x.option) != n ||
		!f.bare(x.name) || !f.bare(t.Name) || !f.bare(t.Schema.Name) {
		return "", false
	}
	var b strings.Builder
	b.WriteString(definitionStart(x, t) + method + " (")
	for i, key := range x.Keys {
		if key < 1 || key > len(columns) {
			return "", false
		}
		c := &columns[key-1]
		class, known := f.classes[uint32(x.classes[i])]
		if !known || class.method != x.method || class.input != c.TypeOID || c.Dropped || !f.bare(c.Name) {
			return "", false
		}
		collation := c.Collation
		if collation == 0 && c.TypeOID == typeName {
			collation = cCollation
		} else if collation == 0 && x.collations[i] != 0 {
			collation = defaultCollation
		}
		if uint32(x.collations[i]) != collation {
			return "", false
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Name)
		switch o := x.option[i]; {
		case o == 0:
		case method != "btree":
			return "", false
		case o == indexDesc|indexNullsFirst:
			b.WriteString(" DESC")
		case o == indexDesc:
			b.WriteString(" DESC NULLS LAST")
		case o == indexNullsFirst:
			b.WriteString(" NULLS FIRST")
		default:
			return "", false
		}
	}
	b.WriteByte(')')
	return b.String(), true
}

// definitionStart is what comes before the access method, of an index whose names are bare.
func definitionStart(x *indexRow, t *Table) string {
	unique := ""
	if x.unique {
		unique = "UNIQUE "
	}
	return "CREATE " + unique + "INDEX " + x.name + " ON " + t.Schema.Name + "." + t.Name + " USING "
}

// resembles adds to the deparser's key all that decides about the rest of the definition, and says whether that
// is all. Operator classes with options, which are stored elsewhere, are none of the plain methods'.
func (f *indexFacts) resembles(d *deparser, x *indexRow, t *Table, columns []Column, expressions, predicate []byte) bool {
	if !x.ordinary || plainMethods[x.method] == "" || !f.bare(x.name) || !f.bare(t.Name) || !f.bare(t.Schema.Name) {
		return false
	}
	d.add(fmt.Appendf(nil, "%d %v %v %d %v %v %v %v %q", x.method, x.unique, x.NullsNotDistinct, x.NKeyAtts, x.Keys, x.classes, x.collations, x.option, x.Options))
	for _, class := range x.classes {
		if class >= firstNormalObjectID {
			return false
		}
	}
	for _, key := range x.Keys {
		switch {
		case key == 0: // an expression
		case key < 0 || key > len(columns):
			return false
		default:
			c := &columns[key-1]
			d.add(fmt.Appendf(nil, "%d %d %s", c.TypeOID, c.Collation, c.Name))
		}
	}
	return d.addTree(expressions, columns) && d.addTree(predicate, columns)
}

// indexDefiner gives indexes their definitions as their rows come.
type indexDefiner struct {
	facts *indexFacts
	deparser
}

// row gives the index its definition, or the group that will have it. One that serves a constraint needs none.
func (d *indexDefiner) row(r *reader, x *indexRow, expressions, predicate []byte) {
	x.trees = expressions != nil || predicate != nil
	x.group = -1
	if x.conOID != 0 {
		return
	}
	t, share := r.db.Table(x.table), false
	d.begin()
	if t != nil && !r.db.Options.QuoteAllIdentifiers {
		columns := r.columnsOf[x.table]
		if def, ok := d.facts.definition(x, t, columns); ok {
			x.Def = def
			return
		}
		share = d.facts.resembles(&d.deparser, x, t, columns, expressions, predicate)
	}
	x.group = d.group(x.oid, share)
}

// finish asks the server for the definitions that are missing.
func (d *indexDefiner) finish(ctx context.Context, q Querier, r *reader, rows *rowList[indexRow]) error {
	err := d.ask(ctx, q, `SELECT oid, pg_catalog.pg_get_indexdef(oid) FROM pg_catalog.unnest(%OIDS%) AS src(oid)`)
	if err != nil {
		return err
	}
	rest := make([]string, len(d.texts)) // of a definition that several share
	alone := make(map[uint32]*indexRow)
	for x := range rows.all() {
		switch {
		case x.group < 0:
		case d.first[x.group] == x.oid:
			x.Def = d.texts[x.group]
			if t := r.db.Table(x.table); t != nil {
				rest[x.group], _ = strings.CutPrefix(x.Def, definitionStart(x, t))
			}
		case len(rest[x.group]) < len(d.texts[x.group]):
			x.Def = definitionStart(x, r.db.Table(x.table)) + rest[x.group]
		default: // the first one's begins otherwise than thought
			alone[x.oid] = x
		}
	}
	if len(alone) == 0 {
		return nil
	}
	return query(ctx, q, `SELECT oid, pg_catalog.pg_get_indexdef(oid) FROM pg_catalog.unnest(`+oidList(slices.Sorted(maps.Keys(alone)))+`) AS src(oid)`, func(v *row) {
		if x := alone[v.oid()]; x != nil {
			x.Def = v.str()
		}
	})
}
