package restore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// BuildProgress is a [Progress] that also wants to know how far long builds of indexes are.
type BuildProgress interface {
	Progress

	// Building says that the server has done so much of what it is doing for an entry. phase is the
	// server's word for it; done and total count blocks or rows, total 0 is not known. It is called about once a second.
	Building(e *pgarchive.Entry, phase string, done, total int64)
}

const watchInterval = time.Second

// watch asks the server once a second how far index builds are, on a connection of its own, and returns a function that ends
// this. Watching never fails a restore.
func (r *run) watch(ctx context.Context, workers []*worker) (stop func()) {
	p, ok := r.progress.(BuildProgress)
	if !ok || workers[0].conn.Version() < 120000 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	of := make(map[uint32]*worker, len(workers))
	var pids []string
	for _, w := range workers {
		of[w.conn.BackendPID()] = w
		pids = append(pids, strconv.FormatUint(uint64(w.conn.BackendPID()), 10))
	}
	query := fmt.Sprintf(`SELECT pid, phase, blocks_done, blocks_total, tuples_done, tuples_total
FROM pg_catalog.pg_stat_progress_create_index WHERE pid IN (%s)`, strings.Join(pids, ", "))
	go func() {
		defer close(ended)
		var conn *pg.Conn
		defer func() {
			if conn != nil {
				over, cancel := context.WithTimeout(context.Background(), time.Second)
				conn.Close(over)
				cancel()
			}
		}()
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if conn == nil { // not for a restore that is over sooner
				var err error
				if conn, err = pg.Connect(ctx, r.target); err != nil {
					return
				}
			}
			err := conn.Query(ctx, query, func(v [][]byte) error {
				var n [5]int64
				for i, c := range []int{0, 2, 3, 4, 5} {
					n[i], _ = strconv.ParseInt(string(v[c]), 10, 64)
				}
				w := of[uint32(n[0])]
				if w == nil {
					return nil
				}
				done, total := n[1], n[2]
				if n[4] > 0 || total == 0 {
					done, total = n[3], n[4]
				}
				if it := w.doing.Load(); it != nil {
					p.Building(it.Entry, string(v[1]), done, total)
				}
				return nil
			})
			if err != nil {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
