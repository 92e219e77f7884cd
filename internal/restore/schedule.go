package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pghaul/pghaul/internal/graph"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// errNoParallelStream is pg_restore's word on jobs and an archive that it cannot open a second time.
var errNoParallelStream = errors.New("parallel restore from standard input is not supported")

// parallel restores with several connections (restore_toc_entries_prefork and _parallel in pg_backup_archiver.c).
func (r *run) parallel(ctx context.Context, leader *worker) error {
	s := &scheduler{
		run:       r,
		ready:     r.plan.graph().ReadySet(r.plan.before),
		shared:    make(map[pgarchive.ID]int),
		exclusive: make(map[pgarchive.ID]int),
		checking:  make(map[pgarchive.ID]int),
	}
	for _, it := range r.plan.Items {
		if it.done {
			s.ready.Done(it.Entry.ID)
		}
	}
	if err := s.preData(ctx, leader); err != nil {
		return err
	}
	// What was made must be seen by the others.
	if err := leader.commit(ctx); err != nil {
		return err
	}
	leader.parallel = true
	left := 0
	for _, it := range r.plan.Items {
		if it.Want&wantAny != 0 && !it.done {
			left++
		}
	}
	workers, err := r.hire(ctx, leader, min(r.o.jobs(), left))
	if err != nil {
		return err
	}
	defer func() {
		for _, w := range workers {
			if w != leader {
				w.close()
			}
		}
	}()
	err = leader.steady(ctx, nil, true, func() error {
		if s.tuner, err = r.newTuner(ctx, leader); err != nil {
			return err
		}
		return r.calibrate(ctx, leader)
	})
	if err != nil {
		return err
	}
	s.stats = r.newStatsQueue()
	stopWatching := r.watch(ctx, workers)
	defer stopWatching()
	r.log(Info, "entering main parallel loop")
	if err := s.work(ctx, workers); err != nil {
		return err
	}
	r.log(Info, "finished main parallel loop")
	return nil
}

// preData restores the entries before the data on the leader's connection: there is much
// that depends on each other and little to do for each, and old archives do not name all dependencies.
// Comments and the like belong to it until the first entry of another section.
func (s *scheduler) preData(ctx context.Context, leader *worker) error {
	passed := false
	var now []*Item
	for _, it := range s.plan.Items {
		switch it.Entry.Section {
		case pgarchive.SectionPreData:
		case pgarchive.SectionData, pgarchive.SectionPostData:
			passed = true
			continue
		default:
			if passed {
				continue
			}
		}
		if it.Pass == pgarchive.PassMain {
			now = append(now, it)
		}
	}
	err := leader.restoreAll(ctx, now, func(it *Item) error {
		return leader.restoreSteady(ctx, it, archiveSource{s.r, it.Entry.ID})
	})
	for _, it := range now {
		it.done = true
		s.ready.Done(it.Entry.ID)
	}
	return err
}

// hire opens connections until there are n workers, the leader among them. A server that has no
// more connections to give gets fewer.
func (r *run) hire(ctx context.Context, leader *worker, n int) ([]*worker, error) {
	workers := []*worker{leader}
	if n < 2 {
		return workers, nil
	}
	var (
		wg   sync.WaitGroup
		made = make([]*worker, n-1)
		errs = make([]error, n-1)
	)
	for i := range made {
		wg.Go(func() { made[i], errs[i] = r.reach(ctx) })
	}
	wg.Wait()
	var failed error
	for i, w := range made {
		switch {
		case w != nil:
			w.parallel = true
			workers = append(workers, w)
		case pg.SQLState(errs[i]) == tooManyConnections:
			r.log(Warning, fmt.Sprintf("could not open another connection, going on with fewer: %s", errs[i]))
		case failed == nil:
			failed = errs[i]
		}
	}
	if failed != nil {
		for _, w := range workers[1:] {
			w.close()
		}
		return nil, failed
	}
	return workers, nil
}

const tooManyConnections = "53300"

// scheduler owns the graph while workers run. Only its goroutine touches it.
type scheduler struct {
	*run
	ready   *graph.ReadySet[pgarchive.ID]
	running int

	// Which entries the running ones need, and which of these they lock.
	shared, exclusive map[pgarchive.ID]int
	// Which entries a foreign key being checked refers to.
	checking map[pgarchive.ID]int

	keys  []*Item // foreign keys to be checked
	tuner *tuner  // nil: sessions keep their settings
	stats *statsQueue

	arrived *arrival // data at which a sequential archive stands, not yet given to a worker
}

