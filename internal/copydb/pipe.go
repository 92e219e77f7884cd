package copydb

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/pghaul/pghaul/pgarchive"
)

// pipe is an archive that is never anywhere: what is written at one end is read at the other. Both ends
// agree on the table of contents first; then each stream of data is handed over when somebody
// asks for the next one, and holds no more than its reader has room for.
type pipe struct {
	header  pgarchive.Header
	entries []*pgarchive.Entry
	frozen  chan struct{} // closed: the entries are complete
	once    sync.Once

	streams chan *stream // from who writes to who reads
	closed  chan struct{}
	broken  chan struct{} // closed: one side gave up
	fail    sync.Once
	err     error // why; for after broken

	mu   sync.Mutex // guards what follows
	open map[pgarchive.ID]*stream
	over bool
}

func newPipe() *pipe {
	return &pipe{
		frozen:  make(chan struct{}),
		streams: make(chan *stream),
		closed:  make(chan struct{}),
		broken:  make(chan struct{}),
		open:    make(map[pgarchive.ID]*stream),
	}
}

// stream is the data of one entry.
type stream struct {
	id      pgarchive.ID
	r       *io.PipeReader // rows
	objects chan object    // or large objects
	done    chan struct{}  // closed by the reader
	once    sync.Once
}

type object struct {
	oid uint32
	r   *io.PipeReader
}

// errGone is what the one side reads or writes after the other has given up.
var errGone = errors.New("the other side of the copy has ended")

// abandon ends both sides.
func (p *pipe) abandon(err error) {
	p.fail.Do(func() {
		if err == nil {
			err = errGone
		}
		p.err = err
		close(p.broken)
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, s := range p.open {
			if s.r != nil {
				s.r.CloseWithError(errGone)
			}
		}
	})
}

// writer is the end for a dump.
type writer struct{ p *pipe }

var _ pgarchive.Writer = writer{}

func (w writer) Properties() pgarchive.Properties { return pgarchive.Properties{ConcurrentData: true} }

func (w writer) Add(e *pgarchive.Entry) error {
	w.p.entries = append(w.p.entries, e)
	return nil
}

func (w writer) freeze() { w.p.once.Do(func() { close(w.p.frozen) }) }

// hand gives a stream to whoever asks for the next.
func (w writer) hand(s *stream) error {
	w.freeze()
	select {
	case w.p.streams <- s:
		return nil
	case <-w.p.broken:
		return errGone
	}
}

// Data returns when the data are asked for.
func (w writer) Data(id pgarchive.ID) (io.WriteCloser, error) {
	r, in := io.Pipe()
	s := &stream{id: id, r: r, done: make(chan struct{})}
	if err := w.hand(s); err != nil {
		return nil, err
	}
	return &dataWriter{w: in, p: w.p}, nil
}

func (w writer) LargeObjects(id pgarchive.ID) (pgarchive.LargeObjectWriter, error) {
	s := &stream{id: id, objects: make(chan object), done: make(chan struct{})}
	if err := w.hand(s); err != nil {
		return nil, err
	}
	return &objectsWriter{s: s, p: w.p}, nil
}

// Attach does nothing: nobody opens this archive later.
func (w writer) Attach(string, []byte) error { return nil }

func (w writer) Close() error {
	w.freeze()
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	if !w.p.over {
		w.p.over = true
		close(w.p.closed)
	}
	select {
	case <-w.p.broken:
		return w.p.err
	default:
	}
	return nil
}

func (w writer) Abort() error {
	w.p.abandon(nil)
	w.freeze()
	return nil
}

// dataWriter writes rows. If the reader wants no more of them, an entry that failed there, they go nowhere.
type dataWriter struct {
	w *io.PipeWriter
	p *pipe
}

func (d *dataWriter) Write(b []byte) (int, error) {
	n, err := d.w.Write(b)
	if errors.Is(err, io.ErrClosedPipe) {
		select {
		case <-d.p.broken:
			return n, errGone
		default:
			return len(b), nil
		}
	}
	return n, err
}

