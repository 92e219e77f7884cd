package pgarchive_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// small returns an archive with one of each kind of data, in few bytes.
func small() *contents {
	c := &contents{
		Header: pgarchive.Header{Database: "db", ServerVersion: "18.6", DumpVersion: "18.6", IntSize: 4, OffSize: 8,
			Created: time.Date(2024, 2, 29, 12, 30, 59, 0, time.Local)},
		Entries: []*pgarchive.Entry{
			{ID: 1, Tag: "ENCODING", Desc: "ENCODING", Section: pgarchive.SectionPreData, Defn: "SET client_encoding = 'UTF8';\n"},
			{ID: 2, Tag: "t", Desc: "TABLE", Section: pgarchive.SectionPreData, Namespace: "public", Owner: "o", Defn: "CREATE TABLE public.t (a text);\n",
				DropStmt: "DROP TABLE public.t;\n", TableAM: "heap", RelKind: 'r'},
			{ID: 3, Tag: "t", Desc: "TABLE DATA", Section: pgarchive.SectionData, Namespace: "public", Owner: "o",
				CopyStmt: "COPY public.t (a) FROM stdin;\n", HasData: true, Dependencies: []pgarchive.ID{2}},
			{ID: 4, Tag: "BLOBS", Desc: "BLOBS", Section: pgarchive.SectionData, HasData: true},
		},
		Data: map[pgarchive.ID]string{3: "one\ntwo\nthree\n" + pgarchive.CopyEnd},
		LOs:  map[pgarchive.ID][]largeObject{4: {{7, "seven"}, {4_000_000_000, "large"}}},
	}
	return c
}

