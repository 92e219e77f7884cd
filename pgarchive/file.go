package pgarchive

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outFile is an output file. A regular file is written under another name in the
// same folder and gets its own when it is complete; anything else is written directly.
type outFile struct {
	*os.File
	final string // the name to get, "" if there is none
	sync  bool
	done  bool
}

// createFile opens the output at path; "" and "-" are the standard output.
func createFile(path string, sync bool) (*outFile, error) {
	if path == "" || path == "-" {
		return &outFile{File: os.Stdout}, nil
	}
	fail := func(err error) (*outFile, error) {
		return nil, fmt.Errorf("could not open output file \"%s\": %w", path, cause(err))
	}
	final := path
	if st, err := os.Stat(path); err == nil {
		if st.IsDir() {
			return fail(errors.New("is a directory"))
		}
		if !st.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return fail(err)
			}
			return &outFile{File: f}, nil
		}
		// Write through a link, and only where the file itself could be written.
		if final, err = filepath.EvalSymlinks(path); err != nil {
			return fail(err)
		}
		f, err := os.OpenFile(final, os.O_WRONLY, 0)
		if err != nil {
			return fail(err)
		}
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	f, err := createTemp(final)
	if err != nil {
		return fail(err)
	}
	return &outFile{File: f, final: final, sync: sync}, nil
}

// createTemp creates a file beside path, readable as the umask allows.
func createTemp(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for range 100 {
		var b [6]byte
		rand.Read(b[:])
		name := filepath.Join(dir, "."+base+"."+hex.EncodeToString(b[:])+".partial")
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fs.ErrExist
}

// seekable reports whether the file can be written at any place, and where it stands.
func (f *outFile) seekable() (pos int64, ok bool) {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || appends(f.File) {
		return 0, false
	}
	pos, err = f.Seek(0, io.SeekCurrent)
	return pos, err == nil
}

// Commit syncs and closes the file and gives it its name.
func (f *outFile) Commit() error {
	if f.done {
		return nil
	}
	f.done = true
	if f.File == os.Stdout {
		return nil
	}
	fail := func(err error) error {
		f.File.Close()
		f.remove()
		return fmt.Errorf("could not close archive file: %w", cause(err))
	}
	if f.sync {
		if err := f.Sync(); err != nil {
			return fail(err)
		}
	}
	if err := f.File.Close(); err != nil {
		return fail(err)
	}
	if f.final == "" {
		return nil
	}
	if err := os.Rename(f.Name(), f.final); err != nil {
		f.remove()
		return fmt.Errorf("could not rename archive file to \"%s\": %w", f.final, cause(err))
	}
	if f.sync {
		return syncDir(filepath.Dir(f.final))
	}
	return nil
}

// Abort throws the file away.
func (f *outFile) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	if f.File == os.Stdout {
		return nil
	}
	f.File.Close()
	return f.remove()
}

func (f *outFile) remove() error {
	if f.final == "" {
		return nil
	}
	return os.Remove(f.Name())
}

// syncDir makes the names in a folder durable. Not every file system can do that, which is no error.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
		return fmt.Errorf("could not fsync file \"%s\": %w", path, cause(err))
	}
	return nil
}

// finish commits the output if there was no error, else throws it away and returns the error.
func finish(out any, err error) error {
	f, ok := out.(finisher)
	switch {
	case !ok:
		return err
	case err != nil:
		f.Abort()
		return err
	}
	return f.Commit()
}

func abort(out any) error {
	if f, ok := out.(finisher); ok {
		return f.Abort()
	}
	return nil
}
