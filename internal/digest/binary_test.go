package digest

import (
	"encoding/binary"
	"math/rand"
	"strings"
	"testing"
)

// binaryStream makes the messages of a COPY in binary form, the header in the first.
func binaryStream(rnd *rand.Rand, rows int) [][]byte {
	head := append([]byte(signature), 0, 0, 0, 0, 0, 0, 0, 0)
	var out [][]byte
	for range rows {
		fields := rnd.Intn(4)
		row := binary.BigEndian.AppendUint16(nil, uint16(fields))
		for range fields {
			n := rnd.Intn(300) - 1
			row = binary.BigEndian.AppendUint32(row, uint32(n))
			for range max(n, 0) {
				row = append(row, byte(rnd.Intn(3)-1)) // 0xff as well
			}
		}
		out = append(out, row)
	}
	out = append(out, []byte(trailer))
	out[0] = append(head, out[0]...)
	return out
}

// The rows of a binary stream have one sum, whether they come as messages or as bytes cut anywhere.
func TestBinary(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, rows := range []int{0, 1, 2, 500} {
		messages := binaryStream(rnd, rows)
		var want Sum
		var stream []byte
		var ends []int
		for i, m := range messages {
			stream = append(stream, m...)
			ends = append(ends, len(stream))
			if i == 0 {
				m = m[headerLen:]
			}
			if i < rows {
				want.AddRow(m)
			}
		}
		var r BinaryRows
		if err := r.Rows(stream, ends); err != nil || r.Close() != nil || r.Sum() != want {
			t.Errorf("%d rows as messages: %v, %v, %v; want %v", rows, r.Sum(), err, r.Close(), want)
		}
		for _, size := range []int{1, 2, 3, 7, 100, 1000, len(stream)} {
			var p Tuples
			var parts BinaryRows
			for from := 0; from < len(stream); from += size {
				to := min(from+size, len(stream))
				if _, err := p.Write(stream[from:to]); err != nil {
					t.Fatal(err)
				}
				var ended []int
				for _, e := range ends {
					if e > from && e <= to {
						ended = append(ended, e-from)
					}
				}
				if size >= 100 { // short messages are not split
					if err := parts.Rows(stream[from:to], ended); err != nil && !strings.Contains(err.Error(), "trailer") {
						t.Fatal(err)
					}
				}
			}
			if p.Close() != nil || p.Sum() != want {
				t.Errorf("%d rows, %d bytes a time: %v, %v; want %v", rows, size, p.Sum(), p.Close(), want)
			}
		}
		var p Tuples
		p.Write(stream[:len(stream)-1])
		if p.Close() != ErrNoTrailer {
			t.Error("cut data taken for whole")
		}
		p = Tuples{}
		if _, err := p.Write(append(stream, 0)); err != ErrAfterTrailer {
			t.Errorf("data after the trailer: %v", err)
		}
	}
	head := binaryStream(rnd, 0)[0][:headerLen]
	for _, bad := range []string{"1\tabc\n2\tdefghijklmnopqrstuv\n", string(head) + "\xff\xfe", string(head) + "\x00\x01\xff\xff\xff\xfe"} {
		if _, err := new(Tuples).Write([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	// a server that sends the header as a message of its own
	var r BinaryRows
	if err := r.Rows(append(head, "\x00\x00\xff\xff"...), []int{headerLen, headerLen + 2, headerLen + 4}); err != nil || r.Sum().Rows != 1 || r.Close() != nil {
		t.Errorf("header alone: %v %v", r.Sum(), err)
	}
}

func FuzzTuples(f *testing.F) {
	for _, m := range [][][]byte{binaryStream(rand.New(rand.NewSource(2)), 3)} {
		var s []byte
		for _, p := range m {
			s = append(s, p...)
		}
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var whole, parts Tuples
		_, err := whole.Write(b)
		cut = min(max(cut, 0), len(b))
		_, err1 := parts.Write(b[:cut])
		var err2 error
		if err1 == nil {
			_, err2 = parts.Write(b[cut:])
		}
		if (err == nil) != (err1 == nil && err2 == nil) {
			t.Fatalf("whole: %v, in parts: %v, %v", err, err1, err2)
		}
		if err == nil && whole.Sum() != parts.Sum() {
			t.Fatalf("whole: %v, in parts: %v", whole.Sum(), parts.Sum())
		}
	})
}
