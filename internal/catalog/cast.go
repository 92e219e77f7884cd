package catalog

import "context"

// Cast is a row of pg_cast. Its name is those of the two types, separated by a space.
type Cast struct {
	Meta
	Source, Target uint32 // types
	Func           uint32 // 0 for none
	Context        byte   // e explicit, a assignment, i implicit
	Method         byte   // f function, b binary, i inout
}

func (r *reader) castsStage() stage {
	return stage{"casts", r.fetchCasts, r.linkCasts}
}

func (r *reader) fetchCasts(ctx context.Context, q Querier) error {
	sql := `
SELECT c.oid, '', 0, 0, c.castsource, c.casttarget, c.castfunc, c.castcontext, c.castmethod
FROM pg_catalog.pg_cast c`
	if r.atLeast(14) {
		// the cast of a range to its multirange comes with the range
		sql += `
WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_range r WHERE r.rngtypid = c.castsource AND r.rngmultitypid = c.casttarget)`
	}
	return query(ctx, q, sql+` ORDER BY c.castsource, c.casttarget`, func(row *row) {
		c := &Cast{Meta: r.objectMeta(row, KindCast, ClassCast)}
		c.Source, c.Target, c.Func, c.Context, c.Method = row.oid(), row.oid(), row.oid(), row.char(), row.char()
		r.selectCast(&c.Meta)
		r.castRows = append(r.castRows, c)
	})
}

func (r *reader) linkCasts() error {
	for _, c := range r.castRows {
		if s, t := r.db.Type(c.Source), r.db.Type(c.Target); s != nil && t != nil {
			c.Name = s.Name + " " + t.Name
		}
		r.db.Add(c)
	}
	return nil
}