// job is an item for a worker.
type job struct {
	item   *Item
	src    source
	pieces []*Item  // load these together
	set    settings // for the session
	share  int64    // of the memory that is divided, in kB
	table  *Item    // instead of all that: gather statistics of this table
}

// do does a job.
func (w *worker) do(ctx context.Context, j job) error {
	repeatable := j.src == nil || j.src.again()
	return w.steady(ctx, j.items(), repeatable, func() error { return w.try(ctx, j) })
}

// items are those that a job is to get done.
func (j job) items() []*Item {
	switch {
	case j.table != nil:
		return []*Item{j.table}
	case j.pieces != nil:
		return j.pieces
	}
	return []*Item{j.item}
}

// try makes an attempt at a job, or at what is left of it.
func (w *worker) try(ctx context.Context, j job) error {
	if j.table != nil {
		return w.analyze(ctx, j.table)
	}
	if j.item.done && j.pieces == nil {
		return nil
	}
	if err := w.use(ctx, j.set); err != nil {
		return err
	}
	switch {
	case j.pieces != nil:
		return w.together(ctx, j.pieces)
	case j.item.split != nil:
		return w.key(ctx, j.item, j.src)
	}
	return w.restore(ctx, j.item, j.src)
}

// outcome is a worker's report.
type outcome struct {
	worker *worker
	job
	err error // ends the restore
}

// work hands items to workers until all are done.
func (s *scheduler) work(ctx context.Context, workers []*worker) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var (
		wg       sync.WaitGroup
		outcomes = make(chan outcome, len(workers)) // a report never waits
		jobs     = make(map[*worker]chan job, len(workers))
		idle     []*worker
		fatal    error
	)
	for i := len(workers) - 1; i >= 0; i-- {
		w := workers[i]
		in := make(chan job, 1)
		jobs[w] = in
		idle = append(idle, w)
		wg.Go(func() {
			for j := range in {
				err := w.do(ctx, j)
				if p, ok := j.src.(*pipe); ok {
					p.discard()
				}
				outcomes <- outcome{w, j, err}
			}
		})
	}
	var arrivals chan arrival
	var feeding chan error
	if s.r.Sequential() {
		arrivals = make(chan arrival)
		feeding = make(chan error, 1)
		fed := make(chan struct{})
		go func() {
			defer close(fed)
			feeding <- s.feeders(ctx, arrivals, len(workers))
		}()
		defer leave(fed)
	}
	defer wg.Wait()
	defer cancel(nil)
	defer func() {
		for _, c := range jobs {
			close(c)
		}
	}()
	stop := func(err error) {
		if fatal == nil {
			fatal = err
			cancel(err)
		}
	}
	give := func(j job) {
		w := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		s.running++
		w.doing.Store(j.item)
		jobs[w] <- j
	}
	start := func(it *Item, src source) {
		s.log(Info, fmt.Sprintf("launching item %d %s %s", it.Entry.ID, it.Entry.Desc, it.Entry.Tag))
		j := job{item: it, src: src, pieces: s.joined(it)}
		j.set, j.share = s.tuner.choose(it, s.running)
		s.tuner.take(j.share)
		it.started = true
		for _, d := range j.pieces {
			d.started = true
		}
		s.hold(it, 1)
		give(j)
	}
	for {
		for fatal == nil && len(idle) > 0 {
			it, src := s.next()
			if it == nil {
				break
			}
			start(it, src)
		}
		for fatal == nil && len(idle) > 0 {
			tab := s.stats.next()
			if tab == nil {
				break
			}
			give(job{table: tab})
		}
		if s.running == 0 {
			if fatal != nil {
				return fatal
			}
			if s.arrived != nil {
				// It waits for something that comes later in the stream, or for itself.
				a := s.arrived
				s.arrived = nil
				start(a.item, a.src)
				continue
			}
			if feeding == nil || s.ready.Len() == 0 {
				it, src, err := s.missed()
				if it == nil || err != nil {
					return err
				}
				start(it, src)
				continue
			}
		}
		in := arrivals
		if s.arrived != nil {
			in = nil
		}
		select {
		case o := <-outcomes:
			s.running--
			o.worker.doing.Store(nil)
			idle = append(idle, o.worker)
			if o.err != nil {
				stop(o.err)
			}
			if o.item != nil {
				s.ended(o.job)
			}
		case a := <-in:
			s.arrived = &a
		case err := <-feeding:
			feeding = nil
			if err != nil {
				stop(err)
			}
		}
	}
}

