package catalog

import "context"

// Opfamily is a row of pg_opfamily.
type Opfamily struct {
	Meta
	Method uint32 // pg_am OID
	AMName string
	Loose  FamilyMembers // members of no operator class, only if its definition is dumped
}

func (r *reader) opfamiliesStage() stage {
	return stage{"operator families", r.fetchOpfamilies, func() error { addAll(r.db, r.opfamilyRows); return nil }}
}

func (r *reader) fetchOpfamilies(ctx context.Context, q Querier) error {
	const sql = `
SELECT f.oid, f.opfname, f.opfnamespace, f.opfowner, f.opfmethod, a.amname
FROM pg_catalog.pg_opfamily f LEFT JOIN pg_catalog.pg_am a ON a.oid = f.opfmethod ORDER BY f.oid`
	err := query(ctx, q, sql, func(row *row) {
		o := &Opfamily{Meta: r.objectMeta(row, KindOpfamily, ClassOpfamily), Method: row.oid(), AMName: row.str()}
		r.selectObject(&o.Meta)
		r.opfamilyRows = append(r.opfamilyRows, o)
	})
	if err != nil {
		return err
	}
	loose := make(map[uint32]*FamilyMembers)
	for oid, o := range pick(r.opfamilyRows, r.defined) {
		loose[oid] = &o.Loose
	}
	return fetchFamilyMembers(ctx, q, "pg_opfamily", "oid", loose)
}
