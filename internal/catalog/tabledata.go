package catalog

import "context"

// TableData is the rows of a table (KindTableData), the value of a sequence
// (KindSequenceSet), or the REFRESH of a materialized view (KindRefreshMatview).
type TableData struct {
	Meta
	Table  *Table
	Filter string // WHERE clause of an extension's configuration table
}

// dumpsRows says whether the rows of t may be dumped at all: views and partitioned tables
// have none of their own, foreign tables only on demand, and options exclude others.
func (r *reader) dumpsRows(t *Table) bool {
	switch {
	case t.RelKind == 'v', t.RelKind == 'p', t.RelKind == 'c':
		return false
	case t.RelKind == 'f' && !r.sel.foreignServers[t.More().ForeignServer]:
		return false
	case t.Persistence == 'u' && r.db.Options.NoUnloggedTableData:
		return false
	}
	return !r.sel.notData[t.ID.OID]
}

// makeTableData makes the object of t's rows and returns it, or nil if they are not dumped.
func (r *reader) makeTableData(t *Table) *TableData {
	if t.DataObj != nil || !r.dumpsRows(t) {
		return t.DataObj
	}
	kind := KindTableData
	switch t.RelKind {
	case 'm':
		kind = KindRefreshMatview
	case 'S':
		kind = KindSequenceSet
	}
	// Not the table's own catalogue ID, so that no dependency of the table is taken for its.
	d := &TableData{Meta: newTableMeta(kind, ID{0, t.ID.OID}, t.Name, t), Table: t}
	r.db.Add(d)
	d.AddDep(t.DumpID)
	d.Has |= Data
	t.DataObj = d
	if s := t.More().RelStats; s != nil {
		// REFRESH replaces the storage and with it the statistics.
		s.PostData = true
		s.AddDep(d.DumpID)
	}
	t.Interesting = true
	return d
}

// tableDataStage makes the objects of the rows of all tables whose rows are wanted.
func (r *reader) tableDataStage() stage {
	return stage{name: "table data", fetch: r.fetchMatviewRefs, link: r.linkTableData}
}

// fetchMatviewRefs reads which views and materialized views each of them reads from.
func (r *reader) fetchMatviewRefs(ctx context.Context, q Querier) error {
	if r.db.Options.NoData {
		return nil
	}
	if _, found := r.tableOIDs(func(t *Table) bool { return t.RelKind == 'm' && t.Dump&Data != 0 }); !found {
		return nil
	}
	r.matviewRefs = make(map[uint32][]uint32)
	return query(ctx, q, `SELECT DISTINCT w.ev_class, d.refobjid
FROM pg_catalog.pg_rewrite w
JOIN pg_catalog.pg_class c ON c.oid = w.ev_class AND c.relkind IN ('m', 'v')
JOIN pg_catalog.pg_depend d ON d.classid = 2618 AND d.objid = w.oid AND d.refclassid = 1259 AND d.refobjid <> w.ev_class
JOIN pg_catalog.pg_class ref ON ref.oid = d.refobjid AND ref.relkind IN ('m', 'v')
ORDER BY w.ev_class, d.refobjid`, func(v *row) {
		oid := v.oid()
		r.matviewRefs[oid] = append(r.matviewRefs[oid], v.oid())
	})
}

func (r *reader) linkTableData() error {
	o := &r.db.Options
	for _, t := range r.db.Tables {
		if t.Dump&Data != 0 && (!o.NoData || o.SequenceData && t.RelKind == 'S') {
			r.makeTableData(t)
		}
	}
	if o.NoData {
		return nil
	}
	r.linkMatviewRefreshes()
	if o.NoSchema {
		r.linkForeignKeyData()
	}
	return nil
}

// linkMatviewRefreshes lets the refresh of a materialized view wait for those of all
// that it reads from, directly or through views. One that reads from an unpopulated
// one is left unpopulated too.
func (r *reader) linkMatviewRefreshes() {
	for _, t := range r.db.Tables {
		if t.RelKind != 'm' || t.DataObj == nil {
			continue
		}
		seen := map[uint32]bool{t.ID.OID: true}
		todo := append([]uint32(nil), r.matviewRefs[t.ID.OID]...)
		for len(todo) > 0 {
			oid := todo[0]
			todo = todo[1:]
			if seen[oid] {
				continue
			}
			seen[oid] = true
			todo = append(todo, r.matviewRefs[oid]...)
			ref := r.db.Table(oid)
			if ref == nil || ref.RelKind != 'm' || ref.DataObj == nil {
				continue
			}
			t.DataObj.AddDep(ref.DataObj.DumpID)
			if !ref.Populated {
				t.Populated = false
			}
		}
	}
	r.matviewRefs = nil
}

// linkForeignKeyData orders the rows of tables by their foreign keys, which exist
// already where a dump of data alone is loaded. Of circular ones the sort warns.
func (r *reader) linkForeignKeyData() {
	for _, obj := range r.db.Objects {
		con, ok := obj.(*Constraint)
		if !ok || con.Kind != KindFKConstraint || con.Table == nil || con.Table.DataObj == nil {
			continue
		}
		ref := r.db.Table(con.ForeignTable)
		if ref != nil && ref.DataObj != nil {
			con.Table.DataObj.AddDep(ref.DataObj.DumpID)
		}
	}
}
