package catalog

import (
	"context"
	"strconv"
	"strings"
)

// Most indexes are plain: columns of a built-in type under its default operator class, without expressions,
// predicate, options or included columns. Their definition is written here as pg_get_indexdef does (pg_get_indexdef_worker in
// src/backend/utils/adt/ruleutils.c), which takes the server longer than everything else that is read of
// an index. It is asked for the others.

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

// plainIndex is what of an index decides about its definition, beside its row.
type plainIndex struct {
	method                      uint32
	unique, simple              bool // simple: no expression, predicate or relation options, an ordinary index
	classes, collations, option []int
}

// definition writes the definition of a plain index of the table; ok is false if it is not plain.
func (f *indexFacts) definition(x *indexRow, p *plainIndex, t *Table, columns []columnRow) (def string, ok bool) {
	method := plainMethods[p.method]
	n := len(x.Keys)
	if !p.simple || method == "" || x.NullsNotDistinct || x.NKeyAtts != n || len(p.classes) != n || len(p.collations) != n || len(p.option) != n ||
		!f.bare(x.name) || !f.bare(t.Name) || !f.bare(t.Schema.Name) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if p.unique {
		b.WriteString("UNIQUE ")
	}
	b.WriteString("INDEX " + x.name + " ON " + t.Schema.Name + "." + t.Name + " USING " + method + " (")
	for i, key := range x.Keys {
		if key < 1 || key > len(columns) {
			return "", false
		}
		c := &columns[key-1]
		class, known := f.classes[uint32(p.classes[i])]
		if !known || class.method != p.method || class.input != c.TypeOID || c.num != key || c.Dropped || !f.bare(c.Name) {
			return "", false
		}
		collation := c.Collation
		if collation == 0 && c.TypeOID == typeName {
			collation = cCollation
		} else if collation == 0 && p.collations[i] != 0 {
			collation = defaultCollation
		}
		if uint32(p.collations[i]) != collation {
			return "", false
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Name)
		switch o := p.option[i]; {
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

// defineIndexes gives the rows their definitions, from which those that serve a constraint need none.
func (r *reader) defineIndexes(ctx context.Context, q Querier, rows []indexRow, plain []plainIndex) error {
	f, err := fetchIndexFacts(ctx, q)
	if err != nil {
		return err
	}
	// The columns are read by parts that were begun before; they wait for nothing.
	select {
	case <-r.columnsRead:
	case <-ctx.Done():
		return ctx.Err()
	}
	var oids []string
	asked := make(map[uint32]*indexRow)
	for i := range rows {
		x := &rows[i]
		if x.conOID != 0 {
			continue
		}
		if t := r.db.Table(x.table); t != nil && !r.db.Options.QuoteAllIdentifiers {
			if def, ok := f.definition(x, &plain[i], t, r.columnsOf[x.table]); ok {
				x.Def = def
				continue
			}
		}
		asked[x.oid] = x
		oids = append(oids, strconv.FormatUint(uint64(x.oid), 10))
	}
	if len(oids) == 0 {
		return nil
	}
	return query(ctx, q, `SELECT oid, pg_catalog.pg_get_indexdef(oid) FROM pg_catalog.unnest('{`+strings.Join(oids, ",")+`}'::pg_catalog.oid[]) AS i (oid)`,
		func(v *row) {
			if x := asked[v.oid()]; x != nil {
				x.Def = v.str()
			}
		})
}
