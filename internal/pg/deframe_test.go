package pg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// frame is a message on the wire.
type frame struct {
	kind byte
	body []byte
}

func wire(frames []frame) []byte {
	var b []byte
	for _, f := range frames {
		b = append(b, f.kind)
		b = binary.BigEndian.AppendUint32(b, uint32(len(f.body)+4))
		b = append(b, f.body...)
	}
	return b
}

// splitReader hands out data in pieces of the sizes it is given, then as much as is asked for.
type splitReader struct {
	data  []byte
	sizes []int
}

func (r *splitReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if len(r.sizes) > 0 {
		n, r.sizes = min(r.sizes[0], n), r.sizes[1:]
	}
	n = copy(p, r.data[:min(n, len(r.data))])
	r.data = r.data[n:]
	return n, nil
}

// collect is a sink that puts messages together again.
type collect struct {
	t        interface{ Fatalf(string, ...any) }
	part     []byte
	messages [][]byte
	whole    int // the size up to which messages must come whole
}

func (c *collect) Rows(buf []byte, ends []int) error {
	start := 0
	for _, e := range ends {
		if e < start || e > len(buf) {
			c.t.Fatalf("end %d of %d after %d", e, len(buf), start)
		}
		m := append(c.part, buf[start:e]...)
		if len(c.part) > 0 && len(m) <= c.whole {
			c.t.Fatalf("a message of %d bytes was split", len(m))
		}
		c.messages = append(c.messages, bytes.Clone(m))
		c.part, start = nil, e
	}
	c.part = append(c.part, buf[start:]...)
	return nil
}

// The deframer must find the same messages as reading the frames one by one, however the stream is cut.
func TestDeframerProperty(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	rapid.Check(t, func(t *rapid.T) {
		var frames []frame
		n := rapid.IntRange(0, 60).Draw(t, "frames")
		for range n {
			kind := rapid.SampledFrom([]byte("ddddddddSN")).Draw(t, "kind")
			size := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 200), rapid.IntRange(copyBufSize-20, copyBufSize+20),
				rapid.IntRange(wholeMessage-3, wholeMessage+3), rapid.IntRange(0, 700_000)).Draw(t, "size")
			off := rapid.IntRange(0, 15).Draw(t, "offset")
			frames = append(frames, frame{kind, big[off : off+size]})
		}
		frames = append(frames, frame{'c', nil}, frame{'C', []byte("COPY 1\x00")}, frame{'Z', []byte("I")})
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, 70_000)), 0, 200).Draw(t, "sizes")

		sink := &collect{t: t, whole: wholeMessage}
		var control []frame
		d := &deframer{r: &splitReader{wire(frames), sizes}, buf: make([]byte, copyBufSize), sink: sink.Rows,
			control: func(kind byte, body []byte) (bool, error) {
				if len(sink.part) > 0 {
					t.Fatalf("message %q in the middle of a row", kind)
				}
				control = append(control, frame{kind, bytes.Clone(body)})
				return kind == 'Z', nil
			}}
		if err := d.run(); err != nil {
			t.Fatal(err)
		}
		var wantRows, wantControl []frame
		for _, f := range frames {
			if f.kind == 'd' {
				wantRows = append(wantRows, f)
			} else {
				wantControl = append(wantControl, f)
			}
		}
		if len(wantRows) != len(sink.messages) || int64(len(wantRows)) != d.messages {
			t.Fatalf("%d messages, counted %d, want %d", len(sink.messages), d.messages, len(wantRows))
		}
		for i, f := range wantRows {
			if !bytes.Equal(f.body, sink.messages[i]) {
				t.Fatalf("message %d differs", i)
			}
		}
		if len(wantControl) != len(control) {
			t.Fatalf("%d control messages, want %d", len(control), len(wantControl))
		}
		for i, f := range wantControl {
			if f.kind != control[i].kind || !bytes.Equal(f.body, control[i].body) {
				t.Fatalf("control message %d: %q, want %q", i, control[i].kind, f.kind)
			}
		}
	})
}

