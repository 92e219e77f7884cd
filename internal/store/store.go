package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Sentinels of the drivers, for callers that know only this package.
var (
	ErrNotFound = driver.ErrNotFound
	ErrExists   = driver.ErrExists
)

// ErrDamaged says that an object is not what was put.
var ErrDamaged = errors.New("object is damaged")

// Info is what is known of an object without reading it.
type Info = driver.Info

// Object is an object with its hash.
type Object struct {
	Key    string
	Size   int64
	SHA256 [32]byte
}

// Store keeps objects below a folder of a driver's store.
type Store struct {
	d      driver.Store
	prefix string // "" or ending in a slash
	name   string
}

// New returns the part of a driver's store below the folder ("" is all of it). name is what
// messages call it: an address without secrets.
func New(d driver.Store, folder, name string) *Store {
	folder = strings.Trim(folder, "/")
	if folder != "" {
		folder += "/"
	}
	return &Store{d, folder, name}
}

// String returns the store's name.
func (s *Store) String() string { return s.name }

// Close closes the driver.
func (s *Store) Close() error { return s.d.Close() }

// Limits of names, those of the strictest store we know: a file's name has 255 bytes, of which a
// temporary name needs some, and an S3 key 1,024.
const (
	maxName = 220
	maxKey  = 1000
)

// CheckKey says what is wrong with a key.
func CheckKey(key string) error {
	switch {
	case key == "":
		return errors.New("empty name")
	case len(key) > maxKey:
		return fmt.Errorf("name of %d bytes is too long", len(key))
	case !utf8.ValidString(key):
		return fmt.Errorf("name %q is not UTF-8", key)
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return fmt.Errorf("name %q has a character that not every store can keep", key)
	}
	for name := range strings.SplitSeq(key, "/") {
		if name == "" || name == "." || name == ".." || len(name) > maxName {
			return fmt.Errorf("name %q is not valid", key)
		}
	}
	return nil
}

// key returns the driver's key.
func (s *Store) key(key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	return s.prefix + key, nil
}

func (s *Store) error(op, key string, err error) error {
	return fmt.Errorf("%s %s: %w", op, strings.TrimSuffix(s.name, "/")+"/"+key, err)
}

// hashing hashes what is read from it.
type hashing struct {
	r    io.Reader
	h    hash.Hash
	size int64
	end  bool
}

func (h *hashing) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.h.Write(p[:n])
	h.size += int64(n)
	h.end = err == io.EOF
	return n, err
}

// Put stores what body holds and returns its size and hash.
func (s *Store) Put(ctx context.Context, key string, body io.Reader) (Object, error) {
	return s.put(ctx, key, body, driver.PutOptions{})
}

// Create is Put for a key that is free; otherwise the error wraps ErrExists. Where a store
// cannot promise that of two at a time only one succeeds, it is checked before.
func (s *Store) Create(ctx context.Context, key string, data []byte) (Object, error) {
	o, err := s.put(ctx, key, bytes.NewReader(data), driver.PutOptions{IfAbsent: true})
	if !errors.Is(err, errors.ErrUnsupported) {
		return o, err
	}
	switch _, err := s.Stat(ctx, key); {
	case err == nil:
		return Object{}, s.error("create", key, ErrExists)
	case !errors.Is(err, ErrNotFound):
		return Object{}, err
	}
	return s.put(ctx, key, bytes.NewReader(data), driver.PutOptions{})
}

func (s *Store) put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) (Object, error) {
	full, err := s.key(key)
	if err != nil {
		return Object{}, s.error("put", key, err)
	}
	h := &hashing{r: body, h: sha256.New()}
	if err := s.d.Put(ctx, full, h, o); err != nil {
		return Object{}, s.error("put", key, err)
	}
	if !h.end {
		return Object{}, s.error("put", key, errors.New("the store did not take all of it"))
	}
	out := Object{Key: key, Size: h.size}
	h.h.Sum(out.SHA256[:0])
	return out, nil
}

