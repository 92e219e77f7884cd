package pgarchive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

var ctx = context.Background()

// largeObject is one of an entry.
type largeObject struct {
	OID  uint32
	Data string
}

// contents is all that is in an archive.
type contents struct {
	Header  pgarchive.Header
	Entries []*pgarchive.Entry
	Data    map[pgarchive.ID]string
	LOs     map[pgarchive.ID][]largeObject
}

func readAll(r pgarchive.Reader) (*contents, error) {
	c := &contents{Header: r.Header(), Entries: r.Entries(), Data: map[pgarchive.ID]string{}, LOs: map[pgarchive.ID][]largeObject{}}
	read := func(id pgarchive.ID, los bool) error {
		if !los {
			d, err := r.Data(ctx, id)
			if err != nil {
				return err
			}
			defer d.Close()
			b, err := io.ReadAll(d)
			c.Data[id] = string(b)
			return err
		}
		l, err := r.LargeObjects(ctx, id)
		if err != nil {
			return err
		}
		defer l.Close()
		for {
			oid, lo, err := l.Next()
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			b, err := io.ReadAll(lo)
			if err != nil {
				return err
			}
			c.LOs[id] = append(c.LOs[id], largeObject{oid, string(b)})
		}
	}
	kinds := map[pgarchive.ID]bool{}
	for _, e := range r.Entries() {
		kinds[e.ID] = e.Desc == "BLOBS"
		if e.HasData && !r.Sequential() {
			if err := read(e.ID, e.Desc == "BLOBS"); err != nil {
				return nil, err
			}
		}
	}
	for r.Sequential() {
		id, err := r.NextData(ctx)
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if err := read(id, kinds[id]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func readFile(t testing.TB, path string) *contents {
	t.Helper()
	r, err := pgarchive.Open(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := readAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	return c
}

// write writes c with w, and closes it.
func (c *contents) write(w pgarchive.Writer, attach map[string]string) (err error) {
	defer func() {
		if err != nil {
			w.Abort()
		}
	}()
	for _, e := range c.Entries {
		copied := *e
		if err := w.Add(&copied); err != nil {
			return err
		}
	}
	for _, e := range c.Entries {
		if !e.HasData {
			continue
		}
		if e.Desc == "BLOBS" {
			l, err := w.LargeObjects(e.ID)
			if err != nil {
				return err
			}
			for _, lo := range c.LOs[e.ID] {
				o, err := l.Create(lo.OID)
				if err != nil {
					return err
				}
				if _, err := io.WriteString(o, lo.Data); err != nil {
					return err
				}
				if err := o.Close(); err != nil {
					return err
				}
			}
			if err := l.Close(); err != nil {
				return err
			}
			continue
		}
		d, err := w.Data(e.ID)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(d, c.Data[e.ID]); err != nil {
			return err
		}
		if err := d.Close(); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(attach)) {
		if err := w.Attach(n, []byte(attach[n])); err != nil {
			return err
		}
	}
	return w.Close()
}

// target is a way to write an archive.
type target struct {
	format      pgarchive.Format
	compression string
}

var targets = []target{
	{pgarchive.FormatCustom, "none"}, {pgarchive.FormatCustom, "gzip"}, {pgarchive.FormatCustom, "lz4"}, {pgarchive.FormatCustom, "zstd"},
	{pgarchive.FormatDirectory, "none"}, {pgarchive.FormatDirectory, "gzip:9"}, {pgarchive.FormatDirectory, "lz4:4"}, {pgarchive.FormatDirectory, "zstd:1"},
	{pgarchive.FormatTar, "none"},
}

func (tg target) String() string { return tg.format.String() + "-" + tg.compression }

func (tg target) options(t testing.TB, h pgarchive.Header) pgarchive.WriterOptions {
	t.Helper()
	z, err := pgarchive.ParseCompression(tg.compression)
	if err != nil {
		t.Fatal(err)
	}
	h.Compression, h.Version = z, 0
	return pgarchive.WriterOptions{Header: h}
}

// equal compares two contents but for what depends on the format.
func equal(t *testing.T, want, got *contents) {
	t.Helper()
	if d := cmp.Diff(want, got,
		cmpopts.IgnoreFields(pgarchive.Header{}, "Version", "Format", "Compression"),
		cmpopts.IgnoreFields(pgarchive.Entry{}, "Filename", "DataBytes"),
		cmpopts.IgnoreUnexported(pgarchive.Entry{}),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".RelKind" && got.Header.Version < pgarchive.V1_16 }, cmp.Ignore()),
	); d != "" {
		t.Errorf("archive differs (-want +got):\n%.4000s", d)
	}
}

// What was read from any archive of the zoo can be written in each format and read back, in any order and as a stream.
func TestRoundTrip(t *testing.T) {
	archives := zoo(t)
	for i, name := range slices.Sorted(maps.Keys(archives)) {
		if i%min(stride, 4) != 0 {
			continue
		}
		want := readFile(t, archives[name])
		if strings.Contains(name, "gzip") && len(want.Data) < 5 {
			t.Fatalf("%s: data of %d entries only", name, len(want.Data))
		}
		for _, tg := range targets {
			t.Run(name+"/"+tg.String(), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x")
				w, err := pgarchive.Create(path, tg.format, tg.options(t, want.Header))
				if err != nil {
					t.Fatal(err)
				}
				att := map[string]string{"manifest.json": `{"version": 1}`, "big.bin": strings.Repeat("0123456789", 40_000)}
				if err := want.write(w, att); err != nil {
					t.Fatal(err)
				}
				r, err := pgarchive.Open(path, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				got, err := readAll(r)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, want, got)
				checkAttachments(t, r, att)
				if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(names) > 0 {
					t.Errorf("left over: %q", names)
				}
				if tg.format == pgarchive.FormatDirectory {
					return
				}
				f, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				s, err := pgarchive.NewReader(io.MultiReader(f), 0) // hides that it can seek
				if err != nil {
					t.Fatal(err)
				}
				if !s.Sequential() {
					t.Fatal("a stream that is not sequential")
				}
				if got, err = readAll(s); err != nil {
					t.Fatal(err)
				}
				equal(t, want, got)
				checkAttachments(t, s, att)
			})
		}
	}
}

func checkAttachments(t *testing.T, r pgarchive.Reader, att map[string]string) {
	t.Helper()
	for n, want := range att {
		if b, err := r.Attachment(n); err != nil || string(b) != want {
			t.Errorf("Attachment(%q): %d bytes, error %v; want %d bytes", n, len(b), err, len(want))
		}
	}
	if _, err := r.Attachment("other.json"); !errors.Is(err, pgarchive.ErrNoAttachment) {
		t.Errorf("attachment that is not there: error %v", err)
	}
}

// The archives of the zoo read as streams: each block in turn, or some passed over.
func TestSequential(t *testing.T) {
	archives := zoo(t)
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		if strings.HasSuffix(name, ".dir") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := readFile(t, archives[name])
			b, err := os.ReadFile(archives[name])
			if err != nil {
				t.Fatal(err)
			}
			open := func() pgarchive.Reader {
				r, err := pgarchive.NewReader(io.MultiReader(bytes.NewReader(b)), 0)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			got, err := readAll(open())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, want, got)

			// Pass over every second block, and leave others half read.
			r := open()
			seen := 0
			for i := 0; ; i++ {
				id, err := r.NextData(ctx)
				if err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				seen++
				if los, ok := want.LOs[id]; ok {
					if i%2 == 0 {
						continue
					}
					l, err := r.LargeObjects(ctx, id)
					if err != nil {
						t.Fatal(err)
					}
					for _, lo := range los[:2] {
						oid, data, err := l.Next()
						if err != nil || oid != lo.OID {
							t.Fatalf("large object %d, error %v; want %d", oid, err, lo.OID)
						}
						one := make([]byte, min(3, len(lo.Data)))
						if _, err := io.ReadFull(data, one); err != nil || string(one) != lo.Data[:len(one)] {
							t.Fatalf("large object %d: %q, error %v", oid, one, err)
						}
					}
					l.Close()
					continue
				}
				if i%2 == 0 {
					continue
				}
				d, err := r.Data(ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				one := make([]byte, 2)
				if _, err := io.ReadFull(d, one); err != nil || string(one) != want.Data[id][:2] {
					t.Fatalf("data of %d: %q, error %v", id, one, err)
				}
				d.Close()
			}
			if seen != len(want.Data)+len(want.LOs) {
				t.Errorf("%d blocks, want %d", seen, len(want.Data)+len(want.LOs))
			}
		})
	}
}

