package pgarchive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/codec"
)

// directoryReader reads a directory archive.
type directoryReader struct {
	tocOf
	files fs.FS
	path  string // for messages
	close io.Closer
}

var _ Reader = (*directoryReader)(nil)

// openDirectory opens the archive in a folder. No file outside it is read, whatever names the archive holds.
func openDirectory(path string) (Reader, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("could not open directory \"%s\": %w", path, cause(err))
	}
	r, err := newDirectoryReader(root.FS(), path)
	if err != nil {
		root.Close()
		return nil, err
	}
	r.close = root
	return r, nil
}

// NewDirectoryReader reads the directory archive in files; path names it in messages.
func NewDirectoryReader(files fs.FS, path string) (Reader, error) {
	return newDirectoryReader(files, path)
}

func newDirectoryReader(files fs.FS, path string) (*directoryReader, error) {
	d := &directoryReader{files: files, path: path}
	f, err := d.open(tocName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("directory \"%s\" does not appear to be a valid archive (\"toc.dat\" does not exist)", path)
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	fail := func(err error) (*directoryReader, error) {
		return nil, fmt.Errorf("read \"%s\": %w", f.name, err)
	}
	w := &wireReader{r: bufio.NewReaderSize(f, 64<<10), left: f.size}
	if d.header, err = readHeader(w, FormatDirectory); err != nil {
		return fail(err)
	}
	if d.entries, err = readTOC(w, &d.header); err != nil {
		return fail(err)
	}
	if _, err := w.r.ReadByte(); err == nil {
		return fail(errors.New("bytes after the table of contents"))
	} else if err != io.EOF {
		return fail(err)
	}
	d.index()
	for _, e := range d.entries {
		if e.HasData {
			d.measure(e)
		}
	}
	return d, nil
}

// measure finds the stored size of an entry's data; that files are missing is said when they are read.
func (d *directoryReader) measure(e *Entry) {
	if checkMemberName(e.Filename) != nil {
		return
	}
	for _, suffix := range []string{"", ".gz", ".lz4", ".zst"} {
		if st, err := fs.Stat(d.files, e.Filename+suffix); err == nil {
			e.DataBytes = st.Size()
			if e.isLargeObjects() {
				e.DataBytes *= 1024 // the list stands for much more
			}
			return
		}
	}
}

// checkMemberName refuses file names that lead out of the archive.
func checkMemberName(name string) error {
	switch {
	case name == "":
		return errors.New("no file name")
	case name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00"):
		return fmt.Errorf("file name \"%s\" leaves the archive", name)
	}
	return nil
}

// memberFile is a file of the archive, decompressed.
type memberFile struct {
	io.ReadCloser
	file   fs.File
	name   string
	method codec.Method
	stored int64 // size of the file
	size   int64 // of what is read, -1 if not known
}

func (f *memberFile) Close() error {
	f.ReadCloser.Close()
	return f.file.Close()
}

// open opens the file of that name, or the compressed one beside it (InitDiscoverCompressFileHandle).
func (d *directoryReader) open(name string) (*memberFile, error) {
	if err := checkMemberName(name); err != nil {
		return nil, err
	}
	method := codec.MethodOfName(name)
	f, err := d.files.Open(name)
	for _, m := range []codec.Method{codec.Gzip, codec.LZ4, codec.Zstd} {
		if !errors.Is(err, fs.ErrNotExist) || method != codec.None {
			break
		}
		var zerr error
		if f, zerr = d.files.Open(name + m.Suffix()); !errors.Is(zerr, fs.ErrNotExist) {
			name, err = name+m.Suffix(), zerr
			method = m
			break
		}
	}
	full := filepath.Join(d.path, name)
	if err != nil {
		return nil, fmt.Errorf("could not open input file \"%s\": %w", full, cause(err))
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("could not open input file \"%s\": %w", full, cause(err))
	}
	z, err := codec.NewReader(f, method)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("\"%s\": %w", full, err)
	}
	m := &memberFile{ReadCloser: z, file: f, name: full, method: method, stored: st.Size(), size: -1}
	if method == codec.None {
		m.size = st.Size()
	}
	return m, nil
}

func (d *directoryReader) Properties() Properties { return Properties{ConcurrentData: true} }
func (d *directoryReader) Sequential() bool       { return false }

func (d *directoryReader) NextData(context.Context) (ID, error) { return 0, errNotSequential }

