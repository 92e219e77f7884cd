package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// Definitions are many small statements, and each message to the server costs a round trip and a
// commit. So entries that are only statements go several at a time, in one message and
// so in one transaction. If the server refuses it nothing has happened, and the entries are restored
// one by one: errors are reported, and leave behind, the same as without.
const (
	batchEntries = 50
	batchText    = 128 << 10
)

// restoreAll restores items one after the other. withData is called for those whose data are in the archive.
func (w *worker) restoreAll(ctx context.Context, items []*Item, withData func(*Item) error) error {
	var group []*Item
	size := 0
	flush := func() error {
		err := w.steady(ctx, group, true, func() error { return w.several(ctx, group) })
		group, size = group[:0], 0
		return err
	}
	for _, it := range items {
		if it.done || it.Want&wantAny == 0 {
			continue
		}
		if w.groups(it) {
			group = append(group, it)
			size += len(it.Entry.Defn)
			if len(group) >= batchEntries || size >= batchText {
				if err := flush(); err != nil {
					return err
				}
			}
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if it.streamed() {
			if err := withData(it); err != nil {
				return err
			}
		} else if err := w.restoreSteady(ctx, it, archiveSource{w.r, it.Entry.ID}); err != nil {
			return err
		}
	}
	return flush()
}

// groups says whether an entry may share a transaction with others. Inside a transaction of the restore's own a failure
// could not be taken back; statements about the database, subscriptions and extensions may refuse to be in one; those
// that work on many rows would only hold their locks longer.
func (w *worker) groups(it *Item) bool {
	e := it.Entry
	if w.inTransactions() || it.streamed() || it.begun || it.halfDone() {
		return false
	}
	switch e.Desc {
	case "DATABASE", "DATABASE PROPERTIES", "SUBSCRIPTION", "SUBSCRIPTION TABLE", "EXTENSION", "WARNING",
		"MATERIALIZED VIEW DATA", "BLOB METADATA":
		return false
	case "INDEX", "CONSTRAINT", "FK CONSTRAINT", "CHECK CONSTRAINT":
		if !w.smallTables(it) {
			return false
		}
	}
	return strings.HasSuffix(strings.TrimRight(e.Defn, "\n"), ";")
}

// smallTables says whether the tables that an entry works on are known to hold next to nothing.
func (w *worker) smallTables(it *Item) bool {
	found := false
	for _, id := range it.needs {
		dep := w.plan.byID[id]
		switch dep.Entry.Desc {
		case "TABLE":
			if !dep.created {
				return false
			}
			found = true
		case "TABLE DATA":
			known := dep.Want&wantAny == 0 && !dep.before && dep.table != nil && dep.table.created
			if size := dep.Entry.DataBytes; !known && (size <= 0 || size > blockSize || dep.pieces > 1) {
				return false
			}
			found = true
		}
	}
	return found
}

// several restores entries together, or if that fails one by one.
func (w *worker) several(ctx context.Context, items []*Item) error {
	items = slices.DeleteFunc(slices.Clone(items), func(it *Item) bool { return it.done })
	if len(items) > 1 {
		begin := time.Now()
		before := *w.session
		var sql strings.Builder
		for _, it := range items {
			for _, s := range w.session.Entry(it.Entry, it.Want) {
				sql.WriteString(s)
				sql.WriteString("\n")
			}
		}
		if w.run.ledger != nil {
			rows := make([]row, len(items))
			for i, it := range items {
				rows[i] = row{it.Entry.ID, partEntry, stateDone, 0, ""}
			}
			sql.WriteString(w.insert(rows...))
		}
		err := w.conn.Exec(ctx, sql.String())
		if err == nil {
			each := time.Since(begin) / time.Duration(len(items))
			for i, it := range items {
				w.progress.EntryStarted(it.Entry)
				w.announce(it)
				w.tableMade(it)
				it.done = true
				w.finished(it, Timing{Entry: it.Entry, Begin: begin.Add(time.Duration(i) * each), Duration: each})
				w.progress.EntryDone(it.Entry, nil)
			}
			return nil
		}
		if _, ok := refused(err); !ok {
			return fmt.Errorf("restore %s and %d more: %w", items[0].name(), len(items)-1, err)
		}
		*w.session = before
	}
	for _, it := range items {
		if err := w.restore(ctx, it, archiveSource{w.r, it.Entry.ID}); err != nil {
			return err
		}
	}
	return nil
}

// announce says what is being done for an entry without data.
func (w *worker) announce(it *Item) {
	e := it.Entry
	switch {
	case it.Want&pgarchive.WantSchema == 0:
		if it.Want&pgarchive.WantData != 0 {
			w.log(Info, "executing "+e.Desc+" "+e.Tag)
		}
	case e.Namespace != "":
		w.log(Info, fmt.Sprintf("creating %s \"%s.%s\"", e.Desc, e.Namespace, e.Tag))
	default:
		w.log(Info, fmt.Sprintf("creating %s \"%s\"", e.Desc, e.Tag))
	}
}
