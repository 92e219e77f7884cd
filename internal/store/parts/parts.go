// Package parts cuts a stream whose size nobody knows into parts, for stores that take a large
// object in parts. What comes in is a stream and a plan; what goes out are parts in memory, several at a
// time, each with the word whether it is the last.
package parts

import (
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Plan says how a stream is cut.
type Plan struct {
	First    int64 // size of the first parts
	Grow     int   // after so many parts they get twice as large; 0: never
	Max      int64 // size at which they stop growing; 0: none
	Count    int   // most parts that the store takes
	InFlight int   // parts that are sent at a time; 0: 1, and then in their order
}

// Size returns the size of part n, counted from 1.
func (p *Plan) Size(n int) int64 {
	size := p.First
	if p.Grow > 0 {
		for steps := (n - 1) / p.Grow; steps > 0 && (p.Max == 0 || size < p.Max); steps-- {
			size *= 2
		}
	}
	if p.Max > 0 {
		size = min(size, max(p.Max, p.First))
	}
	return size
}

// Largest returns the size of the largest stream that the plan can cut.
func (p *Plan) Largest() (sum int64) {
	for n := 1; n <= p.Count; n++ {
		sum += p.Size(n)
	}
	return sum
}

// Part is a part of a stream.
type Part struct {
	N      int // from 1
	Offset int64
	Data   []byte // valid until the call that was given it returns
	Last   bool
}

// Sink takes the parts of one stream.
type Sink interface {
	// One takes a stream that is no larger than the first part. Nothing else is called.
	One(ctx context.Context, data []byte) error
	// Begin is called before the first of several parts.
	Begin(ctx context.Context) error
	// Part takes a part. Several goroutines call it if the plan says so.
	Part(ctx context.Context, p Part) error
}

// Send reads body to its end and gives its parts to the sink. It returns the first error, of body or
// of the sink, when no call of the sink is under way any more.
func (p *Plan) Send(ctx context.Context, body io.Reader, sink Sink) error {
	c := &cutter{r: body}
	b := p.buffer(1)
	n, last, err := c.fill(*b)
	if err != nil || last {
		defer release(b)
		if err != nil {
			return err
		}
		return sink.One(ctx, (*b)[:n])
	}
	if err := sink.Begin(ctx); err != nil {
		release(b)
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, p.InFlight))
	var offset int64
	for i := 1; ; i++ {
		part := Part{i, offset, (*b)[:n], last}
		sent := b
		g.Go(func() error {
			defer release(sent)
			if err := ctx.Err(); err != nil {
				return err
			}
			return sink.Part(ctx, part)
		})
		offset += int64(n)
		switch {
		case last || ctx.Err() != nil:
			return g.Wait()
		case i == p.Count:
			cancel()
			g.Wait()
			return driver.Permanent(fmt.Errorf("the object has more than the %d bytes that %d parts of this size can hold", offset, p.Count))
		}
		b = p.buffer(i + 1)
		if n, last, err = c.fill(*b); err != nil {
			release(b)
			cancel()
			g.Wait()
			return err
		}
	}
}

// cutter reads one byte ahead, so that it knows the last part.
type cutter struct {
	r    io.Reader
	next [1]byte
	has  bool
	err  error // of r, io.EOF too
}

// fill reads until b is full or the stream ends.
func (c *cutter) fill(b []byte) (n int, last bool, err error) {
	if c.has {
		b[0], n, c.has = c.next[0], 1, false
	}
	for n < len(b) && c.err == nil {
		var m int
		m, c.err = c.r.Read(b[n:])
		n += m
	}
	for !c.has && c.err == nil {
		var m int
		m, c.err = c.r.Read(c.next[:])
		c.has = m > 0
	}
	switch {
	case c.has: // an error that came with the byte is for the next call
		return n, false, nil
	case c.err == io.EOF:
		return n, true, nil
	}
	return n, false, c.err
}

// pools keeps buffers by their size. Large ones, of which only huge objects have some, are not kept.
var pools sync.Map

const largestKept = 16 << 20

func pool(size int64) *sync.Pool {
	p, ok := pools.Load(size)
	if !ok {
		p, _ = pools.LoadOrStore(size, &sync.Pool{New: func() any { b := make([]byte, size); return &b }})
	}
	return p.(*sync.Pool)
}

func (p *Plan) buffer(n int) *[]byte { return pool(p.Size(n)).Get().(*[]byte) }

func release(b *[]byte) {
	if len(*b) <= largestKept {
		pool(int64(len(*b))).Put(b)
	}
}
