package restore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/pgarchive"
)

// An archive that comes as a stream gives its data once, in the stream's order.

// outOfOrder says that the data of an entry did not come, or came before they could be taken.
func outOfOrder(it *Item) error {
	return fmt.Errorf("could not find block ID %d in archive -- possibly due to out-of-order restore request, which cannot be handled due to non-seekable input file", it.Entry.ID)
}

// streamSource is the data block at which a sequential archive stands.
type streamSource struct{ archiveSource }

func (streamSource) again() bool { return false }

// upTo restores the data of it on the one connection w, and before that those data that stand
// before them in the stream and can be restored already.
func (r *run) upTo(ctx context.Context, w *worker, it *Item) error {
	for !it.done {
		id, err := r.r.NextData(ctx)
		if err == io.EOF {
			return outOfOrder(it)
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		next := r.plan.byID[id]
		if next == nil || !next.streamed() || next.done {
			continue
		}
		if next != it && !r.possible(next) {
			continue
		}
		if err := w.restoreSteady(ctx, next, streamSource{archiveSource{r.r, id}}); err != nil {
			return err
		}
	}
	return nil
}

// possible says whether all that an item needs is done.
func (r *run) possible(it *Item) bool {
	for _, id := range it.needs {
		if dep := r.plan.byID[id]; dep.Want&wantAny != 0 && !dep.done {
			return false
		}
	}
	return true
}

// arrival is a data entry that a sequential archive has come to.
type arrival struct {
	item *Item
	src  *pipe
}

// feeders reads a sequential archive with one feeder, or with n if several of its data can be read at a time.
func (r *run) feeders(ctx context.Context, arrivals chan<- arrival, n int) error {
	if !r.r.Properties().ConcurrentData {
		return r.feeder(ctx, arrivals)
	}
	var g errgroup.Group // its end must not end the context: the last data are still being taken
	for range n {
		g.Go(func() error { return r.feeder(ctx, arrivals) })
	}
	return g.Wait()
}

// passOver takes data that nobody wants, where they would be in the way of others.
func (r *run) passOver(ctx context.Context, id pgarchive.ID) error {
	it := r.plan.byID[id]
	if !r.r.Properties().ConcurrentData || it == nil {
		return nil
	}
	if it.Entry.Desc == "BLOBS" {
		l, err := r.r.LargeObjects(ctx, id)
		if err != nil {
			return err
		}
		return l.Close()
	}
	in, err := r.r.Data(ctx, id)
	if err != nil {
		return err
	}
	return in.Close()
}

// feeder reads a sequential archive from one end to the other. It announces each wanted data
// entry, then passes on its data, as fast as somebody takes them.
func (r *run) feeder(ctx context.Context, arrivals chan<- arrival) error {
	for {
		id, err := r.r.NextData(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive: %w", err)
		}
		it := r.plan.byID[id]
		if it == nil || !it.streamed() || it.announced || it.done {
			if err := r.passOver(ctx, id); err != nil {
				return err
			}
			continue
		}
		it.announced = true
		p := newPipe(ctx)
		select {
		case arrivals <- arrival{it, p}:
		case <-ctx.Done():
			return ctx.Err()
		}
		if it.Entry.Desc == "BLOBS" {
			err = p.sendObjects(ctx, r.r, id)
		} else {
			err = p.sendData(ctx, r.r, id)
		}
		if err != nil && !errors.Is(err, errNobodyReads) {
			// The reader of the pipe reports it; after it the stream has no next block.
			return nil
		}
	}
}

// pipe carries the data of one entry from the feeder to a worker in a bounded number of blocks.
type pipe struct {
	ctx    context.Context
	full   chan part
	free   chan []byte
	closed chan struct{} // by the reader
}

// part is a block of data, the beginning of a large object, or the end.
type part struct {
	b   []byte
	oid uint32 // beginning of this large object
	err error  // io.EOF after the last
}

var errNobodyReads = errors.New("nobody reads")

func newPipe(ctx context.Context) *pipe {
	p := &pipe{
		ctx:    ctx,
		full:   make(chan part, blockCount+1),
		free:   make(chan []byte, blockCount),
		closed: make(chan struct{}),
	}
	for range blockCount {
		p.free <- nil
	}
	return p
}

// sendData passes on the data of a table.
func (p *pipe) sendData(ctx context.Context, r pgarchive.Reader, id pgarchive.ID) error {
	in, err := r.Data(ctx, id)
	if err == nil {
		err = p.sendAll(in)
		if cerr := in.Close(); err == nil {
			err = cerr
		}
	}
	return p.end(err)
}

// sendObjects passes on large objects.
func (p *pipe) sendObjects(ctx context.Context, r pgarchive.Reader, id pgarchive.ID) error {
	list, err := r.LargeObjects(ctx, id)
	if err != nil {
		return p.end(err)
	}
	for {
		oid, in, err := list.Next()
		if err == nil {
			err = p.send(part{oid: oid})
		}
		if err == nil {
			err = p.sendAll(in)
		}
		if err != nil {
			cerr := list.Close()
			if err == io.EOF {
				err = cerr
			}
			return p.end(err)
		}
	}
}

// end sends the last part.
func (p *pipe) end(err error) error {
	last := part{err: err}
	if err == nil {
		last.err = io.EOF
	}
	if serr := p.send(last); err == nil {
		err = serr
	}
	return err
}

func (p *pipe) sendAll(in io.Reader) error {
	for {
		var buf []byte
		select {
		case buf = <-p.free:
		case <-p.closed:
			return errNobodyReads
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
		if buf == nil {
			buf = make([]byte, blockSize)
		}
		n, err := fill(in, buf)
		if n > 0 {
			if err := p.send(part{b: buf[:n]}); err != nil {
				return err
			}
		} else {
			p.free <- buf
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *pipe) send(x part) error {
	select {
	case p.full <- x:
		return nil
	case <-p.closed:
		return errNobodyReads
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// next takes the next part.
func (p *pipe) next(ctx context.Context) part {
	select {
	case x := <-p.full:
		return x
	case <-ctx.Done():
		return part{err: ctx.Err()}
	case <-p.ctx.Done():
		return part{err: p.ctx.Err()}
	}
}

// The pipe is a source that gives its data once.
func (p *pipe) again() bool { return false }

func (p *pipe) data(ctx context.Context) (io.ReadCloser, error) {
	return &pipeReader{ctx: ctx, p: p}, nil
}

func (p *pipe) largeObjects(ctx context.Context) (pgarchive.LargeObjectReader, error) {
	return &pipeObjects{r: pipeReader{ctx: ctx, p: p}}, nil
}

// discard tells the feeder that nobody will take more.
func (p *pipe) discard() {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
}

// pipeReader reads the data of a table, or of one large object.
type pipeReader struct {
	ctx  context.Context
	p    *pipe
	now  []byte // block being read, whole
	rest []byte
	next part // what ended the data: an error or a large object
	end  bool
}

func (r *pipeReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.now != nil {
			r.p.free <- r.now[:cap(r.now)]
			r.now = nil
		}
		if !r.end {
			x := r.p.next(r.ctx)
			if x.b != nil {
				r.now, r.rest = x.b, x.b
				continue
			}
			r.next, r.end = x, true
		}
		if r.next.err != nil {
			return 0, r.next.err
		}
		return 0, io.EOF // of this large object
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close lets the feeder go on without a reader.
func (r *pipeReader) Close() error {
	r.p.discard()
	return nil
}

// pipeObjects reads large objects.
type pipeObjects struct {
	r   pipeReader
	buf []byte
}

var _ pgarchive.LargeObjectReader = (*pipeObjects)(nil)

func (o *pipeObjects) Next() (uint32, io.Reader, error) {
	if !o.r.end { // pass over what was not read
		if o.buf == nil {
			o.buf = make([]byte, 32<<10)
		}
		for {
			if _, err := o.r.Read(o.buf); err != nil {
				break
			}
		}
	}
	if o.r.next.err != nil {
		return 0, nil, o.r.next.err
	}
	oid := o.r.next.oid
	o.r.next, o.r.end = part{}, false
	return oid, &o.r, nil
}

func (o *pipeObjects) Close() error { return o.r.Close() }

// fill reads until b is full or the data end: io.EOF, with what there was, is the end. Unlike io.ReadFull
// it does not make an error of its own out of that, so that the source's errors stay apart.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	return n, err
}
