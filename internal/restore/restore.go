// Package restore brings the contents of an archive into a database, or turns them
// into a script or a list. In come the entries and data streams of a
// [pgarchive.Reader] and [Options]; out go statements and COPY data to a server, and
// a [Result] that says what was done and what failed.
//
// # How a restore runs
//
// [NewPlan] marks what is wanted of every entry and puts the entries in order. The
// rules, and the texts of statements and messages, are those of pg_restore
// (PostgreSQL's src/bin/pg_dump/pg_backup_archiver.c).
//
// [Run] then works in phases:
//
//  1. The leader connects and, with Clean, drops in reverse order.
//  2. Without jobs, the leader restores everything on its connection: the entries of
//     the main pass in the archive's order, then access lists, then what
//     must see these (refreshes of materialized views, event triggers, statistics of
//     indexes).
//  3. With jobs, the leader restores the pre-data entries. Then a scheduler, one
//     goroutine that owns the graph of the entries and hears from the workers on one
//     channel, hands an entry to an idle worker as soon as all it depends on is done
//     and no running entry holds or wants a lock that it needs. What depends on
//     a table waits for all data entries of the table. Of several that could run it takes the one
//     at the head of the longest remaining path. What is left in the end because it
//     waits for itself is restored one by one.
//
// An archive that comes as a stream (standard input) is read once, in its own order:
// a feeder goroutine reads one data entry after the other into a bounded buffer, from
// which a worker loads it, while other workers load the ends of earlier ones and build
// the indexes of tables that are complete.
//
// Data pass through unchanged, in blocks of bounded number and size; what is counted
// of them is compared with what the server says it took.
//
// # Errors
//
// A statement that the server refuses is an [EntryError]. It is reported, counted, and the
// restore goes on with the next statement, unless Options.OnError or ExitOnError decide
// otherwise. Everything else (a lost connection, an archive that cannot be read,
// a cancelled context) ends the restore; running statements are cancelled and all
// connections closed before Run returns.
package restore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// Run restores the archive r into the database target. p may be nil.
//
// The error says why the restore could not go on. Without one, everything was tried, and
// Result.Ignored says how many errors there were: only 0 is a success.
// The Result is never nil.
func Run(ctx context.Context, r pgarchive.Reader, target *pg.Config, o Options, p Progress) (*Result, error) {
	if p == nil {
		p = NoProgress{}
	}
	res := &Result{Started: time.Now()}
	defer func() { res.Duration = time.Since(res.Started) }()
	plan, err := NewPlan(r, &o)
	if err != nil {
		return res, err
	}
	if o.jobs() > 1 && r.Sequential() && o.NoParallelStream {
		return res, errNoParallelStream
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := &run{
		r:        r,
		o:        &o,
		plan:     plan,
		script:   plan.script,
		progress: p,
		target:   target,
		res:      res,
	}
	run.script.Info = func(m string) { run.log(Info, m) }
	run.script.Warn = func(m string) { run.log(Warning, m) }
	res.Predicted = plan.Predicted()
	res.Skipped = plan.Skipped()
	if plan.ImpliedNoSchema {
		run.log(Info, "implied no-schema restore")
	}
	err = run.restore(ctx)
	res.Resumable = err != nil && run.ledger != nil
	if err != nil && ctx.Err() != nil && !isEntryError(err) {
		// Say why, not how the cancelling looked from inside.
		err = fmt.Errorf("restore: %w", context.Cause(ctx))
	}
	if err == nil && res.Ignored > 0 {
		run.log(Warning, fmt.Sprintf("errors ignored on restore: %d", res.Ignored))
	}
	return res, err
}

// run is what the leader and the workers of one restore share.
type run struct {
	r        pgarchive.Reader
	o        *Options
	plan     *Plan
	script   *pgarchive.ScriptOptions
	progress Progress
	target   *pg.Config // written by the leader only, before there are workers
	ledger   *ledger    // likewise; nil: none

	mu         sync.Mutex // guards what follows
	res        *Result
	sessions   *pgarchive.Session // of which the connections have clones
	staged     bool               // "while PROCESSING TOC" was said
	lastFailed *Item              // whose entry was named last
}

// restore does all the work.
func (r *run) restore(ctx context.Context) error {
	r.log(Info, "connecting to database for restore")
	leader, err := r.lead(ctx)
	if err != nil {
		return err
	}
	defer func() { leader.close() }()
	r.progress.Plan(r.plan.Totals())
	if err := leader.begin(ctx); err != nil {
		return err
	}
	if r.o.Clean && !(r.o.Create && r.ledger != nil) {
		if err := leader.drop(ctx); err != nil {
			return err
		}
	}
	if r.o.jobs() > 1 {
		err = r.parallel(ctx, leader)
	} else {
		err = r.serial(ctx, leader)
	}
	if err != nil {
		return err
	}
	if err := leader.commit(ctx); err != nil {
		return err
	}
	return leader.steady(ctx, nil, true, func() error { return leader.closeLedger(ctx) })
}

// lead connects the leader, and opens the ledger unless the database has yet to be created.
func (r *run) lead(ctx context.Context) (*worker, error) {
	keeps := r.o.keepsLedger()
	if keeps && r.o.Create && r.o.Resume {
		if w, err := r.leadInCreated(ctx); w != nil || err != nil {
			return w, err
		}
	}
	leader, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	err = r.plan.CheckBinary(leader.conn.Version())
	if err == nil && keeps && !r.o.Create {
		err = leader.openLedger(ctx)
	}
	if err != nil {
		leader.close()
		return nil, err
	}
	return leader, nil
}

// serial restores all entries on the leader's connection, pass by pass.
func (r *run) serial(ctx context.Context, leader *worker) error {
	return leader.restoreAll(ctx, r.plan.Wanted(), func(it *Item) error {
		if r.r.Sequential() {
			return r.upTo(ctx, leader, it)
		}
		return leader.restoreSteady(ctx, it, archiveSource{r.r, it.Entry.ID})
	})
}

// drop drops what is wanted, last made first, and in create mode only the database
// (RestoreArchive in pg_backup_archiver.c).
func (w *worker) drop(ctx context.Context) error {
	begin := time.Now()
	for _, d := range w.session.Drops(w.plan.entries) {
		it := w.plan.byID[d.Entry.ID]
		if it.dropped {
			continue
		}
		if w.run.ledger != nil {
			err := w.steady(ctx, []*Item{it}, true, func() error {
				if it.dropped {
					return nil
				}
				return w.once(ctx, it, partDrop, func() []string { return d.SQL })
			})
			if err != nil {
				return err
			}
			continue
		}
		outside := d.NoTransaction && w.inTransactions()
		if outside {
			if err := w.commit(ctx); err != nil {
				return err
			}
		}
		for _, sql := range d.SQL {
			if _, err := w.exec(ctx, it, sql); err != nil {
				return err
			}
		}
		if outside {
			if err := w.begin(ctx); err != nil {
				return err
			}
		} else if err := w.acted(ctx, 1); err != nil {
			return err
		}
		w.mu.Lock()
		w.phase("drop", begin, time.Now())
		w.mu.Unlock()
	}
	return nil
}

func isEntryError(err error) bool {
	var e *EntryError
	return errors.As(err, &e)
}
