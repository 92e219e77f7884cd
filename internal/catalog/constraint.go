package catalog

import (
	"context"
	"fmt"
)

// Constraint is a row of pg_constraint. KindConstraint is a CHECK, not-null, primary key, unique or
// exclusion constraint; KindFKConstraint a foreign key.
type Constraint struct {
	Meta
	Table                *Table // nil for a constraint of a domain
	Domain               *Type
	Type                 byte   // contype: c f p u x n
	Def                  string // pg_get_constraintdef; empty for primary keys and unique constraints
	ForeignTable         uint32 // confrelid
	Index                *Index // of primary keys, unique and exclusion constraints
	Deferrable, Deferred bool   // of primary keys and unique constraints; else Def says it
	IsLocal              bool
	Separate             bool // dumped by itself, not within CREATE TABLE
	Period               bool // conperiod: WITHOUT OVERLAPS
	Validated            bool
}

type constraintRow struct {
	oid, table         uint32
	name, def          string
	isLocal, validated bool
	foreignTable       uint32
	index              uint32
	group              int // of those with the same text
}

// checkConstraintsStage reads CHECK constraints and not-null constraints that are NOT VALID,
// unless definitions are not wanted.
func (r *reader) checkConstraintsStage() stage {
	s := stage{name: "check constraints", link: r.linkChecks}
	r.inParts(s.name, r.fetchChecks)
	return s
}

func (r *reader) fetchChecks(ctx context.Context, q Querier) error {
	if r.db.Options.NoSchema {
		return nil
	}
	if r.db.Info.Version >= 180000 {
		err := r.fetchTableConstraints(ctx, q, func(t *Table) bool { return t.Interesting && t.RelKind != 'S' },
			`c.contype = 'n' AND NOT c.convalidated`, &r.notNulls)
		if err != nil {
			return err
		}
	}
	return r.fetchTableConstraints(ctx, q, func(t *Table) bool { return t.Interesting && t.RelKind != 'S' && t.NumChecks > 0 },
		`c.contype = 'c'`, &r.checks)
}

func (r *reader) fetchTableConstraints(ctx context.Context, q Querier, keep func(t *Table) bool, where string, rows *rowList[constraintRow]) error {
	oids, found := r.tableOIDs(keep)
	if !found {
		return nil
	}
	if err := await(ctx, r.columnsRead); err != nil {
		return err
	}
	var d deparser
	// what beside the expression and the columns decides about the text: pg_get_constraintdef_worker in ruleutils.c
	sql := `SELECT c.oid, c.conrelid, c.conname, c.conislocal, c.convalidated, c.conbin,
	(c.contype, c.convalidated, c.connoinherit, ` + r.since(18, "c.conenforced", "true") + `, c.condeferrable, c.condeferred)::text
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_constraint c ON c.conrelid = src.tbloid
WHERE ` + where + `
ORDER BY c.conrelid, c.conname`
	err := query(ctx, q, sql, func(v *row) {
		c := rows.add()
		c.oid, c.table, c.name, c.isLocal, c.validated = v.oid(), v.oid(), v.str(), v.bool(), v.bool()
		d.begin()
		tree := v.take()
		shared := tree != nil && d.addTree(tree, r.columnsOf[c.table])
		d.add(v.take())
		c.group = d.group(c.oid, shared)
	})
	if err != nil {
		return err
	}
	if err := r.awaitLock(ctx); err != nil {
		return err
	}
	err = d.ask(ctx, q, `SELECT oid, pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.unnest(%OIDS%) AS src(oid)`)
	for c := range rows.all() {
		c.def = d.texts[c.group]
	}
	return err
}

