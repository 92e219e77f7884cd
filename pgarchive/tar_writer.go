package pgarchive

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
)

// tarWriter writes a tar archive: toc.dat, the data as members in the order of the
// entries, and restore.sql. A member's size stands before it, so data that do
// not fit a small buffer wait in a temporary file.
type tarWriter struct {
	contents
	out    io.Writer
	buf    *bufio.Writer
	script *ScriptOptions
	mtime  int64
}

var _ Writer = (*tarWriter)(nil)

// NewTarWriter writes a tar archive into w. Data must come in the order of the entries.
func NewTarWriter(w io.Writer, o WriterOptions) (Writer, error) {
	if o.Header.Compression.Method != codec.None {
		return nil, errTarCompressed
	}
	t := &tarWriter{out: w, buf: bufio.NewWriterSize(w, 256<<10), script: o.Script, mtime: time.Now().Unix()}
	t.contents.init(o.Header, FormatTar, t.Properties())
	return t, nil
}

func (t *tarWriter) Properties() Properties { return Properties{Ordered: true} }

func (t *tarWriter) Add(e *Entry) error { return t.add(e) }

// freeze writes toc.dat. The caller holds mu.
func (t *tarWriter) freeze() error {
	if t.frozen {
		return t.err
	}
	t.fix()
	for _, e := range t.entries {
		e.offset = offset{}
		e.Filename = ""
		if e.HasData {
			e.Filename = fmt.Sprintf("%d.dat", e.ID)
		}
	}
	s := newSpool()
	w := &wireWriter{w: bufio.NewWriterSize(s, 64<<10)}
	writeHeader(w, &t.header)
	writeTOC(w, &t.header, t.entries)
	err := w.err
	if err == nil {
		err = w.w.(*bufio.Writer).Flush()
	}
	if err == nil {
		err = t.member(tocName, s)
	}
	s.remove()
	if err != nil {
		t.err = fmt.Errorf("write table of contents: %w", err)
	}
	return t.err
}

// member writes a member.
func (t *tarWriter) member(name string, s *spool) error {
	size := s.size
	h, err := tarHeader(name, size, t.mtime)
	if err != nil {
		return err
	}
	if _, err := t.buf.Write(h[:]); err != nil {
		return fmt.Errorf("could not write to output file: %w", cause(err))
	}
	if err := s.copyTo(t.buf); err != nil {
		return err
	}
	if _, err := t.buf.Write(make([]byte, padding(size))); err != nil {
		return fmt.Errorf("could not write to output file: %w", cause(err))
	}
	return nil
}

// tarMemberWriter spools a member and writes it at Close.
type tarMemberWriter struct {
	t    *tarWriter
	name string
	s    *spool
}

func (m *tarMemberWriter) Write(p []byte) (int, error) { return m.s.Write(p) }

func (m *tarMemberWriter) Close() error {
	defer m.s.remove()
	if m.s.err != nil {
		return m.s.err
	}
	return m.t.member(m.name, m.s)
}

func (t *tarWriter) Data(id ID) (io.WriteCloser, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.freeze(); err != nil {
		return nil, err
	}
	e, err := t.begin(id, false)
	if err != nil {
		return nil, err
	}
	return &entryWriter{w: &tarMemberWriter{t, e.Filename, newSpool()}, e: e, c: &t.contents}, nil
}

// LargeObjects writes the large objects as members and then their list, as pg_dump does.
func (t *tarWriter) LargeObjects(id ID) (LargeObjectWriter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.freeze(); err != nil {
		return nil, err
	}
	e, err := t.begin(id, true)
	if err != nil {
		return nil, err
	}
	name := blobsName
	if t.header.Version >= V1_16 {
		name = fmt.Sprintf("blobs_%d.toc", id)
	}
	list := &tarMemberWriter{t, name, newSpool()}
	return &largeObjectWriter{e: e, c: &t.contents,
		create: func(oid uint32) (io.WriteCloser, error) {
			name := fmt.Sprintf("blob_%d.dat", oid)
			if _, err := fmt.Fprintf(list, "%d %s\n", oid, name); err != nil {
				return nil, err
			}
			return &tarMemberWriter{t, name, newSpool()}, nil
		},
		finish: list.Close,
	}, nil
}

