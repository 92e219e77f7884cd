package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os/exec"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Spec
		err  string
	}{
		{"0", Spec{}, ""},
		{"", Spec{}, ""},
		{"none", Spec{}, ""},
		{"6", Spec{Method: Gzip, Level: 6, HasLevel: true}, ""},
		{"-1", Spec{Method: Gzip, Level: -1, HasLevel: true}, ""},
		{" 3", Spec{Method: Gzip, Level: 3, HasLevel: true}, ""},
		{"gzip", Spec{Method: Gzip}, ""},
		{"gzip:9", Spec{Method: Gzip, Level: 9, HasLevel: true}, ""},
		{"gzip:level=2", Spec{Method: Gzip, Level: 2, HasLevel: true}, ""},
		{"lz4", Spec{Method: LZ4}, ""},
		{"lz4:12", Spec{Method: LZ4, Level: 12, HasLevel: true}, ""},
		{"zstd:level=5,long", Spec{Method: Zstd, Level: 5, HasLevel: true, Long: true, HasLong: true}, ""},
		{"zstd:long=off", Spec{Method: Zstd, HasLong: true}, ""},
		{"zstd:-7", Spec{Method: Zstd, Level: -7, HasLevel: true}, ""},
		{"zstd:workers=2", Spec{Method: Zstd, Workers: 2, HasWorkers: true}, ""},
		{"15", Spec{}, `invalid compression specification: compression algorithm "gzip" expects a compression level between 1 and 9 (default at -1)`},
		{"gzip:0", Spec{}, `invalid compression specification: compression algorithm "gzip" expects a compression level between 1 and 9 (default at -1)`},
		{"zstd:23", Spec{}, `invalid compression specification: compression algorithm "zstd" expects a compression level between -131072 and 22 (default at 3)`},
		{"none:1", Spec{}, `invalid compression specification: compression algorithm "none" does not accept a compression level`},
		{"garbage", Spec{}, `unrecognized compression algorithm: "garbage"`},
		{"gzip:nonInt", Spec{}, `invalid compression specification: unrecognized compression option: "nonInt"`},
		{"gzip:level", Spec{}, `invalid compression specification: compression option "level" requires a value`},
		{"gzip:level=x", Spec{}, `invalid compression specification: value for compression option "level" must be an integer`},
		{"zstd:long=maybe", Spec{}, `invalid compression specification: value for compression option "long" must be a Boolean value`},
		{"zstd:", Spec{}, `invalid compression specification: found empty string where a compression option was expected`},
		{"zstd:level=3,", Spec{}, `invalid compression specification: found empty string where a compression option was expected`},
		{"gzip:long", Spec{}, `invalid compression specification: compression algorithm "gzip" does not support long-distance mode`},
		{"lz4:workers=3", Spec{}, `invalid compression specification: compression algorithm "lz4" does not accept a worker count`},
	} {
		got, err := Parse(c.in)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if msg != c.err || err == nil && got != c.want {
			t.Errorf("Parse(%q) = %+v, %q; want %+v, %q", c.in, got, msg, c.want, c.err)
		}
		if err == nil {
			if again, err := Parse(got.String()); err != nil || again != got {
				t.Errorf("Parse(%q) = %+v, %v; want %+v", got.String(), again, err, got)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "gzip:9", "zstd:level=5,long=on,workers=2", "lz4:", ":", "9999999999999999999999", "-", "none:level=0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(spec.String()); err != nil || again != spec {
			t.Errorf("%q: %+v, then %q: %+v, %v", s, spec, spec.String(), again, err)
		}
	})
}

// framings names the two pairs of constructors.
var framings = []struct {
	name   string
	writer func(io.Writer, Spec) (io.WriteCloser, error)
	reader func(io.Reader, Method) (io.ReadCloser, error)
}{{"file", NewWriter, NewReader}, {"block", NewBlockWriter, NewBlockReader}}

var specs = []string{"none", "gzip", "gzip:1", "lz4", "lz4:1", "lz4:4", "lz4:12", "zstd", "zstd:1", "zstd:19", "zstd:-5", "zstd:long"}

func sample(n int) []byte {
	r := rand.New(rand.NewSource(1))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%d\tname %d\t%x\n", b.Len(), r.Intn(100), r.Int63())
	}
	return b.Bytes()[:n]
}