func (r *reader) linkChecks() error {
	for c := range r.notNulls.all() {
		t, err := r.tableOf(c.table)
		if err != nil {
			return err
		}
		// Always apart from the table: CREATE TABLE would make it valid, and the
		// rows may break it.
		r.addConstraint(t, 'n', c).Separate = true
	}
	for c := range r.checks.all() {
		t, err := r.tableOf(c.table)
		if err != nil {
			return err
		}
		con := r.addConstraint(t, 'c', c)
		con.Separate = !c.validated // so that it comes after rows that may break it
		if !con.Separate {
			// What the constraint needs must come before the table.
			t.AddDep(con.DumpID)
		}
		t.Checks = append(t.Checks, con)
	}
	for _, t := range r.db.Tables {
		if t.Interesting && t.RelKind != 'S' && int(t.NumChecks) != len(t.Checks) && !r.db.Options.NoSchema {
			plural := "s"
			if t.NumChecks == 1 {
				plural = ""
			}
			return fmt.Errorf("expected %d check constraint%s on table %q but found %d", t.NumChecks, plural, t.Name, len(t.Checks))
		}
	}
	r.notNulls, r.checks = rowList[constraintRow]{}, rowList[constraintRow]{}
	return nil
}

func (r *reader) addConstraint(t *Table, contype byte, c *constraintRow) *Constraint {
	con := &Constraint{
		Meta:  newTableMeta(KindConstraint, ID{ClassConstraint, c.oid}, c.name, t),
		Table: t, Type: contype, Def: c.def, IsLocal: c.isLocal, Validated: c.validated,
	}
	r.db.Add(con)
	con.Dump = t.Dump
	return con
}

// constraintsStage reads the foreign keys of the tables to be dumped. Keys that a
// partition has from its parent's come with the parent's.
func (r *reader) constraintsStage() stage {
	return stage{name: "foreign keys", fetch: r.fetchForeignKeys, link: r.linkForeignKeys}
}

func (r *reader) fetchForeignKeys(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(func(t *Table) bool {
		return t.Dump&Definition != 0 && (t.RelKind == 'r' || t.RelKind == 'p' || t.RelKind == 'f')
	})
	if !found {
		return nil
	}
	v11 := r.db.Info.Version >= 110000
	sql := `SELECT c.oid, c.conrelid, c.conname, c.confrelid, ` + r.since(11, `c.conindid`, `0`) + `, c.convalidated, pg_catalog.pg_get_constraintdef(c.oid)
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_constraint c ON c.conrelid = src.tbloid
WHERE c.contype = 'f'`
	if v11 {
		sql += ` AND c.conparentid = 0`
	}
	sql += `
ORDER BY c.conrelid, c.conname`
	return query(ctx, q, sql, func(v *row) {
		r.fkRows = append(r.fkRows, constraintRow{oid: v.oid(), table: v.oid(), name: v.str(),
			foreignTable: v.oid(), index: v.oid(), validated: v.bool(), def: v.str(), isLocal: true})
	})
}

func (r *reader) linkForeignKeys() error {
	for _, c := range r.fkRows {
		t, err := r.tableOf(c.table)
		if err != nil {
			return err
		}
		con := &Constraint{
			Meta:  newTableMeta(KindFKConstraint, ID{ClassConstraint, c.oid}, c.name, t),
			Table: t, Type: 'f', Def: c.def, ForeignTable: c.foreignTable, IsLocal: true, Separate: true, Validated: c.validated,
		}
		r.db.Add(con)
		// A key that points to a partitioned table needs all parts of the index it
		// points to attached, for only then is that index valid.
		ref := r.db.Table(c.foreignTable)
		if ref == nil || ref.RelKind != 'p' || c.index == 0 {
			continue
		}
		for _, x := range ref.Indexes {
			if x.ID.OID == c.index {
				addAttachDeps(con, x)
				break
			}
		}
	}
	r.fkRows = nil
	return nil
}

func addAttachDeps(con *Constraint, x *Index) {
	for _, a := range x.More().PartAttaches {
		con.AddDep(a.DumpID)
		addAttachDeps(con, a.Partition)
	}
}