// The same entries' data read by many goroutines at once, with and without offsets.
func TestConcurrentReads(t *testing.T) {
	archives := zoo(t)
	for _, name := range []string{"pg18-gzip.custom", "pg18-pipe.custom", "pg18-zstd.dir", "pg18-none.tar"} {
		t.Run(name, func(t *testing.T) {
			want := readFile(t, archives[name])
			r, err := pgarchive.Open(archives[name], 0)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if !r.Properties().ConcurrentData {
				t.Fatal("not concurrent")
			}
			var wg sync.WaitGroup
			for i := range 8 {
				ids := slices.Sorted(maps.Keys(want.Data))
				if i%2 == 1 {
					slices.Reverse(ids)
				}
				wg.Go(func() {
					for _, id := range ids {
						d, err := r.Data(ctx, id)
						if err != nil {
							t.Error(err)
							return
						}
						b, err := io.ReadAll(d)
						d.Close()
						if err != nil || string(b) != want.Data[id] {
							t.Errorf("data of %d: %d bytes, error %v; want %d bytes", id, len(b), err, len(want.Data[id]))
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// Data of several entries written at once, where the format allows it.
func TestConcurrentWrites(t *testing.T) {
	want := readFile(t, zoo(t)["pg18-gzip.custom"])
	path := filepath.Join(t.TempDir(), "x")
	w, err := pgarchive.Create(path, pgarchive.FormatDirectory, target{pgarchive.FormatDirectory, "zstd"}.options(t, want.Header))
	if err != nil {
		t.Fatal(err)
	}
	if !w.Properties().ConcurrentData {
		t.Fatal("not concurrent")
	}
	for _, e := range want.Entries {
		copied := *e
		if err := w.Add(&copied); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for id, data := range want.Data {
		d, err := w.Data(id)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for len(data) > 0 {
				n := min(len(data), 1000)
				if _, err := io.WriteString(d, data[:n]); err != nil {
					t.Error(err)
				}
				data = data[n:]
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for id, los := range want.LOs {
		l, err := w.LargeObjects(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, lo := range los {
			o, err := l.Create(lo.OID)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(o, lo.Data)
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, want, readFile(t, path))
}

// The lowest version that can say what is in the archive is written.
func TestVersionWritten(t *testing.T) {
	table := pgarchive.Entry{ID: 1, Tag: "t", Desc: "TABLE", Section: pgarchive.SectionPreData, RelKind: 'r', TableAM: "heap"}
	for _, c := range []struct {
		name        string
		compression string
		entries     []pgarchive.Entry
		want        pgarchive.Version
	}{
		{"gzip", "gzip", []pgarchive.Entry{table}, pgarchive.V1_14},
		{"none", "none", []pgarchive.Entry{table}, pgarchive.V1_14},
		{"lz4", "lz4", []pgarchive.Entry{table}, pgarchive.V1_15},
		{"zstd", "zstd", []pgarchive.Entry{table}, pgarchive.V1_15},
		{"one BLOBS entry", "none", []pgarchive.Entry{{ID: 2, Desc: "BLOBS", Section: pgarchive.SectionData, HasData: true}}, pgarchive.V1_14},
		{"two BLOBS entries", "none", []pgarchive.Entry{
			{ID: 2, Desc: "BLOBS", Section: pgarchive.SectionData, HasData: true},
			{ID: 3, Desc: "BLOBS", Section: pgarchive.SectionData, HasData: true}}, pgarchive.V1_16},
		{"BLOB METADATA", "gzip", []pgarchive.Entry{{ID: 2, Desc: "BLOB METADATA", Section: pgarchive.SectionData}}, pgarchive.V1_16},
		{"partitioned table with access method", "gzip", []pgarchive.Entry{
			{ID: 1, Tag: "t", Desc: "TABLE", Section: pgarchive.SectionPreData, RelKind: 'p', TableAM: "heap"}}, pgarchive.V1_16},
		{"partitioned table", "gzip", []pgarchive.Entry{{ID: 1, Tag: "t", Desc: "TABLE", Section: pgarchive.SectionPreData, RelKind: 'p'}}, pgarchive.V1_14},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			w, err := pgarchive.NewCustomWriter(&b, target{pgarchive.FormatCustom, c.compression}.options(t, pgarchive.Header{}))
			if err != nil {
				t.Fatal(err)
			}
			all := &contents{LOs: map[pgarchive.ID][]largeObject{}}
			for i := range c.entries {
				all.Entries = append(all.Entries, &c.entries[i])
			}
			if err := all.write(w, nil); err != nil {
				t.Fatal(err)
			}
			r, err := pgarchive.NewReader(&b, 0)
			if err != nil {
				t.Fatal(err)
			}
			if r.Header().Version != c.want {
				t.Errorf("version %s, want %s", r.Header().Version, c.want)
			}
		})
	}
}

// The stock pg_restore of each version reads what we write: it lists, prints and restores the
// same as from the archive of the stock pg_dump, from files and from pipes.
func TestStockReadsOurs(t *testing.T) {
	archives := zoo(t)
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		restore := s.NeedTool(t, "pg_restore")
		original := archives[fmt.Sprintf("pg%d-gzip.custom", s.Major)]
		if original == "" {
			t.Skipf("missing: an archive of PostgreSQL %d in testdata/zoo", s.Major)
		}
		want := readFile(t, original)
		wantList := listBody(stock(t, restore, "-l", original))
		wantScript := scriptBody(stock(t, restore, "-f", "-", original))
		wantText := restoreWith(t, s, func(args []string) *exec.Cmd { return exec.Command(restore, append(args, original)...) })
		if !strings.Contains(wantText, "item 200") {
			t.Fatalf("the restored database has no data:\n%.2000s", wantText)
		}
		for _, tg := range targets {
			if s.Major < 16 && (strings.HasPrefix(tg.compression, "lz4") || strings.HasPrefix(tg.compression, "zstd")) {
				continue // its pg_restore does not know them
			}
			for _, piped := range []bool{false, true} {
				if piped && tg.format == pgarchive.FormatDirectory {
					continue
				}
				t.Run(fmt.Sprintf("%s/piped=%t", tg, piped), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "x")
					att := map[string]string{"manifest.json": "{}", "other.txt": strings.Repeat("x", 300_000)}
					if piped { // no offsets
						f, err := os.Create(path)
						if err != nil {
							t.Fatal(err)
						}
						defer f.Close()
						newWriter := pgarchive.NewCustomWriter
						if tg.format == pgarchive.FormatTar {
							newWriter = pgarchive.NewTarWriter
						}
						w, err := newWriter(struct{ io.Writer }{f}, tg.options(t, want.Header))
						if err != nil {
							t.Fatal(err)
						}
						if err := want.write(w, att); err != nil {
							t.Fatal(err)
						}
					} else {
						w, err := pgarchive.Create(path, tg.format, tg.options(t, want.Header))
						if err != nil {
							t.Fatal(err)
						}
						if err := want.write(w, att); err != nil {
							t.Fatal(err)
						}
					}
					if got := listBody(stock(t, restore, "-l", path)); got != wantList {
						t.Errorf("list differs (-stock +ours):\n%s", clipDiff(wantList, got))
					}
					if got := scriptBody(stock(t, restore, "-f", "-", path)); got != wantScript {
						t.Errorf("script differs (-stock +ours):\n%s", clipDiff(wantScript, got))
					}
					text := func(how string, got string) {
						if got != wantText {
							t.Errorf("%s: restored database differs (-stock +ours):\n%s", how, clipDiff(wantText, got))
						}
					}
					// A restore takes seconds: one of each way.
					switch fast := tg.compression == "gzip" || tg.compression == "gzip:9"; {
					case tg.format == pgarchive.FormatTar && !piped:
						text("file", restoreWith(t, s, func(args []string) *exec.Cmd { return exec.Command(restore, append(args, path)...) }))
					case fast && tg.format != pgarchive.FormatTar:
						text("-j2", restoreWith(t, s, func(args []string) *exec.Cmd {
							return exec.Command(restore, append(args, "-j2", path)...)
						}))
					}
					if piped && (tg.format == pgarchive.FormatTar || tg.compression == "none") {
						text("pipe", restoreWith(t, s, func(args []string) *exec.Cmd {
							f, err := os.Open(path)
							if err != nil {
								t.Fatal(err)
							}
							t.Cleanup(func() { f.Close() })
							cmd := exec.Command(restore, args...)
							cmd.Stdin = io.MultiReader(f) // a pipe
							return cmd
						}))
					}
				})
			}
		}
	})
}

// restoreWith restores into a new database and returns pg_dump's text of it.
func restoreWith(t *testing.T, s *pgtest.Server, command func(args []string) *exec.Cmd) string {
	t.Helper()
	db := s.NewDatabase(t)
	cmd := command([]string{"-e", "-O", "-x", "--no-tablespaces", "--no-publications", "-d", db.DSN})
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pg_restore: %v\n%s", err, out)
	}
	return scriptBody(stock(t, s.NeedTool(t, "pg_dump"), "-O", "-x", "--no-comments", db.DSN))
}

// listBody drops the head of a list, which tells the format.
func listBody(s string) string {
	_, body, _ := strings.Cut(s, "; Selected TOC Entries:")
	return body
}

// scriptBody drops the random keys of a script.
func scriptBody(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, `\restrict `) && !strings.HasPrefix(line, `\unrestrict `) {
			b.WriteString(line)
		}
	}
	return b.String()
}
