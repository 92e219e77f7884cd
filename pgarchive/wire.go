package pgarchive

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// wireReader reads the integers and strings of an archive. It keeps its first error:
// after one, everything reads as zero. Nothing is allocated for a length before the bytes are there.
type wireReader struct {
	r interface {
		io.Reader
		io.ByteReader
	}
	intSize, offSize int
	left             int64 // bytes that can be left in the input, negative if unknown
	n                int64 // bytes read
	err              error
}

// fail keeps the first error.
func (r *wireReader) fail(err error) {
	if r.err == nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		r.err = err
	}
}

func (r *wireReader) byte() byte {
	if r.err != nil {
		return 0
	}
	b, err := r.r.ReadByte()
	if err != nil {
		r.fail(err)
		return 0
	}
	r.n++
	return b
}

// int reads an integer (ReadInt): a sign byte and intSize bytes, the lowest first.
func (r *wireReader) int() int {
	neg := r.byte() != 0
	var v uint64
	for i := range r.intSize {
		b := uint64(r.byte())
		switch {
		case i < 8:
			v |= b << (8 * i)
		case b != 0:
			v = math.MaxUint64
		}
	}
	if r.err != nil {
		return 0
	}
	if v > 1<<31 || v == 1<<31 && !neg {
		r.fail(errors.New("integer out of range"))
		return 0
	}
	if neg {
		return -int(v)
	}
	return int(v)
}

// oid reads an integer that is an OID: those from 2^31 on are stored as negative numbers.
func (r *wireReader) oid() uint32 { return uint32(int32(r.int())) }

// chunk bounds how much is allocated at once for a string whose bytes are not there yet.
const chunk = 64 << 10

// string reads a string (ReadStr); ok is false for NULL.
func (r *wireReader) string() (s string, ok bool) {
	l := r.int()
	if l < 0 || r.err != nil {
		return "", false
	}
	return string(r.bytes(l)), true
}

func (r *wireReader) bytes(l int) []byte {
	if r.left >= 0 && int64(l) > r.left-r.n {
		r.fail(fmt.Errorf("length %d goes beyond the end of the file", l))
	}
	if r.err != nil {
		return nil
	}
	b := make([]byte, min(l, chunk))
	for read := 0; ; {
		n, err := io.ReadFull(r.r, b[read:])
		r.n += int64(n)
		if err != nil {
			r.fail(err)
			return nil
		}
		read += n
		if read == l {
			return b
		}
		// The double of what came so far, and no more.
		grown := make([]byte, min(l, 2*read))
		copy(grown, b)
		b = grown
	}
}

// offset reads a file offset and its flag (ReadOffset).
func (r *wireReader) offset() offset {
	o := offset{state: int8(r.byte())}
	for i := range r.offSize {
		b := int64(r.byte())
		switch {
		case i < 7, i == 7 && b < 0x80:
			o.pos |= b << (8 * i)
		case b != 0:
			r.fail(errors.New("file offset in dump file is too large"))
		}
	}
	if r.err != nil {
		return offset{}
	}
	if o.state < offsetNotSet || o.state > offsetNoData {
		r.fail(fmt.Errorf("unexpected data offset flag %d", o.state))
	}
	return o
}

// wireWriter writes them. It keeps its first error.
type wireWriter struct {
	w interface {
		io.Writer
		io.ByteWriter
		io.StringWriter
	}
	n   int64 // bytes written
	err error
}

func (w *wireWriter) byte(b byte) {
	if w.err == nil {
		w.err = w.w.WriteByte(b)
		w.n++
	}
}

func (w *wireWriter) write(p []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(p)
		w.n += int64(len(p))
	}
}

// appendInt appends an integer as WriteInt writes it, with four bytes.
func appendInt(b []byte, v int) []byte {
	sign := byte(0)
	if v < 0 {
		sign, v = 1, -v
	}
	return append(b, sign, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// appendOID appends an OID as WriteInt writes it, to whom it is a signed number.
func appendOID(b []byte, oid uint32) []byte { return appendInt(b, int(int32(oid))) }

func (w *wireWriter) int(v int) {
	var b [5]byte
	w.write(appendInt(b[:0], v))
}

func (w *wireWriter) string(s string) {
	if len(s) > math.MaxInt32 && w.err == nil {
		w.err = errors.New("string is longer than the format can say")
	}
	w.int(len(s))
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
		w.n += int64(len(s))
	}
}

// stringOrNull writes s, or NULL if it is not there.
func (w *wireWriter) stringOrNull(s string, there bool) {
	if there {
		w.string(s)
	} else {
		w.int(-1)
	}
}

func (w *wireWriter) offset(o offset) {
	w.byte(byte(o.state))
	for i := range 8 {
		w.byte(byte(o.pos >> (8 * i)))
	}
}