// Stat returns size and time of an object.
func (s *Store) Stat(ctx context.Context, key string) (Info, error) {
	full, err := s.key(key)
	if err != nil {
		return Info{}, s.error("stat", key, err)
	}
	i, err := s.d.Stat(ctx, full)
	if err != nil {
		return Info{}, s.error("stat", key, err)
	}
	i.Key = key
	return i, nil
}

// ReadFile returns an object of at most limit bytes.
func (s *Store) ReadFile(ctx context.Context, key string, limit int64) ([]byte, error) {
	full, err := s.key(key)
	if err != nil {
		return nil, s.error("get", key, err)
	}
	r, err := s.d.Get(ctx, full, 0, limit+1)
	if err != nil {
		return nil, s.error("get", key, err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	switch {
	case err != nil:
		return nil, s.error("get", key, err)
	case int64(len(b)) > limit:
		return nil, s.error("get", key, fmt.Errorf("larger than %d bytes", limit))
	}
	return b, nil
}

// folder returns the driver's prefix of a folder.
func (s *Store) folder(folder string) (string, error) {
	if folder == "" {
		return s.prefix, nil
	}
	full, err := s.key(folder)
	return full + "/", err
}

// List yields the objects in a folder ("" is all of them) and in the folders in it.
func (s *Store) List(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		prefix, err := s.folder(folder)
		if err != nil {
			yield(Info{}, s.error("list", folder, err))
			return
		}
		err = s.pages(ctx, driver.ListRequest{Prefix: prefix}, func(p driver.Page) bool {
			for _, o := range p.Objects {
				o.Key = strings.TrimPrefix(o.Key, s.prefix)
				if CheckKey(o.Key) == nil && !yield(o, nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			yield(Info{}, s.error("list", folder, err))
		}
	}
}

// Folders returns the names of the folders in a folder.
func (s *Store) Folders(ctx context.Context, folder string) ([]string, error) {
	prefix, err := s.folder(folder)
	if err != nil {
		return nil, s.error("list", folder, err)
	}
	var names []string
	err = s.pages(ctx, driver.ListRequest{Prefix: prefix, Folders: true}, func(p driver.Page) bool {
		for _, f := range p.Folders {
			name := strings.TrimSuffix(strings.TrimPrefix(f, prefix), "/")
			if CheckKey(name) == nil {
				names = append(names, name)
			}
		}
		return true
	})
	if err != nil {
		return nil, s.error("list", folder, err)
	}
	return names, nil
}

// pages asks for pages until the last, or until f returns false.
func (s *Store) pages(ctx context.Context, r driver.ListRequest, f func(driver.Page) bool) error {
	for {
		p, err := s.d.List(ctx, r)
		if err != nil {
			return err
		}
		if !f(p) || p.Next == "" {
			return nil
		}
		if p.Next <= r.After {
			return errors.New("the store's list does not advance")
		}
		r.After = p.Next
	}
}

// deletesAtOnce is how many objects Delete removes at a time.
const deletesAtOnce = 8

// Delete removes objects. Those that are not there are no error.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(deletesAtOnce)
	for _, key := range keys {
		full, err := s.key(key)
		if err != nil {
			return errors.Join(s.error("delete", key, err), g.Wait())
		}
		g.Go(func() error {
			if err := s.d.Delete(ctx, full); err != nil {
				return s.error("delete", key, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// Sweep removes what puts that were killed left behind in a folder, if they were begun before
// the given time, and returns how many there were.
func (s *Store) Sweep(ctx context.Context, folder string, before time.Time) (int, error) {
	sweeper, ok := s.d.(driver.Sweeper)
	if !ok {
		return 0, nil
	}
	prefix, err := s.folder(folder)
	if err != nil {
		return 0, s.error("sweep", folder, err)
	}
	n, err := sweeper.Sweep(ctx, prefix, before)
	if err != nil {
		return n, s.error("sweep", folder, err)
	}
	return n, nil
}

// Verify reads an object to its end and compares it with its size and hash.
func (s *Store) Verify(ctx context.Context, o Object) error {
	r, err := s.Open(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

func hexOf(b [32]byte) string { return hex.EncodeToString(b[:]) }
