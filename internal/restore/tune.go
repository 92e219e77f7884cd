package restore

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
)

// settings are those of a session that builds something.
type settings struct {
	memory  int64 // maintenance_work_mem in kB; 0: leave it
	workers int   // max_parallel_maintenance_workers; counts only with memory
}

// tuner divides memory and processors among the builds that run. Together they get what the server is set to give to as many builds as there
// are jobs, which is what they could take without a tuner; a build that can use more than its part gets what others have no use for. It is for the goroutine that gives out the work.
type tuner struct {
	memory  int64 // the server's maintenance_work_mem in kB
	workers int   // the server's max_parallel_maintenance_workers
	version int   // the server's
	cores   int
	jobs    int

	held int64   // kB that running builds may come to use
	left float64 // seconds of work not done yet
}

// newTuner asks for the server's settings. It returns nil if sessions are to keep their settings.
func (r *run) newTuner(ctx context.Context, leader *worker) (*tuner, error) {
	if !r.o.Fast {
		return nil, nil
	}
	t := &tuner{jobs: r.o.jobs(), cores: r.o.jobs(), version: leader.conn.Version()}
	for i := range r.target.Hosts {
		if h := &r.target.Hosts[i]; len(r.target.Hosts) == 1 && (strings.HasPrefix(h.Name, "/") || h.Name == "localhost" || h.Name == "127.0.0.1" || h.Name == "::1") {
			t.cores = runtime.NumCPU()
		}
	}
	err := leader.conn.Query(ctx, `SELECT name, setting FROM pg_catalog.pg_settings
WHERE name IN ('maintenance_work_mem', 'max_parallel_maintenance_workers')`, func(v [][]byte) error {
		n, err := strconv.ParseInt(string(v[1]), 10, 64)
		if err != nil {
			return err
		}
		if string(v[0]) == "maintenance_work_mem" {
			t.memory = n
		} else {
			t.workers = int(n)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read settings of the server: %w", err)
	}
	if t.memory <= 0 {
		return nil, nil
	}
	for _, it := range r.plan.Items {
		if !it.done {
			t.left += it.cost
		}
	}
	return t, nil
}

// calibrate scales the prediction by the speed of the server.
func (r *run) calibrate(ctx context.Context, leader *worker) error {
	if !r.o.Fast || r.res.Predicted < 2*time.Second {
		return nil
	}
	best := time.Duration(0)
	for range 2 {
		begin := time.Now()
		if err := leader.conn.Query(ctx, probeQuery, func([][]byte) error { return nil }); err != nil {
			if _, ok := refused(err); ok {
				return nil
			}
			return err
		}
		if d := time.Since(begin); best == 0 || d < best {
			best = d
		}
	}
	factor := min(max(best.Seconds()/probeSeconds, 0.25), 4)
	r.res.Predicted = time.Duration(float64(r.res.Predicted) * factor)
	r.log(Info, fmt.Sprintf("expected to take %s", r.res.Predicted.Round(100*time.Millisecond)))
	return nil
}

// choose returns the settings for an item that starts while so many others run, and how much memory, in kB, it may come to use.
func (t *tuner) choose(it *Item, running int) (s settings, share int64) {
	if t == nil || !it.builds() {
		return settings{}, 0
	}
	method := it.method()
	s.workers = t.share(it, method, running)
	need, known := it.memory(method)
	least := min(t.memory, leastMemory)
	spare := max(least, t.memory*int64(t.jobs)-t.held-least*int64(t.jobs-running-1))
	s.memory = min(t.memory, spare)
	if n := enough(method, need, int64(s.workers+1)); n > 0 {
		s.memory = min(s.memory, n)
	}
	switch {
	case method == "gin":
		return s, ginExcess * min(need, s.memory)
	case method == "hnsw" && known:
		// What does not fit into it takes several times as long.
		s.memory = min(need, max(t.memory, spare))
		if s.workers > 0 {
			s.memory = max(s.memory, least) // no more than needed: all of it is taken when the build begins
		} else {
			s.memory = max(s.memory, t.memory)
		}
	case method == "hnsw" || method == "ivfflat":
		s.memory = t.memory // ivfflat fails with less than it needs
	}
	return s, min(need, s.memory)
}

// share is how many parallel workers an item gets: as large a part of the processors as its work is of all the work that is left, if there are jobs for
// the rest, or else those that no job can have.
func (t *tuner) share(it *Item, method string, running int) int {
	since, ok := parallelSince[method]
	if !ok || t.version < since {
		return 0
	}
	part := 0.0
	if t.left > 0 {
		part = min(1, it.cost/t.left)
	}
	processes := max(int(part*float64(t.cores)+0.5), t.cores/max(t.jobs, running+1))
	workers := min(t.workers, processes-1)
	if method == "hnsw" && workers < 2 {
		return 0
	}
	return max(workers, 0)
}

// take and give keep account of memory, done of work.
func (t *tuner) take(share int64) {
	if t != nil {
		t.held += share
	}
}

func (t *tuner) give(share int64) { t.take(-share) }

func (t *tuner) done(it *Item) {
	if t != nil {
		t.left -= it.cost
	}
}

// use gives the session settings.
func (w *worker) use(ctx context.Context, s settings) error {
	if s.memory == 0 || s == w.set {
		return nil
	}
	var sql strings.Builder
	if s.memory != w.set.memory {
		fmt.Fprintf(&sql, "SET maintenance_work_mem = '%dkB';", s.memory)
	}
	if (s.workers != w.set.workers || w.set.memory == 0) && w.conn.Version() >= 110000 {
		fmt.Fprintf(&sql, "SET max_parallel_maintenance_workers = %d;", s.workers)
	}
	w.set = s
	if sql.Len() == 0 {
		return nil
	}
	if err := w.conn.Exec(ctx, sql.String()); err != nil {
		if _, ok := refused(err); !ok {
			return fmt.Errorf("set up session: %w", err)
		}
		w.log(Info, "settings of the session were refused: "+pg.SQLState(err))
	}
	return nil
}

// makeDo gives the session the server's own memory and no parallel workers, after an error for want of memory or disk: a parallel build takes shared memory,
// of which a container may have little. false: the error is another one, or nothing was set.
func (w *worker) makeDo(ctx context.Context, code string) (bool, error) {
	if w.set.memory == 0 || !strings.HasPrefix(code, "53") || w.conn.TxStatus() != 'I' {
		return false, nil
	}
	w.set = settings{}
	sql := "RESET maintenance_work_mem;"
	if w.conn.Version() >= 110000 {
		sql += "SET max_parallel_maintenance_workers = 0;"
	}
	if err := w.conn.Exec(ctx, sql); err != nil {
		return false, fmt.Errorf("set up session: %w", err)
	}
	return true, nil
}
