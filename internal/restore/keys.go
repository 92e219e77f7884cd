package restore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// splitKey is a foreign key that is added unchecked, which takes a lock on both tables for a moment, and checked
// later, which keeps others only from altering the table that it belongs to. So the keys of different tables are
// checked side by side even if they refer to the same one. The server does the same work and the key ends up the same.
type splitKey struct {
	add, check, drop string
	added            bool
	t                Timing // of the first step
}

// splitFrom is how long the check of a key must take, in seconds, to be worth two statements.
const splitFrom = 0.02

// splitKeys finds the foreign keys that can be split.
func (p *Plan) splitKeys() {
	// A key that refers to a partitioned table has a row for each partition, and only some versions mark all
	// of them as checked later.
	var parents []string
	for _, it := range p.Items {
		if it.Entry.Desc != "TABLE ATTACH" {
			continue
		}
		rest, ok := strings.CutPrefix(it.Entry.Defn, "ALTER TABLE ONLY ")
		if name, _, found := strings.Cut(rest, " ATTACH PARTITION "); ok && found {
			parents = append(parents, " REFERENCES "+name+"(")
		}
	}
	for _, it := range p.Items {
		if it.Entry.Desc != "FK CONSTRAINT" || it.Want&pgarchive.WantSchema == 0 || len(it.ownData) == 0 {
			continue
		}
		if it.cost < splitFrom || containsAny(it.Entry.Defn, parents) {
			continue
		}
		it.split = newSplitKey(it.Entry.Defn)
	}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// newSplitKey takes a statement apart as dumpConstraint in pg_dump.c writes it, for tables that are not partitioned
// themselves. nil: it is of another form, or the key is not to be checked at all.
func newSplitKey(defn string) *splitKey {
	const form, add, key = "ALTER TABLE ONLY ", "\n    ADD CONSTRAINT ", " FOREIGN KEY ("
	body, ok := strings.CutSuffix(defn, ";\n")
	if !ok || !strings.HasPrefix(body, form) || strings.HasSuffix(body, " NOT VALID") || strings.Contains(body, " NOT ENFORCED") {
		return nil
	}
	i := strings.Index(body, add)
	if i < 0 {
		return nil
	}
	table := body[:i]
	name, rest, ok := strings.Cut(body[i+len(add):], key)
	if !ok || strings.Contains(rest, key) || strings.Contains(table, "\n") {
		return nil
	}
	return &splitKey{
		add:   body + " NOT VALID;\n",
		check: table + "\n    VALIDATE CONSTRAINT " + name + ";",
		drop:  table + "\n    DROP CONSTRAINT " + name + ";",
	}
}

// key does the next step of a split foreign key. A step that fails is taken back, and the key added in one
// step, so that errors are those of the entry's own statement.
func (w *worker) key(ctx context.Context, it *Item, src source) error {
	k := it.split
	begin := time.Now()
	if !k.added {
		e := *it.Entry
		e.Defn = k.add
		ok, err := w.step(ctx, it, &e, w.insertStep(it, stateAdded))
		if err != nil {
			return err
		}
		if !ok {
			it.split = nil
			return w.restore(ctx, it, src)
		}
		w.announce(it)
		k.added = true
		k.t = Timing{Entry: it.Entry, Begin: begin, Duration: time.Since(begin)}
		return nil
	}
	w.progress.EntryStarted(it.Entry)
	// The tables may belong to somebody else than who is the user now.
	e := *it.Entry
	e.Defn = k.check + "\n"
	ok, err := w.step(ctx, it, &e, w.updateStep(it, stateDone))
	if err != nil {
		return err
	}
	if !ok {
		for _, sql := range []string{k.drop, w.forgetStep(it)} {
			if err := w.conn.Exec(ctx, sql); err != nil {
				if _, ok := refused(err); !ok {
					return w.lost(it, err)
				}
			}
		}
		it.split = nil
		return w.restore(ctx, it, src)
	}
	it.done = true
	k.t.Duration += time.Since(begin)
	w.finished(it, k.t)
	w.progress.EntryDone(it.Entry, nil)
	return nil
}

// halfDone says whether an item is a foreign key that an earlier run added and did not check.
func (it *Item) halfDone() bool { return it.split != nil && it.split.added && !it.done }

// checksOnly says that all that is left of an item is to check its key, which locks the table that it belongs to.
func (it *Item) checksOnly() {
	it.locks = nil
	for _, d := range it.ownData {
		it.locks = append(it.locks, d.Entry.ID)
	}
	it.checks = true
}

// step does the statements of a step, and books it. ok is false if the server refused one; then nothing was done, or with no
// ledger maybe less than all.
func (w *worker) step(ctx context.Context, it *Item, e *pgarchive.Entry, book string) (ok bool, err error) {
	before := *w.session
	list := w.session.Entry(e, pgarchive.WantSchema)
	if book != "" {
		list = []string{strings.Join(list, "\n") + "\n" + book}
	}
	for _, sql := range list {
		if err := w.conn.Exec(ctx, sql); err != nil {
			if _, ok := refused(err); !ok {
				return false, w.lost(it, err)
			}
			if book != "" {
				*w.session = before
			}
			return false, nil
		}
	}
	return true, nil
}

// insertStep, updateStep and forgetStep write what is booked of a key; without a ledger it is nothing.
func (w *worker) insertStep(it *Item, state string) string {
	if w.run.ledger == nil {
		return ""
	}
	return w.insert(row{it.Entry.ID, partEntry, state, 0, ""})
}

func (w *worker) updateStep(it *Item, state string) string {
	if w.run.ledger == nil {
		return ""
	}
	return w.update(row{it.Entry.ID, partEntry, state, 0, ""})
}

func (w *worker) forgetStep(it *Item) string {
	if w.run.ledger == nil {
		return ""
	}
	return fmt.Sprintf("DELETE FROM "+LedgerSchema+".done WHERE part = '%s' AND id = %d", partEntry, it.Entry.ID)
}
