// Package faultstore makes a store fail, for tests. What comes in is a store and a
// function that is asked at each request what shall go wrong with it.
package faultstore

import (
	"context"
	"io"
	"sync"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Op is a request.
type Op string

// The requests.
const (
	Put    Op = "put"
	Get    Op = "get"
	Stat   Op = "stat"
	List   Op = "list"
	Delete Op = "delete"
)

// Fault says what goes wrong. The zero value: nothing.
type Fault struct {
	Err   error // the request fails with it
	After int64 // bytes of a body that pass before
	Late  bool  // the request is carried out, only then it fails: a lost reply
	Flip  bool  // without Err: one bit of a body changes, after After bytes
	Cut   bool  // without Err: a body that is got ends after After bytes as if that were all
}

// Store is a store that fails.
type Store struct {
	driver.Store
	mu   sync.Mutex
	n    map[Op]int
	rule func(op Op, key string, n int) Fault
}

var _ driver.Store = (*Store)(nil)

// New wraps a store. rule is asked with the request, the key and how many requests of that
// kind there were before. It may be called by several goroutines, one at a time.
func New(s driver.Store, rule func(op Op, key string, n int) Fault) *Store {
	return &Store{Store: s, n: make(map[Op]int), rule: rule}
}

func (s *Store) fault(op Op, key string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.n[op]
	s.n[op]++
	return s.rule(op, key, n)
}

// Count returns how many requests of a kind there were.
func (s *Store) Count(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n[op]
}

type reader struct {
	r    io.Reader
	f    Fault
	left int64
}

func (b *reader) Read(p []byte) (int, error) {
	switch {
	case b.left > 0:
		n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
		b.left -= int64(n)
		return n, err
	case b.f.Err != nil:
		return 0, b.f.Err
	case b.f.Cut:
		return 0, io.EOF
	}
	n, err := b.r.Read(p)
	if b.f.Flip && n > 0 {
		p[0] ^= 0x20
		b.f.Flip = false
	}
	return n, err
}

// Put puts, or fails.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	f := s.fault(Put, key)
	switch {
	case f.Late:
		if err := s.Store.Put(ctx, key, body, o); err != nil {
			return err
		}
		return f.Err
	case f.Err != nil || f.Flip:
		body = &reader{body, f, f.After}
	}
	return s.Store.Put(ctx, key, body, o)
}

type readCloser struct {
	reader
	c io.Closer
}

func (r *readCloser) Close() error { return r.c.Close() }

// Get gets, or fails: at once, or after some bytes.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	f := s.fault(Get, key)
	if f.Err != nil && f.After == 0 {
		return nil, f.Err
	}
	r, err := s.Store.Get(ctx, key, offset, length)
	if err != nil || f == (Fault{}) {
		return r, err
	}
	return &readCloser{reader{r, f, f.After}, r}, nil
}

// Stat returns what is known of an object, or fails.
func (s *Store) Stat(ctx context.Context, key string) (driver.Info, error) {
	if f := s.fault(Stat, key); f.Err != nil {
		return driver.Info{}, f.Err
	}
	return s.Store.Stat(ctx, key)
}

// List lists, or fails.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	if f := s.fault(List, r.Prefix); f.Err != nil {
		return driver.Page{}, f.Err
	}
	return s.Store.List(ctx, r)
}

// Delete removes, or fails.
func (s *Store) Delete(ctx context.Context, key string) error {
	f := s.fault(Delete, key)
	if f.Err != nil && !f.Late {
		return f.Err
	}
	if err := s.Store.Delete(ctx, key); err != nil {
		return err
	}
	return f.Err
}