func (t *tarWriter) Attach(name string, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.freeze(); err != nil {
		return err
	}
	if err := t.attach(name); err != nil {
		return err
	}
	if err := t.complete(); err != nil {
		t.err = err
		return err
	}
	if len(t.attachments) == 1 {
		if t.err = t.writeScript(); t.err != nil {
			return t.err
		}
	}
	s := newSpool()
	defer s.remove()
	s.Write(data) // keeps its error
	if err := t.member(name, s); err != nil {
		t.err = fmt.Errorf("attach %s: %w", name, err)
	}
	return t.err
}

// scriptNote explains restore.sql to its reader.
const scriptNote = `--
-- NOTE:
--
-- File paths need to be edited. Search for $$PATH$$ and
-- replace it with the path to the directory containing
-- the extracted data files.
--
`

// writeScript writes restore.sql, with which the archive can be restored by psql alone.
func (t *tarWriter) writeScript() error {
	o := NewScriptOptions()
	if t.script != nil {
		*o = *t.script
	}
	o.Clean, o.Superuser, o.Verbose = true, "", false
	o.NoRestrict, o.RestrictKey = true, ""
	o.SingleTransaction, o.TransactionSize, o.TargetVersion = false, 0, 0
	o.StrictNames = false
	o.Warn, o.Info = nil, nil
	file := newSpool()
	defer file.remove()
	io.WriteString(file, scriptNote)
	s, err := newScript(file, t.header, t.entries, o)
	if err == nil {
		s.byFile = true
		if err = s.begin(); err == nil {
			err = s.end()
		}
	}
	if err == nil {
		err = t.member(scriptName, file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", scriptName, err)
	}
	return nil
}

func (t *tarWriter) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.err
	}
	err := t.freeze()
	t.closed = true
	if err == nil {
		err = t.complete()
	}
	if err == nil && len(t.attachments) == 0 {
		err = t.writeScript()
	}
	if err == nil {
		t.buf.Write(make([]byte, 2*tarBlock))
		if err = t.buf.Flush(); err != nil {
			err = fmt.Errorf("could not write to output file: %w", cause(err))
		}
	}
	t.err = finish(t.out, err)
	return t.err
}

func (t *tarWriter) Abort() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	return abort(t.out)
}

// spool holds bytes until their number is known: a few in memory, more in a temporary file without a name.
type spool struct {
	folder string // of the file, "" is the system's
	mem    bytes.Buffer
	file   *os.File
	buf    *bufio.Writer
	size   int64
	err    error
}

// spoolMemory is how much of a member stays in memory.
const spoolMemory = 1 << 20

func newSpool() *spool { return new(spool) }

func newSpoolIn(folder string) *spool { return &spool{folder: folder} }

func (s *spool) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.file == nil && s.mem.Len()+len(p) > spoolMemory {
		if s.err = s.toFile(); s.err != nil {
			return 0, s.err
		}
	}
	var n int
	if s.file == nil {
		n, _ = s.mem.Write(p)
	} else if n, s.err = s.buf.Write(p); s.err != nil {
		s.err = fmt.Errorf("write temporary file: %w", cause(s.err))
	}
	s.size += int64(n)
	return n, s.err
}

func (s *spool) toFile() error {
	f, err := os.CreateTemp(s.folder, ".pghaul-*")
	if err != nil {
		return fmt.Errorf("could not generate temporary file name: %w", cause(err))
	}
	s.file = f
	unlink(f)
	s.buf = bufio.NewWriterSize(f, 256<<10)
	if _, err := s.buf.Write(s.mem.Bytes()); err != nil {
		return fmt.Errorf("write temporary file: %w", cause(err))
	}
	s.mem = bytes.Buffer{}
	return nil
}

// copyTo writes what was spooled.
func (s *spool) copyTo(w io.Writer) error {
	if s.err != nil {
		return s.err
	}
	if s.file == nil {
		if _, err := w.Write(s.mem.Bytes()); err != nil {
			return fmt.Errorf("could not write to output file: %w", cause(err))
		}
		return nil
	}
	if err := s.buf.Flush(); err != nil {
		return fmt.Errorf("write temporary file: %w", cause(err))
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("error during file seek: %w", cause(err))
	}
	buf := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buf)
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{s.file}, buf[:])
	if err != nil {
		return fmt.Errorf("copy temporary file: %w", cause(err))
	}
	if n != s.size {
		return fmt.Errorf("actual file length (%d) does not match expected (%d)", n, s.size)
	}
	return nil
}

func (s *spool) remove() {
	if s.file != nil {
		s.file.Close()
		removeUnlinked(s.file)
		s.file = nil
	}
	s.mem = bytes.Buffer{}
}
