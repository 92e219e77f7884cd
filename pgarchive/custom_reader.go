package pgarchive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/pghaul/pghaul/internal/codec"
)

// customReader reads a custom archive.
type customReader struct {
	tocOf
	in    *input
	close io.Closer // the file, if it is ours

	data int64 // where the first data block starts

	mu      sync.Mutex
	scanned int64          // a file: up to here the blocks' places are known
	places  map[ID]int64   // a file: of blocks whose offset the archive does not say
	scanErr error          // a file: what ended the scan
	atEnd   bool           // all blocks were seen
	seen    map[ID]bool    // a stream: entries whose blocks came
	cur     *sequentialCur // a stream: the block it stands in

	attachments map[string][]byte
	attErr      error
	attRead     bool
}

var _ Reader = (*customReader)(nil)

func newCustomReader(in *input, close io.Closer) (*customReader, error) {
	c := &customReader{in: in, close: close, places: make(map[ID]int64)}
	w := &wireReader{left: -1}
	if in.at != nil {
		w.r, w.left = in.section(0), in.size
	} else {
		w.r = in
	}
	var err error
	if c.header, err = readHeader(w, FormatCustom); err != nil {
		return nil, err
	}
	if c.entries, err = readTOC(w, &c.header); err != nil {
		return nil, err
	}
	c.index()
	c.data = w.n
	c.scanned = c.data
	for _, e := range c.entries {
		if e.offset.state == offsetSet && !e.HasData {
			return nil, fmt.Errorf("entry %s has an offset but no data", e)
		}
	}
	c.measure()
	return c, nil
}

// measure estimates the entries' stored sizes from their offsets.
func (c *customReader) measure() {
	if c.in.at == nil {
		return
	}
	var prev *Entry
	for _, e := range c.entries {
		if e.offset.state != offsetSet {
			continue
		}
		if prev != nil && e.offset.pos > prev.offset.pos {
			prev.DataBytes = e.offset.pos - prev.offset.pos
		}
		prev = e
	}
	if prev != nil && c.in.size > prev.offset.pos {
		prev.DataBytes = c.in.size - prev.offset.pos
	}
}

func (c *customReader) Properties() Properties { return Properties{ConcurrentData: c.in.at != nil} }
func (c *customReader) Sequential() bool       { return c.in.at == nil }

// wire returns a reader of integers at r.
func (c *customReader) wire(r interface {
	io.Reader
	io.ByteReader
}) *wireReader {
	return &wireReader{r: r, intSize: c.header.IntSize, offSize: c.header.OffSize, left: -1}
}

// blockHeader is the head of a data block.
type blockHeader struct {
	kind byte
	id   ID
}

// readBlockHeader returns io.EOF at the end of the archive.
func (c *customReader) readBlockHeader(w *wireReader) (blockHeader, error) {
	kind, err := w.r.ReadByte()
	if err != nil {
		return blockHeader{}, err
	}
	id := w.int()
	switch {
	case w.err != nil:
		return blockHeader{}, fmt.Errorf("read data block header: %w", w.err)
	case kind != blockData && kind != blockBlobs:
		return blockHeader{}, fmt.Errorf("unrecognized data block type (%d) while searching archive", kind)
	}
	return blockHeader{kind, ID(id)}, nil
}

