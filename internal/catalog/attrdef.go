package catalog

import (
	"context"
	"fmt"
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
	group      int // of those with the same text
	expr       string
}

// attrDefsStage reads defaults and generation expressions, unless definitions are not wanted.
func (r *reader) attrDefsStage() stage {
	s := stage{name: "column defaults", link: r.linkAttrDefs}
	if r.db.Options.NoSchema {
		return s
	}
	lists := r.tableParts(func(t *Table) bool { return t.Interesting && t.RelKind != 'S' })
	r.attrDefParts = make([]rowList[attrDefRow], len(lists))
	for i, oids := range lists {
		r.inParts(s.name, func(ctx context.Context, q Querier) error {
			return r.fetchAttrDefs(ctx, q, oids, &r.attrDefParts[i])
		})
	}
	return s
}

func (r *reader) fetchAttrDefs(ctx context.Context, q Querier, oids string, rows *rowList[attrDefRow]) error {
	if err := await(ctx, r.columnsRead); err != nil {
		return err
	}
	var d deparser
	err := query(ctx, q, `SELECT d.oid, d.adrelid, d.adnum, d.adbin
FROM pg_catalog.unnest(`+oids+`) AS src(tbloid)
JOIN pg_catalog.pg_attrdef d ON d.adrelid = src.tbloid
ORDER BY d.adrelid, d.adnum`, func(v *row) {
		x := rows.add()
		x.oid, x.table, x.column = v.oid(), v.oid(), v.int()
		d.begin()
		x.group = d.group(x.oid, d.addTree(v.take(), r.columnsOf[x.table]))
	})
	if err != nil {
		return err
	}
	if err := r.awaitLock(ctx); err != nil {
		return err
	}
	err = d.ask(ctx, q, `SELECT d.oid, pg_catalog.pg_get_expr(d.adbin, d.adrelid)
FROM pg_catalog.unnest(%OIDS%) AS src(oid)
JOIN pg_catalog.pg_attrdef d ON d.oid = src.oid`)
	for x := range rows.all() {
		x.expr = d.texts[x.group]
	}
	return err
}

func (r *reader) linkAttrDefs() error {
	for v := range drain(r.attrDefParts) {
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
