// Package limitstore keeps a store from using more than a part of the line. What comes in is a
// store and two rates; what goes out is the same store, slower.
package limitstore

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Options are the rates, in bytes per second, for all streams together; 0 is no limit.
type Options struct {
	Up, Down int64

	// Now and Sleep are the clock; nil: the system's.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Store is a store whose streams are limited.
type Store struct {
	driver.Store
	up, down *rate
}

var _ driver.Store = (*Store)(nil)

// New wraps a store.
func New(s driver.Store, o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = driver.Sleep
	}
	return &Store{s, newRate(o.Up, o), newRate(o.Down, o)}
}

// rate lets bytes through at a rate. Each caller takes the next free stretch of time.
type rate struct {
	perSecond int64
	o         Options
	mu        sync.Mutex
	free      time.Time // when the line is free
}

func newRate(perSecond int64, o Options) *rate {
	if perSecond <= 0 {
		return nil
	}
	return &rate{perSecond: perSecond, o: o}
}

// step is how much passes at once: a twentieth of a second's worth.
func (r *rate) step() int { return int(max(1, min(r.perSecond/20, 1<<20))) }

// wait returns when n bytes that have just passed are paid for.
func (r *rate) wait(ctx context.Context, n int) error {
	r.mu.Lock()
	now := r.o.Now()
	if r.free.Before(now) {
		r.free = now
	}
	r.free = r.free.Add(time.Duration(float64(n) / float64(r.perSecond) * float64(time.Second)))
	d := r.free.Sub(now)
	r.mu.Unlock()
	return r.o.Sleep(ctx, d)
}

type reader struct {
	io.Reader
	ctx  context.Context
	rate *rate
}

func (l *reader) Read(p []byte) (int, error) {
	p = p[:min(len(p), l.rate.step())]
	n, err := l.Reader.Read(p)
	if n > 0 {
		if werr := l.rate.wait(l.ctx, n); werr != nil {
			return n, werr
		}
	}
	return n, err
}

// Put puts at the rate.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	if s.up != nil {
		body = &reader{body, ctx, s.up}
	}
	return s.Store.Put(ctx, key, body, o)
}

type readCloser struct {
	reader
	c io.Closer
}

func (r *readCloser) Close() error { return r.c.Close() }

// Get gets at the rate.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := s.Store.Get(ctx, key, offset, length)
	if err != nil || s.down == nil {
		return r, err
	}
	return &readCloser{reader{r, ctx, s.down}, r}, nil
}

// Sweep passes on to the store.
func (s *Store) Sweep(ctx context.Context, prefix string, before time.Time) (int, error) {
	if sweeper, ok := s.Store.(driver.Sweeper); ok {
		return sweeper.Sweep(ctx, prefix, before)
	}
	return 0, nil
}
