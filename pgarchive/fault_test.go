package pgarchive_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/pgarchive"
)

var errFull = errors.New("no space left on device")

// fullWriter fails after some bytes.
type fullWriter struct{ left int }

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// fullDir is a folder that fails after some bytes.
type fullDir struct {
	w         *fullWriter
	toc       bool // was completed
	committed bool
	aborted   bool
}

type fullFile struct {
	*fullWriter
	d    *fullDir
	name string
}

func (f fullFile) Close() error {
	if f.name == "toc.dat" {
		f.d.toc = true
	}
	return nil
}
func (f fullFile) Abort() error { return nil }

func (d *fullDir) Create(name string) (io.WriteCloser, error) { return fullFile{d.w, d, name}, nil }
func (d *fullDir) Commit() error                              { d.committed = true; return nil }
func (d *fullDir) Abort() error                               { d.aborted = true; return nil }

// A writer that fails at any byte makes the archive fail.
func TestFullDisk(t *testing.T) {
	for _, tg := range streamTargets {
		t.Run(tg.String(), func(t *testing.T) {
			size := len(makeSmall(t, tg))
			for n := 0; n < size; n += stride * (1 + size/1000) {
				newWriter := pgarchive.NewCustomWriter
				if tg.format == pgarchive.FormatTar {
					newWriter = pgarchive.NewTarWriter
				}
				c := small()
				w, err := newWriter(&fullWriter{n}, tg.options(t, c.Header))
				if err != nil {
					t.Fatal(err)
				}
				if err := c.write(w, map[string]string{"m.json": "{}"}); !errors.Is(err, errFull) {
					t.Fatalf("full after %d of %d bytes: error %v", n, size, err)
				}
			}
		})
	}
	for _, compression := range []string{"none", "gzip", "lz4", "zstd"} {
		t.Run("directory-"+compression, func(t *testing.T) {
			tg := target{pgarchive.FormatDirectory, compression}
			for n := 0; ; n += stride {
				c := small()
				d := &fullDir{w: &fullWriter{n}}
				w, err := pgarchive.NewDirectoryWriter(d, tg.options(t, c.Header))
				if err != nil {
					t.Fatal(err)
				}
				err = c.write(w, map[string]string{"m.json": "{}"})
				if err == nil && d.committed && d.toc && !d.aborted {
					return
				}
				if !errors.Is(err, errFull) || d.committed || d.toc || !d.aborted {
					t.Fatalf("full after %d bytes: error %v, committed %t, toc.dat %t, aborted %t", n, err, d.committed, d.toc, d.aborted)
				}
			}
		})
	}
	for _, compression := range []string{"none", "gzip", "lz4", "zstd"} {
		t.Run("plain-"+compression, func(t *testing.T) {
			for n := 0; ; n += 12 + stride {
				c := small()
				s := pgarchive.NewScriptOptions()
				s.RestrictKey = testKey
				w, err := pgarchive.NewPlainWriter(&fullWriter{n}, *s, target{pgarchive.FormatPlain, compression}.options(t, c.Header))
				if err != nil {
					t.Fatal(err)
				}
				err = c.write(w, nil)
				if err == nil && n > 100 {
					return
				}
				if !errors.Is(err, errFull) {
					t.Fatalf("full after %d bytes: error %v", n, err)
				}
			}
		})
	}
}

// Nothing is under the final name before Close, and nothing is left after Abort or a
// failure.
func TestFinalName(t *testing.T) {
	for _, f := range []pgarchive.Format{pgarchive.FormatCustom, pgarchive.FormatDirectory, pgarchive.FormatTar, pgarchive.FormatPlain} {
		for _, how := range []string{"abort", "incomplete", "complete"} {
			t.Run(fmt.Sprint(f, "/", how), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "x")
				final := path
				if f == pgarchive.FormatDirectory {
					final = filepath.Join(path, "toc.dat")
				}
				c := small()
				o := target{f, "none"}.options(t, c.Header)
				o.Sync = true
				w, err := pgarchive.Create(path, f, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range c.Entries {
					if err := w.Add(e); err != nil {
						t.Fatal(err)
					}
				}
				d, err := w.Data(3)
				if err != nil {
					t.Fatal(err)
				}
				io.WriteString(d, strings.Repeat("x\n", 1<<20))
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				if how == "complete" {
					l, err := w.LargeObjects(4)
					if err != nil {
						t.Fatal(err)
					}
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := os.Stat(final); err == nil {
					t.Fatal("the archive is there before it is complete")
				}
				switch how {
				case "abort":
					if err := w.Abort(); err != nil {
						t.Fatal(err)
					}
				case "incomplete":
					if err := w.Close(); err == nil || !strings.Contains(err.Error(), "the data of entry 4 (BLOBS BLOBS) were not written") {
						t.Fatalf("Close: %v", err)
					}
				case "complete":
					if err := w.Close(); err != nil {
						t.Fatal(err)
					}
					if err := w.Abort(); err != nil {
						t.Fatal(err)
					}
					if _, err := os.Stat(final); err != nil {
						t.Fatal(err)
					}
					return
				}
				if names, _ := os.ReadDir(dir); len(names) > 0 {
					t.Errorf("left over: %v", names)
				}
			})
		}
	}
}

