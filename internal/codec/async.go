package codec

import (
	"io"
	"sync"
)

// asyncBlock is how many bytes travel to the encoding goroutine at once. Two or
// three blocks are enough to keep both sides busy.
const asyncBlock = 256 << 10

var asyncBlocks = sync.Pool{New: func() any { b := make([]byte, 0, asyncBlock); return &b }}

// Async returns a writer that hands what is written to w in a goroutine of its
// own, through depth blocks of 256 KiB, so that the caller does not wait for the
// compressor. It reports an error of w at the next Write or at Close. Close
// writes out the rest, closes w and must be called, else the goroutine stays.
func Async(w io.WriteCloser, depth int) io.WriteCloser {
	a := &asyncWriter{blocks: make(chan *[]byte, max(depth, 1)), done: make(chan struct{})}
	go a.run(w)
	return a
}

type asyncWriter struct {
	cur    *[]byte
	blocks chan *[]byte
	done   chan struct{}
	closed bool

	mu  sync.Mutex
	err error
}

func (a *asyncWriter) run(w io.WriteCloser) {
	defer close(a.done)
	var failed error
	for b := range a.blocks {
		if failed == nil {
			if _, failed = w.Write(*b); failed != nil {
				a.setErr(failed)
			}
		}
		*b = (*b)[:0]
		asyncBlocks.Put(b)
	}
	if err := w.Close(); err != nil && failed == nil {
		a.setErr(err)
	}
}

func (a *asyncWriter) setErr(err error) {
	a.mu.Lock()
	a.err = err
	a.mu.Unlock()
}

func (a *asyncWriter) lastErr() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *asyncWriter) Write(p []byte) (int, error) {
	if a.closed {
		return 0, errClosed
	}
	if err := a.lastErr(); err != nil {
		return 0, err
	}
	n := len(p)
	for len(p) > 0 {
		if a.cur == nil {
			a.cur = asyncBlocks.Get().(*[]byte)
		}
		k := min(len(p), cap(*a.cur)-len(*a.cur))
		*a.cur = append(*a.cur, p[:k]...)
		p = p[k:]
		if len(*a.cur) == cap(*a.cur) {
			a.blocks <- a.cur
			a.cur = nil
		}
	}
	return n, nil
}

func (a *asyncWriter) Close() error {
	if a.closed {
		return nil
	}
	a.closed = true
	if a.cur != nil {
		a.blocks <- a.cur
		a.cur = nil
	}
	close(a.blocks)
	<-a.done
	return a.lastErr()
}
