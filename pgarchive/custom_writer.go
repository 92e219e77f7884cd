package pgarchive

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/pghaul/pghaul/internal/codec"
)

// Kinds of data blocks in a custom archive (pg_backup_archiver.h).
const (
	blockData  = 1
	blockBlobs = 3
)

// blockSize is how many stored bytes a piece of a data block holds at most.
const blockSize = 128 << 10

// customWriter writes a custom archive: header, table of contents, then blocks of
// data one after the other. If the output can seek, the table of contents is
// written again at the end, with the blocks' offsets.
type customWriter struct {
	contents
	out   io.Writer
	at    io.WriterAt // nil: the output cannot seek
	buf   *bufio.Writer
	start int64 // of the table of contents
	pos   int64 // where the output stands
	first int64 // of the attachments
}

var _ Writer = (*customWriter)(nil)

// NewCustomWriter writes a custom archive into w. If w is a regular file, the
// entries get the offsets of their data, which makes restoring in parallel or in part fast.
func NewCustomWriter(w io.Writer, o WriterOptions) (Writer, error) {
	if err := o.Header.Compression.Validate(); err != nil {
		return nil, fmt.Errorf("create archive: %w", err)
	}
	c := &customWriter{out: w, buf: bufio.NewWriterSize(w, 256<<10)}
	c.contents.init(o.Header, FormatCustom, c.Properties())
	f, ok := w.(*outFile)
	if file, isFile := w.(*os.File); isFile {
		f, ok = &outFile{File: file}, true
	}
	if ok {
		if pos, seeks := f.seekable(); seeks {
			c.at, c.pos = f.File, pos
		}
	}
	return c, nil
}

func (c *customWriter) Properties() Properties { return Properties{} }

func (c *customWriter) Add(e *Entry) error { return c.add(e) }

// freeze writes the header and the table of contents. The caller holds mu.
func (c *customWriter) freeze() error {
	if c.frozen {
		return c.err
	}
	c.fix()
	for _, e := range c.entries {
		e.Filename = ""
		e.offset = offset{state: offsetNoData}
		if e.HasData {
			e.offset.state = offsetNotSet
		}
	}
	w := &wireWriter{w: c.buf}
	writeHeader(w, &c.header)
	c.start = c.pos + w.n
	writeTOC(w, &c.header, c.entries)
	c.pos += w.n
	if w.err != nil {
		c.err = fmt.Errorf("write table of contents: %w", w.err)
	}
	return c.err
}

// write puts bytes into the output and counts them.
func (c *customWriter) Write(p []byte) (int, error) {
	n, err := c.buf.Write(p)
	c.pos += int64(n)
	return n, err
}

// block starts a data block.
func (c *customWriter) block(kind byte, id ID) error {
	b := appendInt([]byte{kind}, int(id))
	_, err := c.Write(b)
	return err
}

// startBlock starts the data block of an entry.
func (c *customWriter) startBlock(id ID, kind byte) (*Entry, error) {
	if err := c.freeze(); err != nil {
		return nil, err
	}
	e, err := c.begin(id, kind == blockBlobs)
	if err != nil {
		return nil, err
	}
	if c.at != nil {
		e.offset = offset{state: offsetSet, pos: c.pos}
	}
	if err := c.block(kind, id); err != nil {
		c.err = fmt.Errorf("write data of entry %s: %w", e, err)
		return nil, c.err
	}
	return e, nil
}

func (c *customWriter) Data(id ID) (io.WriteCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, err := c.startBlock(id, blockData)
	if err != nil {
		return nil, err
	}
	w, err := c.stream()
	if err != nil {
		c.err = fmt.Errorf("write data of entry %s: %w", e, err)
		return nil, c.err
	}
	return &entryWriter{w: w, e: e, c: &c.contents}, nil
}

func (c *customWriter) LargeObjects(id ID) (LargeObjectWriter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, err := c.startBlock(id, blockBlobs)
	if err != nil {
		return nil, err
	}
	return &largeObjectWriter{e: e, c: &c.contents,
		create: func(oid uint32) (io.WriteCloser, error) {
			if _, err := c.Write(appendOID(nil, oid)); err != nil {
				return nil, err
			}
			return c.stream()
		},
		finish: func() error {
			_, err := c.Write(appendInt(nil, 0))
			return err
		},
	}, nil
}

// stream returns the compressor of one stream of data, over the pieces of its block.
func (c *customWriter) stream() (io.WriteCloser, error) {
	p := &pieceWriter{w: c, buf: pieces.Get().(*[blockSize]byte)}
	z, err := codec.NewBlockWriter(p, c.header.Compression)
	if err != nil {
		return nil, err
	}
	return &blockWriter{z: z, p: p}, nil
}

