package catalog

import "context"

// Trigger is a row of pg_trigger that a user made, or one that a partition has from
// its parent but with another enabled state.
type Trigger struct {
	Meta
	Table       *Table
	Enabled     byte // O D R A
	IsPartition bool // made with the parent's trigger: only its state is dumped
	Def         string
}

type triggerRow struct {
	oid, table  uint32
	name, def   string
	enabled     byte
	isPartition bool
}

// triggersStage reads the triggers of the tables to be dumped.
func (r *reader) triggersStage() stage {
	return stage{name: "triggers", fetch: r.fetchTriggers, link: r.linkTriggers}
}

func (r *reader) fetchTriggers(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(func(t *Table) bool { return t.HasTriggers && t.Dump&Definition != 0 })
	if !found {
		return nil
	}
	// How a partition's trigger names its parent: tgparentid since 13, before that a
	// dependency; since 15 it is no longer marked internal.
	var isPartition, join, where string
	switch v := r.db.Info.Version; {
	case v >= 150000:
		isPartition = `t.tgparentid <> 0`
		join = `LEFT JOIN pg_catalog.pg_trigger up ON up.oid = t.tgparentid`
		where = `NOT t.tgisinternal AND t.tgparentid = 0 OR t.tgenabled <> up.tgenabled`
	case v >= 130000:
		isPartition = `t.tgisinternal`
		join = `LEFT JOIN pg_catalog.pg_trigger up ON up.oid = t.tgparentid`
		where = `NOT t.tgisinternal OR t.tgenabled <> up.tgenabled`
	case v >= 110000:
		isPartition = `t.tgisinternal`
		join = `LEFT JOIN pg_catalog.pg_depend d ON d.classid = 2620 AND d.refclassid = 2620 AND d.objid = t.oid
LEFT JOIN pg_catalog.pg_trigger up ON up.oid = d.refobjid`
		where = `NOT t.tgisinternal OR t.tgenabled <> up.tgenabled`
	default:
		isPartition = `false`
		where = `NOT t.tgisinternal`
	}
	// No pretty-printing: it leaves out parentheses that a newer server may want.
	sql := `SELECT t.oid, t.tgrelid, t.tgname, pg_catalog.pg_get_triggerdef(t.oid, false), t.tgenabled, ` + isPartition + `
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_trigger t ON t.tgrelid = src.tbloid
` + join + `
WHERE ` + where + `
ORDER BY t.tgrelid, t.tgname`
	return query(ctx, q, sql, func(v *row) {
		r.triggerRows = append(r.triggerRows, triggerRow{oid: v.oid(), table: v.oid(), name: v.str(), def: v.str(),
			enabled: v.char(), isPartition: v.bool()})
	})
}

func (r *reader) linkTriggers() error {
	for _, v := range r.triggerRows {
		t, err := r.tableOf(v.table)
		if err != nil {
			return err
		}
		tg := &Trigger{
			Meta:  newTableMeta(KindTrigger, ID{ClassTrigger, v.oid}, v.name, t),
			Table: t, Enabled: v.enabled, IsPartition: v.isPartition, Def: v.def,
		}
		r.db.Add(tg)
	}
	r.triggerRows = nil
	return nil
}
