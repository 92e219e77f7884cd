package catalog

import "context"

// EventTrigger is a row of pg_event_trigger.
type EventTrigger struct {
	Meta
	Event   string
	Tags    string // literals separated by ", ", empty for all
	Func    string // regproc
	Enabled byte   // O D R A
}

func (r *reader) eventTriggersStage() stage {
	return stage{"event triggers", r.fetchEventTriggers, func() error { addAll(r.db, r.eventTriggerRows); return nil }}
}

func (r *reader) fetchEventTriggers(ctx context.Context, q Querier) error {
	const sql = `
SELECT e.oid, e.evtname, 0, e.evtowner, e.evtevent, e.evtfoid::pg_catalog.regproc, e.evtenabled,
  pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_literal(x) FROM pg_catalog.unnest(e.evttags) AS t(x)), ', ')
FROM pg_catalog.pg_event_trigger e ORDER BY e.oid`
	return query(ctx, q, sql, func(row *row) {
		e := &EventTrigger{Meta: r.objectMeta(row, KindEventTrigger, ClassEventTrigger)}
		e.Event, e.Func, e.Enabled, e.Tags = row.str(), row.str(), row.char(), row.str()
		r.selectObject(&e.Meta)
		r.eventTriggerRows = append(r.eventTriggerRows, e)
	})
}
