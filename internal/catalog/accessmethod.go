package catalog

import "context"

// AccessMethod is a row of pg_am.
type AccessMethod struct {
	Meta
	AMType  byte   // i index, t table
	Handler string // regproc
}

func (r *reader) accessMethodsStage() stage {
	return stage{"access methods", r.fetchAccessMethods, func() error { addAll(r.db, r.accessMethodRows); return nil }}
}

func (r *reader) fetchAccessMethods(ctx context.Context, q Querier) error {
	const sql = `SELECT oid, amname, 0, 0, amtype, amhandler::pg_catalog.regproc FROM pg_catalog.pg_am ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		a := &AccessMethod{Meta: r.objectMeta(row, KindAccessMethod, ClassAccessMethod), AMType: row.char(), Handler: row.str()}
		r.selectAccessMethod(&a.Meta)
		r.accessMethodRows = append(r.accessMethodRows, a)
	})
}
