// Package retrystore tries again what a store did not do. What comes in is a store and how
// patient to be; what goes out is a store that fails only when trying again is of no use.
//
// A stream that breaks is continued where it broke. What is put is kept in memory until a few
// megabytes have passed: up to there it can be put again. Beyond, a driver with
// large objects repeats the parts of its upload itself.
package retrystore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Options of the wrapper. The zero value is what a backup wants.
type Options struct {
	Backoff driver.Backoff
	Replay  int // bytes of a body that are kept to be put again; 0: 4 MiB
}

// Store is a store whose requests are repeated.
type Store struct {
	driver.Store
	o Options
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Sweeper = (*Store)(nil)
)

// New wraps a store.
func New(s driver.Store, o Options) *Store {
	if o.Replay == 0 {
		o.Replay = 4 << 20
	}
	return &Store{s, o}
}

// body is a body that can be read again as long as not too much of it has passed.
type body struct {
	r     io.Reader
	kept  bytes.Buffer
	limit int
	over  bool  // more than limit has passed
	err   error // of r, but for io.EOF
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if !b.over {
		if b.kept.Len()+n > b.limit {
			b.over = true
			b.kept = bytes.Buffer{}
		} else {
			b.kept.Write(p[:n])
		}
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// Put puts an object, again if need be and possible.
func (s *Store) Put(ctx context.Context, key string, r io.Reader, o driver.PutOptions) error {
	b := &body{r: r, limit: s.o.Replay}
	try := io.Reader(b)
	return s.o.Backoff.Do(ctx, "put", key, func() error {
		err := s.Store.Put(ctx, key, try, o)
		switch {
		case err == nil:
			return nil
		case b.over || b.err != nil:
			return driver.Permanent(err)
		}
		try = io.MultiReader(bytes.NewReader(bytes.Clone(b.kept.Bytes())), b)
		return err
	})
}

// Get returns a stream that is continued when it breaks.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	g := &stream{s: s, ctx: ctx, key: key, offset: offset, left: length}
	if err := s.o.Backoff.Do(ctx, "get", key, g.open); err != nil {
		return nil, err
	}
	return g, nil
}

type stream struct {
	s            *Store
	ctx          context.Context
	key          string
	offset, left int64 // left < 0: to the end
	r            io.ReadCloser
	failures     int // since the last byte
	err          error
}

func (g *stream) open() (err error) {
	g.r, err = g.s.Store.Get(g.ctx, g.key, g.offset, g.left)
	return err
}

func (g *stream) Read(p []byte) (int, error) {
	for g.err == nil {
		n, err := g.r.Read(p)
		if n > 0 {
			g.failures = 0
			g.offset += int64(n)
			if g.left >= 0 {
				g.left -= int64(n)
			}
			if err != io.EOF {
				err = nil // it comes again, or the stream is continued
			}
			g.err = err
			return n, err
		}
		switch {
		case err == nil:
			return 0, nil
		case err == io.EOF || driver.IsPermanent(err) || g.ctx.Err() != nil:
			g.err = err
		default:
			g.err = g.resume(err)
		}
	}
	return 0, g.err
}

func (g *stream) resume(cause error) error {
	g.r.Close()
	g.r = io.NopCloser(bytes.NewReader(nil))
	g.failures++
	b := &g.s.o.Backoff
	tries := b.Tries
	if tries <= 0 {
		tries = 8
	}
	if g.failures >= tries {
		return driver.GaveUp(cause)
	}
	if err := b.Pause(g.ctx, "go on getting", g.key, cause, g.failures-1); err != nil {
		return err
	}
	err := b.Do(g.ctx, "get", g.key, g.open)
	if errors.Is(err, driver.ErrNotFound) {
		return driver.Permanent(errors.Join(cause, err))
	}
	return err
}

func (g *stream) Close() error {
	if g.r == nil {
		return nil
	}
	return g.r.Close()
}

// Stat returns what is known of an object.
func (s *Store) Stat(ctx context.Context, key string) (i driver.Info, err error) {
	err = s.o.Backoff.Do(ctx, "stat", key, func() (err error) {
		i, err = s.Store.Stat(ctx, key)
		return err
	})
	return i, err
}

// List lists objects.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (p driver.Page, err error) {
	err = s.o.Backoff.Do(ctx, "list", r.Prefix, func() (err error) {
		p, err = s.Store.List(ctx, r)
		return err
	})
	return p, err
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.o.Backoff.Do(ctx, "delete", key, func() error { return s.Store.Delete(ctx, key) })
}

// Sweep passes on to the store.
func (s *Store) Sweep(ctx context.Context, prefix string, before time.Time) (n int, err error) {
	sweeper, ok := s.Store.(driver.Sweeper)
	if !ok {
		return 0, nil
	}
	err = s.o.Backoff.Do(ctx, "sweep", prefix, func() error {
		m, err := sweeper.Sweep(ctx, prefix, before)
		n += m
		return err
	})
	return n, err
}
