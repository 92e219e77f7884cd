package dump

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// tableSink takes a table's rows off the wire: into the digest and to the archive, without looking into them.
type tableSink struct {
	rows   rowDigest
	w      io.Writer
	copied func(rows, bytes int64)
	err    error // of the archive, as opposed to the server
}

var _ pg.CopySink = (*tableSink)(nil)

// rowDigest hashes rows of one of COPY's forms.
type rowDigest interface {
	pg.CopySink
	Sum() digest.Sum
	Close() error // an error if a row, or the end, is not whole
}

func newRowDigest(binary bool) rowDigest {
	if binary {
		return new(digest.BinaryRows)
	}
	return new(digest.Rows)
}

// Rows takes the payloads of CopyData messages; bytes after the last end belong to a row that goes on in the next call.
func (s *tableSink) Rows(buf []byte, ends []int) error {
	if s.err = s.rows.Rows(buf, ends); s.err != nil {
		return s.err
	}
	if _, s.err = s.w.Write(buf); s.err != nil {
		return s.err
	}
	s.copied(int64(len(ends)), int64(len(buf)))
	return nil
}

// writeError marks a failure of the archive, which no second try mends.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// dumpTable writes the data of an item from the session to the archive.
func (d *dumper) dumpTable(ctx context.Context, c *pg.Conn, i *Item) error {
	w, err := d.writer.Data(i.Entry.ID)
	if err != nil {
		return &writeError{err}
	}
	if err := d.readTable(ctx, c, i, w); err != nil {
		return d.discard(w, err)
	}
	if err := w.Close(); err != nil {
		return &writeError{err}
	}
	return nil
}

// discard gives up a data stream after err, so that the entry can be written again where the format allows it.
func (d *dumper) discard(w io.WriteCloser, err error) error {
	r, ok := w.(interface{ Discard() error })
	if !ok {
		return &writeError{err}
	}
	switch derr := r.Discard(); {
	case derr == nil:
		return err
	case errors.Is(derr, errors.ErrUnsupported):
		return &writeError{err}
	default:
		return &writeError{errors.Join(err, derr)}
	}
}

func (d *dumper) readTable(ctx context.Context, c *pg.Conn, i *Item, w io.Writer) (err error) {
	if i.Table.RelKind == 'f' {
		// Reading a foreign table is what the user asked for by --include-foreign-data.
		if err := c.AllowForeignTables(ctx); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = exec(ctx, c, "restrict foreign tables", restrictForeignTables)
			}
		}()
	}
	if d.opts.inserts() {
		return d.insertTable(ctx, c, i, w)
	}
	return d.copyTable(ctx, c, i, w)
}

func (d *dumper) copyTable(ctx context.Context, c *pg.Conn, i *Item, w io.Writer) error {
	sink := &tableSink{rows: newRowDigest(i.Binary), w: w, copied: func(rows, bytes int64) { d.progress.Copied(i, rows, bytes) }}
	rows, err := c.CopyTo(ctx, i.Query, sink)
	if sink.err != nil {
		return &writeError{sink.err}
	}
	if err != nil {
		return &Error{Op: "dump the contents of table", Object: i.Name(), Query: i.Query, Err: err}
	}
	sum := sink.rows.Sum()
	if err = sink.rows.Close(); err == nil && sum.Rows != rows {
		err = fmt.Errorf("the server counts %d rows, %d arrived", rows, sum.Rows)
	}
	if err != nil {
		return &Error{Op: "dump the contents of table", Object: i.Name(), Query: i.Query, Err: err}
	}
	if !i.Binary {
		if _, err := io.WriteString(w, pgarchive.CopyEnd); err != nil {
			return &writeError{err}
		}
	}
	i.sum = sum
	return nil
}
