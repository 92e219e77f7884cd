package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// joinPieces decides which cut tables are loaded by one session in one transaction. Then the table can be emptied first
// and its rows stored frozen and, with wal_level minimal, without write-ahead log, which costs the server less
// than pieces side by side do; but the table takes as long as its pieces together. So it is done where there is
// enough else to do meanwhile.
func (p *Plan) joinPieces() {
	total := 0.0
	for _, it := range p.Items {
		total += it.cost
	}
	for _, tab := range p.Items {
		pieces := joinable(tab)
		if len(pieces) < 2 {
			continue
		}
		joined, apart, after := 0.0, 0.0, 0.0
		for _, it := range pieces {
			apart += it.cost
			joined += frozenWork.of(it.size)
			after = max(after, it.path-it.cost)
		}
		if joined+after > (total-apart+joined)/float64(p.jobs) {
			continue
		}
		for _, it := range pieces {
			it.lead = pieces[0]
			it.cost = 0
		}
		pieces[0].cost = joined
	}
}

// joinable returns the data entries of a table if they are the pieces that it was cut into.
func joinable(tab *Item) []*Item {
	if tab.Entry.Desc != "TABLE" || len(tab.data) < 2 {
		return nil
	}
	target := "COPY " + sqltext.Quoter{}.Qualified(tab.Entry.Namespace, tab.Entry.Tag) + " "
	for _, it := range tab.data {
		if !it.streamed() || it.pieces != len(tab.data) || !strings.HasPrefix(it.Entry.CopyStmt, target) {
			return nil
		}
	}
	return tab.data
}

// joined returns the pieces that are to be loaded with it, or nil. It is for the scheduler.
func (s *scheduler) joined(it *Item) []*Item {
	if it.lead != it {
		return nil
	}
	tab := it.table
	ok := tab.created && (tab.Entry.RelKind == 0 || tab.Entry.RelKind == 'r')
	for _, d := range tab.data {
		ok = ok && !d.started && !d.done
	}
	if !ok {
		for _, d := range tab.data {
			d.lead = nil
		}
		return nil
	}
	return tab.data
}

// together loads the pieces of a table in one transaction, and if anything comes in the way each by itself:
// then errors are reported, and leave behind, what they do otherwise.
func (w *worker) together(ctx context.Context, pieces []*Item) error {
	var timings []Timing
	err := errSomeDone
	if !slices.ContainsFunc(pieces, func(it *Item) bool { return it.done }) {
		timings, err = w.inOne(ctx, pieces)
	}
	if err != nil {
		if _, ok := refused(err); !ok && (ctx.Err() != nil || w.conn.IsClosed()) {
			return w.lost(pieces[0], err)
		}
		if w.conn.TxStatus() != 'I' {
			if err := w.transaction(ctx, nil, "ROLLBACK"); err != nil {
				return err
			}
			w.session.Reset()
		}
		w.log(Info, fmt.Sprintf("loading the pieces of %s one by one: %s", pieces[0].name(), err))
		for _, it := range pieces {
			if it.done {
				continue
			}
			if err := w.restore(ctx, it, archiveSource{w.r, it.Entry.ID}); err != nil {
				return err
			}
		}
		return nil
	}
	for i, it := range pieces {
		it.done = true
		w.finished(it, timings[i])
		w.progress.EntryDone(it.Entry, nil)
	}
	return nil
}

// errSomeDone says that pieces were loaded before a connection was lost.
var errSomeDone = errors.New("some are loaded")

// inOne makes the attempt. Nothing is reported.
func (w *worker) inOne(ctx context.Context, pieces []*Item) ([]Timing, error) {
	var timings []Timing
	for i, it := range pieces {
		t := Timing{Entry: it.Entry, Begin: time.Now()}
		w.progress.EntryStarted(it.Entry)
		e := it.Entry
		for _, sql := range append(w.session.Entry(e, pgarchive.WantData), w.session.BeginData(e)...) {
			if err := w.conn.Exec(ctx, sql); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			w.log(Info, fmt.Sprintf("processing data for table \"%s.%s\"", e.Namespace, e.Tag))
			if err := w.conn.Exec(ctx, "BEGIN"); err != nil {
				return nil, err
			}
			if err := w.conn.Exec(ctx, w.session.Truncate(e)); err != nil {
				return nil, err
			}
		}
		var err error
		if t.Rows, t.Bytes, err = w.frozenPiece(ctx, it); err != nil {
			return nil, err
		}
		for _, sql := range w.session.EndData(e) {
			if err := w.conn.Exec(ctx, sql); err != nil {
				return nil, err
			}
		}
		t.Duration = time.Since(t.Begin)
		timings = append(timings, t)
	}
	commit := "COMMIT"
	if w.run.ledger != nil {
		rows := make([]row, len(pieces))
		for i, it := range pieces {
			rows[i] = row{it.Entry.ID, partEntry, stateDone, timings[i].Rows, ""}
		}
		commit = w.insert(rows...) + commit
	}
	return timings, w.conn.Exec(ctx, commit)
}

func (w *worker) frozenPiece(ctx context.Context, it *Item) (rows, size int64, err error) {
	feed, err := w.newFeed(ctx, it, archiveSource{w.r, it.Entry.ID})
	if err != nil {
		return 0, 0, err
	}
	defer feed.Close()
	rows, err = w.conn.CopyFrom(ctx, withFreeze(it.Entry.CopyStmt), feed)
	fed := feed.Close()
	size, taken := feed.total()
	switch {
	case err != nil:
		return 0, 0, err
	case fed != nil:
		return 0, 0, fed
	case feed.text && rows != taken:
		return 0, 0, fmt.Errorf("the archive holds %d rows, the server took %d", taken, rows)
	}
	return rows, size, nil
}