// memberReader names the file in errors.
type memberReader struct {
	r    io.Reader
	name string
}

func (m memberReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("\"%s\": %w", m.name, cause(err))
	}
	return n, err
}

func (d *directoryReader) Data(ctx context.Context, id ID) (io.ReadCloser, error) {
	e, err := d.dataEntry(id, false)
	if err != nil {
		return nil, err
	}
	f, err := d.open(e.Filename)
	if err != nil {
		return nil, fmt.Errorf("read data of entry %s: %w", e, err)
	}
	r := io.Reader(f)
	if f.stored == 0 || f.method == codec.None {
		r = checkEnd(e, r)
	}
	return &entryReader{ctx: ctx, e: e, r: memberReader{r, f.name}, close: f.Close}, nil
}

func (d *directoryReader) LargeObjects(ctx context.Context, id ID) (LargeObjectReader, error) {
	e, err := d.dataEntry(id, true)
	if err != nil {
		return nil, err
	}
	name := e.Filename
	if d.header.Version < V1_16 {
		name = blobsName
	}
	f, err := d.open(name)
	if err != nil {
		return nil, fmt.Errorf("could not open large object TOC file for input: %w", err)
	}
	return &listedLOs{ctx: ctx, e: e, list: bufio.NewReader(memberReader{f, f.name}), name: f.name, closeList: f.Close,
		open: func(name string) (io.Reader, func() error, error) {
			f, err := d.open(name)
			if err != nil {
				return nil, nil, err
			}
			return memberReader{f, f.name}, f.Close, nil
		}}, nil
}

// listedLOs are large objects whose files stand in a list.
type listedLOs struct {
	ctx       context.Context
	e         *Entry
	list      *bufio.Reader
	name      string // of the list
	open      func(name string) (io.Reader, func() error, error)
	closeList func() error
	cur       *entryReader
	err       error
}

func (l *listedLOs) Next() (uint32, io.Reader, error) {
	if l.err == nil {
		l.err = l.ctx.Err()
	}
	if l.err != nil {
		return 0, nil, l.err
	}
	if l.cur != nil {
		l.cur.Close()
		l.cur = nil
	}
	oid, name, err := readListLine(l.list)
	if err != nil {
		l.err = err
		if err != io.EOF {
			l.err = fmt.Errorf("read large object TOC file \"%s\": %w", l.name, err)
		}
		return 0, nil, l.err
	}
	r, close, err := l.open(name)
	if err != nil {
		l.err = fmt.Errorf("read large object %d of entry %s: %w", oid, l.e, err)
		return 0, nil, l.err
	}
	l.cur = &entryReader{ctx: l.ctx, e: l.e, r: r, close: close}
	return oid, l.cur, nil
}

func (l *listedLOs) Close() error {
	if l.cur != nil {
		l.cur.Close()
		l.cur = nil
	}
	if l.closeList == nil {
		return nil
	}
	c := l.closeList
	l.closeList = nil
	return c()
}

// readListLine reads a line "OID filename" of a list of large objects.
func readListLine(r *bufio.Reader) (oid uint32, name string, err error) {
	line, err := r.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return 0, "", io.EOF
	case err == bufio.ErrBufferFull:
		return 0, "", errors.New("line too long")
	case err != nil && err != io.EOF:
		return 0, "", err
	}
	text := strings.TrimSuffix(string(line), "\n")
	num, name, ok := strings.Cut(text, " ")
	v, nerr := strconv.ParseUint(num, 10, 32)
	if !ok || nerr != nil || v == 0 {
		return 0, "", fmt.Errorf("invalid line in large object TOC file: \"%.80s\"", text)
	}
	if err := checkMemberName(name); err != nil {
		return 0, "", err
	}
	return uint32(v), name, nil
}

func (d *directoryReader) Attachment(name string) ([]byte, error) {
	if err := checkAttachmentName(name); err != nil {
		return nil, err
	}
	f, err := d.files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNoAttachment)
	} else if err != nil {
		return nil, fmt.Errorf("read attachment \"%s\": %w", filepath.Join(d.path, name), cause(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxAttachment))
	if err != nil {
		return nil, fmt.Errorf("read attachment \"%s\": %w", filepath.Join(d.path, name), cause(err))
	}
	return b, nil
}

func (d *directoryReader) Close() error {
	if d.close == nil {
		return nil
	}
	return d.close.Close()
}
