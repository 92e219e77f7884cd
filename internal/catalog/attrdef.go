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

// attrDefsStage reads defaults and generation expressions, unless definitions are not wanted.
func (r *reader) attrDefsStage() stage {
	return stage{name: "column defaults", fetch: r.fetchAttrDefs, link: r.linkAttrDefs}
}

func (r *reader) fetchAttrDefs(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(func(t *Table) bool { return t.Interesting && t.RelKind != 'S' })
	if !found || r.db.Options.NoSchema {
		return nil
	}
	sql := `SELECT d.oid, d.adrelid, d.adnum, pg_catalog.pg_get_expr(d.adbin, d.adrelid)
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_attrdef d ON d.adrelid = src.tbloid
ORDER BY d.adrelid, d.adnum`
	return query(ctx, q, sql, func(v *row) {
		d := &AttrDef{}
		d.ID = ID{ClassAttrDef, v.oid()}
		r.attrDefTables = append(r.attrDefTables, v.oid())
		d.Column, d.Expr = v.int(), v.str()
		r.attrDefs = append(r.attrDefs, d)
	})
}

func (r *reader) linkAttrDefs() error {
	for i, d := range r.attrDefs {
		t, err := r.tableOf(r.attrDefTables[i])
		if err != nil {
			return err
		}
		if d.Column < 1 || d.Column > len(t.Columns) {
			return fmt.Errorf("invalid adnum value %d for table %q", d.Column, t.Name)
		}
		c := &t.Columns[d.Column-1]
		if c.Dropped {
			continue
		}
		d.Meta = newTableMeta(KindAttrDef, d.ID, t.Name, t)
		d.Table = t
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
	r.attrDefs, r.attrDefTables = nil, nil
	return nil
}