func compress(t testing.TB, newWriter func(io.Writer, Spec) (io.WriteCloser, error), s Spec, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newWriter(&b, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, f := range framings {
		for _, name := range specs {
			for _, size := range []int{0, 1, 100, 70_000, 300_000} {
				t.Run(fmt.Sprintf("%s/%s/%d", f.name, name, size), func(t *testing.T) {
					s, err := Parse(name)
					if err != nil {
						t.Fatal(err)
					}
					data := sample(size)
					for range 2 { // the second time with a pooled engine
						z := compress(t, f.writer, s, data)
						r, err := f.reader(bytes.NewReader(z), s.Method)
						if err != nil {
							t.Fatal(err)
						}
						got, err := io.ReadAll(r)
						if err != nil || !bytes.Equal(got, data) {
							t.Fatalf("read %d bytes, error %v; want %d bytes", len(got), err, len(data))
						}
						if err := r.Close(); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// A compressed stream cut anywhere is an error, never a shorter stream.
func TestTruncated(t *testing.T) {
	data := sample(3000)
	for _, f := range framings {
		for _, m := range []Method{Gzip, LZ4, Zstd} {
			t.Run(f.name+"/"+m.String(), func(t *testing.T) {
				z := compress(t, f.writer, Spec{Method: m}, data)
				for n := range z {
					if n == 0 && m != Gzip && f.name == "file" {
						continue // what pg_dump writes for no data
					}
					r, err := f.reader(bytes.NewReader(z[:n]), m)
					if err == nil {
						_, err = io.ReadAll(r)
						r.Close()
					}
					if !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("cut to %d of %d bytes: error %v", n, len(z), err)
					}
				}
			})
		}
	}
}

func TestFlipped(t *testing.T) {
	data := sample(3000)
	rnd := rand.New(rand.NewSource(2))
	for _, m := range []Method{Gzip, LZ4, Zstd} {
		z := compress(t, NewWriter, Spec{Method: m}, data)
		for range 500 {
			bad := bytes.Clone(z)
			bad[rnd.Intn(len(bad))] ^= 1 << rnd.Intn(8)
			if r, err := NewReader(bytes.NewReader(bad), m); err == nil {
				io.Copy(io.Discard, io.LimitReader(r, 1<<20))
				r.Close()
			}
		}
		// Engines that failed must not spoil what comes after.
		r, err := NewReader(bytes.NewReader(z), m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: after failures: %d bytes, error %v", m, len(got), err)
		}
	}
}

// What the command-line tools of the libraries write and read is what we read and write.
func TestTools(t *testing.T) {
	data := sample(300_000)
	for _, c := range []struct {
		method Method
		tool   string
	}{{Gzip, "gzip"}, {LZ4, "lz4"}, {Zstd, "zstd"}} {
		t.Run(c.tool, func(t *testing.T) {
			bin, err := exec.LookPath(c.tool)
			if err != nil {
				t.Skipf("the program %s is missing", c.tool)
			}
			cmd := exec.Command(bin, "-c")
			cmd.Stdin = bytes.NewReader(data)
			z, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			r, err := NewReader(bytes.NewReader(z), c.method)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
				t.Errorf("reading %s's output: %d bytes, error %v", c.tool, len(got), err)
			}
			cmd = exec.Command(bin, "-dc")
			cmd.Stdin = bytes.NewReader(compress(t, NewWriter, Spec{Method: c.method}, data))
			if got, err := cmd.Output(); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s read %d bytes of ours, error %v", c.tool, len(got), err)
			}
		})
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("no space left on device")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriterFails(t *testing.T) {
	data := sample(600_000)
	for _, name := range specs {
		s, _ := Parse(name)
		w, err := NewWriter(&failingWriter{left: 1000}, s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(data)
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if !errors.Is(err, errFull) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	data := sample(8 << 20)
	for _, name := range []string{"gzip", "gzip:1", "lz4", "zstd:1", "zstd"} {
		b.Run(name, func(b *testing.B) {
			s, _ := Parse(name)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				w, err := NewWriter(io.Discard, s)
				if err != nil {
					b.Fatal(err)
				}
				for p := data; len(p) > 0; p = p[min(len(p), 256<<10):] {
					w.Write(p[:min(len(p), 256<<10)])
				}
				w.Close()
			}
		})
	}
}
