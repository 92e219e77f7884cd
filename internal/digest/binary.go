package digest

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// COPY's binary form is a header, tuples and a trailer (the documentation of COPY, "Binary Format"). A row is a tuple:
// its count of fields, two bytes, and each field's length and value. Header and trailer belong to no row, so
// that the sum depends neither on where a stream is cut nor on how many streams the rows came in.
const (
	signature = "PGCOPY\n\xff\r\n\x00"
	headerLen = len(signature) + 8 // flags, length of the header's extension
	trailer   = "\xff\xff"         // a count of -1
)

// Errors of [Tuples] and [BinaryRows].
var (
	ErrNoTrailer    = errors.New("digest rows: the trailer of the binary form is missing")
	ErrAfterTrailer = errors.New("digest rows: data after the trailer of the binary form")
)

// header reads the header off a stream.
type header struct {
	b [headerLen]byte
	n int
}

// take takes what of b belongs to the header and returns how much that is.
func (h *header) take(b []byte) (int, error) {
	if h.n == headerLen {
		return 0, nil
	}
	k := copy(h.b[h.n:], b)
	h.n += k
	if h.n < headerLen {
		return k, nil
	}
	flags := binary.BigEndian.Uint32(h.b[len(signature):])
	switch {
	case string(h.b[:len(signature)]) != signature:
		return k, errors.New("digest rows: not COPY's binary form")
	case flags != 0:
		return k, fmt.Errorf("digest rows: flags %#x in the header of the binary form", flags)
	case binary.BigEndian.Uint32(h.b[headerLen-4:]) != 0:
		return k, errors.New("digest rows: the header of the binary form has an extension")
	}
	return k, nil
}

// BinaryRows is [Rows] for COPY's binary form. A server sends each tuple in a message of its own, the
// header before the first tuple or the trailer, in its message, and the trailer as the last message.
type BinaryRows struct {
	head  header
	sum   Sum
	part  partial
	ended bool
}

// Rows adds rows: ends are the end offsets in buf of the messages that end in it. Bytes
// after the last end begin a message that continues with the next call's buf.
func (r *BinaryRows) Rows(buf []byte, ends []int) error {
	start, err := r.head.take(buf)
	if err != nil {
		return err
	}
	for _, end := range ends {
		if end < start || end > len(buf) {
			return fmt.Errorf("digest rows: end %d outside of %d..%d", end, start, len(buf))
		}
		switch row := buf[start:end]; {
		case r.part.size == 0 && len(row) == 0: // the header alone
			continue
		case r.ended:
			return ErrAfterTrailer
		case r.part.size == 0 && string(row) == trailer:
			r.ended = true
		default:
			r.part.end(&r.sum, row)
		}
		start = end
	}
	if r.ended && start < len(buf) {
		return ErrAfterTrailer
	}
	r.part.add(buf[start:])
	return nil
}

// Close reports whether the data were whole: [ErrNoTrailer] when they end before the trailer.
func (r *BinaryRows) Close() error {
	if !r.ended {
		return ErrNoTrailer
	}
	return nil
}

// Sum returns the digest of the rows that have ended.
func (r *BinaryRows) Sum() Sum { return r.sum }

// Tuples is [Lines] for COPY's binary form: it takes the data of an archive's entry, cut anywhere, and sums
// its tuples. The zero value is ready; it keeps a hash state but no row.
type Tuples struct {
	head   header
	sum    Sum
	part   partial
	num    [4]byte // the count or length that is being read
	n      int     // its bytes
	inside bool    // within a tuple, after its count
	fields int     // of the tuple, to come
	skip   int     // bytes of the field's value to come
	ended  bool
}

// Write takes the next bytes of the data.
func (t *Tuples) Write(b []byte) (int, error) {
	total := len(b)
	k, err := t.head.take(b)
	if err != nil {
		return 0, err
	}
	for b = b[k:]; len(b) > 0; {
		if t.ended {
			return 0, ErrAfterTrailer
		}
		if !t.inside && t.n == 0 {
			if n := wholeTuple(b); n > 0 {
				t.sum.AddRow(b[:n])
				b = b[n:]
				continue
			}
		}
		if b, err = t.step(b); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// wholeTuple is the length of the tuple that b begins with, 0 if it is not whole or none.
func wholeTuple(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	fields := int(int16(binary.BigEndian.Uint16(b)))
	if fields < 0 {
		return 0
	}
	at := 2
	for range fields {
		if len(b)-at < 4 {
			return 0
		}
		n := int(int32(binary.BigEndian.Uint32(b[at:])))
		if at += 4; n < -1 || n > len(b)-at {
			return 0
		}
		at += max(n, 0)
	}
	return at
}

// step takes the rest of a value, a count or a length, as far as b goes.
func (t *Tuples) step(b []byte) ([]byte, error) {
	if t.skip > 0 {
		k := min(t.skip, len(b))
		t.part.add(b[:k])
		t.skip -= k
		t.endTuple()
		return b[k:], nil
	}
	size := 2
	if t.inside {
		size = 4
	}
	k := copy(t.num[t.n:size], b)
	b = b[k:]
	if t.n += k; t.n < size {
		return b, nil
	}
	t.n = 0
	if !t.inside {
		if string(t.num[:2]) == trailer {
			t.ended = true
			return b, nil
		}
		if t.fields = int(int16(binary.BigEndian.Uint16(t.num[:]))); t.fields < 0 {
			return nil, fmt.Errorf("digest rows: a tuple of %d fields", t.fields)
		}
		t.inside = true
	} else {
		n := int(int32(binary.BigEndian.Uint32(t.num[:])))
		if n < -1 {
			return nil, fmt.Errorf("digest rows: a field of %d bytes", n)
		}
		t.fields--
		t.skip = max(n, 0)
	}
	t.part.add(t.num[:size])
	t.endTuple()
	return b, nil
}

// endTuple ends the tuple if nothing of it is to come.
func (t *Tuples) endTuple() {
	if t.inside && t.fields == 0 && t.skip == 0 {
		t.part.end(&t.sum, nil)
		t.inside = false
	}
}

// Close reports whether the data were whole: [ErrNoTrailer] when they end before the trailer.
func (t *Tuples) Close() error {
	if !t.ended {
		return ErrNoTrailer
	}
	return nil
}

// Sum returns the digest of the rows that have ended.
func (t *Tuples) Sum() Sum { return t.sum }
