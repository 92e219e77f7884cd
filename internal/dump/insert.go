package dump

import (
	"context"
	"io"

	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/pg"
)

// flushInserts is how much text of INSERT statements is gathered before it is written.
const flushInserts = 64 << 10

// insertTable writes the rows of an item as INSERT statements. The rows come one after the other, so
// that one of them is in memory. They have no digest: i.sum counts rows and bytes only.
func (d *dumper) insertTable(ctx context.Context, c *pg.Conn, i *Item, w io.Writer) error {
	in := ddl.NewInserter(d.db, i.data)
	var buf []byte
	var rows, unreported int64
	var failed error // of the archive
	flush := func() error {
		if _, failed = w.Write(buf); failed != nil {
			return failed
		}
		d.progress.Copied(i, rows-unreported, int64(len(buf)))
		i.sum.Bytes += int64(len(buf))
		unreported = rows
		if buf = buf[:0]; cap(buf) > 64*flushInserts {
			buf = nil
		}
		return nil
	}
	i.sum.Bytes = 0
	err := c.Query(ctx, i.Query, func(v [][]byte) (err error) {
		rows++
		if buf, err = in.AppendRow(buf, v); err != nil || len(buf) < flushInserts {
			return err
		}
		return flush()
	})
	if err == nil {
		buf = in.Finish(buf)
		err = flush()
	}
	if failed != nil {
		return &writeError{failed}
	}
	if err != nil {
		return &Error{Op: "dump the contents of table", Object: i.Name(), Query: i.Query, Err: err}
	}
	i.sum.Rows = rows
	return nil
}
