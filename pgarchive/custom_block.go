package pgarchive

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/pghaul/pghaul/internal/codec"
)

// A custom archive is one file, and each of its data blocks is in one place. So that several can be written at the
// same time, one block has the file and is written directly; the compressed bytes of the others wait in memory, and when a
// block is complete it goes into the file as soon as that is free. All blocks together hold at most blockMemory; when that is
// used up, they go on into temporary files. If the output cannot seek, blocks stand in the order of the entries,
// since only in this order can they be restored from a pipe: the first that is missing is written directly, and
// those after it wait for it when there is no more memory.
const (
	segmentSize = 256 << 10
	blockMemory = 64 << 20
)

type segment [segmentSize]byte

var segments = sync.Pool{New: func() any { return new(segment) }}

// blockQueue is the order in which blocks get into the file. Its fields are guarded by the archive's mu.
type blockQueue struct {
	turn    *sync.Cond // there is memory, or a block's turn has come, or an error
	owner   *customBlock
	used    int // segments in memory
	limit   int
	done    []*customBlock      // complete and not written, by completion
	waiting map[ID]*customBlock // likewise, where the order is that of the entries
	next    int                 // index of the first entry that may be missing in the file
}

// customBlock is a data block on its way into the file: an io.Writer of its stored bytes.
type customBlock struct {
	c      *customWriter
	e      *Entry
	kind   byte
	mem    []*segment
	n      int    // bytes in the last segment
	spill  *spool // what comes after mem
	direct bool   // the block owns the file
	start  int64  // where it begins, if direct
}

func (b *customBlock) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		switch {
		case b.direct:
			n, err := b.c.Write(p)
			return total - len(p) + n, err
		case b.spill != nil:
			n, err := b.spill.Write(p)
			return total - len(p) + n, err
		case len(b.mem) == 0 || b.n == segmentSize:
			if err := b.room(); err != nil {
				return total - len(p), err
			}
		default:
			k := copy(b.mem[len(b.mem)-1][b.n:], p)
			b.n += k
			p = p[k:]
		}
	}
	return total, nil
}

// room makes a place for more bytes: a segment, the file itself, or a temporary file.
func (b *customBlock) room() error {
	c := b.c
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.queue
	for {
		switch {
		case c.err != nil:
			return c.err
		case c.closed:
			return errWriterClosed
		case q.owner == nil && c.mayOwn(b):
			q.owner, b.direct = b, true
			c.mu.Unlock()
			err := b.drain()
			c.mu.Lock()
			return err
		case q.used < q.limit:
			q.used++
			b.mem = append(b.mem, segments.Get().(*segment))
			b.n = 0
			return nil
		case !c.inOrder() || c.state[c.missing()] != dataOpen:
			b.spill = newSpoolIn(c.folder)
			return nil
		}
		q.turn.Wait()
	}
}

// mayOwn says whether the block may be written directly from now on: if it is the next one or, where order does not matter, not small.
func (c *customWriter) mayOwn(b *customBlock) bool {
	if c.inOrder() {
		return c.missing() == b.e.ID
	}
	return len(b.mem) > 0
}

// inOrder says that blocks must stand in the order of the entries.
func (c *customWriter) inOrder() bool { return c.at == nil }

// missing is the ID of the first entry whose data are not in the file, 0 if there is none.
func (c *customWriter) missing() ID {
	q := &c.queue
	for q.next < len(c.entries) && !c.entries[q.next].HasData {
		q.next++
	}
	if q.next == len(c.entries) {
		return 0
	}
	return c.entries[q.next].ID
}

// drain writes the block's head and what it has gathered. The block owns the file.
func (b *customBlock) drain() error {
	c := b.c
	b.start = c.pos
	if c.at != nil {
		b.e.offset = offset{state: offsetSet, pos: c.pos}
	}
	err := c.block(b.kind, b.e.ID)
	for i, s := range b.mem {
		part := s[:]
		if i == len(b.mem)-1 {
			part = s[:b.n]
		}
		if err == nil {
			_, err = c.Write(part)
		}
	}
	if b.spill != nil && err == nil {
		err = b.spill.copyTo(c)
	}
	c.mu.Lock()
	b.release()
	c.mu.Unlock()
	return err
}

