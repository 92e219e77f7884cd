package dump

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/pgarchive"
)

const (
	loBatch = 50        // large objects whose beginnings one query reads
	loPart  = 256 << 10 // bytes that one row holds of a large object
)

// dumpLargeObjects writes the large objects of an item to the archive. The beginnings
// of many are read by one query, what is longer by a query for each further part; one
// part is in memory. lo_get checks the privileges of each object. When the
// connection breaks, reading goes on where it was, whatever the format.
func (d *dumper) dumpLargeObjects(ctx context.Context, s *session, i *Item) error {
	w, err := d.writer.LargeObjects(i.Entry.ID)
	if err != nil {
		return err
	}
	r := &loReader{d: d, s: s, i: i, w: w, oids: i.objects}
	for len(r.oids) > 0 {
		if err := d.retry(ctx, s, i, func() error { return r.more(ctx) }); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	i.sum = r.sum.Sum()
	return nil
}

// loReader is the reading of the large objects of one item.
type loReader struct {
	d   *dumper
	s   *session
	i   *Item
	w   pgarchive.LargeObjectWriter
	sum digest.Objects
	bin []byte

	batch  int            // objects in the last query, which grows while they are small
	oids   []uint32       // not finished yet
	open   io.WriteCloser // of the first of them, if some of it was written
	offset int64          // and how much
}

// more reads the next part of the open object, or the beginnings of the next objects.
func (r *loReader) more(ctx context.Context) error {
	if r.open != nil {
		return r.query(ctx, fmt.Sprintf("SELECT pg_catalog.encode(pg_catalog.lo_get(%d, %d, %d), 'hex')", r.oids[0], r.offset, loPart), 1)
	}
	r.batch = max(1, min(2*r.batch, loBatch))
	n := min(r.batch, len(r.oids))
	var b strings.Builder
	for i, oid := range r.oids[:n] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(oid), 10))
	}
	return r.query(ctx, fmt.Sprintf("SELECT pg_catalog.encode(pg_catalog.lo_get(oid, 0, %d), 'hex') "+
		"FROM pg_catalog.unnest('{%s}'::pg_catalog.oid[]) WITH ORDINALITY AS o (oid, n) ORDER BY n", loPart, b.String()), n)
}

// query runs a query whose rows are parts of the next n objects, in order. Rows after one that
// does not finish its object are not used; they are read again when it is finished.
func (r *loReader) query(ctx context.Context, sql string, n int) error {
	var failed error // of the archive
	rows, stop := 0, false
	err := r.s.conn.Query(ctx, sql, func(v [][]byte) error {
		if rows++; stop || rows > n {
			return nil
		}
		var size int
		if size, failed = r.part(v[0]); failed != nil {
			return failed
		}
		if stop = size == loPart; stop {
			r.batch = 0 // its like may follow
		}
		return nil
	})
	switch {
	case failed != nil:
		return &writeError{failed}
	case err == nil && rows != n:
		err = fmt.Errorf("query returned %d rows instead of %d", rows, n)
	}
	if err != nil {
		return &Error{Op: "read large objects", Object: r.i.Entry.Tag, Query: sql, Err: err}
	}
	return nil
}

// part writes one part of the first object, and finishes the object if the part is not full. It returns the part's size.
func (r *loReader) part(text []byte) (int, error) {
	r.bin = append(r.bin[:0], text...)
	n, err := hex.Decode(r.bin, text)
	if err != nil {
		return 0, fmt.Errorf("decode large object: %w", err)
	}
	oid := r.oids[0]
	if r.open == nil {
		if r.open, err = r.w.Create(oid); err != nil {
			return 0, err
		}
		r.sum.Begin(oid)
		r.offset = 0
	}
	if _, err := r.sum.Write(r.bin[:n]); err != nil {
		return 0, err
	}
	if _, err := r.open.Write(r.bin[:n]); err != nil {
		return 0, err
	}
	r.offset += int64(n)
	r.d.progress.Copied(r.i, 0, int64(n))
	if n == loPart {
		return n, nil
	}
	if err := r.open.Close(); err != nil {
		return 0, err
	}
	r.sum.End()
	r.open, r.oids = nil, r.oids[1:]
	return n, nil
}
