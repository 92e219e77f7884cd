package catalog

import "context"

type labelRow struct {
	id    SubID
	label SecLabelText
}

// secLabelsStage reads all security labels in one query and keeps those of known objects (collectSecLabels in pg_dump.c).
// The view pg_seclabels is the same with the objects' names, for which the server has to plan a dozen joins.
func (r *reader) secLabelsStage() stage {
	const sql = `SELECT classoid, objoid, objsubid, provider, label FROM pg_catalog.pg_seclabel
UNION ALL SELECT classoid, objoid, 0, provider, label FROM pg_catalog.pg_shseclabel
ORDER BY classoid, objoid, objsubid`
	s := stage{name: "security labels"}
	if r.db.Options.NoSecurityLabels {
		return s
	}
	s.fetch = func(ctx context.Context, q Querier) error {
		return query(ctx, q, sql, func(row *row) {
			id := SubID{ID{row.oid(), row.oid()}, int32(row.int())}
			r.labels = append(r.labels, labelRow{id, SecLabelText{row.str(), row.str()}})
		})
	}
	s.link = func() error {
		r.db.Labels = make(map[SubID][]SecLabelText)
		for _, l := range r.labels {
			if r.markPart(l.id, SecLabel) {
				r.db.Labels[l.id] = append(r.db.Labels[l.id], l.label)
			}
		}
		r.labels = nil
		return nil
	}
	return s
}
