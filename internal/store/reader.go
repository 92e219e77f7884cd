package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"sync"
)

// An object is read in ranges of this size, so many of them ahead of the reader. One stream of
// an object store is slow; several together fill the line.
var rangeSize int64 = 4 << 20

const rangesAhead = 3

var ranges = sync.Pool{New: func() any { b := make([]byte, rangeSize); return &b }}

// Reader reads an object whose size and hash are known. It is for one goroutine. That the object is not what was put is
// said before its last range is handed over, with an error that wraps ErrDamaged.
type Reader struct {
	s    *Store
	o    Object
	full string

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	began  bool
	asked  int64 // bytes asked for
	queue  []chan fetched
	buf    *[]byte // the range that is being read
	data   []byte  // what is left of it
	got    int64   // bytes taken out of the queue
	hash   hash.Hash
	err    error
	closed bool
}

type fetched struct {
	buf  *[]byte
	data []byte
	err  error
}

var _ io.ReadCloser = (*Reader)(nil)

// Open begins to read an object. The caller closes the reader; ctx ends it.
func (s *Store) Open(ctx context.Context, o Object) (*Reader, error) {
	full, err := s.key(o.Key)
	if err != nil {
		return nil, s.error("get", o.Key, err)
	}
	if o.Size < 0 {
		return nil, s.error("get", o.Key, fmt.Errorf("size %d", o.Size))
	}
	r := &Reader{s: s, o: o, full: full, hash: sha256.New()}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.ask()
	return r, nil
}

// ask keeps requests for the next ranges under way; also an empty object is asked for once.
func (r *Reader) ask() {
	for len(r.queue) < rangesAhead && (r.asked < r.o.Size || !r.began) {
		r.began = true
		offset, n := r.asked, min(rangeSize, r.o.Size-r.asked)
		r.asked += n
		c := make(chan fetched, 1)
		r.queue = append(r.queue, c)
		r.wg.Go(func() { c <- r.fetch(offset, n) })
	}
}

// fetch reads one range. The last is asked for without an end, so that an object that has grown is seen.
func (r *Reader) fetch(offset, n int64) fetched {
	length := n
	if offset+n == r.o.Size {
		length = -1
	}
	body, err := r.s.d.Get(r.ctx, r.full, offset, length)
	if err != nil {
		return fetched{err: err}
	}
	defer body.Close()
	f := fetched{buf: ranges.Get().(*[]byte)}
	f.data = (*f.buf)[:n]
	if got, err := io.ReadFull(body, f.data); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("%w: it ends after %d bytes, %d were put", ErrDamaged, offset+int64(got), r.o.Size)
		}
		f.err = err
	} else if length < 0 {
		var more [1]byte
		switch got, err := io.ReadFull(body, more[:]); {
		case got > 0:
			f.err = fmt.Errorf("%w: it is longer than the %d bytes that were put", ErrDamaged, r.o.Size)
		case err != io.EOF:
			f.err = err
		}
	}
	return f
}

// Read reads the object.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.data) == 0 && r.err == nil {
		r.next()
	}
	if r.err != nil && len(r.data) == 0 {
		return 0, r.err
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}

// next takes the next range out of the queue.
func (r *Reader) next() {
	r.release()
	if len(r.queue) == 0 {
		r.err = io.EOF
		return
	}
	f := <-r.queue[0]
	r.queue = r.queue[1:]
	r.buf = f.buf
	if f.err != nil {
		r.err = r.s.error("get", r.o.Key, f.err)
		return
	}
	r.got += int64(len(f.data))
	r.hash.Write(f.data)
	if r.got == r.o.Size {
		var sum [32]byte
		if r.hash.Sum(sum[:0]); sum != r.o.SHA256 {
			r.err = r.s.error("get", r.o.Key, fmt.Errorf("%w: its SHA-256 is %s, %s was put", ErrDamaged, hexOf(sum), hexOf(r.o.SHA256)))
			return
		}
	}
	r.data = f.data
	r.ask()
}

func (r *Reader) release() {
	if r.buf != nil {
		ranges.Put(r.buf)
		r.buf, r.data = nil, nil
	}
}

// Close ends the requests that are under way.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.cancel()
	r.wg.Wait()
	for _, c := range r.queue {
		if f := <-c; f.buf != nil {
			ranges.Put(f.buf)
		}
	}
	r.queue = nil
	r.release()
	if r.err == nil {
		r.err = fmt.Errorf("read %s: %w", r.o.Key, io.ErrClosedPipe)
	}
	return nil
}
