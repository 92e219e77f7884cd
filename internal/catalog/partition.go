package catalog

import "context"

// partitionsStage reads partition keys and bounds, and which tables are partitioned
// by the hash of an enum.
func (r *reader) partitionsStage() stage {
	return stage{
		name: "partitioning",
		fetch: func(ctx context.Context, q Querier) error {
			if err := r.fetchUnsafePartitions(ctx, q); err != nil {
				return err
			}
			return r.fetchPartitions(ctx, q)
		},
		link: r.linkPartitions,
	}
}

// fetchUnsafePartitions looks at all partitioned tables, dumped or not: a partition's
// parents count even if they are not dumped.
func (r *reader) fetchUnsafePartitions(ctx context.Context, q Querier) error {
	if r.db.Info.Version < 110000 || r.db.Options.NoData {
		return nil
	}
	return query(ctx, q, `SELECT p.partrelid FROM pg_catalog.pg_partitioned_table p
WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_opclass oc
	JOIN pg_catalog.pg_am am ON am.oid = oc.opcmethod AND am.amname = 'hash'
	JOIN pg_catalog.pg_namespace n ON n.oid = oc.opcnamespace AND n.nspname = 'pg_catalog'
	WHERE oc.opcname = 'enum_ops' AND oc.oid = ANY (p.partclass))`, func(v *row) {
		r.unsafeTables = append(r.unsafeTables, v.oid())
	})
}

func (r *reader) fetchPartitions(ctx context.Context, q Querier) error {
	if r.db.Options.NoSchema {
		return nil
	}
	r.partKeys, r.partBounds = make(map[uint32]string), make(map[uint32]string)
	oids, found := r.tableOIDs(func(t *Table) bool { return t.RelKind == 'p' && t.Dump&Definition != 0 })
	if found {
		sql := `SELECT tbloid, pg_catalog.pg_get_partkeydef(tbloid) FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)`
		err := query(ctx, q, sql, func(v *row) {
			oid := v.oid()
			r.partKeys[oid] = v.str()
		})
		if err != nil {
			return err
		}
	}
	oids, found = r.tableOIDs(func(t *Table) bool { return t.IsPartition && t.Dump&Definition != 0 })
	if !found {
		return nil
	}
	sql := `SELECT c.oid, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_class c ON c.oid = src.tbloid`
	return query(ctx, q, sql, func(v *row) {
		oid := v.oid()
		r.partBounds[oid] = v.str()
	})
}

func (r *reader) linkPartitions() error {
	// Inherited columns can be told now that columns, defaults and constraints are there.
	r.linkInheritedColumns()
	for _, oid := range r.unsafeTables {
		t, err := r.tableOf(oid)
		if err != nil {
			return err
		}
		t.UnsafePartitions = true
	}
	for oid, def := range r.partKeys {
		t, err := r.tableOf(oid)
		if err != nil {
			return err
		}
		t.rare().PartKeyDef = def
	}
	for oid, bound := range r.partBounds {
		t, err := r.tableOf(oid)
		if err != nil {
			return err
		}
		t.rare().PartBound = bound
	}
	r.unsafeTables, r.partKeys, r.partBounds = nil, nil, nil
	return nil
}