// open finds the block of an entry and returns a reader behind its head.
func (c *customReader) open(e *Entry) (*wireReader, blockHeader, error) {
	if c.in.at == nil {
		return c.openSequential(e)
	}
	pos := e.offset.pos
	if e.offset.state != offsetSet {
		var err error
		if pos, err = c.find(e.ID); err != nil {
			return nil, blockHeader{}, err
		}
	}
	if pos < c.data || pos >= c.in.size {
		return nil, blockHeader{}, fmt.Errorf("offset %d of the data is outside the file", pos)
	}
	w := c.wire(c.in.section(pos))
	h, err := c.readBlockHeader(w)
	if err != nil {
		return nil, h, noEOF(err)
	}
	if h.id != e.ID {
		return nil, h, fmt.Errorf("found unexpected block ID (%d) when reading data -- expected %d", h.id, e.ID)
	}
	return w, h, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// find looks for a block in a file whose table of contents does not say where it
// is, and remembers all it passes.
func (c *customReader) find(id ID) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if pos, ok := c.places[id]; ok {
			return pos, nil
		}
		if c.atEnd {
			if c.scanErr != nil {
				return 0, c.scanErr
			}
			return 0, fmt.Errorf("could not find block ID %d in archive -- possibly corrupt archive", id)
		}
		s := c.in.section(c.scanned)
		w := c.wire(s)
		for !c.atEnd {
			start := s.off
			h, err := c.readBlockHeader(w)
			if err == nil {
				if _, twice := c.places[h.id]; !twice {
					c.places[h.id] = start
				}
				if h.id == id {
					break // the rest when it is asked for
				}
				var end int64
				if end, err = c.skipBlock(h, s); err == nil {
					c.scanned = end
					s = c.in.section(end)
					w = c.wire(s)
				}
			}
			if err != nil {
				c.atEnd = true
				if err != io.EOF {
					c.scanErr = err
				}
			}
		}
	}
}

// skipBlock returns the offset behind a block whose head was just read from s.
func (c *customReader) skipBlock(h blockHeader, s *section) (int64, error) {
	for {
		if h.kind == blockBlobs {
			w := c.wire(s)
			oid := w.oid()
			if w.err != nil {
				return 0, w.err
			}
			if oid == 0 {
				return s.off, nil
			}
		}
		for {
			w := c.wire(s)
			n := w.int()
			if w.err != nil {
				return 0, w.err
			}
			if n == 0 {
				break
			}
			if n < 0 || int64(n) > s.size-s.off {
				return 0, fmt.Errorf("data block %d: length %d goes beyond the end of the file", h.id, n)
			}
			if n <= s.br.Buffered() {
				s.br.Discard(n)
				s.off += int64(n)
			} else {
				*s = *c.in.section(s.off + int64(n))
			}
		}
		if h.kind == blockData {
			return s.off, nil
		}
	}
}

func (c *customReader) Data(ctx context.Context, id ID) (io.ReadCloser, error) {
	e, err := c.dataEntry(id, false)
	if err != nil {
		return nil, err
	}
	w, h, err := c.open(e)
	if err == nil && h.kind != blockData {
		err = fmt.Errorf("unrecognized data block type %d while restoring archive", h.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("read data of entry %s: %w", e, err)
	}
	r, err := c.stream(w)
	if err != nil {
		return nil, fmt.Errorf("read data of entry %s: %w", e, err)
	}
	return &entryReader{ctx: ctx, e: e, r: r, close: r.Close}, nil
}

// stream reads one stream of data: pieces, decompressed.
func (c *customReader) stream(w *wireReader) (*blockStream, error) {
	p := &pieceReader{w: w}
	if c.cur != nil {
		c.cur.pieces = p
	}
	z, err := codec.NewBlockReader(p, c.header.Compression.Method)
	if err != nil {
		return nil, err
	}
	return &blockStream{ReadCloser: z, p: p}, nil
}

// blockStream checks that the compressed stream ends with its block.
type blockStream struct {
	io.ReadCloser
	p *pieceReader
}

func (b *blockStream) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		if _, perr := b.p.ReadByte(); perr == nil {
			err = errors.New("bytes after the end of the compressed data")
		} else if perr != io.EOF {
			err = perr
		}
	}
	return n, err
}

// pieceReader reads the pieces of a stream.
type pieceReader struct {
	w    *wireReader
	left int // in the current piece
	end  bool
	err  error
}

// next goes to a piece that has bytes left; io.EOF is the stream's end.
func (p *pieceReader) next() error {
	if p.err != nil {
		return p.err
	}
	for p.left == 0 {
		if p.end {
			return io.EOF
		}
		switch p.left = p.w.int(); {
		case p.w.err != nil:
			p.err = p.w.err
			p.left = 0
			return p.err
		case p.left < 0:
			p.err = fmt.Errorf("data block has a piece of length %d", p.left)
			return p.err
		case p.left == 0:
			p.end = true
		}
	}
	return nil
}

