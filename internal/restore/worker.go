package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// worker is one connection and what is known about the state of its session.
type worker struct {
	*run
	conn     *pg.Conn
	session  *pgarchive.Session
	parallel bool     // others work at the same time
	actions  int      // since the last commit, with TransactionSize
	set      settings // of the session now; zero: as it began
	doing    atomic.Pointer[Item]
}

// connect opens a connection to the target and puts the session into its fixed state.
func (r *run) connect(ctx context.Context) (*worker, error) {
	conn, err := pg.Connect(ctx, r.target)
	if err != nil {
		return nil, err
	}
	w := &worker{run: r, conn: conn}
	err = w.setUp(ctx)
	if err == nil {
		err = w.join(ctx)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// close closes the connection, whatever state it is in.
func (w *worker) close() {
	if w.conn == nil {
		return
	}
	// The context of the restore may be over; saying goodbye takes no time, or is given up.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	w.conn.Close(ctx)
	w.conn = nil
}

// reconnect connects to another database (ReconnectToServer in pg_backup_db.c).
func (w *worker) reconnect(ctx context.Context, database string) error {
	w.log(Info, fmt.Sprintf("connecting to new database \"%s\"", database))
	w.target = w.target.WithDatabase(database)
	next, err := w.run.connect(ctx)
	if err != nil {
		return err
	}
	w.close()
	w.conn, w.session = next.conn, next.session
	return nil
}

// setUp begins the session: parameters that must not depend on user, database or server
// get their values.
func (w *worker) setUp(ctx context.Context) error {
	// Before anything else, for whatever the database was set to.
	const secure = "SELECT pg_catalog.set_config('search_path', '', false);"
	if err := w.conn.Exec(ctx, secure); err != nil {
		return fmt.Errorf("set up session: %w", err)
	}
	session, err := w.newSession(w.conn.Version())
	if err != nil {
		return err
	}
	w.session = session
	for _, sql := range session.Start() {
		if _, err := w.exec(ctx, nil, sql); err != nil {
			return fmt.Errorf("set up session: %w", err)
		}
	}
	return nil
}

// newSession returns the state of a fresh session on a server of the given version.
func (r *run) newSession(version int) (*pgarchive.Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessions == nil {
		// The archive's statements are the same for all servers; settings are chosen for this one.
		r.script.TargetVersion = version
		s, err := pgarchive.NewSession(r.plan.entries, r.plan.selected, r.script)
		if err != nil {
			return nil, err
		}
		r.sessions = s
	}
	return r.sessions.Clone(), nil
}

// inTransactions says whether the connection is to be inside a transaction at all times.
// Workers beside others commit each entry: what they wrote must be seen by the others.
func (w *worker) inTransactions() bool {
	return (w.o.SingleTransaction || w.o.TransactionSize > 0) && !w.parallel
}

// begin and commit start and end the transaction of a restore that wants to be inside one.
func (w *worker) begin(ctx context.Context) error {
	if !w.inTransactions() {
		return nil
	}
	w.actions = 0
	return w.transaction(ctx, nil, "BEGIN")
}

func (w *worker) commit(ctx context.Context) error {
	if !w.inTransactions() {
		return nil
	}
	return w.transaction(ctx, nil, "COMMIT")
}

// transaction sends BEGIN, COMMIT or ROLLBACK.
func (w *worker) transaction(ctx context.Context, it *Item, sql string) error {
	err := w.conn.Exec(ctx, sql)
	if err == nil {
		return nil
	}
	desc := "could not start database transaction"
	if sql != "BEGIN" {
		desc = "could not commit database transaction"
	}
	if e, ok := refused(err); ok {
		return w.report(it, queryError(it, desc, sql, e))
	}
	return fmt.Errorf("%s: %w", desc, err)
}

// acted counts actions and commits when there are enough of them in one transaction.
func (w *worker) acted(ctx context.Context, n int) error {
	if w.o.TransactionSize == 0 || !w.inTransactions() {
		return nil
	}
	w.actions += n
	if w.actions < w.o.TransactionSize {
		return nil
	}
	if err := w.commit(ctx); err != nil {
		return err
	}
	return w.begin(ctx)
}

// maxAttempts is how often a statement is sent that the server gives up in favour of another
// (deadlock_detected), before that counts as its error.
const maxAttempts = 5

const deadlockDetected = "40P01"

// exec sends statements, all in one message as pg_restore does: they succeed or fail
// together. ok says whether they succeeded; err ends the restore.
func (w *worker) exec(ctx context.Context, it *Item, sql string) (ok bool, err error) {
	for attempt := 1; ; attempt++ {
		inside := w.conn.TxStatus() != 'I'
		err = w.conn.Exec(ctx, sql)
		if err == nil {
			return true, nil
		}
		e, goOn := refused(err)
		if !goOn {
			return false, w.lost(it, err)
		}
		if e.Code == deadlockDetected && !inside && attempt < maxAttempts {
			continue
		}
		if !inside {
			if madeDo, err := w.makeDo(ctx, e.Code); err != nil {
				return false, w.lost(it, err)
			} else if madeDo {
				continue
			}
		}
		if strings.HasPrefix(sql, "SET SESSION AUTHORIZATION") {
			// Going on would give objects to the wrong owner.
			return false, &EntryError{
				Entry: it.entry(), Statement: sql, SQLState: e.Code, Err: err,
				Message: "could not set session user: " + pg.Message(e, sql),
			}
		}
		return false, w.report(it, queryError(it, "could not execute query", sql, e))
	}
}

// lost describes an error after which the connection is of no use.
func (w *worker) lost(it *Item, err error) error {
	if it == nil {
		return err
	}
	return fmt.Errorf("restore %s: %w", it.name(), err)
}

// restoreSteady is restore on a connection that may be lost.
func (w *worker) restoreSteady(ctx context.Context, it *Item, src source) error {
	return w.steady(ctx, []*Item{it}, src.again(), func() error {
		if it.done {
			return nil
		}
		return w.restore(ctx, it, src)
	})
}

// restore restores one entry (restore_toc_entry in pg_backup_archiver.c). The error
// ends the restore; failures of the entry are reported and counted.
func (w *worker) restore(ctx context.Context, it *Item, src source) error {
	if it.halfDone() {
		return w.key(ctx, it, src)
	}
	t := Timing{Entry: it.Entry, Begin: time.Now()}
	w.progress.EntryStarted(it.Entry)
	before := it.failures
	err := w.entry(ctx, it, src, &t)
	if err != nil && w.canComeBack(ctx, err) {
		return err // to be done again
	}
	t.Duration = time.Since(t.Begin)
	it.done = true
	if w.parallel && it.failures > before {
		w.mu.Lock()
		w.res.Ignored -= it.failures - before - 1 // an entry counts once, as there
		w.mu.Unlock()
	}
	w.finished(it, t)
	failed := err
	if failed == nil && it.failures > before {
		w.mu.Lock()
		failed = w.lastErrorOf(it)
		w.mu.Unlock()
	}
	w.progress.EntryDone(it.Entry, failed)
	return err
}

// lastErrorOf finds the last error of an item. The caller holds mu.
func (r *run) lastErrorOf(it *Item) error {
	for i := len(r.res.Errors) - 1; i >= 0; i-- {
		if r.res.Errors[i].Entry == it.Entry {
			return r.res.Errors[i]
		}
	}
	return nil
}

func (w *worker) entry(ctx context.Context, it *Item, src source, t *Timing) error {
	e := it.Entry
	if e.Desc == "WARNING" {
		if text := e.Defn; text != "" && w.plan.Schema {
			w.log(Warning, "warning from original dump file: "+text)
		} else if e.CopyStmt != "" {
			w.log(Warning, "warning from original dump file: "+e.CopyStmt)
		}
	}
	if w.run.ledger != nil && !it.streamed() && !isDatabase(e) {
		w.announce(it)
		err := w.once(ctx, it, partEntry, func() []string { return w.session.Entry(e, it.Want) })
		if err == nil && !w.parallel {
			w.tableMade(it)
		}
		return err
	}
	defined := false
	if it.Want&pgarchive.WantSchema != 0 {
		outside := isDatabase(e) && w.inTransactions()
		if outside {
			if err := w.commit(ctx); err != nil {
				return err
			}
		}
		w.announce(it)
		if err := w.define(ctx, it, pgarchive.WantSchema); err != nil {
			return err
		}
		defined = true
		if !w.parallel {
			w.tableMade(it)
		}
		if isDatabase(e) {
			if err := w.reconnect(ctx, e.Tag); err != nil {
				return err
			}
			if err := w.databaseMade(ctx, it); err != nil {
				return err
			}
			if outside {
				if err := w.begin(ctx); err != nil {
					return err
				}
			}
		}
	}
	if it.Want&pgarchive.WantData != 0 {
		switch {
		case e.HasData && e.Desc == "BLOBS":
			w.log(Info, "processing "+e.Desc)
			if err := w.largeObjects(ctx, it, src, t); err != nil {
				return err
			}
		case e.HasData:
			if err := w.data(ctx, it, src, t); err != nil {
				return err
			}
		case !defined:
			w.announce(it)
			if err := w.define(ctx, it, pgarchive.WantData); err != nil {
				return err
			}
		}
	}
	if it.Want&pgarchive.WantStats != 0 {
		if err := w.define(ctx, it, pgarchive.WantStats); err != nil {
			return err
		}
	}
	return w.acted(ctx, w.session.TransactionCost(e, it.Want))
}

// define sends the statements of an entry, with what they need of the session's state.
func (w *worker) define(ctx context.Context, it *Item, want pgarchive.Wanted) error {
	list := w.session.Entry(it.Entry, want)
	if it.begun { // a database that was created before
		list = slices.DeleteFunc(list, func(sql string) bool { return strings.HasPrefix(sql, "CREATE DATABASE ") })
	}
	if isManyObjects(it.Entry) && !w.inTransactions() {
		return w.batch(ctx, it, list)
	}
	for _, sql := range list {
		if _, err := w.exec(ctx, it, sql); err != nil {
			return err
		}
	}
	return nil
}

// isManyObjects says whether an entry is one small statement for each of many large objects.
func isManyObjects(e *pgarchive.Entry) bool {
	return e.Desc == "BLOB METADATA" || e.Desc == "ACL" && strings.HasPrefix(e.Tag, "LARGE OBJECTS")
}

// tableMade notes what became of a table, for its data. It is for the goroutine that gives out the work.
func (r *run) tableMade(it *Item) {
	if it.Entry.Desc != "TABLE" || it.Want&pgarchive.WantSchema == 0 {
		return
	}
	if it.failures == 0 {
		it.created = true
		return
	}
	if !r.o.NoDataForFailedTables {
		return
	}
	r.log(Info, fmt.Sprintf("table \"%s\" could not be created, will not restore its data", it.Entry.Tag))
	for _, d := range it.data {
		d.Want &^= wantAny
	}
}

// isDatabase says whether an entry is about the database itself, which cannot be done in a transaction.
func isDatabase(e *pgarchive.Entry) bool {
	return e.Desc == "DATABASE" || e.Desc == "DATABASE PROPERTIES"
}
