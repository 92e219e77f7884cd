package digest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Rows takes a COPY stream as a server sends it and sums its rows. It is a
// pg.CopySink. The zero value is ready; it keeps a hash state but no row.
type Rows struct {
	sum  Sum
	part partial
}

// Rows adds rows: ends are the end offsets in buf of the rows that end in it. Bytes
// after the last end begin a row that continues with the next call's buf.
func (r *Rows) Rows(buf []byte, ends []int) error {
	start := 0
	for _, end := range ends {
		if end < start || end > len(buf) {
			return fmt.Errorf("digest rows: end %d outside of %d..%d", end, start, len(buf))
		}
		r.part.end(&r.sum, buf[start:end])
		start = end
	}
	r.part.add(buf[start:])
	return nil
}

// Sum returns the digest of the rows that have ended.
func (r *Rows) Sum() Sum { return r.sum }

// Partial says that a row has begun and not ended.
func (r *Rows) Partial() bool { return r.part.size > 0 }

// ErrPartialRow says that data ended within a row.
var ErrPartialRow = errors.New("digest rows: the last row has no end")

// Close reports whether the last row was whole, else [ErrPartialRow].
func (r *Rows) Close() error {
	if r.Partial() {
		return ErrPartialRow
	}
	return nil
}

// partial is a row of which some bytes have been seen.
type partial struct {
	hash *xxh3.Hasher
	size int64
}

func (p *partial) add(b []byte) {
	if len(b) == 0 {
		return
	}
	if p.hash == nil {
		p.hash = xxh3.New()
	}
	p.hash.Write(b) // never fails
	p.size += int64(len(b))
}

// end adds the row whose last bytes are b to s.
func (p *partial) end(s *Sum, b []byte) {
	if p.size == 0 {
		s.AddRow(b)
		return
	}
	p.add(b)
	s.addHash(p.hash.Sum128(), p.size)
	p.hash.Reset()
	p.size = 0
}

// Objects sums large objects, each counted as a row: what is hashed is the OID as
// four bytes, most significant first, and the contents. Sum.Bytes counts contents only.
type Objects struct {
	sum  Sum
	hash *xxh3.Hasher
	size int64
	open bool
}

// Begin starts the object with that OID.
func (o *Objects) Begin(oid uint32) {
	if o.hash == nil {
		o.hash = xxh3.New()
	}
	o.hash.Reset()
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], oid)
	o.hash.Write(b[:])
	o.size, o.open = 0, true
}

// Write takes the next bytes of the object's contents.
func (o *Objects) Write(b []byte) (int, error) {
	if !o.open {
		return 0, errors.New("digest large object: no object has begun")
	}
	o.size += int64(len(b))
	return o.hash.Write(b)
}

// End adds the object to the sum.
func (o *Objects) End() {
	if o.open {
		o.sum.addHash(o.hash.Sum128(), o.size)
		o.open = false
	}
}

// Sum returns the digest of the objects that have ended.
func (o *Objects) Sum() Sum { return o.sum }