func (p *pieceReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := p.next(); err != nil {
		return 0, err
	}
	n, err := p.w.r.Read(b[:min(len(b), p.left)])
	p.left -= n
	if err != nil {
		p.err = noEOF(err)
		if n > 0 {
			return n, nil
		}
		return 0, p.err
	}
	return n, nil
}

func (p *pieceReader) ReadByte() (byte, error) {
	if err := p.next(); err != nil {
		return 0, err
	}
	b, err := p.w.r.ReadByte()
	if err != nil {
		p.err = noEOF(err)
		return 0, p.err
	}
	p.left--
	return b, nil
}

// drain passes over the rest of the stream.
func (p *pieceReader) drain() error {
	for {
		if err := p.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var err error
		if in, ok := p.w.r.(*input); ok {
			err = in.skip(int64(p.left))
		} else {
			_, err = io.CopyN(io.Discard, p.w.r, int64(p.left))
		}
		if err != nil {
			p.err = noEOF(err)
			return p.err
		}
		p.left = 0
	}
}

func (c *customReader) LargeObjects(ctx context.Context, id ID) (LargeObjectReader, error) {
	e, err := c.dataEntry(id, true)
	if err != nil {
		return nil, err
	}
	w, h, err := c.open(e)
	if err == nil && h.kind != blockBlobs {
		err = fmt.Errorf("unrecognized data block type %d while restoring archive", h.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("read data of entry %s: %w", e, err)
	}
	return &customLOs{c: c, ctx: ctx, e: e, w: w}, nil
}

type customLOs struct {
	c   *customReader
	ctx context.Context
	e   *Entry
	w   *wireReader
	cur *entryReader
	p   *pieceReader
	err error
}

func (l *customLOs) Next() (uint32, io.Reader, error) {
	if l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err == nil && l.cur != nil {
		l.cur.Close()
		l.err = l.p.drain()
		l.cur = nil
	}
	if l.err != nil {
		return 0, nil, l.err
	}
	oid := l.w.oid()
	switch {
	case l.w.err != nil:
		l.err = fmt.Errorf("read data of entry %s: %w", l.e, l.w.err)
		return 0, nil, l.err
	case oid == 0:
		l.err = io.EOF
		if l.c.cur != nil {
			l.c.cur.done = true
		}
		return 0, nil, l.err
	}
	s, err := l.c.stream(l.w)
	if err != nil {
		l.err = fmt.Errorf("read large object %d of entry %s: %w", oid, l.e, err)
		return 0, nil, l.err
	}
	l.p = s.p
	l.cur = &entryReader{ctx: l.ctx, e: l.e, r: s, close: s.Close}
	return oid, l.cur, nil
}

func (l *customLOs) Close() error {
	if l.cur != nil {
		l.cur.Close()
		l.cur = nil
	}
	return nil
}

// sequentialCur is where a stream stands: in the block of an entry.
type sequentialCur struct {
	blockHeader
	taken  bool         // its data were asked for
	pieces *pieceReader // the stream of data it stands in
	done   bool         // the list of large objects has ended
}

func (c *customReader) openSequential(e *Entry) (*wireReader, blockHeader, error) {
	if c.cur == nil || c.cur.id != e.ID || c.cur.taken {
		return nil, blockHeader{}, errors.New("the archive cannot seek, and this is not where it stands")
	}
	c.cur.taken = true
	return c.wire(c.in), c.cur.blockHeader, nil
}

// maxAttachment bounds what is kept of an attachment.
const maxAttachment = 1 << 30

func (c *customReader) NextData(ctx context.Context) (ID, error) {
	if c.in.at != nil {
		return 0, errNotSequential
	}
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if c.atEnd {
			return 0, io.EOF
		}
		if err := c.finishCur(); err != nil {
			return 0, fmt.Errorf("read archive: %w", err)
		}
		h, err := c.readBlockHeader(c.wire(c.in))
		if err == io.EOF {
			if missing := c.missing(c.seen); missing != nil {
				return 0, missing
			}
			c.atEnd = true
			return 0, io.EOF
		} else if err != nil {
			return 0, fmt.Errorf("read archive: %w", err)
		}
		c.cur = &sequentialCur{blockHeader: h}
		if e := c.byID[h.id]; e != nil {
			if c.seen == nil {
				c.seen = make(map[ID]bool)
			}
			c.seen[h.id] = true
			return h.id, nil
		}
		if h.kind == blockData {
			c.cur.taken = true
			c.cur.pieces = &pieceReader{w: c.wire(c.in)}
			if err := c.keepAttachment(c.cur.pieces); err != nil {
				return 0, fmt.Errorf("read archive: %w", err)
			}
		}
	}
}