// make writes an archive into memory, or for the directory format into a folder.
func makeSmall(t testing.TB, tg target) []byte {
	t.Helper()
	var b bytes.Buffer
	newWriter := pgarchive.NewCustomWriter
	if tg.format == pgarchive.FormatTar {
		newWriter = pgarchive.NewTarWriter
	}
	c := small()
	w, err := newWriter(&b, tg.options(t, c.Header))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, map[string]string{"m.json": "{}"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inFile writes an archive with offsets.
func inFile(t testing.TB, tg target) []byte {
	t.Helper()
	c := small()
	path := filepath.Join(t.TempDir(), "x")
	w, err := pgarchive.Create(path, tg.format, tg.options(t, c.Header))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readBytes reads all of an archive in memory, as a file or as a stream.
func readBytes(b []byte, stream bool) (*contents, error) {
	var src io.Reader = bytes.NewReader(b)
	if stream {
		src = io.MultiReader(src)
	}
	r, err := pgarchive.NewReader(src, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.Attachment("m.json")
	c, err := readAll(r)
	if err != nil {
		return nil, err
	}
	for _, e := range c.Entries {
		if e.HasData && e.Desc != "BLOBS" {
			if _, ok := c.Data[e.ID]; !ok {
				return nil, errors.New("data of an entry are missing")
			}
		}
	}
	if len(c.LOs[4]) != 2 {
		return nil, errors.New("large objects are missing")
	}
	return c, nil
}

var streamTargets = []target{
	{pgarchive.FormatCustom, "none"}, {pgarchive.FormatCustom, "gzip"}, {pgarchive.FormatCustom, "lz4"}, {pgarchive.FormatCustom, "zstd"},
	{pgarchive.FormatTar, "none"},
}

// An archive cut off anywhere before its last entry's data end is an error, whichever way it is read.
func TestTruncated(t *testing.T) {
	for _, tg := range streamTargets {
		for _, offsets := range []bool{false, true} {
			t.Run(tg.String(), func(t *testing.T) {
				b := makeSmall(t, tg)
				if offsets {
					b = inFile(t, tg)
				}
				end := len(b)
				if i := bytes.Index(b, []byte("pghaul attachment")); i > 0 {
					end = i - 11 // the head of the attachment's block
				}
				if tg.format == pgarchive.FormatTar {
					end -= 512 // one block of zeros is enough of an end
				}
				if _, err := readBytes(b, false); err != nil {
					t.Fatal(err)
				}
				for n := 0; n < end; n += stride {
					if in := n % 512; tg.format == pgarchive.FormatTar && n > 1024 && in > 2 && in < 510 && in%50 != 0 {
						continue // inside a block
					}
					for _, stream := range []bool{false, true} {
						if _, err := readBytes(b[:n], stream); err == nil {
							t.Errorf("cut to %d of %d bytes, stream %t: no error", n, len(b), stream)
						}
					}
				}
			})
		}
	}
}

// A folder whose files are cut off is an error.
func TestTruncatedDirectory(t *testing.T) {
	for _, tg := range targets {
		if tg.format != pgarchive.FormatDirectory {
			continue
		}
		t.Run(tg.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			c := small()
			w, err := pgarchive.Create(dir, tg.format, tg.options(t, c.Header))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.write(w, nil); err != nil {
				t.Fatal(err)
			}
			files, _ := os.ReadDir(dir)
			if len(files) != 5 {
				t.Fatalf("%d files", len(files))
			}
			for _, f := range files {
				name := filepath.Join(dir, f.Name())
				whole, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(f.Name(), "blob") && tg.compression == "none" || f.Name() == "blobs.toc" {
					whole = nil // nothing in it tells that it was cut
				}
				for n := 0; n < len(whole); n += stride {
					if n == 0 && strings.HasPrefix(f.Name(), "blob_") && tg.compression != "gzip:9" {
						continue // an empty large object
					}
					if err := os.WriteFile(name, whole[:n], 0o666); err != nil {
						t.Fatal(err)
					}
					if err := readDir(dir); err == nil {
						t.Errorf("%s cut to %d of %d bytes: no error", f.Name(), n, len(whole))
					} else if !strings.Contains(err.Error(), f.Name()) {
						t.Errorf("%s cut to %d of %d bytes: error does not name the file: %v", f.Name(), n, len(whole), err)
					}
				}
				if whole != nil {
					if err := os.WriteFile(name, whole, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				kept := name + ".kept"
				if err := os.Rename(name, kept); err != nil {
					t.Fatal(err)
				}
				if err := readDir(dir); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))) {
					t.Errorf("%s is missing: error %v", f.Name(), err)
				}
				if err := os.Rename(kept, name); err != nil {
					t.Fatal(err)
				}
			}
			if err := readDir(dir); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func readDir(path string) error {
	r, err := pgarchive.Open(path, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = readAll(r)
	return err
}

// Flipped bits give errors or other contents, and never a panic.
func TestFlipped(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, tg := range streamTargets {
		b := makeSmall(t, tg)
		for range 3000 / stride {
			bad := bytes.Clone(b)
			for range 1 + rnd.Intn(3) {
				bad[rnd.Intn(len(bad))] ^= 1 << rnd.Intn(8)
			}
			readBytes(bad, rnd.Intn(2) == 0)
		}
	}
}

// putInt writes an integer as the format has it.
func putInt(v int32) []byte {
	sign := byte(0)
	if v < 0 {
		sign, v = 1, -v
	}
	return binary.LittleEndian.AppendUint32([]byte{sign}, uint32(v))
}

// head makes the beginning of a custom archive of that version.
func head(minor byte) []byte {
	b := []byte{'P', 'G', 'D', 'M', 'P', 1, minor, 0, 4, 8, 1}
	if minor >= 15 {
		b = append(b, 0)
	} else {
		b = append(b, putInt(0)...)
	}
	for range 7 {
		b = append(b, putInt(1)...)
	}
	for range 3 {
		b = append(b, putInt(-1)...)
	}
	return b
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// What is wrong with an archive is said, and nothing is allocated on its word.
func TestBadInput(t *testing.T) {
	good := makeSmall(t, target{pgarchive.FormatCustom, "none"})
	patched := func(at int, v ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], v)
		return b
	}
	tar := makeSmall(t, target{pgarchive.FormatTar, "none"})
	badTar := bytes.Clone(tar)
	badTar[600+bytes.Index(tar, []byte("3.dat\x00"))] ^= 1 // data, which have no checksum
	badTar[bytes.Index(tar, []byte("3.dat\x00"))] = '4'    // but headers have
	entry := func(fields ...[]byte) []byte { return join(head(14), putInt(1), join(fields...)) }
	text := func(s string) []byte { return join(putInt(int32(len(s))), []byte(s)) }
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"empty", nil, "input file is too short (read 0, expected 5)"},
		{"short", []byte("PGD"), "input file is too short (read 3, expected 5)"},
		{"text", []byte("hello, world"), "input file does not appear to be a valid archive (too short?)"},
		{"long text", bytes.Repeat([]byte("hello, world\n"), 100), "input file does not appear to be a valid tar archive"},
		{"script", []byte("--\n-- PostgreSQL database dump\n--\n\n\\restrict x\n"), "input file appears to be a text format dump. Please use psql."},
		{"cluster script", []byte("--\n-- PostgreSQL database cluster dump\n--\n\n"), "input file appears to be a text format dump. Please use psql."},
		{"newer version", patched(5, 1, 17), "unsupported version (1.17) in file header"},
		{"much newer version", patched(5, 2, 0), "unsupported version (2.0) in file header"},
		{"older version", patched(5, 1, 11), "unsupported version (1.11) in file header"},
		{"integer size", patched(8, 33), "sanity check on integer size (33) failed"},
		{"no integer size", patched(8, 0), "integer size 0 in file header is too small"},
		{"format", patched(10, 3), "expected format (1) differs from format found in file (3)"},
		{"compression", join(head(16)[:11], []byte{9}), "unknown compression algorithm 9 in file header"},
		{"huge TOC", join(head(16), putInt(1<<30)), "read entry 1 of 1073741824 of the table of contents: unexpected EOF"},
		{"negative TOC", join(head(16), putInt(-5)), "read table of contents: -5 entries"},
		{"ID", entry(putInt(-1)), "entry ID -1 out of range -- perhaps a corrupt TOC"},
		{"no number", entry(putInt(1), putInt(0), text("x")), `catalog table OID "x" is no number`},
		{"huge string", entry(putInt(1), putInt(0), text("0"), text("0"), putInt(1<<30), []byte("abc")), "length 1073741824 goes beyond the end of the file"},
		{"section", entry(putInt(1), putInt(0), text("0"), text("0"), text("t"), text("TABLE"), putInt(9)), "unexpected section code 9"},
		{"corrupt tar header", badTar, "corrupt tar header found in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := readBytes(c.in, stream)
				runtime.ReadMemStats(&after)
				want := c.want
				if stream && strings.HasPrefix(want, "length ") {
					want = "unexpected EOF"
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("stream %t: error %v; want %s", stream, err, want)
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
					t.Errorf("stream %t: %d bytes were allocated for an archive of %d", stream, n, len(c.in))
				}
			}
		})
	}
}

// Names in an archive do not lead out of it.
func TestNamesStayInside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.dat")
	if err := os.WriteFile(outside, []byte("secret\n"+pgarchive.CopyEnd), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "x")
	c := small()
	w, err := pgarchive.Create(dir, pgarchive.FormatDirectory, target{pgarchive.FormatDirectory, "none"}.options(t, c.Header))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, nil); err != nil {
		t.Fatal(err)
	}
	toc, err := os.ReadFile(filepath.Join(dir, "toc.dat"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, "../x/3.dat", "sub/3.dat", "..", `..\3.dat`} {
		bad := bytes.Replace(toc, join(putInt(5), []byte("3.dat")), join(putInt(int32(len(name))), []byte(name)), 1)
		if bytes.Equal(bad, toc) {
			t.Fatal("no name to replace")
		}
		if err := os.WriteFile(filepath.Join(dir, "toc.dat"), bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := readDir(dir); err == nil || !strings.Contains(err.Error(), "leaves the archive") {
			t.Errorf("file name %q: error %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "toc.dat"), toc, 0o666); err != nil {
		t.Fatal(err)
	}

	// A list of large objects, and a link.
	if err := os.WriteFile(filepath.Join(dir, "blobs.toc"), []byte("7 ../../secret.dat\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := readDir(dir); err == nil || !strings.Contains(err.Error(), "leaves the archive") {
		t.Errorf("large object list: error %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "3.dat")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "3.dat")); err != nil {
		t.Fatal(err)
	}
	if err := readDir(dir); err == nil || !strings.Contains(err.Error(), "3.dat") {
		t.Errorf("link out of the archive: error %v", err)
	}
}

// Lines of a list of large objects that make no sense.
func TestBadBlobsList(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	c := small()
	w, err := pgarchive.Create(dir, pgarchive.FormatDirectory, target{pgarchive.FormatDirectory, "none"}.options(t, c.Header))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(w, nil); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"x blob_7.dat\n", "7\n", "0 blob_7.dat\n", "7 \n", "99999999999 blob_7.dat\n", strings.Repeat("9", 10_000) + "\n", "\n"} {
		if err := os.WriteFile(filepath.Join(dir, "blobs.toc"), []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := readDir(dir); err == nil || !strings.Contains(err.Error(), "blobs.toc") {
			t.Errorf("line %.30q: error %v", line, err)
		}
	}
}

// Open says what is wrong with a path.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		format pgarchive.Format
		want   string
	}{
		{filepath.Join(dir, "none"), 0, `could not open input file "` + filepath.Join(dir, "none") + `"`},
		{dir, 0, `directory "` + dir + `" does not appear to be a valid archive ("toc.dat" does not exist)`},
		{dir, pgarchive.FormatCustom, "it is a directory"},
		{filepath.Join(dir, "f"), pgarchive.FormatDirectory, "not a directory"},
		{filepath.Join(dir, "f"), pgarchive.FormatPlain, "cannot be read"},
		{filepath.Join(dir, "f"), 0, "input file is too short"},
	} {
		if _, err := pgarchive.Open(c.path, c.format); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open(%s, %s): error %v; want %s", c.path, c.format, err, c.want)
		}
	}
}
