package catalog

import (
	"context"
	"fmt"
)

// StatsExt is a row of pg_statistic_ext.
type StatsExt struct {
	Meta
	Table  *Table
	Def    string // pg_get_statisticsobjdef
	Target int    // -1: default
}

type statsExtRow struct {
	oid, schema, owner, table uint32
	name, def                 string
	target                    int
}

// statsExtStage reads extended statistics objects. One goes with its table.
func (r *reader) statsExtStage() stage {
	return stage{name: "extended statistics", fetch: r.fetchStatsExt, link: r.linkStatsExt}
}

func (r *reader) fetchStatsExt(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(func(t *Table) bool {
		return t.Dump&Definition != 0 && (t.RelKind == 'r' || t.RelKind == 'p' || t.RelKind == 'm' || t.RelKind == 'f')
	})
	if !found {
		return nil
	}
	def := `pg_catalog.pg_get_statisticsobjdef(s.oid)`
	if r.db.Options.NoSchema {
		def = `NULL`
	}
	sql := `SELECT s.oid, s.stxname, s.stxnamespace, s.stxowner, s.stxrelid, ` + def + `, ` +
		r.since(13, `coalesce(s.stxstattarget, -1)`, `-1`) + `
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_statistic_ext s ON s.stxrelid = src.tbloid
ORDER BY s.oid`
	return query(ctx, q, sql, func(v *row) {
		r.statsExtRows = append(r.statsExtRows, statsExtRow{oid: v.oid(), name: v.str(), schema: v.oid(), owner: v.oid(),
			table: v.oid(), def: v.str(), target: v.int()})
	})
}

func (r *reader) linkStatsExt() error {
	for _, v := range r.statsExtRows {
		t, err := r.tableOf(v.table)
		if err != nil {
			return err
		}
		schema := r.schemaByOID[v.schema]
		if schema == nil {
			return fmt.Errorf("schema with OID %d does not exist", v.schema)
		}
		s := &StatsExt{
			Meta:  newMeta(KindStatsExt, ID{ClassStatisticExt, v.oid}, v.name, schema),
			Table: t, Def: v.def, Target: v.target,
		}
		s.Owner = r.roleName(v.owner)
		r.db.Add(s)
		r.selectStatistics(s)
	}
	r.statsExtRows = nil
	return nil
}
