package catalog

import "context"

type commentRow struct {
	id   SubID
	text string
}

// commentsStage reads all comments in one query and keeps those of known objects (collectComments in pg_dump.c).
func (r *reader) commentsStage() stage {
	const sql = `SELECT classoid, objoid, objsubid, description FROM pg_catalog.pg_description
ORDER BY classoid, objoid, objsubid`
	s := stage{name: "comments"}
	if r.db.Options.NoComments {
		return s
	}
	s.fetch = func(ctx context.Context, q Querier) error {
		return query(ctx, q, sql, func(row *row) {
			id := SubID{ID{row.oid(), row.oid()}, int32(row.int())}
			r.comments = append(r.comments, commentRow{id, row.str()})
		})
	}
	s.link = func() error {
		r.db.Comments = make(map[SubID]string)
		for _, c := range r.comments {
			if r.markPart(c.id, Comment) {
				r.db.Comments[c.id] = c.text
			}
		}
		r.comments = nil
		return nil
	}
	return s
}

// markPart puts part into Has of the object. Columns of a composite type count for the type,
// which is dumped, not for its relation. It says whether the object is known.
func (r *reader) markPart(id SubID, part Component) bool {
	o := r.db.Find(id.ID)
	if o == nil {
		return false
	}
	if t, ok := o.(*Table); ok && id.Sub != 0 && t.RelKind == 'c' {
		if typ := r.db.Type(t.TypeOID); typ != nil {
			typ.Has |= part
		}
		return true
	}
	o.Base().Has |= part
	return true
}
