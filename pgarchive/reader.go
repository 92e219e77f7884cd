package pgarchive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Reader reads one archive.
//
// On a file or folder the data may be asked for in any order and from several
// goroutines. When Sequential is true the input cannot be read twice: call
// NextData, then Data or LargeObjects for the ID it returns, or NextData again to pass over it.
type Reader interface {
	Header() Header
	Properties() Properties

	// Entries returns the table of contents in its order. The entries belong to the Reader.
	Entries() []*Entry

	// Data returns the entry's data, decompressed. Data that end early are an error of Read.
	// ctx ends the reading.
	Data(ctx context.Context, id ID) (io.ReadCloser, error)

	// LargeObjects returns the large objects of an entry of kind BLOBS.
	LargeObjects(ctx context.Context, id ID) (LargeObjectReader, error)

	// Attachment returns what Writer.Attach stored, or ErrNoAttachment. In a
	// sequential archive it is there after NextData has returned io.EOF.
	Attachment(name string) ([]byte, error)

	Sequential() bool

	// NextData returns the ID of the next data block in the stream, io.EOF at
	// the end. An end before all entries had their data is another error.
	// It is for sequential archives only.
	NextData(ctx context.Context) (ID, error)

	Close() error
}

// A LargeObjectReader reads large objects one after the other.
type LargeObjectReader interface {
	// Next returns the next large object, io.EOF after the last. What was not read of the one before is passed over.
	Next() (oid uint32, r io.Reader, err error)
	Close() error
}

// ErrNoAttachment says that an archive holds no attachment of that name.
var ErrNoAttachment = errors.New("no such attachment")

// errNotSequential is NextData's answer on an archive that can be read in any order.
var errNotSequential = errors.New("archive is not sequential: ask for the data by ID")

// Open opens the archive at path, a file or a folder; "" and "-" are the standard
// input. The format f is detected if it is FormatUnknown. A standard
// input that is a file is not sequential.
func Open(path string, f Format) (Reader, error) {
	if path == "" || path == "-" {
		r, err := NewReader(os.Stdin, f)
		if err != nil {
			return nil, fmt.Errorf("read archive from standard input: %w", err)
		}
		return r, nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("could not open input file \"%s\": %w", path, cause(err))
	}
	if st.IsDir() {
		if f != FormatUnknown && f != FormatDirectory {
			return nil, fmt.Errorf("could not open input file \"%s\": it is a directory", path)
		}
		return openDirectory(path)
	}
	if f == FormatDirectory {
		return nil, fmt.Errorf("could not open input file \"%s\": not a directory", filepath.Join(path, tocName))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("could not open input file \"%s\": %w", path, cause(err))
	}
	r, err := newReader(file, f, file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("read archive \"%s\": %w", path, err)
	}
	return r, nil
}

// cause strips what the os package says about operation and path.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// NewReader reads a custom or tar archive from r. If r is a file that can seek
// (an [io.ReaderAt] and an [io.Seeker]), the archive starts at its beginning and
// can be read in any order; else it is sequential. Close does not close r.
func NewReader(r io.Reader, f Format) (Reader, error) { return newReader(r, f, nil) }

// newReader is NewReader; close, if not nil, is closed with the archive.
func newReader(r io.Reader, f Format, close io.Closer) (Reader, error) {
	if f == FormatDirectory || f == FormatPlain {
		return nil, fmt.Errorf("the %s format cannot be read from a stream", f)
	}
	src, err := newInput(r)
	if err != nil {
		return nil, err
	}
	if f == FormatUnknown {
		if f, err = detect(src); err != nil {
			return nil, err
		}
	}
	if f == FormatTar {
		return newTarReader(src, close)
	}
	return newCustomReader(src, close)
}

// Beginnings of scripts (TEXT_DUMP_HEADER and TEXT_DUMPALL_HEADER).
const (
	scriptHead        = "--\n-- PostgreSQL database dump\n--\n\n"
	scriptHeadCluster = "--\n-- PostgreSQL database cluster dump\n--\n\n"
)

// detect tells the format by the first bytes of the input (_discoverArchiveFormat).
func detect(in *input) (Format, error) {
	head, err := in.peek(tarBlock)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("could not read input file: %w", err)
	}
	switch {
	case len(head) < len(magic):
		return 0, fmt.Errorf("input file is too short (read %d, expected %d)", len(head), len(magic))
	case bytes.HasPrefix(head, []byte(magic)):
		return FormatCustom, nil
	case bytes.HasPrefix(head, []byte(scriptHead)), bytes.HasPrefix(head, []byte(scriptHeadCluster)):
		return 0, errors.New("input file appears to be a text format dump. Please use psql.")
	case len(head) < tarBlock:
		return 0, errors.New("input file does not appear to be a valid archive (too short?)")
	case !validTarHeader(head):
		return 0, errors.New("input file does not appear to be a valid tar archive")
	}
	return FormatTar, nil
}

// input is the file or stream an archive is read from.
type input struct {
	at   io.ReaderAt   // nil: a stream
	size int64         // of what at reads
	seq  *bufio.Reader // of a stream
	pos  int64         // bytes taken from seq
}

