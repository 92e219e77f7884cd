package fastzstd

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func compress(t testing.TB, data []byte, chunk int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for rest := data; len(rest) > 0; {
		n := min(chunk, len(rest))
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// check compresses data and reads it back.
func check(t testing.TB, data []byte, chunk int) {
	t.Helper()
	packed := compress(t, data, chunk)
	r, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%d bytes, compressed to %d: %v", len(data), len(packed), err)
	}
	if !bytes.Equal(got, data) {
		i := 0
		for i < len(got) && i < len(data) && got[i] == data[i] {
			i++
		}
		t.Fatalf("%d bytes became %d; they differ from byte %d on", len(data), len(got), i)
	}
}

// samples are data of many kinds.
func samples() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	var lines, mixed, few bytes.Buffer
	for i := range 40_000 {
		fmt.Fprintf(&lines, "%d\t%d\tlogin\t2024-%02d-%02d 10:%02d:00+00\t{\"ip\": \"10.0.%d.%d\", \"ok\": %t}\n", i, i%977, i%12+1, i%28+1, i%60, i%255, rnd.IntN(255), i%3 == 0)
		few.WriteByte(byte("ab"[rnd.IntN(2)]))
		if i%3000 < 2000 {
			mixed.Write(random[i:][:rnd.IntN(90)])
		} else {
			fmt.Fprintf(&mixed, "row %d of table %d\n", i, i%7)
		}
	}
	return map[string][]byte{
		"nothing": nil, "one": {7}, "short": []byte("abcabcabcabc"), "33": bytes.Repeat([]byte{1, 2, 3}, 11), "zeros": make([]byte, 700_000),
		"random": random, "lines": lines.Bytes(), "mixed": mixed.Bytes(), "two letters": few.Bytes(),
		"period": bytes.Repeat(random[:1000], 3000), "far": append(append(bytes.Clone(random), make([]byte, windowSize)...), random...),
		"long match": append(bytes.Repeat([]byte("x"), 70_000), bytes.Repeat([]byte("xy"), 200_000)...),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, data := range samples() {
		t.Run(name, func(t *testing.T) {
			for _, chunk := range []int{1 << 20, 65_536, 9_973} {
				check(t, data, chunk)
			}
			for _, n := range []int{1, 31, 32, 33, 45, 1000, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 40} {
				if n < len(data) {
					check(t, data[:n], 1<<20)
				}
			}
		})
	}
}

// The assembly and what stands for it on other machines write the same.
func TestPortable(t *testing.T) {
	if portable {
		t.Skip("there is no assembly for this machine")
	}
	for name, data := range samples() {
		for _, n := range []int{100, 70_000, len(data)} {
			comparePortable(t, name, data[:min(n, len(data))])
		}
	}
}

func comparePortable(t *testing.T, name string, data []byte) {
	t.Helper()
	got := compress(t, data, 1<<20)
	setPortable(true)
	defer setPortable(false)
	if want := compress(t, data, 1<<20); !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes are compressed to %d, but without assembly to %d others", name, len(data), len(got), len(want))
	}
}

// What is written does not depend on how the data arrive.
func TestChunks(t *testing.T) {
	data := bytes.Repeat(samples()["lines"], 3)
	want := compress(t, data, len(data))
	for _, chunk := range []int{1000, 65_536, blockSize, 1 << 20} {
		if !bytes.Equal(compress(t, data, chunk), want) {
			t.Errorf("other bytes in chunks of %d", chunk)
		}
	}
}

// The program zstd reads what is written, and its fastest level makes about as much of lines of a table.
func TestProgram(t *testing.T) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("the program zstd is missing")
	}
	for name, data := range samples() {
		cmd := exec.Command(program, "-dc")
		cmd.Stdin = bytes.NewReader(compress(t, data, 1<<20))
		cmd.Stderr = os.Stderr
		if got, err := cmd.Output(); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes became %d, error %v", name, len(data), len(got), err)
		}
	}
	data := samples()["lines"]
	cmd := exec.Command(program, "-1", "-c")
	cmd.Stdin = bytes.NewReader(data)
	theirs, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if ours := compress(t, data, 1<<20); len(ours) > len(theirs)+len(theirs)/50 {
		t.Errorf("%d bytes; the program makes %d", len(ours), len(theirs))
	}
}

// No code of a literal may be wider than the format allows, however the counts are.
func TestWidths(t *testing.T) {
	for _, symbols := range []int{13, 16, 25} {
		var lits []byte
		for s, a, b := 0, 1, 1; s < symbols && len(lits) < blockSize; s, a, b = s+1, b, a+b { // the widest codes there can be
			lits = append(lits, bytes.Repeat([]byte{byte(s)}, a)...)
		}
		lits = lits[:min(len(lits), blockSize)]
		var h huffman
		h.count(lits)
		if !h.build(uint32(len(lits))) {
			t.Fatal("not described")
		}
		room := 0.0
		for _, c := range h.next {
			if w := c & 0xff; w > maxCodeBits {
				t.Errorf("%d symbols: a code of %d bits", symbols, w)
			} else if w > 0 {
				room += 1 / float64(uint64(1)<<w)
			}
		}
		if room != 1 {
			t.Errorf("%d symbols: the codes take %g of the room", symbols, room)
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(lits), func(i, j int) { lits[i], lits[j] = lits[j], lits[i] })
		check(t, lits, len(lits))
	}
}

// A writer that failed says so from then on.
func TestErrors(t *testing.T) {
	bad := fmt.Errorf("disk full")
	w := NewWriter(failing{bad})
	data := samples()["random"]
	for range 3 {
		if _, err := w.Write(data); err != bad {
			t.Fatalf("error %v", err)
		}
	}
	if err := w.Close(); err != bad {
		t.Fatalf("error %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("second Close: %v", err)
	}
	if _, err := w.Write(data); err == nil {
		t.Fatal("written after Close")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abcabcabcabcabcabcabcabcabcabcabcabcabcabc"), uint16(3), uint16(7))
	f.Add([]byte{0}, uint16(9000), uint16(500))
	// The seed is repeated with changes, so that there is something to find.
	f.Fuzz(func(t *testing.T, seed []byte, times, every uint16) {
		if len(seed) == 0 || len(seed)*int(times) > 1<<20 {
			return
		}
		data := bytes.Repeat(seed, int(times))
		for i := 0; i < len(data); i += int(every) + 1 {
			data[i] += byte(i)
		}
		check(t, data, 1+len(data)/3)
		if !portable {
			comparePortable(t, "fuzz", data)
		}
	})
}

func benchData(b *testing.B) []byte {
	if name := os.Getenv("PGHAUL_BENCH_FILE"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	return samples()["lines"]
}

func BenchmarkFastzstd(b *testing.B) {
	data := benchData(b)
	var n counter
	w := NewWriter(&n)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		n = 0
		w.Reset(&n)
		w.Write(data)
		w.Close()
	}
	b.ReportMetric(float64(len(data))/float64(n), "ratio")
}

func BenchmarkLibrary(b *testing.B) {
	data := benchData(b)
	var n counter
	w, _ := zstd.NewWriter(&n, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		n = 0
		w.Reset(&n)
		w.Write(data)
		w.Close()
	}
	b.ReportMetric(float64(len(data))/float64(n), "ratio")
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
