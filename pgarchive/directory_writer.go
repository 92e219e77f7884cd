package pgarchive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/pghaul/pghaul/internal/codec"
)

// A Dir is where a directory archive is written: a folder, or something that keeps named
// objects. If it has methods Commit and Abort (both returning an error), they are called at
// the end, and when the archive is thrown away.
type Dir interface {
	// Create starts a file; it need not appear before its Close. toc.dat is
	// created last, and no archive is complete without it.
	// Several files may be open at a time. A file that has a method Abort (returning an
	// error) gets that instead of Close if its data are not complete.
	Create(name string) (io.WriteCloser, error)
}

// directoryWriter writes a directory archive: a file per entry with data, and toc.dat.
type directoryWriter struct {
	contents
	dir Dir
}

var _ Writer = (*directoryWriter)(nil)

// NewDirectoryWriter writes a directory archive into dir. Data of several entries may be written at the same time.
func NewDirectoryWriter(dir Dir, o WriterOptions) (Writer, error) {
	if err := o.Header.Compression.Validate(); err != nil {
		return nil, fmt.Errorf("create archive: %w", err)
	}
	d := &directoryWriter{dir: dir}
	d.contents.init(o.Header, FormatDirectory, d.Properties())
	return d, nil
}

func (d *directoryWriter) Properties() Properties { return Properties{ConcurrentData: true} }

func (d *directoryWriter) Add(e *Entry) error { return d.add(e) }

// freeze names the files. The caller holds mu.
func (d *directoryWriter) freeze() error {
	if d.frozen {
		return d.err
	}
	d.fix()
	for _, e := range d.entries {
		e.offset = offset{}
		switch {
		case !e.HasData:
			e.Filename = ""
		case !e.isLargeObjects():
			e.Filename = fmt.Sprintf("%d.dat", e.ID)
		case d.header.Version >= V1_16:
			e.Filename = fmt.Sprintf("blobs_%d.toc", e.ID)
		default:
			e.Filename = blobsName
		}
	}
	return nil
}

func (d *directoryWriter) Data(id ID) (io.WriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.freeze(); err != nil {
		return nil, err
	}
	e, err := d.begin(id, false)
	if err != nil {
		return nil, err
	}
	w, err := d.file(e.Filename)
	if err != nil {
		d.err = fmt.Errorf("write data of entry %s: %w", e, err)
		return nil, d.err
	}
	return &entryWriter{w: w, e: e, c: &d.contents}, nil
}

// Adopt takes the data of an entry for written: they are in the folder already, from an earlier time at which
// the same archive was begun. The writers that NewDirectoryWriter returns have this method; ask for it by an interface.
func (d *directoryWriter) Adopt(id ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.freeze(); err != nil {
		return err
	}
	if _, err := d.begin(id, false); err != nil {
		return err
	}
	d.streams--
	d.open = nil
	d.state[id] = dataDone
	return nil
}

func (d *directoryWriter) LargeObjects(id ID) (LargeObjectWriter, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.freeze(); err != nil {
		return nil, err
	}
	e, err := d.begin(id, true)
	if err != nil {
		return nil, err
	}
	list, err := d.create(e.Filename)
	if err != nil {
		d.err = fmt.Errorf("write data of entry %s: %w", e, err)
		return nil, d.err
	}
	return &largeObjectWriter{e: e, c: &d.contents,
		create: func(oid uint32) (io.WriteCloser, error) {
			name := fmt.Sprintf("blob_%d.dat", oid)
			if _, err := fmt.Fprintf(list, "%d %s\n", oid, name); err != nil {
				return nil, err
			}
			return d.file(name)
		},
		finish: list.Close,
	}, nil
}

// create starts a file and buffers it.
func (d *directoryWriter) create(name string) (*dirFile, error) {
	w, err := d.dir.Create(name)
	if err != nil {
		return nil, err
	}
	f := &dirFile{w: w, buf: fileBuffers.Get().(*bufio.Writer)}
	f.buf.Reset(w)
	return f, nil
}

var fileBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 256<<10) }}

// dirFile is a buffered file.
type dirFile struct {
	w   io.WriteCloser
	buf *bufio.Writer
}

func (f *dirFile) Write(p []byte) (int, error) { return f.buf.Write(p) }

func (f *dirFile) Close() error {
	err := f.buf.Flush()
	f.buf.Reset(nil)
	fileBuffers.Put(f.buf)
	f.buf = nil
	if err != nil {
		f.abort()
		return cause(err)
	}
	return f.w.Close()
}

func (f *dirFile) abort() {
	if a, ok := f.w.(interface{ Abort() error }); ok {
		a.Abort()
	} else {
		f.w.Close()
	}
}

// file starts a data file, compressed.
func (d *directoryWriter) file(name string) (io.WriteCloser, error) {
	f, err := d.create(name + d.header.Compression.Method.Suffix())
	if err != nil {
		return nil, err
	}
	z, err := codec.NewWriter(f, d.header.Compression)
	if err != nil {
		f.abort()
		return nil, err
	}
	return &compressedFile{z: z, f: f}, nil
}