// ended notes the end of a job.
func (s *scheduler) ended(j job) {
	it := j.item
	s.hold(it, -1)
	s.tuner.give(j.share)
	if k := it.split; k != nil && k.added && !it.done {
		it.checksOnly()
		s.keys = append(s.keys, it)
		return
	}
	s.tuner.done(it)
	s.tableMade(it)
	s.log(Info, fmt.Sprintf("finished item %d %s %s", it.Entry.ID, it.Entry.Desc, it.Entry.Tag))
	s.ready.Done(it.Entry.ID)
	s.stats.done(it)
	for _, d := range j.pieces {
		s.ready.Done(d.Entry.ID)
		s.stats.done(d)
	}
}

// nextKey returns the foreign key that can be checked now and is the head of the longest path, or nil.
func (s *scheduler) nextKey() *Item {
	var best *Item
	for _, it := range s.keys {
		if (best == nil || it.path > best.path) && !s.conflicts(it) {
			best = it
		}
	}
	return best
}

// next returns an item that can run now, first of all the data that a stream brings.
func (s *scheduler) next() (*Item, source) {
	for {
		// Of a stream with one thing after the other the next may be what is waited for; of several streams
		// each waits for its own turn.
		longer := -1.0
		a := s.arrived
		if a != nil && s.conflicts(a.item) {
			a = nil
		}
		if a != nil && s.r.Properties().ConcurrentData {
			longer = a.item.path
		}
		if a != nil && longer < 0 && s.ready.Take(a.item.Entry.ID) {
			s.arrived = nil
			return a.item, a.src
		}
		key := s.nextKey()
		if key != nil {
			longer = max(longer, key.path)
		}
		id, ok := s.ready.Next(func(id pgarchive.ID) bool {
			it := s.plan.byID[id]
			return it == nil || it.Want&wantAny == 0 || it.started ||
				!s.comes(it) && !s.conflicts(it) && it.path > longer && it.isLead()
		})
		if !ok && a != nil && (key == nil || a.item.path >= key.path) && s.ready.Take(a.item.Entry.ID) {
			s.arrived = nil
			return a.item, a.src
		}
		if !ok && key != nil {
			s.keys = slices.DeleteFunc(s.keys, func(it *Item) bool { return it == key })
			return key, nil
		}
		if !ok {
			return nil, nil
		}
		it := s.plan.byID[id]
		switch {
		case it == nil: // a border between passes
			s.ready.Done(id)
		case it.started: // it ran out of turn; its end is or will be reported
		case it.Want&wantAny == 0:
			it.done = true
			s.ready.Done(id)
		default:
			return it, archiveSource{s.r, id}
		}
	}
}

// comes says whether an item has to wait for its data to come in the stream.
func (s *scheduler) comes(it *Item) bool { return it.streamed() && s.r.Sequential() }

// conflicts says whether an item would lock what a running one uses, or use what a running one locks.
func (s *scheduler) conflicts(it *Item) bool {
	for _, id := range it.locks {
		if s.shared[id] > 0 || it.split == nil && s.checking[id] > 0 {
			return true
		}
	}
	for _, id := range it.needs {
		if s.exclusive[id] > 0 {
			return true
		}
	}
	return false
}

// hold notes what a running item uses (n is 1), or no longer uses (-1).
func (s *scheduler) hold(it *Item, n int) {
	for _, id := range it.needs {
		if it.checks && !slices.Contains(it.locks, id) {
			s.checking[id] += n
		} else {
			s.shared[id] += n
		}
	}
	for _, id := range it.locks {
		s.exclusive[id] += n
	}
}

// missed returns what is left when nothing runs: the first item, pass by pass in the archive's order,
// that never became ready because it waits for itself (restore_toc_entries_postfork).
func (s *scheduler) missed() (*Item, source, error) {
	for {
		if it, src := s.next(); it != nil {
			return it, src, nil
		}
		it := s.firstLeft()
		switch {
		case it == nil:
			return nil, nil, nil
		case it.Want&wantAny == 0:
			it.done = true
			s.ready.Done(it.Entry.ID)
		case s.comes(it):
			return nil, nil, outOfOrder(it)
		default:
			s.log(Info, fmt.Sprintf("processing missed item %d %s %s", it.Entry.ID, it.Entry.Desc, it.Entry.Tag))
			return it, archiveSource{s.r, it.Entry.ID}, nil
		}
	}
}

func (s *scheduler) firstLeft() *Item {
	for pass := pgarchive.PassMain; pass <= pgarchive.PassPostACL; pass++ {
		for _, it := range s.plan.Items {
			if it.Pass == pass && !it.done && !it.started && it.isLead() {
				return it
			}
		}
	}
	return nil
}
