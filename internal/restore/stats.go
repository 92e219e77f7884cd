package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// statsQueue knows which tables have got everything, so that their statistics can be gathered. A nil queue is empty.
type statsQueue struct {
	left  map[*Item]int // of a table: items that still work on it
	on    map[*Item][]*Item
	ready []*Item
}

// newStatsQueue returns nil if no statistics are to be gathered.
func (r *run) newStatsQueue() *statsQueue {
	if !r.o.Analyze {
		return nil
	}
	q := &statsQueue{left: make(map[*Item]int), on: make(map[*Item][]*Item)}
	for _, it := range r.plan.Items {
		if it.done || it.Want&wantAny == 0 {
			continue
		}
		seen := make(map[*Item]bool)
		add := func(tab *Item) {
			if tab != nil && !seen[tab] {
				seen[tab] = true
				q.left[tab]++
				q.on[it] = append(q.on[it], tab)
			}
		}
		if it.Entry.Desc == "TABLE DATA" {
			add(it.table)
		}
		if it.section != pgarchive.SectionPostData || it.Pass != pgarchive.PassMain {
			continue
		}
		for _, id := range it.needs {
			if dep := r.plan.byID[id]; dep.Entry.Desc == "TABLE DATA" && dep.Want&wantAny != 0 {
				add(dep.table)
			}
		}
	}
	for _, it := range r.plan.Items { // that an earlier run loaded
		if it.before && it.table != nil && q.left[it.table] == 0 && !it.table.analyzed && !slices.Contains(q.ready, it.table) {
			q.ready = append(q.ready, it.table)
		}
	}
	return q
}

// done notes that an item is finished.
func (q *statsQueue) done(it *Item) {
	if q == nil {
		return
	}
	for _, tab := range q.on[it] {
		if q.left[tab]--; q.left[tab] == 0 {
			q.ready = append(q.ready, tab)
		}
	}
}

// next returns a table that nothing works on any more, or nil.
func (q *statsQueue) next() *Item {
	if q == nil || len(q.ready) == 0 {
		return nil
	}
	tab := q.ready[0]
	q.ready = q.ready[1:]
	return tab
}

// analyze gathers the statistics of a table. A refusal is worth a warning only: everything was restored.
func (w *worker) analyze(ctx context.Context, tab *Item) error {
	if tab.analyzed {
		return nil
	}
	name := sqltext.Quoter{}.Qualified(tab.Entry.Namespace, tab.Entry.Tag)
	sql := "ANALYZE " + name
	if w.run.ledger != nil {
		sql += "; " + w.insert(row{tab.Entry.ID, partAnalyze, stateDone, 0, ""})
	}
	if err := w.conn.Exec(ctx, sql); err != nil {
		e, ok := refused(err)
		if !ok {
			return fmt.Errorf("analyze %s: %w", name, err)
		}
		w.log(Warning, fmt.Sprintf("could not analyze %s: %s", name, e.Message))
	}
	return nil
}