func newInput(r io.Reader) (*input, error) {
	type seekable interface {
		io.ReaderAt
		io.Seeker
	}
	if s, ok := r.(seekable); ok {
		if size, err := s.Seek(0, io.SeekEnd); err == nil && !isStream(r) {
			return &input{at: s, size: size}, nil
		}
	}
	return &input{seq: bufio.NewReaderSize(r, 256<<10)}, nil
}

// isStream reports whether r is a file of a kind whose Seek succeeds without meaning.
func isStream(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err != nil || st.Mode()&(fs.ModeCharDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0
}

// peek returns the first bytes of the input without taking them; fewer with io.EOF.
func (in *input) peek(n int) ([]byte, error) {
	if in.at == nil {
		return in.seq.Peek(n)
	}
	b := make([]byte, n)
	k, err := in.at.ReadAt(b, 0)
	return b[:k], err
}

// Read, ReadByte and Discard take bytes from a stream.
func (in *input) Read(p []byte) (int, error) {
	n, err := in.seq.Read(p)
	in.pos += int64(n)
	return n, err
}

func (in *input) ReadByte() (byte, error) {
	b, err := in.seq.ReadByte()
	if err == nil {
		in.pos++
	}
	return b, err
}

// skip passes over n bytes of the stream; fewer are io.ErrUnexpectedEOF.
func (in *input) skip(n int64) error {
	for n > 0 {
		k, err := in.seq.Discard(int(min(n, 1<<30)))
		in.pos += int64(k)
		n -= int64(k)
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
	}
	return nil
}

// section returns a buffered reader of the file from off on.
func (in *input) section(off int64) *section {
	s := &section{off: off, size: in.size}
	s.br = bufio.NewReaderSize(io.NewSectionReader(in.at, off, in.size-off), 64<<10)
	return s
}

// section reads a file from some place on, and knows where it is.
type section struct {
	br        *bufio.Reader
	off, size int64
}

func (s *section) Read(p []byte) (int, error) {
	n, err := s.br.Read(p)
	s.off += int64(n)
	return n, err
}

func (s *section) ReadByte() (byte, error) {
	b, err := s.br.ReadByte()
	if err == nil {
		s.off++
	}
	return b, err
}

// entryReader is the data of one entry for the caller: it watches ctx and names the entry in errors.
type entryReader struct {
	ctx    context.Context
	e      *Entry
	r      io.Reader
	finish func() error // checks the end of the data
	close  func() error
	err    error
}

func (r *entryReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if err := r.ctx.Err(); err != nil {
		r.err = err
		return 0, err
	}
	n, err := r.r.Read(p)
	if err == io.EOF && r.finish != nil {
		if ferr := r.finish(); ferr != nil {
			err = ferr
		}
	}
	if err != nil {
		if err != io.EOF {
			err = fmt.Errorf("read data of entry %s: %w", r.e, err)
		}
		r.err = err
	}
	return n, err
}

func (r *entryReader) Close() error {
	if r.close == nil {
		return nil
	}
	c := r.close
	r.close = nil
	if r.err == nil || r.err == io.EOF {
		r.err = fs.ErrClosed
	}
	return c()
}

// tocOf is the part that all readers share.
type tocOf struct {
	header  Header
	entries []*Entry
	byID    map[ID]*Entry
}

func (t *tocOf) Header() Header    { return t.header }
func (t *tocOf) Entries() []*Entry { return t.entries }

func (t *tocOf) index() {
	t.byID = make(map[ID]*Entry, len(t.entries))
	for _, e := range t.entries {
		t.byID[e.ID] = e
	}
}

// dataEntry finds the entry whose data are asked for.
func (t *tocOf) dataEntry(id ID, largeObjects bool) (*Entry, error) {
	e := t.byID[id]
	switch {
	case e == nil:
		return nil, fmt.Errorf("could not find entry for ID %d", id)
	case !e.HasData:
		return nil, fmt.Errorf("read data of entry %s: it has no data", e)
	case e.isLargeObjects() != largeObjects:
		return nil, fmt.Errorf("read data of entry %s: large objects belong to entries of kind %s, others do not", e, descBlobs)
	}
	return e, nil
}

// missing returns an error about the first entry whose data are not among those seen in a stream.
func (t *tocOf) missing(seen map[ID]bool) error {
	for _, e := range t.entries {
		if e.HasData && !seen[e.ID] {
			return fmt.Errorf("archive ends before the data of entry %s: %w", e, io.ErrUnexpectedEOF)
		}
	}
	return nil
}

// checkAttachmentName refuses names that would be something else in one of the formats.
func checkAttachmentName(name string) error {
	bad := name == "" || len(name) > 99 || name == tocName || name == scriptName || name[0] == '.' ||
		isDataName(name)
	for i := 0; i < len(name) && !bad; i++ {
		c := name[i]
		bad = !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_')
	}
	if bad {
		return fmt.Errorf("attach: \"%s\" is not a name for an attachment", name)
	}
	return nil
}

// Names of members of directory and tar archives.
const (
	tocName    = "toc.dat"
	scriptName = "restore.sql"
	blobsName  = "blobs.toc" // the list of large objects before 1.16
)
