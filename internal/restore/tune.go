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

// tuner chooses settings for builds. Nothing is raised above what the server is set to: who runs it has
// said how much an index build may take.
type tuner struct {
	memory  int64 // the server's maintenance_work_mem in kB
	workers int   // the server's max_parallel_maintenance_workers
	cores   int
}

// ginMemory is enough for GIN: its entries are gathered in a tree that is slower the less of it is in the processor's cache.
const ginMemory = 64 << 10 // kB

// newTuner asks for the server's settings, and how fast it is. It returns nil if sessions are to keep their settings.
func (r *run) newTuner(ctx context.Context, leader *worker) (*tuner, error) {
	if !r.o.Fast {
		return nil, nil
	}
	t := &tuner{cores: r.o.jobs()}
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

// choose returns the settings for an item that starts while so many others run.
func (t *tuner) choose(it *Item, running int) settings {
	if t == nil {
		return settings{}
	}
	s := settings{memory: t.memory, workers: min(t.workers, max(t.cores-running-1, 0))}
	switch it.Entry.Desc {
	case "INDEX":
		if accessMethod(it.Entry.Defn) == "gin" {
			s.memory = min(s.memory, ginMemory)
		}
	case "CONSTRAINT", "FK CONSTRAINT":
	default:
		return settings{}
	}
	return s
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
