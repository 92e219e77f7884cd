package catalog

import (
	"context"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Transform is a row of pg_transform. Its name is those of its type and language, separated by a space.
type Transform struct {
	Meta
	Type           uint32
	Lang           string // language name
	FromSQL, ToSQL uint32 // functions, 0 for none
}

func (r *reader) transformsStage() stage {
	return stage{"transforms", r.fetchTransforms, r.linkTransforms}
}

func (r *reader) fetchTransforms(ctx context.Context, q Querier) error {
	const sql = `
SELECT t.oid, '', 0, 0, t.trftype, l.lanname, t.trffromsql::pg_catalog.oid, t.trftosql::pg_catalog.oid
FROM pg_catalog.pg_transform t JOIN pg_catalog.pg_language l ON l.oid = t.trflang
ORDER BY t.trftype, t.trflang`
	return query(ctx, q, sql, func(row *row) {
		t := &Transform{Meta: r.objectMeta(row, KindTransform, ClassTransform)}
		t.Type, t.Lang, t.FromSQL, t.ToSQL = row.oid(), row.str(), row.oid(), row.oid()
		r.selectObject(&t.Meta)
		r.transformRows = append(r.transformRows, t)
	})
}

func (r *reader) linkTransforms() error {
	quote := sqltext.Quoter{All: r.db.Options.QuoteAllIdentifiers}
	for _, t := range r.transformRows {
		if typ := r.db.Type(t.Type); typ != nil {
			t.Name = typ.Name + " " + quote.Ident(t.Lang)
		}
		r.db.Add(t)
	}
	return nil
}