func FuzzDeframer(f *testing.F) {
	f.Add(wire([]frame{{'H', []byte{0, 0, 0}}, {'d', []byte("a\tb\n")}, {'c', nil}, {'Z', []byte("I")}}), uint16(3))
	f.Add([]byte{'d', 0, 0, 0, 3}, uint16(1))
	f.Add([]byte{'d', 0x3f, 0xff, 0xff, 0xff, 'x'}, uint16(1))
	f.Add([]byte{'E', 0x3f, 0xff, 0xff, 0xff, 'x'}, uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		sink := &collect{t: t, whole: wholeMessage}
		d := &deframer{r: &splitReader{data, []int{int(cut) + 1, 1, 1}}, buf: make([]byte, copyBufSize), sink: sink.Rows,
			control: func(kind byte, _ []byte) (bool, error) { return kind == 'Z', nil }}
		err := d.run()

		// the plain way
		var rows [][]byte
		rest, done, bad := data, false, false
		for !done && !bad && len(rest) >= 5 {
			n := int(int32(binary.BigEndian.Uint32(rest[1:])))
			if n < 4 || n > 1<<30 || rest[0] != 'd' && n-4 > maxControlMessage {
				bad = true
				break
			}
			if len(rest) < n+1 {
				break
			}
			if rest[0] == 'd' {
				rows = append(rows, rest[5:n+1])
			}
			done = rest[0] == 'Z'
			rest = rest[n+1:]
		}
		if done != (err == nil) {
			t.Fatalf("done %v, error %v", done, err)
		}
		if len(rows) < len(sink.messages) || done && len(rows) != len(sink.messages) {
			t.Fatalf("%d rows, want %d", len(sink.messages), len(rows))
		}
		for i, m := range sink.messages {
			if !bytes.Equal(m, rows[i]) {
				t.Fatalf("row %d differs", i)
			}
		}
	})
}

func TestDeframerErrors(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name string
		data []byte
		want string
		is   error
	}{
		{"ends in a row", []byte{'d', 0, 0, 0, 9, 'x'}, "", ErrConnectionLost},
		{"ends in a header", []byte{'d', 0, 0}, "", ErrConnectionLost},
		{"ends between messages", nil, "", ErrConnectionLost},
		{"length too small", []byte{'d', 0, 0, 0, 3, 0}, `lost synchronization with server: got message type 'd', length 3`, nil},
		{"length too large", []byte{'d', 0x7f, 0xff, 0xff, 0xff, 0}, `lost synchronization with server: got message type 'd', length 2147483647`, nil},
		{"notice too long", []byte{'N', 0x3f, 0xff, 0xff, 0xff, 0}, `message of type 'N' is too long: 1073741819 bytes`, nil},
		{"sink fails", wire([]frame{{'d', []byte("x")}, {'Z', []byte("I")}}), "boom", boom},
	}
	for _, tt := range tests {
		d := &deframer{r: bytes.NewReader(tt.data), buf: make([]byte, copyBufSize),
			sink:    func([]byte, []int) error { return boom },
			control: func(kind byte, _ []byte) (bool, error) { return kind == 'Z', nil }}
		err := d.run()
		if tt.is != nil && !errors.Is(err, tt.is) || tt.want != "" && text(err) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func BenchmarkDeframer(b *testing.B) {
	for _, size := range []int{10, 100, 1000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			row := make([]byte, size)
			for i := range row {
				row[i] = byte(rand.Uint32())
			}
			var frames []frame
			for n := 0; n < 16<<20; n += size + 5 {
				frames = append(frames, frame{'d', row})
			}
			data := wire(append(frames, frame{'Z', []byte("I")}))
			buf := make([]byte, copyBufSize)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				d := &deframer{r: bytes.NewReader(data), buf: buf, sink: func([]byte, []int) error { return nil },
					control: func(kind byte, _ []byte) (bool, error) { return kind == 'Z', nil }}
				if err := d.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
