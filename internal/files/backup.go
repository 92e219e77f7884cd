package files

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// CopyOptions say what to copy. The zero value copies all buckets, four files at a time.
type CopyOptions struct {
	Buckets []string // nil: all
	Jobs    int      // 0: 4

	// Listed is told how many files there are, Copied of each as it was copied; nil is none. Copied is called from several goroutines.
	Listed func(files int, bytes int64)
	Copied func(name string, bytes int64)
}

// Copy copies the files of an endpoint into a backup, and returns the document that lists them, which is to be put when it was compared with
// the database. A file that goes away before its turn comes is left out. After an error the sink may hold objects of which nothing speaks.
func Copy(ctx context.Context, src *Client, dst Sink, o CopyOptions) (*Document, error) {
	d := &Document{Time: time.Now().UTC().Truncate(time.Second), Files: []File{}, Buckets: []Bucket{}, Missing: []Ref{}, Unlisted: []Ref{}}
	b := &backupRun{src: src, dst: dst, o: o, d: d}
	todo, err := b.list(ctx)
	if err == nil {
		err = b.copyAll(ctx, todo)
	}
	if err != nil {
		return nil, fmt.Errorf("back up files: %w", err)
	}
	d.seal()
	return d, nil
}

type backupRun struct {
	src *Client
	dst Sink
	o   CopyOptions

	mu    sync.Mutex
	d     *Document
	packs int
}

// toCopy is a file of a list.
type toCopy struct {
	bucket string
	Listed
}

func (b *backupRun) list(ctx context.Context) (todo []toCopy, err error) {
	names := b.o.Buckets
	if len(names) == 0 {
		if names, err = b.src.Buckets(ctx); err != nil {
			return nil, err
		}
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	var total int64
	for _, name := range names {
		list, err := b.src.List(ctx, name)
		if err != nil {
			return nil, err
		}
		b.d.Buckets = append(b.d.Buckets, Bucket{Name: name})
		for _, l := range list {
			todo = append(todo, toCopy{name, l})
			total += l.Bytes
		}
	}
	if b.o.Listed != nil {
		b.o.Listed(len(todo), total)
	}
	return todo, nil
}

func (b *backupRun) copyAll(ctx context.Context, todo []toCopy) error {
	jobs := b.o.Jobs
	if jobs <= 0 {
		jobs = 4
	}
	g, gctx := errgroup.WithContext(ctx)
	work := make(chan toCopy)
	g.Go(func() error {
		defer close(work)
		for _, f := range todo {
			select {
			case work <- f:
			case <-gctx.Done():
				return gctx.Err()
			}
		}
		return nil
	})
	for range min(jobs, len(todo)) {
		g.Go(func() error { return b.worker(gctx, work) })
	}
	return g.Wait()
}

// worker copies files; the small ones go together into packs of its own.
func (b *backupRun) worker(ctx context.Context, work <-chan toCopy) (err error) {
	var p *pack
	defer func() {
		if p != nil {
			err = errors.Join(err, p.abort())
		}
	}()
	var buf bytes.Buffer
	for f := range work {
		file, err := b.read(ctx, f, &buf)
		switch {
		case errors.Is(err, ErrNotFound):
			continue // it was deleted since it was listed
		case errors.Is(err, errLarge):
			if file, err = b.large(ctx, f); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if p == nil {
				if p, err = newPack(b.dst, b.nextPack()); err != nil {
					return err
				}
			}
			if err := p.add(&file, &buf); err != nil {
				return err
			}
			if p.bytes >= packBytes {
				full := p
				p = nil
				if err := full.close(); err != nil {
					return err
				}
			}
		}
		if file.Pack != "" {
			b.copied(file)
		}
	}
	if p == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	full := p
	p = nil
	return full.close()
}

func (b *backupRun) nextPack() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.packs++
	return packName(b.packs)
}

func (b *backupRun) copied(f File) {
	b.mu.Lock()
	b.d.Files = append(b.d.Files, f)
	b.mu.Unlock()
	if b.o.Copied != nil {
		b.o.Copied(f.String(), f.Bytes)
	}
}

// errLarge says that a file does not go into memory.
var errLarge = errors.New("large file")

// read reads a small file into the buffer.
func (b *backupRun) read(ctx context.Context, f toCopy, buf *bytes.Buffer) (file File, err error) {
	if f.Bytes > smallFile {
		return file, errLarge
	}
	large := false
	err = b.src.read(ctx, f.bucket, f.Key, func(got File, body io.Reader) error {
		buf.Reset()
		file = got
		if large = got.Bytes > smallFile; large { // it has grown
			return nil
		}
		_, err := io.Copy(buf, body)
		return err
	})
	if err == nil && large {
		err = errLarge
	}
	h := newSums()
	h.Write(buf.Bytes())
	h.into(&file)
	return file, err
}

// large copies a large file into a pack of its own. A file without a pack was not there any more.
func (b *backupRun) large(ctx context.Context, f toCopy) (file File, err error) {
	err = b.src.read(ctx, f.bucket, f.Key, func(got File, body io.Reader) error {
		p, err := newPack(b.dst, b.nextPack())
		if err != nil {
			return err
		}
		h := newSums()
		if err := p.add(&got, io.TeeReader(body, h)); err != nil {
			return errors.Join(err, p.abort())
		}
		h.into(&got)
		file = got
		return p.close()
	})
	if errors.Is(err, ErrNotFound) {
		return File{}, nil
	}
	return file, err
}

// sums hashes a file.
type sums struct {
	io.Writer
	sha256, md5 hash.Hash
}

func newSums() *sums {
	s := &sums{sha256: sha256.New(), md5: md5.New()}
	s.Writer = io.MultiWriter(s.sha256, s.md5)
	return s
}

func (s *sums) into(f *File) {
	s.sha256.Sum(f.SHA256[:0])
	f.MD5 = hex.EncodeToString(s.md5.Sum(nil))
}
