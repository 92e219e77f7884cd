package pgarchive_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// limit bounds what is read of one stream of a fuzzed archive, which may hold very well compressed data.
const limit = 1 << 20

// exercise reads an archive as far as it goes, and writes what can be read.
func exercise(t *testing.T, r pgarchive.Reader) {
	defer r.Close()
	r.Attachment("m.json")
	o := pgarchive.NewScriptOptions()
	o.Clean, o.IfExists, o.CreateDB, o.Verbose, o.TransactionSize = true, true, true, true, 2
	var list bytes.Buffer
	if err := pgarchive.WriteList(&list, r.Header(), r.Entries(), o); err != nil {
		t.Errorf("list: %v", err)
	}
	c, err := readLimited(r)
	if !r.Sequential() {
		pgarchive.WriteScript(context.Background(), io.Discard, r, o)
	}
	if err != nil {
		return
	}
	if c.Header.Created.IsZero() {
		c.Header.Created = time.Date(2024, 1, 1, 0, 0, 0, 0, time.Local)
	}
	c.Header.IntSize, c.Header.OffSize = 4, 8
	for _, e := range c.Entries {
		if e.CopyStmt != "" && !strings.HasSuffix("\n"+c.Data[e.ID], "\n"+pgarchive.CopyEnd) {
			return // its end would be added
		}
	}
	// What was read can be written.
	var b bytes.Buffer
	w, err := pgarchive.NewCustomWriter(&b, pgarchive.WriterOptions{Header: c.Header})
	if err != nil {
		return // a compression level that nobody could have written
	}
	if err := c.write(w, nil); err != nil {
		if strings.Contains(err.Error(), "no data") || strings.Contains(err.Error(), "not complete") {
			return
		}
		t.Fatalf("write what was read: %v", err)
	}
	again, err := pgarchive.NewReader(bytes.NewReader(b.Bytes()), pgarchive.FormatCustom)
	if err != nil {
		t.Fatalf("read what was written: %v", err)
	}
	got, err := readLimited(again)
	if err != nil {
		t.Fatalf("read what was written: %v", err)
	}
	equal(t, c, got)
}

// readLimited is readAll, of archives with little data only.
func readLimited(r pgarchive.Reader) (*contents, error) { return readAll(limitedReader{r}) }

type limitedReader struct{ pgarchive.Reader }

func (l limitedReader) Data(ctx context.Context, id pgarchive.ID) (io.ReadCloser, error) {
	d, err := l.Reader.Data(ctx, id)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&tooMuch{d, limit}, d}, nil
}

type tooMuch struct {
	r    io.Reader
	left int
}

func (m *tooMuch) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.left -= n; m.left < 0 {
		return n, io.ErrShortBuffer
	}
	return n, err
}

func FuzzCustom(f *testing.F) {
	for _, tg := range streamTargets {
		if tg.format == pgarchive.FormatCustom {
			f.Add(makeSmall(f, tg))
			f.Add(inFile(f, tg))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := pgarchive.NewReader(bytes.NewReader(b), pgarchive.FormatCustom); err == nil {
			exercise(t, r)
		}
		if r, err := pgarchive.NewReader(io.MultiReader(bytes.NewReader(b)), pgarchive.FormatCustom); err == nil {
			exercise(t, r)
		}
	})
}

func FuzzTar(f *testing.F) {
	f.Add(makeSmall(f, target{pgarchive.FormatTar, "none"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := pgarchive.NewReader(bytes.NewReader(b), pgarchive.FormatTar); err == nil {
			exercise(t, r)
		}
		if r, err := pgarchive.NewReader(io.MultiReader(bytes.NewReader(b)), pgarchive.FormatTar); err == nil {
			exercise(t, r)
		}
	})
}

// directory writes a small directory archive and returns its files.
func directory(t testing.TB, compression string) map[string][]byte {
	t.Helper()
	c := small()
	dir := filepath.Join(t.TempDir(), "x")
	w, err := pgarchive.Create(dir, pgarchive.FormatDirectory, target{pgarchive.FormatDirectory, compression}.options(t, c.Header))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, nil); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, n := range names {
		if files[n.Name()], err = os.ReadFile(filepath.Join(dir, n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// FuzzDirectory changes the table of contents, the list of large objects and the data of a directory archive.
func FuzzDirectory(f *testing.F) {
	for _, z := range []string{"none", "gzip", "lz4", "zstd"} {
		files := directory(f, z)
		data := "3.dat"
		for n := range files {
			if strings.HasPrefix(n, data) {
				data = n
			}
		}
		f.Add(files["toc.dat"], files["blobs.toc"], files[data], strings.TrimPrefix(data, "3.dat"))
	}
	f.Fuzz(func(t *testing.T, toc, blobs, data []byte, suffix string) {
		files := fstest.MapFS{
			"toc.dat":    {Data: toc},
			"blobs.toc":  {Data: blobs},
			"blob_7.dat": {Data: []byte("seven")},
		}
		switch suffix {
		case "", ".gz", ".lz4", ".zst":
			files["3.dat"+suffix] = &fstest.MapFile{Data: data}
		}
		if r, err := pgarchive.NewDirectoryReader(files, "x"); err == nil {
			exercise(t, r)
		}
	})
}

func FuzzList(f *testing.F) {
	entries := small().Entries
	f.Add("; comment\n3; 0 0 TABLE DATA public t o\n2; 1259 1 TABLE public t o\n")
	f.Add("-3\n+3\n 3 x\n99999999999999999999\n\n;\n0\n3;\n3\r\n")
	f.Fuzz(func(t *testing.T, list string) {
		got, ids, err := pgarchive.ParseList(strings.NewReader(list), entries, nil)
		if err != nil {
			return
		}
		if len(got) != len(entries) {
			t.Fatalf("%d entries of %d", len(got), len(entries))
		}
		chosen := 0
		seen := make(map[pgarchive.ID]bool)
		for _, e := range got {
			if seen[e.ID] {
				t.Errorf("entry %d twice", e.ID)
			}
			seen[e.ID] = true
			if ids[e.ID] {
				chosen++
			} else if chosen > 0 {
				t.Errorf("entry %d, which was not chosen, stands behind one that was", e.ID)
			}
		}
		if chosen != len(ids) {
			t.Errorf("%d chosen, %d IDs", chosen, len(ids))
		}
	})
}