// finishCur passes over what is left of the block the stream stands in.
func (c *customReader) finishCur() error {
	cur := c.cur
	c.cur = nil
	if cur == nil {
		return nil
	}
	if cur.pieces != nil {
		if err := cur.pieces.drain(); err != nil {
			return err
		}
	} else if cur.kind == blockData {
		return (&pieceReader{w: c.wire(c.in)}).drain()
	}
	for cur.kind == blockBlobs && !cur.done {
		w := c.wire(c.in)
		oid := w.oid()
		if w.err != nil {
			return w.err
		}
		if oid == 0 {
			return nil
		}
		if err := (&pieceReader{w: w}).drain(); err != nil {
			return err
		}
	}
	return nil
}

// keepAttachment reads a block that belongs to no entry, and keeps it if it is an attachment.
func (c *customReader) keepAttachment(p *pieceReader) error {
	var head [len(attachmentMark)]byte
	if _, err := io.ReadFull(p, head[:]); err == io.EOF || err == io.ErrUnexpectedEOF && p.err == nil {
		return nil
	} else if err != nil {
		return err
	}
	if string(head[:]) != attachmentMark {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(p, maxAttachment))
	if err != nil {
		return err
	}
	name, data, ok := bytes.Cut(b, []byte{0})
	if !ok || checkAttachmentName(string(name)) != nil {
		return nil
	}
	if c.attachments == nil {
		c.attachments = make(map[string][]byte)
	}
	if _, twice := c.attachments[string(name)]; !twice {
		c.attachments[string(name)] = data
	}
	return nil
}

func (c *customReader) Attachment(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.attRead && c.in.at != nil {
		c.attRead = true
		c.attErr = c.readAttachments()
	}
	if b, ok := c.attachments[name]; ok {
		return b, nil
	}
	if c.attErr != nil {
		return nil, fmt.Errorf("read attachments: %w", c.attErr)
	}
	return nil, fmt.Errorf("%s: %w", name, ErrNoAttachment)
}

// readAttachments finds the attachments by the index at the end of the file.
func (c *customReader) readAttachments() error {
	end := 1 + c.header.IntSize // the length that ends the index block
	tail := make([]byte, indexLen+end)
	if c.in.size-c.data < int64(len(tail)) {
		return nil
	}
	if _, err := c.in.at.ReadAt(tail, c.in.size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	if !bytes.HasPrefix(tail, []byte(indexMark)) {
		return nil
	}
	first := binary.LittleEndian.Uint64(tail[len(indexMark):])
	if first > math.MaxInt64 || int64(first) < c.data || int64(first) >= c.in.size {
		return fmt.Errorf("offset %d is outside the file", first)
	}
	s := c.in.section(int64(first))
	for {
		w := c.wire(s)
		h, err := c.readBlockHeader(w)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if h.kind != blockData || c.byID[h.id] != nil {
			return errors.New("a data block comes after the attachments")
		}
		p := &pieceReader{w: w}
		if err := c.keepAttachment(p); err != nil {
			return err
		}
		if err := p.drain(); err != nil {
			return err
		}
	}
}

func (c *customReader) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close.Close()
}