// release gives back memory and temporary file. The caller holds mu.
func (b *customBlock) release() {
	for _, s := range b.mem {
		segments.Put(s)
	}
	b.c.queue.used -= len(b.mem)
	b.mem, b.n = nil, 0
	if b.spill != nil {
		b.spill.remove()
		b.spill = nil
	}
	b.c.queue.turn.Broadcast()
}

// finish is called when the block is complete. It returns when the block is in the file, or waits there for its turn.
func (b *customBlock) finish() error {
	c := b.c
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.queue
	switch {
	case c.closed:
		b.release()
		return errWriterClosed
	case b.direct:
		q.owner = nil
		if c.inOrder() {
			q.next++
		}
	case c.inOrder():
		q.waiting[b.e.ID] = b
	default:
		q.done = append(q.done, b)
	}
	return c.writeDone()
}

// writeDone writes the complete blocks whose turn it is, if nobody else does. The caller holds mu.
func (c *customWriter) writeDone() error {
	q := &c.queue
	var failed error
	for q.owner == nil && c.err == nil {
		b := c.nextDone()
		if b == nil {
			break
		}
		q.owner = b
		c.mu.Unlock()
		failed = b.drain()
		c.mu.Lock()
		q.owner = nil
		if failed != nil && c.err == nil {
			c.err = fmt.Errorf("write data of entry %s: %w", b.e, failed)
		}
	}
	q.turn.Broadcast()
	if failed != nil {
		return failed
	}
	return c.err
}

func (c *customWriter) nextDone() (b *customBlock) {
	q := &c.queue
	if c.inOrder() {
		id := c.missing()
		if b = q.waiting[id]; b != nil {
			delete(q.waiting, id)
			q.next++
		}
		return b
	}
	if len(q.done) > 0 {
		b, q.done = q.done[0], q.done[1:]
	}
	return b
}

// discard forgets the block. If it is in the file already, the next one is written over it.
func (b *customBlock) discard() error {
	c := b.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.direct {
		if err := c.buf.Flush(); err != nil {
			return cause(err)
		}
		if _, err := c.file.Seek(b.start, io.SeekStart); err != nil {
			return fmt.Errorf("error during file seek: %w", cause(err))
		}
		c.pos, c.rewound = b.start, true
		c.queue.owner = nil
		b.e.offset = offset{state: offsetNotSet}
	}
	b.release()
	return c.writeDone()
}

// customStream is the data of an entry: compressed, in pieces, into its block.
type customStream struct {
	z io.WriteCloser
	p *pieceWriter
	b *customBlock
}

// stream returns the compressor of one stream of data, over the pieces of its block.
func (c *customWriter) stream(b *customBlock) (*customStream, error) {
	p := &pieceWriter{w: b, buf: pieces.Get().(*[blockSize]byte)}
	z, err := codec.NewBlockWriter(p, c.header.Compression)
	if err != nil {
		return nil, err
	}
	return &customStream{z: z, p: p, b: b}, nil
}

func (s *customStream) Write(p []byte) (int, error) { return s.z.Write(p) }

func (s *customStream) Close() error {
	err := s.z.Close()
	if perr := s.p.Close(); err == nil {
		err = perr
	}
	return err
}

// customData is a stream that is all of its block.
type customData struct{ *customStream }

func (d customData) Close() error {
	if err := d.customStream.Close(); err != nil {
		d.b.abandon(err)
		return err
	}
	return d.b.finish()
}

// abandon makes the archive fail because of an incomplete block.
func (b *customBlock) abandon(err error) {
	c := b.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("write data of entry %s: %w", b.e, err)
	}
	if c.queue.owner == b {
		c.queue.owner = nil
	}
	b.release()
}

// discard gives the data up, unless they have been written to where nothing can be taken back.
func (d customData) discard() error {
	if d.b.direct && d.b.c.at == nil {
		d.b.abandon(errors.ErrUnsupported)
		return errors.ErrUnsupported
	}
	d.p.drop = true
	d.customStream.Close() // only the encoder's end, which is dropped
	return d.b.discard()
}