func (d *dataWriter) Close() error { return d.w.Close() }

// Discard makes the reader fail: what it has got cannot be taken back.
func (d *dataWriter) Discard() error {
	d.w.CloseWithError(errGone)
	return errors.ErrUnsupported
}

type objectsWriter struct {
	s    *stream
	p    *pipe
	done bool
}

func (o *objectsWriter) Create(oid uint32) (io.WriteCloser, error) {
	r, in := io.Pipe()
	select {
	case o.s.objects <- object{oid, r}:
	case <-o.s.done:
		r.Close() // nobody wants it
	case <-o.p.broken:
		return nil, errGone
	}
	return &dataWriter{w: in, p: o.p}, nil
}

func (o *objectsWriter) Close() error {
	if !o.done {
		o.done = true
		close(o.s.objects)
	}
	return nil
}

// reader is the end for a restore.
type reader struct{ p *pipe }

var _ pgarchive.Reader = reader{}

func (r reader) Header() pgarchive.Header         { return r.p.header }
func (r reader) Properties() pgarchive.Properties { return pgarchive.Properties{ConcurrentData: true} }
func (r reader) Sequential() bool                 { return true }
func (r reader) Attachment(string) ([]byte, error) {
	return nil, pgarchive.ErrNoAttachment
}

// Entries is for after the table of contents was frozen.
func (r reader) Entries() []*pgarchive.Entry { return r.p.entries }

func (r reader) NextData(ctx context.Context) (pgarchive.ID, error) {
	select {
	case s := <-r.p.streams:
		r.p.mu.Lock()
		r.p.open[s.id] = s
		r.p.mu.Unlock()
		return s.id, nil
	case <-r.p.closed:
		return 0, io.EOF
	case <-r.p.broken:
		return 0, r.p.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// take returns a stream that NextData has named.
func (r reader) take(id pgarchive.ID) (*stream, error) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	s := r.p.open[id]
	if s == nil {
		return nil, errors.New("these data have not come, or were taken before")
	}
	select {
	case <-r.p.broken:
		return nil, errGone
	default:
	}
	return s, nil
}

func (r reader) drop(s *stream) {
	s.once.Do(func() {
		close(s.done)
		r.p.mu.Lock()
		delete(r.p.open, s.id)
		r.p.mu.Unlock()
	})
}

func (r reader) Data(ctx context.Context, id pgarchive.ID) (io.ReadCloser, error) {
	s, err := r.take(id)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.r.CloseWithError(context.Cause(ctx)) })
	return &dataReader{PipeReader: s.r, r: r, s: s, stop: stop}, nil
}

type dataReader struct {
	*io.PipeReader
	r    reader
	s    *stream
	stop func() bool
}

func (d *dataReader) Close() error {
	d.stop()
	d.r.drop(d.s)
	return d.PipeReader.Close()
}

func (r reader) LargeObjects(ctx context.Context, id pgarchive.ID) (pgarchive.LargeObjectReader, error) {
	s, err := r.take(id)
	if err != nil {
		return nil, err
	}
	return &objectsReader{ctx: ctx, r: r, s: s}, nil
}

type objectsReader struct {
	ctx context.Context
	r   reader
	s   *stream
	now *io.PipeReader
}

func (o *objectsReader) Next() (uint32, io.Reader, error) {
	if o.now != nil {
		if _, err := io.Copy(io.Discard, o.now); err != nil {
			return 0, nil, err
		}
		o.now = nil
	}
	select {
	case x, ok := <-o.s.objects:
		if !ok {
			return 0, nil, io.EOF
		}
		o.now = x.r
		return x.oid, x.r, nil
	case <-o.r.p.broken:
		return 0, nil, errGone
	case <-o.ctx.Done():
		return 0, nil, o.ctx.Err()
	}
}

func (o *objectsReader) Close() error {
	if o.now != nil {
		o.now.Close()
		o.now = nil
	}
	o.r.drop(o.s)
	return nil
}

func (r reader) Close() error { return nil }
