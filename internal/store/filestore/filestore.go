// Package filestore keeps objects as files below a folder: an object a/b/c is the file
// a/b/c. What comes in and goes out is what package driver says; nothing outside the
// folder is read or written, whatever the keys are.
//
// A file is written under a temporary name, synced and then renamed, and its folder
// synced, so that it is there whole or not at all, also after a power failure.
package filestore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// partial ends the names of files that are being written; they begin with a dot.
const partial = ".partial"

// Options of a store.
type Options struct {
	NoSync bool // do not flush files and folders to disk
}

// Store is a folder.
type Store struct {
	root *os.Root
	o    Options
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Sweeper = (*Store)(nil)
)

// Open opens the folder. It need not exist before the first Put if its parent does.
func Open(folder string, o Options) (*Store, error) {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("open store: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &Store{root, o}, nil
}

// OpenExisting opens a folder for reading; one that is not there is an error.
func OpenExisting(folder string, o Options) (*Store, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &Store{root, o}, nil
}

// translate gives an error of the file system the meaning it has for a store.
func translate(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w (%w)", driver.ErrNotFound, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w (%w)", driver.ErrDenied, err)
	case err != nil:
		return driver.Permanent(err) // disks do not get better by asking again
	}
	return nil
}

// Put writes a file.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, base := path.Split(key)
	tmp := dir + "." + base + "." + random() + partial
	f, err := s.create(dir, tmp)
	if err != nil {
		return translate(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			s.root.Remove(tmp)
		}
	}()
	if _, err := io.Copy(onlyWriter{f}, &reader{ctx, body}); err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) && pathErr.Op == "write" {
			return translate(err)
		}
		return err
	}
	if !s.o.NoSync {
		if err := f.Sync(); err != nil {
			return translate(err)
		}
	}
	if err := f.Close(); err != nil {
		return translate(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.name(tmp, key, o.IfAbsent); err != nil {
		return err
	}
	return s.syncUp(dir)
}

// create creates a file and the folders it is in. These may be removed at the same
// time by a Delete that finds them empty; then they are made again.
func (s *Store) create(dir, name string) (f *os.File, err error) {
	for range 10 {
		if dir != "" {
			if err := s.root.MkdirAll(strings.TrimSuffix(dir, "/"), 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		f, err = s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

// name gives a complete file its name.
func (s *Store) name(tmp, key string, ifAbsent bool) error {
	if !ifAbsent {
		return translate(s.root.Rename(tmp, key))
	}
	// A link, unlike a rename, does not replace a file.
	err := s.root.Link(tmp, key)
	switch {
	case errors.Is(err, fs.ErrExist):
		return driver.ErrExists
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: this file system has no hard links (%w)", errors.ErrUnsupported, err)
	case err != nil:
		return translate(err)
	}
	return translate(s.root.Remove(tmp))
}

// syncUp makes the names in a folder durable, and the folder's own in those above it.
// Not every file system can do that, which is no error.
func (s *Store) syncUp(dir string) error {
	if s.o.NoSync {
		return nil
	}
	for dir = path.Clean(dir); ; dir = path.Dir(dir) {
		d, err := s.root.Open(dir)
		if err == nil {
			err = d.Sync()
			d.Close()
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
			return translate(err)
		}
		if dir == "." {
			return nil
		}
	}
}

func random() string {
	var b [6]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// onlyWriter hides ReadFrom, so that the copy goes through a large buffer of ours and errors of
// body and file can be told apart.
type onlyWriter struct{ w io.Writer }

func (o onlyWriter) Write(p []byte) (int, error) { return o.w.Write(p) }

// reader ends with ctx.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Get opens a file.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := s.root.Open(key)
	if err != nil {
		return nil, translate(err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file", driver.ErrNotFound)
	}
	if err == nil && (offset < 0 || offset > st.Size()) {
		err = driver.Permanent(fmt.Errorf("offset %d of %d bytes", offset, st.Size()))
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	n := st.Size() - offset
	if length >= 0 {
		n = min(n, length)
	}
	return &file{reader{ctx, io.LimitReader(f, n)}, f}, nil
}

type file struct {
	reader
	f *os.File
}

func (f *file) Close() error { return f.f.Close() }

// Stat returns size and time of a file.
func (s *Store) Stat(ctx context.Context, key string) (driver.Info, error) {
	if err := ctx.Err(); err != nil {
		return driver.Info{}, err
	}
	st, err := s.root.Stat(key)
	if err != nil {
		return driver.Info{}, translate(err)
	}
	if !st.Mode().IsRegular() {
		return driver.Info{}, fmt.Errorf("%w: not a regular file", driver.ErrNotFound)
	}
	return driver.Info{Key: key, Size: st.Size(), Modified: st.ModTime()}, nil
}

// List walks the folder. Unless it is limited, the answer is one page.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	var all []driver.Info
	err := s.walk(ctx, r.Prefix, func(name string, d fs.DirEntry) error {
		if d.IsDir() {
			if !r.Folders {
				return nil
			}
			// A folder is listed if there is an object in it.
			switch some, err := s.holdsObject(ctx, name); {
			case err != nil:
				return err
			case !some:
				return fs.SkipDir // itself: the walk does not look into what is wrapped
			}
			all = append(all, driver.Info{Key: name + "/-"}) // stands for all that is in it
			return fs.SkipDir
		}
		if isPartial(d.Name()) {
			return nil
		}
		st, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		} else if err != nil {
			return translate(err)
		}
		all = append(all, driver.Info{Key: name, Size: st.Size(), Modified: st.ModTime()})
		return nil
	})
	if err != nil {
		return driver.Page{}, err
	}
	slices.SortFunc(all, func(a, b driver.Info) int { return strings.Compare(a.Key, b.Key) })
	return driver.PageOf(all, r), nil
}

func isPartial(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, partial)
}

// walk calls f for the files and folders below the prefix, not for that itself.
func (s *Store) walk(ctx context.Context, prefix string, f func(name string, d fs.DirEntry) error) error {
	top := strings.TrimSuffix(prefix, "/")
	if top == "" {
		top = "."
	}
	return fs.WalkDir(s.root.FS(), top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return translate(err)
		case name == top || !d.IsDir() && !d.Type().IsRegular():
			return nil
		}
		return f(filepath.ToSlash(name), d)
	})
}

func (s *Store) holdsObject(ctx context.Context, folder string) (some bool, err error) {
	err = s.walk(ctx, folder+"/", func(_ string, d fs.DirEntry) error {
		if d.IsDir() || isPartial(d.Name()) {
			return nil
		}
		some = true
		return fs.SkipAll
	})
	return some, err
}

// Delete removes a file, and the folders above it that are empty then.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return translate(err)
	}
	s.removeEmpty(path.Dir(key))
	return nil
}

// removeEmpty removes a folder, and those it is in, as far as there is nothing in them.
func (s *Store) removeEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if s.root.Remove(dir) != nil { // not empty
			return
		}
	}
}

// Sweep removes files that were being written when their process ended.
func (s *Store) Sweep(ctx context.Context, prefix string, before time.Time) (n int, err error) {
	err = s.walk(ctx, prefix, func(name string, d fs.DirEntry) error {
		if d.IsDir() || !isPartial(d.Name()) {
			return nil
		}
		st, err := d.Info()
		if err != nil || !st.ModTime().Before(before) {
			return nil
		}
		if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return translate(err)
		}
		s.removeEmpty(path.Dir(name))
		n++
		return nil
	})
	return n, err
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }
