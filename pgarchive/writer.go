package pgarchive

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
)

// Properties says what a Writer or Reader can do.
type Properties struct {
	// ConcurrentData: the data of several entries may be written or read at the
	// same time. If false, a stream must be closed before the next is asked for.
	ConcurrentData bool

	// Ordered: data must come in the order of the entries. With ConcurrentData they may come at the same time,
	// but the streams should be asked for in that order, and one may wait for an earlier one that is open.
	Ordered bool
}

// A Writer writes one archive. Add all entries first; the first call of Data,
// LargeObjects, Attach or Close freezes the table of contents, and an Entry must
// not be changed afterwards. Every entry with HasData must be given its data before Close:
// an entry of kind BLOBS through LargeObjects, every other through Data.
//
// The methods may be called from several goroutines.
type Writer interface {
	Properties() Properties

	// Add appends an entry.
	Add(*Entry) error

	// Data returns a writer of an entry's data. Its Close ends the data.
	Data(id ID) (io.WriteCloser, error)

	// LargeObjects returns a writer of the large objects of an entry of kind BLOBS.
	LargeObjects(id ID) (LargeObjectWriter, error)

	// Attach stores a file that the stock pg_restore does not see, after all data.
	// A script has no place for it; there it does nothing.
	Attach(name string, data []byte) error

	// Close completes the archive, syncs it and gives it its final name.
	Close() error

	// Abort removes what was written. After Close it does nothing.
	Abort() error
}

// A LargeObjectWriter writes the large objects of one entry, one after the other.
type LargeObjectWriter interface {
	// Create starts a large object; its writer must be closed before the next.
	Create(oid uint32) (io.WriteCloser, error)
	Close() error
}

// WriterOptions says what to write. The zero value writes an uncompressed archive and does not sync it.
type WriterOptions struct {
	// Header gives the archive's compression and what it says about its origin.
	// Its Format, IntSize and OffSize are not looked at.
	Header Header

	// Sync flushes files and folders to disk before they appear under their final names.
	Sync bool

	// Script says how the SQL of a plain archive, and of a tar archive's
	// restore.sql, is to look; nil is the default.
	Script *ScriptOptions
}

// Create starts an archive at path. For the directory format path must not exist
// or be an empty folder. For the others, "" and "-" mean the standard output;
// a path that is a device or a pipe is written directly.
func Create(path string, f Format, o WriterOptions) (Writer, error) {
	if f == FormatDirectory {
		d, err := createDir(path, o.Sync)
		if err != nil {
			return nil, err
		}
		return NewDirectoryWriter(d, o)
	}
	if f == FormatTar && o.Header.Compression.Method != codec.None {
		return nil, errTarCompressed
	}
	if f != FormatCustom && f != FormatTar && f != FormatPlain {
		return nil, fmt.Errorf("create archive: unrecognized file format \"%s\"", f)
	}
	out, err := createFile(path, o.Sync)
	if err != nil {
		return nil, err
	}
	var w Writer
	switch f {
	case FormatCustom:
		w, err = NewCustomWriter(out, o)
	case FormatTar:
		w, err = NewTarWriter(out, o)
	case FormatPlain:
		s := o.Script
		if s == nil {
			s = NewScriptOptions()
		}
		w, err = NewPlainWriter(out, *s, o)
	}
	if err != nil {
		out.Abort()
		return nil, err
	}
	return w, nil
}

var errTarCompressed = errors.New("compression is not supported by tar archive format")

// finisher is an output that can be completed or thrown away, see file.go.
type finisher interface {
	Commit() error
	Abort() error
}

// contents is the part that all writers share: the entries, and which of them have got their data.
type contents struct {
	mu      sync.Mutex
	header  Header
	entries []*Entry
	byID    map[ID]*Entry
	state   map[ID]dataState
	last    int    // index of the last entry whose data were asked for
	open    *Entry // the open stream, the last one if there are several
	streams int    // how many are open
	frozen  bool
	closed  bool
	err     error
	ordered bool
	single  bool

	attachments map[string]bool
}

type dataState uint8

const (
	dataMissing dataState = iota
	dataOpen
	dataDone
)

func (c *contents) init(h Header, f Format, p Properties) {
	c.header = h
	c.header.Format = f
	c.header.IntSize, c.header.OffSize = 4, 8
	if c.header.Created.IsZero() {
		c.header.Created = time.Now()
	}
	c.ordered, c.single = p.Ordered && !p.ConcurrentData, !p.ConcurrentData
	c.byID = make(map[ID]*Entry)
	c.state = make(map[ID]dataState)
	c.attachments = make(map[string]bool)
}

// add is Add of all writers.
func (c *contents) add(e *Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return errWriterClosed
	case c.frozen:
		return fmt.Errorf("add entry %s: data were already written", e)
	case e.ID <= 0:
		return fmt.Errorf("add entry %s: entry ID %d out of range", e, e.ID)
	case c.byID[e.ID] != nil:
		return fmt.Errorf("add entry %s: ID is taken by entry %s", e, c.byID[e.ID])
	case e.Section < SectionNone || e.Section > SectionPostData:
		return fmt.Errorf("add entry %s: unexpected section code %d", e, e.Section)
	case e.isLargeObjects() && !e.HasData:
		return fmt.Errorf("add entry %s: no data", e)
	}
	c.byID[e.ID] = e
	c.entries = append(c.entries, e)
	return nil
}

var errWriterClosed = errors.New("archive is closed")

// fix chooses the format version. The caller holds mu.
func (c *contents) fix() {
	c.frozen = true
	v := max(c.header.Version, V1_14)
	if m := c.header.Compression.Method; m == codec.LZ4 || m == codec.Zstd {
		v = max(v, V1_15)
	}
	blobs := 0
	for _, e := range c.entries {
		switch {
		case e.isLargeObjects():
			blobs++
		case e.Desc == descBlobMetadata, e.RelKind == relkindPartitioned && e.TableAM != "",
			isLargeObjectsACL(e):
			v = max(v, V1_16)
		}
	}
	if blobs > 1 {
		v = max(v, V1_16)
	}
	c.header.Version = min(v, V1_16)
}

const relkindPartitioned = 'p'

// begin checks that the data of id may be written now and marks them as being written. The caller holds mu.
func (c *contents) begin(id ID, largeObjects bool) (*Entry, error) {
	if c.closed {
		return nil, errWriterClosed
	}
	if c.err != nil {
		return nil, c.err
	}
	e := c.byID[id]
	switch {
	case e == nil:
		return nil, fmt.Errorf("write data of entry %d: no such entry", id)
	case !e.HasData:
		return nil, fmt.Errorf("write data of entry %s: it has no data", e)
	case c.state[id] != dataMissing:
		return nil, fmt.Errorf("write data of entry %s: they were already written", e)
	case e.isLargeObjects() != largeObjects:
		return nil, fmt.Errorf("write data of entry %s: large objects belong to entries of kind %s, others do not", e, descBlobs)
	case c.single && c.open != nil:
		return nil, fmt.Errorf("write data of entry %s: the data of entry %s are not complete", e, c.open)
	case c.single && len(c.attachments) > 0:
		return nil, fmt.Errorf("write data of entry %s: attachments come after all data", e)
	}
	if c.ordered {
		i := c.last
		for i < len(c.entries) && c.entries[i] != e {
			i++
		}
		if i == len(c.entries) {
			return nil, fmt.Errorf("write data of entry %s: they come too late, data must be in the order of the entries", e)
		}
		c.last = i + 1
	}
	c.state[id] = dataOpen
	c.open = e
	c.streams++
	return e, nil
}

// end marks the data of e as complete, or the archive as failed.
func (c *contents) end(e *Entry, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = nil
	c.streams--
	c.state[e.ID] = dataDone
	if err != nil && c.err == nil {
		c.err = err
	}
}

// complete checks that nothing is missing. The caller holds mu.
func (c *contents) complete() error {
	if c.err != nil {
		return c.err
	}
	for _, e := range c.entries {
		if !e.HasData {
			continue
		}
		switch c.state[e.ID] {
		case dataMissing:
			return fmt.Errorf("close archive: the data of entry %s were not written", e)
		case dataOpen:
			return fmt.Errorf("close archive: the data of entry %s are not complete", e)
		}
	}
	return nil
}

// attach checks an attachment's name. The caller holds mu.
func (c *contents) attach(name string) error {
	switch {
	case c.closed:
		return errWriterClosed
	case c.err != nil:
		return c.err
	case c.single && c.open != nil:
		return fmt.Errorf("attach %s: the data of entry %s are not complete", name, c.open)
	case c.attachments[name]:
		return fmt.Errorf("attach %s: it is already there", name)
	}
	if err := checkAttachmentName(name); err != nil {
		return err
	}
	c.attachments[name] = true
	return nil
}

// entryWriter is the data stream of one entry: it keeps its first error and tells the contents of its end.
//
// The data of a COPY in text form get their [CopyEnd] if the caller has not written it.
type entryWriter struct {
	w    io.WriteCloser
	e    *Entry
	c    *contents
	err  error
	done bool
	tail copyTail
}

// textCopy reports whether the entry's data must end with CopyEnd.
func (e *Entry) textCopy() bool { return e.CopyStmt != "" && !binaryCopy(e) }

func (w *entryWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.done {
		return 0, fmt.Errorf("write data of entry %s: they are complete", w.e)
	}
	n, err := w.w.Write(p)
	if err != nil {
		w.err = fmt.Errorf("write data of entry %s: %w", w.e, err)
		err = w.err
	}
	w.tail.add(p[:n])
	return n, err
}

func (w *entryWriter) Close() error {
	if w.done {
		return w.err
	}
	if w.err == nil && w.e.textCopy() {
		if end := w.tail.missing(); end != "" {
			w.Write([]byte(end)) // keeps its error
		}
	}
	w.done = true
	if err := w.w.Close(); err != nil && w.err == nil {
		w.err = fmt.Errorf("write data of entry %s: %w", w.e, err)
	}
	w.c.end(w.e, w.err)
	return w.err
}

// largeObjectWriter writes the large objects of one entry through two functions of the format.
type largeObjectWriter struct {
	e      *Entry
	c      *contents
	create func(oid uint32) (io.WriteCloser, error)
	finish func() error
	open   bool
	done   bool
	err    error
}

func (w *largeObjectWriter) Create(oid uint32) (io.WriteCloser, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case w.done:
		return nil, fmt.Errorf("write data of entry %s: they are complete", w.e)
	case w.open:
		return nil, fmt.Errorf("write data of entry %s: the large object before %d is not complete", w.e, oid)
	case oid == 0:
		return nil, errors.New("invalid OID for large object")
	}
	lo, err := w.create(oid)
	if err != nil {
		w.err = fmt.Errorf("write large object %d: %w", oid, err)
		return nil, w.err
	}
	w.open = true
	return &largeObject{w: lo, parent: w, oid: oid}, nil
}

func (w *largeObjectWriter) Close() error {
	if w.done {
		return w.err
	}
	w.done = true
	if w.err == nil && w.open {
		w.err = fmt.Errorf("write data of entry %s: a large object is not complete", w.e)
	}
	if w.err == nil {
		if err := w.finish(); err != nil {
			w.err = fmt.Errorf("write data of entry %s: %w", w.e, err)
		}
	}
	w.c.end(w.e, w.err)
	return w.err
}

type largeObject struct {
	w      io.WriteCloser
	parent *largeObjectWriter
	oid    uint32
	done   bool
}

func (lo *largeObject) Write(p []byte) (int, error) {
	if lo.parent.err != nil {
		return 0, lo.parent.err
	}
	n, err := lo.w.Write(p)
	if err != nil {
		err = fmt.Errorf("write large object %d: %w", lo.oid, err)
		lo.parent.err = err
	}
	return n, err
}

func (lo *largeObject) Close() error {
	if lo.done {
		return lo.parent.err
	}
	lo.done, lo.parent.open = true, false
	if err := lo.w.Close(); err != nil && lo.parent.err == nil {
		lo.parent.err = fmt.Errorf("write large object %d: %w", lo.oid, err)
	}
	return lo.parent.err
}
