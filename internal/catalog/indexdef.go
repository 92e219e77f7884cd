package catalog

import (
	"context"
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

// indexKeys is what pg_index says of an index's columns, in the text form of the catalogue, while its row is read.
type indexKeys struct {
	key, class, collation, option []byte
	expressions, predicate        []byte // nil for none
}

// indexDefiner gives indexes their definitions as their rows come.
type indexDefiner struct {
	facts  *indexFacts
	reader *reader
	indexKeys
	deparser

	alike               []*indexRow // those with a group
	text                []byte
	classes, collations []uint32
	options             []int16
}

// row gives the index its definition, or the group that will have it. One that serves a constraint needs none.
func (d *indexDefiner) row(v *row, x *indexRow, t *Table) {
	if d.reader.keys[x.ID.OID] != nil {
		return
	}
	share := false
	d.begin()
	if !d.reader.db.Options.QuoteAllIdentifiers {
		columns := d.reader.columnsOf[x.table]
		if d.definition(x, t, columns) {
			x.Def = v.texts.add(d.text)
			return
		}
		share = d.resembles(x, t, columns)
	}
	x.group = int32(d.group(x.ID.OID, share))
	d.alike = append(d.alike, x)
}

// definition writes the definition of a plain index of the table into d.text; ok is false if it is not plain.
func (d *indexDefiner) definition(x *indexRow, t *Table, columns []Column) (ok bool) {
	f := d.facts
	method := plainMethods[x.method]
	if !x.ordinary || d.expressions != nil || d.predicate != nil || x.More().Options != nil || method == "" || x.NullsNotDistinct ||
		!f.bare(x.Name) || !f.bare(t.Name) || !f.bare(t.Schema.Name) {
		return false
	}
	n := len(x.Keys)
	var err error
	d.classes, d.collations = appendOIDs(d.classes[:0], d.class), appendOIDs(d.collations[:0], d.collation)
	if d.options, err = appendInt16s(d.options[:0], d.option); err != nil || int(x.NKeyAtts) != n ||
		len(d.classes) != n || len(d.collations) != n || len(d.options) != n {
		return false
	}
	b := append(append(appendDefinitionStart(d.text[:0], x, t), method...), " ("...)
	for i, key := range x.Keys {
		if key < 1 || int(key) > len(columns) {
			return false
		}
		c := &columns[key-1]
		class, known := f.classes[d.classes[i]]
		if !known || class.method != x.method || class.input != c.TypeOID || c.Dropped || !f.bare(c.Name) {
			return false
		}
		collation := c.Collation
		if collation == 0 && c.TypeOID == typeName {
			collation = cCollation
		} else if collation == 0 && d.collations[i] != 0 {
			collation = defaultCollation
		}
		if d.collations[i] != collation {
			return false
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, c.Name...)
		switch o := d.options[i]; {
		case o == 0:
		case method != "btree":
			return false
		case o == indexDesc|indexNullsFirst:
			b = append(b, " DESC"...)
		case o == indexDesc:
			b = append(b, " DESC NULLS LAST"...)
		case o == indexNullsFirst:
			b = append(b, " NULLS FIRST"...)
		default:
			return false
		}
	}
	d.text = append(b, ')')
	return true
}

// appendDefinitionStart writes what comes before the access method, of an index whose names are bare.
func appendDefinitionStart(b []byte, x *indexRow, t *Table) []byte {
	b = append(b, "CREATE "...)
	if x.unique {
		b = append(b, "UNIQUE "...)
	}
	b = append(append(b, "INDEX "...), x.Name...)
	b = append(append(b, " ON "...), t.Schema.Name...)
	b = append(append(b, '.'), t.Name...)
	return append(b, " USING "...)
}

// resembles adds to the deparser's key all that decides about the rest of the definition, and says whether that
// is all. Operator classes with options, which are stored elsewhere, are none of the plain methods'.
func (d *indexDefiner) resembles(x *indexRow, t *Table, columns []Column) bool {
	f := d.facts
	if !x.ordinary || plainMethods[x.method] == "" || !f.bare(x.Name) || !f.bare(t.Name) || !f.bare(t.Schema.Name) {
		return false
	}
	d.addNumber(int64(x.method))
	d.addNumber(int64(x.NKeyAtts))
	d.addFlags(x.unique, x.NullsNotDistinct)
	for _, part := range [][]byte{d.key, d.class, d.indexKeys.collation, d.option} {
		d.add(part)
	}
	options := x.More().Options
	d.addNumber(int64(len(options)))
	for _, o := range options {
		d.add([]byte(o))
	}
	d.classes = appendOIDs(d.classes[:0], d.class)
	for _, class := range d.classes {
		if class >= firstNormalObjectID {
			return false
		}
	}
	for _, key := range x.Keys {
		switch {
		case key == 0: // an expression
		case key < 0 || int(key) > len(columns):
			return false
		default:
			c := &columns[key-1]
			d.addNumber(int64(c.TypeOID))
			d.addNumber(int64(c.Collation))
			d.add([]byte(c.Name))
		}
	}
	return d.addTree(d.expressions, columns) && d.addTree(d.predicate, columns)
}

// finish asks the server for the definitions that are missing.
func (d *indexDefiner) finish(ctx context.Context, q Querier) error {
	r := d.reader
	if err := r.awaitLock(ctx); err != nil {
		return err
	}
	err := d.ask(ctx, q, `SELECT oid, pg_catalog.pg_get_indexdef(oid) FROM pg_catalog.unnest(%OIDS%) AS src(oid)`)
	if err != nil {
		return err
	}
	rest := make([]string, len(d.texts)) // of a definition that several share
	alone := make(map[uint32]*indexRow)
	var defs texts
	for _, x := range d.alike {
		t := r.db.Table(x.table)
		start := appendDefinitionStart(d.text[:0], x, t)
		switch {
		case d.first[x.group] == x.ID.OID:
			x.Def = d.texts[x.group]
			rest[x.group], _ = strings.CutPrefix(x.Def, string(start))
		case len(rest[x.group]) < len(d.texts[x.group]):
			d.text = append(start, rest[x.group]...)
			x.Def = defs.add(d.text)
		default: // the first one's begins otherwise than thought
			alone[x.ID.OID] = x
		}
	}
	if len(alone) == 0 {
		return nil
	}
	return query(ctx, q, `SELECT oid, pg_catalog.pg_get_indexdef(oid) FROM pg_catalog.unnest(`+oidList(sortedKeys(alone))+`) AS src(oid)`, func(v *row) {
		if x := alone[v.oid()]; x != nil {
			x.Def = v.str()
		}
	})
}