type blockWriter struct {
	z io.WriteCloser
	p *pieceWriter
}

func (b *blockWriter) Write(p []byte) (int, error) { return b.z.Write(p) }

func (b *blockWriter) Close() error {
	err := b.z.Close()
	if perr := b.p.Close(); err == nil {
		err = perr
	}
	return err
}

var pieces = sync.Pool{New: func() any { return new([blockSize]byte) }}

// pieceWriter cuts a stream into pieces, each with its length before it; a length of zero ends it.
type pieceWriter struct {
	w   io.Writer
	buf *[blockSize]byte
	n   int
	err error
}

func (p *pieceWriter) Write(b []byte) (int, error) {
	total := len(b)
	for len(b) > 0 && p.err == nil {
		if p.n == 0 && len(b) >= blockSize {
			p.piece(b[:blockSize])
			b = b[blockSize:]
			continue
		}
		k := copy(p.buf[p.n:], b)
		p.n += k
		b = b[k:]
		if p.n == blockSize {
			p.piece(p.buf[:])
			p.n = 0
		}
	}
	return total - len(b), p.err
}

func (p *pieceWriter) piece(b []byte) {
	var head [5]byte
	if _, p.err = p.w.Write(appendInt(head[:0], len(b))); p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

func (p *pieceWriter) Close() error {
	if p.n > 0 && p.err == nil {
		p.piece(p.buf[:p.n])
	}
	if p.err == nil {
		_, p.err = p.w.Write(appendInt(nil, 0))
	}
	pieces.Put(p.buf)
	p.buf, p.n = nil, 0
	return p.err
}

// Attachments of a custom archive are data blocks after all others, with IDs that
// no entry has: pg_restore passes over such blocks when it looks for one. The
// content is attachmentMark, the name, a zero byte and the file. After all comes an index block of the same
// kind, whose last bytes are indexMark and the offset of the first attachment, so that a reader that can
// seek finds them from the end of the file.
const (
	attachmentMark = "pghaul attachment\x00"
	indexMark      = "pghaul index\x00"
	indexLen       = len(indexMark) + 8

	firstAttachmentID = 0x7f000000
)

func (c *customWriter) Attach(name string, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.freeze(); err != nil {
		return err
	}
	if err := c.attach(name); err != nil {
		return err
	}
	if len(c.attachments) == 1 {
		c.first = c.pos
	}
	err := c.foreignBlock(len(c.attachments), []byte(attachmentMark), append([]byte(name), 0), data)
	if err != nil {
		c.err = fmt.Errorf("attach %s: %w", name, err)
	}
	return c.err
}

// foreignBlock writes a block that belongs to no entry.
func (c *customWriter) foreignBlock(n int, parts ...[]byte) error {
	if err := c.block(blockData, ID(firstAttachmentID+n)); err != nil {
		return err
	}
	p := &pieceWriter{w: c, buf: pieces.Get().(*[blockSize]byte)}
	for _, b := range parts {
		p.Write(b)
	}
	return p.Close()
}

func (c *customWriter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.err
	}
	err := c.freeze()
	c.closed = true
	if err == nil {
		err = c.complete()
	}
	if err == nil {
		err = c.close()
	}
	c.err = finish(c.out, err)
	return c.err
}

func (c *customWriter) close() error {
	if len(c.attachments) > 0 {
		if err := c.foreignBlock(0, binary.LittleEndian.AppendUint64([]byte(indexMark), uint64(c.first))); err != nil {
			return fmt.Errorf("write to output file: %w", err)
		}
	}
	if err := c.buf.Flush(); err != nil {
		return fmt.Errorf("could not write to output file: %w", cause(err))
	}
	if c.at == nil || len(c.state) == 0 {
		return nil
	}
	// The same table of contents again, now with offsets.
	c.buf.Reset(&offsetWriter{w: c.at, pos: c.start})
	w := &wireWriter{w: c.buf}
	writeTOC(w, &c.header, c.entries)
	if w.err == nil {
		w.err = c.buf.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("write table of contents: %w", cause(w.err))
	}
	return nil
}

func (c *customWriter) Abort() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return abort(c.out)
}

// offsetWriter writes from some place on.
type offsetWriter struct {
	w   io.WriterAt
	pos int64
}

func (o *offsetWriter) Write(p []byte) (int, error) {
	n, err := o.w.WriteAt(p, o.pos)
	o.pos += int64(n)
	return n, err
}
