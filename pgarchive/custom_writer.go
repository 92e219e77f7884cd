package pgarchive

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Kinds of data blocks in a custom archive (pg_backup_archiver.h).
const (
	blockData  = 1
	blockBlobs = 3
)

// blockSize is how many stored bytes a piece of a data block holds at most.
const blockSize = 128 << 10

// customWriter writes a custom archive: header, table of contents, then blocks of
// data one after the other (custom_block.go). If the output can seek, the table of contents is
// written again at the end, with the blocks' offsets.
type customWriter struct {
	contents
	out     io.Writer
	at      io.WriterAt // nil: the output cannot seek
	file    *os.File    // the same
	folder  string      // for temporary files, "" is the usual one
	buf     *bufio.Writer
	start   int64 // of the table of contents
	pos     int64 // where the output stands; of the owner of the file while there is one
	first   int64 // of the attachments
	rewound bool  // there may be something after the end
	queue   blockQueue
}

var _ Writer = (*customWriter)(nil)

// NewCustomWriter writes a custom archive into w. If w is a regular file, the
// entries get the offsets of their data, which makes restoring in parallel or in part fast. If not, data are stored in
// the order of the entries: the data of an entry may then wait until those of an earlier
// one, which is being written, are complete.
func NewCustomWriter(w io.Writer, o WriterOptions) (Writer, error) {
	if err := o.Header.Compression.Validate(); err != nil {
		return nil, fmt.Errorf("create archive: %w", err)
	}
	c := &customWriter{out: w, buf: bufio.NewWriterSize(w, 256<<10)}
	c.contents.init(o.Header, FormatCustom, c.Properties())
	c.queue = blockQueue{turn: sync.NewCond(&c.mu), limit: blockMemory / segmentSize, waiting: make(map[ID]*customBlock)}
	f, ok := w.(*outFile)
	if file, isFile := w.(*os.File); isFile {
		f, ok = &outFile{File: file}, true
	}
	if ok {
		if pos, seeks := f.seekable(); seeks {
			c.at, c.file, c.pos = f.File, f.File, pos
			c.folder = filepath.Dir(f.Name())
		}
	}
	return c, nil
}

func (c *customWriter) Properties() Properties {
	return Properties{ConcurrentData: true, Ordered: c.at == nil}
}

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

// newBlock starts the data block of an entry. The caller holds mu.
func (c *customWriter) newBlock(id ID, kind byte) (*customBlock, error) {
	if err := c.freeze(); err != nil {
		return nil, err
	}
	if len(c.attachments) > 0 {
		return nil, fmt.Errorf("write data of entry %d: attachments come after all data", id)
	}
	e, err := c.begin(id, kind == blockBlobs)
	if err != nil {
		return nil, err
	}
	return &customBlock{c: c, e: e, kind: kind}, nil
}

func (c *customWriter) Data(id ID) (io.WriteCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.newBlock(id, blockData)
	if err != nil {
		return nil, err
	}
	s, err := c.stream(b)
	if err != nil {
		c.err = fmt.Errorf("write data of entry %s: %w", b.e, err)
		return nil, c.err
	}
	return &entryWriter{w: customData{s}, e: b.e, c: &c.contents}, nil
}

func (c *customWriter) LargeObjects(id ID) (LargeObjectWriter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.newBlock(id, blockBlobs)
	if err != nil {
		return nil, err
	}
	return &largeObjectWriter{e: b.e, c: &c.contents,
		create: func(oid uint32) (io.WriteCloser, error) {
			if _, err := b.Write(appendOID(nil, oid)); err != nil {
				return nil, err
			}
			return c.stream(b)
		},
		finish: func() error {
			if _, err := b.Write(appendInt(nil, 0)); err != nil {
				b.abandon(err)
				return err
			}
			return b.finish()
		},
	}, nil
}

var pieces = sync.Pool{New: func() any { return new([blockSize]byte) }}

// pieceWriter cuts a stream into pieces, each with its length before it; a length of zero ends it.
type pieceWriter struct {
	w   io.Writer
	buf *[blockSize]byte
	n   int
	err error

	drop bool // nothing is to be written any more
}

func (p *pieceWriter) Write(b []byte) (int, error) {
	total := len(b)
	if p.drop {
		return total, nil
	}
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
	if p.n > 0 && p.err == nil && !p.drop {
		p.piece(p.buf[:p.n])
	}
	if p.err == nil && !p.drop {
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
	if c.streams > 0 {
		return fmt.Errorf("attach %s: the data of entry %s are not complete", name, c.open)
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
	if c.rewound {
		if err := c.file.Truncate(c.pos); err != nil {
			return fmt.Errorf("could not write to output file: %w", cause(err))
		}
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
	c.queue.turn.Broadcast()
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
