package catalog

import "context"

type dependRow struct {
	obj, ref ID
	kind     byte // deptype: n a i x S P
}

// dependsStage reads pg_depend and makes it dependencies between objects (getDependencies in pg_dump.c). The column a
// dependency is from or on does not matter here. Members of operator families are no objects: what they depend on,
// their family does, except on itself and on the operator class that owns them.
func (r *reader) dependsStage() stage {
	const sql = `SELECT classid, objid, refclassid, refobjid, deptype
FROM pg_catalog.pg_depend WHERE deptype NOT IN ('p', 'e')
UNION ALL
SELECT 'pg_catalog.pg_opfamily'::pg_catalog.regclass, m.family, d.refclassid, d.refobjid, d.deptype
FROM pg_catalog.pg_depend d JOIN (
  SELECT 'pg_catalog.pg_amop'::pg_catalog.regclass AS class, oid, amopfamily AS family FROM pg_catalog.pg_amop
  UNION ALL
  SELECT 'pg_catalog.pg_amproc'::pg_catalog.regclass, oid, amprocfamily FROM pg_catalog.pg_amproc
) m ON d.classid = m.class AND d.objid = m.oid
WHERE d.deptype NOT IN ('p', 'e', 'i')
  AND NOT (d.refclassid = 'pg_catalog.pg_opfamily'::pg_catalog.regclass AND d.refobjid = m.family)`
	return stage{
		name: "dependencies",
		fetch: func(ctx context.Context, q Querier) error {
			return query(ctx, q, sql, func(row *row) {
				*r.depends.add() = dependRow{ID{row.oid(), row.oid()}, ID{row.oid(), row.oid()}, row.char()}
			})
		},
		link: func() error {
			var from Object
			var fromID ID
			for d := range r.depends.all() {
				if d.obj != fromID {
					from, fromID = r.db.Find(d.obj), d.obj
				}
				if from == nil {
					continue // TOAST tables and the like are no objects
				}
				on := r.db.Find(d.ref)
				if on == nil {
					continue
				}
				m, ref := from.Base(), on.Base()
				if d.kind == 'x' {
					m.DependsOnExt = true
				}
				if d.kind == 'i' && m.Kind == KindTable && ref.Kind == KindType {
					// The relation of a composite type depends on the type, which is right for DROP;
					// to create them the order is the other one.
					ref.AddDep(m.DumpID)
				} else {
					m.AddDep(ref.DumpID)
				}
			}
			r.depends = rowList[dependRow]{}
			return nil
		},
	}
}