type compressedFile struct {
	z   io.WriteCloser
	f   *dirFile
	err error
}

func (c *compressedFile) Write(p []byte) (int, error) {
	n, err := c.z.Write(p)
	if err != nil {
		c.err = cause(err)
		err = c.err
	}
	return n, err
}

func (c *compressedFile) Close() error {
	err := c.z.Close()
	if c.err == nil {
		c.err = err
	}
	if c.err != nil {
		c.f.abort()
		return cause(c.err)
	}
	return c.f.Close()
}

// Attach writes a file of that name.
func (d *directoryWriter) Attach(name string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.freeze(); err != nil {
		return err
	}
	if err := d.attach(name); err != nil {
		return err
	}
	f, err := d.create(name)
	if err == nil {
		f.Write(data) // the buffer keeps the error
		err = f.Close()
	}
	if err != nil {
		d.err = fmt.Errorf("attach %s: %w", name, err)
	}
	return d.err
}

func (d *directoryWriter) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.err
	}
	err := d.freeze()
	d.closed = true
	if err == nil {
		err = d.complete()
	}
	if err == nil {
		err = d.writeTOC()
	}
	d.err = finish(d.dir, err)
	return d.err
}

func (d *directoryWriter) writeTOC() error {
	f, err := d.create(tocName)
	if err != nil {
		return fmt.Errorf("write table of contents: %w", err)
	}
	w := &wireWriter{w: f.buf}
	writeHeader(w, &d.header)
	writeTOC(w, &d.header, d.entries)
	if w.err != nil {
		f.abort()
		return fmt.Errorf("write table of contents: %w", w.err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write table of contents: %w", err)
	}
	return nil
}

func (d *directoryWriter) Abort() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return abort(d.dir)
}

// folder is a Dir on the local disk.
type folder struct {
	path string
	sync bool
	made bool // by us

	mu    sync.Mutex
	names []string // of the files we made
}

var _ Dir = (*folder)(nil)

// createDir makes the folder of an archive, or takes one that is empty (create_or_open_dir).
func createDir(path string, sync bool) (*folder, error) {
	if path == "" {
		return nil, errors.New("no output directory specified")
	}
	f := &folder{path: path, sync: sync}
	names, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, fmt.Errorf("could not create directory \"%s\": %w", path, cause(err))
		}
		f.made = true
	case err != nil:
		return nil, fmt.Errorf("could not open directory \"%s\": %w", path, cause(err))
	case len(names) > 0:
		return nil, fmt.Errorf("directory \"%s\" is not empty", path)
	default:
		if err := os.Chmod(path, 0o700); err != nil {
			return nil, fmt.Errorf("could not change permissions of directory \"%s\": %w", path, cause(err))
		}
	}
	return f, nil
}

func (f *folder) Create(name string) (io.WriteCloser, error) {
	final := filepath.Join(f.path, name)
	tmp := final
	if name == tocName {
		tmp = filepath.Join(f.path, "."+name+".partial")
	}
	file, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("could not open output file \"%s\": %w", final, cause(err))
	}
	f.mu.Lock()
	f.names = append(f.names, tmp)
	f.mu.Unlock()
	return &folderFile{File: file, folder: f, final: final}, nil
}

type folderFile struct {
	*os.File
	folder *folder
	final  string
}

func (f *folderFile) Close() error {
	if f.folder.sync {
		if err := f.Sync(); err != nil {
			f.File.Close()
			return fmt.Errorf("could not fsync file \"%s\": %w", f.final, cause(err))
		}
	}
	if err := f.File.Close(); err != nil {
		return fmt.Errorf("could not close data file \"%s\": %w", f.final, cause(err))
	}
	if f.Name() == f.final {
		return nil
	}
	if f.folder.sync { // the data files' names first
		if err := syncDir(f.folder.path); err != nil {
			return err
		}
	}
	if err := os.Rename(f.Name(), f.final); err != nil {
		return fmt.Errorf("could not rename file to \"%s\": %w", f.final, cause(err))
	}
	return nil
}

// Abort removes the file, so that another of its name can be created.
func (f *folderFile) Abort() error {
	err := f.File.Close()
	if rerr := os.Remove(f.Name()); err == nil {
		err = rerr
	}
	return err
}

func (f *folder) Commit() error {
	if !f.sync {
		return nil
	}
	if err := syncDir(f.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.path))
}

func (f *folder) Abort() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first error
	for _, n := range f.names {
		if err := os.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) && first == nil {
			first = err
		}
	}
	if f.made {
		if err := os.Remove(f.path); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// isDataName reports whether a directory or tar archive may use the name for data.
func isDataName(name string) bool {
	if strings.HasPrefix(name, "blob_") || strings.HasPrefix(name, "blobs") || strings.HasPrefix(name, tocName) {
		return true
	}
	digits, _, ok := strings.Cut(name, ".dat")
	if !ok {
		return false
	}
	_, err := strconv.Atoi(digits)
	return err == nil
}
