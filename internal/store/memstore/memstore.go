// Package memstore is a store in memory, for tests. What is put is kept until the
// process ends.
package memstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Store keeps objects in memory.
type Store struct {
	// Now is the store's clock; nil is time.Now.
	Now func() time.Time

	mu      sync.Mutex
	objects map[string]object
}

type object struct {
	data     []byte
	modified time.Time
}

var _ driver.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{objects: make(map[string]object)} }

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Put reads body and keeps it.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	data, err := io.ReadAll(body)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[key]; ok && o.IfAbsent {
		return driver.ErrExists
	}
	s.objects[key] = object{data, s.now()}
	return nil
}

func (s *Store) object(ctx context.Context, key string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	if !ok {
		return o, driver.ErrNotFound
	}
	return o, nil
}

// Get returns a part of an object.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	o, err := s.object(ctx, key)
	if err != nil {
		return nil, err
	}
	size := int64(len(o.data))
	if offset < 0 || offset > size {
		return nil, driver.Permanent(fmt.Errorf("offset %d of %d bytes", offset, size))
	}
	end := size
	if length >= 0 && length < size-offset {
		end = offset + length
	}
	return io.NopCloser(bytes.NewReader(o.data[offset:end])), nil
}

// Stat returns size and time of an object.
func (s *Store) Stat(ctx context.Context, key string) (driver.Info, error) {
	o, err := s.object(ctx, key)
	return driver.Info{Key: key, Size: int64(len(o.data)), Modified: o.modified}, err
}

// List lists objects.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	if err := ctx.Err(); err != nil {
		return driver.Page{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []driver.Info
	for key, o := range s.objects {
		all = append(all, driver.Info{Key: key, Size: int64(len(o.data)), Modified: o.modified})
	}
	slices.SortFunc(all, func(a, b driver.Info) int { return strings.Compare(a.Key, b.Key) })
	return driver.PageOf(all, r), nil
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
	return nil
}

// Close does nothing.
func (s *Store) Close() error { return nil }
