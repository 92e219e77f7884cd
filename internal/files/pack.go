package files

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Sink takes the objects of a backup; a repo.Writer is one.
type Sink interface {
	// Create starts an object, which is there when it was closed. If the writer has a method Abort, that ends
	// it without an object.
	Create(name string) (io.WriteCloser, error)
	Put(name string, data []byte) error
}

// Source gives them back; a repo.Snapshot is one.
type Source interface {
	OpenFile(name string) (io.ReadCloser, error)
}

// packBytes is how large a pack of several files becomes.
const packBytes = 64 << 20

// smallFile is the largest file that goes into a pack with others, and is held in memory on the way.
var smallFile int64 = 8 << 20

const patience = 20 * time.Second

// packName returns the name of pack n, counted from 1.
func packName(n int) string { return fmt.Sprintf("storage_%05d.tar", n) }

func isPack(name string) bool {
	n, ok := strings.CutPrefix(name, "storage_")
	n, tar := strings.CutSuffix(n, ".tar")
	return ok && tar && n != "" && strings.Trim(n, "0123456789") == ""
}

// pathOf returns the name of a file in its pack: bucket and key, in which what a tar program might stumble over is written as %XX:
// control characters, backslashes, percent signs, and names that are empty or consist of dots.
func pathOf(bucket, key string) string {
	var b strings.Builder
	for i, name := range strings.Split(bucket+"/"+key, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		switch name {
		case "":
			b.WriteString("%00") // no key has a zero byte
			continue
		case ".", "..":
			b.WriteString(strings.ReplaceAll(name, ".", "%2E"))
			continue
		}
		for i := range len(name) {
			if c := name[i]; c < ' ' || c == 0x7f || c == '\\' || c == '%' {
				fmt.Fprintf(&b, "%%%02X", c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// pack is a pack that is being written.
type pack struct {
	name  string
	w     io.WriteCloser
	tar   *tar.Writer
	bytes int64
}

func newPack(dst Sink, name string) (*pack, error) {
	w, err := dst.Create(name)
	if err != nil {
		return nil, err
	}
	return &pack{name: name, w: w, tar: tar.NewWriter(w)}, nil
}

// add writes a file into the pack and says in f where it is.
func (p *pack) add(f *File, body io.Reader) error {
	f.Pack, f.Path = p.name, pathOf(f.Bucket, f.Key)
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Size: f.Bytes, Mode: 0o600, ModTime: f.Modified.Truncate(time.Second)}
	if err := p.tar.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(p.tar, body)
	if err == nil && n != f.Bytes {
		err = io.ErrUnexpectedEOF
	}
	p.bytes += n
	return err
}

func (p *pack) close() error {
	if err := p.tar.Close(); err != nil {
		return errors.Join(err, p.abort())
	}
	return p.w.Close()
}

// abort gives the pack up. What it cannot take back is removed with the backup.
func (p *pack) abort() error {
	if a, ok := p.w.(interface{ Abort() error }); ok {
		return a.Abort()
	}
	return nil
}

// readPack calls f for each file of a pack.
func readPack(src Source, name string, f func(path string, size int64, body io.Reader) error) error {
	r, err := src.OpenFile(name)
	if err != nil {
		return err
	}
	defer r.Close()
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg {
			return fmt.Errorf("read %s: %q is no file", name, h.Name)
		}
		if err := f(h.Name, h.Size, t); err != nil {
			return err
		}
	}
	// The object's hash is compared at its end.
	_, err = io.Copy(io.Discard, r)
	return err
}
