package catalog

import (
	"context"
	"fmt"
	"slices"
)

// AttrDef is a row of pg_attrdef, or a made-up DEFAULT NULL that keeps an inherited default away.
type AttrDef struct {
	Meta
	Table    *Table
	Column   int // attnum
	Expr     string
	Separate bool // its own ALTER TABLE rather than part of CREATE TABLE
}

type attrDefRow struct {
	oid, table uint32
	column     int
	expr       string
}

// attrDefsStage reads defaults and generation expressions, unless definitions are not wanted.
func (r *reader) attrDefsStage() stage {
	s := stage{name: "column defaults", link: r.linkAttrDefs}
	if r.db.Options.NoSchema {
		return s
	}
	lists := r.tableParts(func(t *Table) bool { return t.Interesting && t.RelKind != 'S' })
	r.attrDefParts = make([][]attrDefRow, len(lists))
	for i, oids := range lists {
		r.inParts(s.name, func(ctx context.Context, q Querier) error {
			return query(ctx, q, `SELECT d.oid, d.adrelid, d.adnum, pg_catalog.pg_get_expr(d.adbin, d.adrelid)
FROM pg_catalog.unnest(`+oids+`) AS src(tbloid)
JOIN pg_catalog.pg_attrdef d ON d.adrelid = src.tbloid
ORDER BY d.adrelid, d.adnum`, func(v *row) {
				r.attrDefParts[i] = append(r.attrDefParts[i], attrDefRow{oid: v.oid(), table: v.oid(), column: v.int(), expr: v.str()})
			})
		})
	}
	return s
}

func (r *reader) linkAttrDefs() error {
	for _, v := range slices.Concat(r.attrDefParts...) {
		t, err := r.tableOf(v.table)
		if err != nil {
			return err
		}
		d := &AttrDef{Table: t, Column: v.column, Expr: v.expr}
		if d.Column < 1 || d.Column > len(t.Columns) {
			return fmt.Errorf("invalid adnum value %d for table %q", d.Column, t.Name)
		}
		c := &t.Columns[d.Column-1]
		if c.Dropped {
			continue
		}
		d.Meta = newTableMeta(KindAttrDef, ID{ClassAttrDef, v.oid}, t.Name, t)
		r.db.Add(d)
		d.Dump = t.Dump
		switch {
		case c.Generated != 0:
			// there is no ALTER TABLE for a generation expression
		case t.RelKind == 'v':
			d.Separate = true
		default:
			d.Separate = !t.PrintsColumn(&r.db.Options, d.Column-1)
		}
		if !d.Separate {
			// What the default needs must come before the table. Should that be
			// impossible, the sort makes the default separate.
			t.AddDep(d.DumpID)
		}
		c.Default = d
	}
	r.attrDefParts = nil
	return nil
}
