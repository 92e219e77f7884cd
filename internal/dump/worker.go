package dump

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/pg"
)

// writeData writes the data of all items.
func (d *dumper) writeData(ctx context.Context, items []*Item) error {
	if len(d.workers) == 0 {
		return d.inOrder(ctx, d.holder, items)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	beat := make(chan struct{})
	beating, stopBeat := context.WithCancel(ctx)
	go func() {
		defer close(beat)
		if err := d.heartbeat(beating); err != nil {
			stop(err)
		}
	}()
	var err error
	if d.writer.Properties().ConcurrentData {
		err = d.sideBySide(ctx, items)
	} else {
		err = d.inOrder(ctx, d.workers[0], items)
	}
	stopBeat()
	<-beat
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	return err
}

// inOrder writes the items one after the other.
func (d *dumper) inOrder(ctx context.Context, s *session, items []*Item) error {
	for _, i := range items {
		if err := d.work(ctx, s, i); err != nil {
			return err
		}
	}
	return nil
}

// sideBySide writes the items with all workers: the largest first, unless the archive wants them in order.
func (d *dumper) sideBySide(ctx context.Context, items []*Item) error {
	if !d.writer.Properties().Ordered {
		items = slices.Clone(items)
		less := d.opts.Less
		if less == nil {
			less = func(a, b *Item) bool { return a.work > b.work }
		}
		sort.SliceStable(items, func(i, j int) bool { return less(items[i], items[j]) })
	}
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan *Item)
	g.Go(func() error {
		defer close(next)
		for _, i := range items {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for _, s := range d.workers {
		g.Go(func() error {
			for i := range next {
				if err := d.work(ctx, s, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// work writes the data of one item.
func (d *dumper) work(ctx context.Context, s *session, i *Item) error {
	d.progress.Started(i)
	if i.Table == nil {
		d.progress.Message(false, fmt.Sprintf("saving large objects \"%s\"", i.Entry.Tag))
		if err := d.dumpLargeObjects(ctx, s, i); err != nil {
			return err
		}
	} else if err := d.retry(ctx, s, i, func() error { return d.once(ctx, s, i) }); err != nil {
		return err
	}
	d.progress.Finished(i, nil)
	return nil
}

// retry runs f, again with a new connection if the session's breaks on the way.
func (d *dumper) retry(ctx context.Context, s *session, i *Item, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case try >= maxTries || s == d.holder || !lostConnection(err):
			return err
		}
		d.progress.Message(true, fmt.Sprintf("connection lost while dumping %s, trying again: %v", i.Name(), err))
		d.progress.Finished(i, err)
		if err := d.reconnect(ctx, s, i, err); err != nil {
			return err
		}
		d.progress.Started(i)
	}
}

func (d *dumper) once(ctx context.Context, s *session, i *Item) error {
	d.progress.Message(false, fmt.Sprintf("dumping contents of table \"%s.%s\"", i.Entry.Namespace, i.Entry.Tag))
	if s == d.holder || strings.IndexByte("rp", i.Table.RelKind) < 0 {
		return d.dumpTable(ctx, s.conn, i)
	}
	got, err := relock(ctx, s.conn, d.quote.Qualified(i.Entry.Namespace, i.Entry.Tag))
	switch {
	case err != nil:
		return &Error{Op: "lock table", Object: i.Name(), Err: err}
	case got:
		return d.dumpTable(ctx, s.conn, i)
	}
	// Somebody waits for a stronger lock on the table. The holder has its lock already and need not queue.
	d.progress.Message(false, fmt.Sprintf("%s is read by the first session, which has it locked: another session waits to lock it", i.Name()))
	d.holder.mu.Lock()
	defer d.holder.mu.Unlock()
	return d.dumpTable(ctx, d.holder.conn, i)
}

// reconnect gives the session a new connection in the same snapshot, if that is still held.
func (d *dumper) reconnect(ctx context.Context, s *session, i *Item, cause error) error {
	if err := d.ping(ctx); err != nil {
		return &Error{Op: "dump", Object: i.Name(), Err: errors.Join(cause, err)}
	}
	s.conn.Close(ctx)
	c, err := d.connectWorker(ctx)
	if err != nil {
		return &Error{Op: "dump", Object: i.Name(), Err: errors.Join(cause, err)}
	}
	s.conn = c
	return nil
}

// lostConnection says that an error is the end of a connection, and not of the archive or a statement.
func lostConnection(err error) bool {
	var w *writeError
	return !errors.As(err, &w) && pg.IsConnectionLost(err)
}