// An archive is written over an old one, through a link, or into a device; a folder
// must be empty.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	c := small()
	o := target{pgarchive.FormatCustom, "none"}.options(t, c.Header)
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("old", link); err != nil {
		t.Fatal(err)
	}
	w, err := pgarchive.Create(link, pgarchive.FormatCustom, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, nil); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v, %v", st, err)
	}
	equal(t, c, readFile(t, old))

	if w, err = pgarchive.Create(os.DevNull, pgarchive.FormatCustom, o); err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, nil); err != nil {
		t.Fatal(err)
	}

	for _, e := range []struct {
		path   string
		format pgarchive.Format
		z      string
		want   string
	}{
		{dir, pgarchive.FormatDirectory, "none", `directory "` + dir + `" is not empty`},
		{"", pgarchive.FormatDirectory, "none", "no output directory specified"},
		{dir, pgarchive.FormatCustom, "none", `could not open output file "` + dir + `"`},
		{filepath.Join(dir, "no", "x"), pgarchive.FormatCustom, "none", `could not open output file "` + filepath.Join(dir, "no", "x") + `"`},
		{filepath.Join(dir, "no", "x"), pgarchive.FormatDirectory, "none", `could not create directory "` + filepath.Join(dir, "no", "x") + `"`},
		{filepath.Join(dir, "x"), pgarchive.FormatTar, "gzip", "compression is not supported by tar archive format"},
	} {
		if _, err := pgarchive.Create(e.path, e.format, target{e.format, e.z}.options(t, c.Header)); err == nil || !strings.Contains(err.Error(), e.want) {
			t.Errorf("Create(%q, %s): error %v; want %s", e.path, e.format, err, e.want)
		}
	}
}

// Calls in the wrong order are refused and do no harm.
func TestWriterMisuse(t *testing.T) {
	for _, f := range []pgarchive.Format{pgarchive.FormatCustom, pgarchive.FormatDirectory, pgarchive.FormatTar, pgarchive.FormatPlain} {
		t.Run(f.String(), func(t *testing.T) {
			c := small()
			path := filepath.Join(t.TempDir(), "x")
			w, err := pgarchive.Create(path, f, target{f, "none"}.options(t, c.Header))
			if err != nil {
				t.Fatal(err)
			}
			refused := func(what string, err error) {
				t.Helper()
				if err == nil {
					t.Errorf("%s: no error", what)
				}
			}
			for _, e := range c.Entries {
				if err := w.Add(e); err != nil {
					t.Fatal(err)
				}
			}
			refused("the same ID again", w.Add(c.Entries[0]))
			refused("ID 0", w.Add(&pgarchive.Entry{Section: pgarchive.SectionData}))
			refused("no section", w.Add(&pgarchive.Entry{ID: 99}))
			_, err = w.Data(99)
			refused("unknown entry", err)
			_, err = w.Data(2)
			refused("entry without data", err)
			_, err = w.Data(4)
			refused("large objects as data", err)
			_, err = w.LargeObjects(3)
			refused("data as large objects", err)
			refused("entry after data", w.Add(&pgarchive.Entry{ID: 50, Section: pgarchive.SectionData}))
			d, err := w.Data(3)
			if err != nil {
				t.Fatal(err)
			}
			if !w.Properties().ConcurrentData {
				_, err = w.LargeObjects(4)
				refused("two at a time", err)
			}
			io.WriteString(d, c.Data[3])
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = w.Data(3)
			refused("data twice", err)
			for _, name := range []string{"", "toc.dat", "3.dat", "../x", "blobs.toc", "restore.sql", ".hidden"} {
				refused("attachment "+name, w.Attach(name, nil))
			}
			l, err := w.LargeObjects(4)
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Create(0)
			refused("large object 0", err)
			for _, lo := range c.LOs[4] {
				o, err := l.Create(lo.OID)
				if err != nil {
					t.Fatal(err)
				}
				_, err = l.Create(lo.OID + 1)
				refused("two large objects at a time", err)
				io.WriteString(o, lo.Data)
				if err := o.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			refused("entry after Close", w.Add(&pgarchive.Entry{ID: 51, Section: pgarchive.SectionData}))
			_, err = w.Data(3)
			refused("data after Close", err)
			if f != pgarchive.FormatPlain {
				equal(t, c, readFile(t, path))
			}
		})
	}
}
