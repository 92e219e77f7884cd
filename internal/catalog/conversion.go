package catalog

import "context"

// Conversion is a row of pg_conversion.
type Conversion struct {
	Meta
	From, To string // encodings
	Proc     string // regproc
	Default  bool
}

func (r *reader) conversionsStage() stage {
	return stage{"conversions", r.fetchConversions, func() error { addAll(r.db, r.conversionRows); return nil }}
}

func (r *reader) fetchConversions(ctx context.Context, q Querier) error {
	const sql = `
SELECT oid, conname, connamespace, conowner, pg_catalog.pg_encoding_to_char(conforencoding),
  pg_catalog.pg_encoding_to_char(contoencoding), conproc, condefault
FROM pg_catalog.pg_conversion ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		c := &Conversion{Meta: r.objectMeta(row, KindConversion, ClassConversion)}
		c.From, c.To, c.Proc, c.Default = row.str(), row.str(), row.str(), row.bool()
		r.selectObject(&c.Meta)
		r.conversionRows = append(r.conversionRows, c)
	})
}
