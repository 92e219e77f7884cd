package restore

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/internal/pg"
)

// Large objects are written with SQL: a descriptor is opened, written in pieces and closed
// in one transaction for the entry. Small objects share a message.
const (
	largeObjectPiece = 256 << 10 // bytes of one lowrite
	largeObjectBatch = 1 << 20   // bytes of statements of one message
	inventoryWrite   = 131072    // INV_WRITE of libpq-fs.h
)

// largeObjects restores the large objects of an entry; they were created
// by entries before it (StartRestoreLOs in pg_backup_archiver.c).
func (w *worker) largeObjects(ctx context.Context, it *Item, src source, t *Timing) error {
	if err := w.prepareData(ctx, it); err != nil {
		return err
	}
	own := !w.inTransactions()
	if own {
		if err := w.transaction(ctx, it, "BEGIN"); err != nil {
			return err
		}
	}
	count, ok, err := w.largeObjectData(ctx, it, src, own, t)
	if err != nil {
		return err
	}
	if !ok {
		return w.failed(ctx, it, partEntry)
	}
	if own {
		if err := w.commitBooked(ctx, it, int64(count)); err != nil {
			return err
		}
	}
	objects := "large objects"
	if count == 1 {
		objects = "large object"
	}
	w.log(Info, fmt.Sprintf("restored %d %s", count, objects))
	w.mu.Lock()
	w.res.LargeObjects += count
	w.mu.Unlock()
	return nil
}

// largeObjectData writes the objects. If ok is false an error was reported and the transaction is over.
func (w *worker) largeObjectData(ctx context.Context, it *Item, src source, own bool, t *Timing) (count int, ok bool, err error) {
	list, err := src.largeObjects(ctx)
	if err != nil {
		return 0, false, w.unreadable(ctx, it, src, own, err)
	}
	defer list.Close()
	var (
		sql    []byte
		piece  = make([]byte, largeObjectPiece)
		failed bool
	)
	send := func() error {
		if len(sql) == 0 {
			return nil
		}
		err := w.conn.Exec(ctx, string(sql))
		sql = sql[:0]
		if err == nil {
			return nil
		}
		e, goOn := refused(err)
		if !goOn {
			return w.lost(it, err)
		}
		failed = true
		if own {
			if err := w.transaction(ctx, it, "ROLLBACK"); err != nil {
				return err
			}
		}
		return w.report(it, &EntryError{
			Entry: it.Entry, SQLState: e.Code, Err: e,
			Message: "could not write to large object: " + pg.Message(e, ""),
		})
	}
	for {
		oid, r, err := list.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return count, false, w.unreadable(ctx, it, src, own, err)
		}
		w.log(Info, fmt.Sprintf("restoring large object with OID %d", oid))
		sql = fmt.Appendf(sql, "SELECT pg_catalog.lo_open('%d', %d);\n", oid, inventoryWrite)
		for {
			n, err := fill(r, piece)
			if n > 0 {
				// The only descriptor that is open has number 0.
				// as an escape string: the archive may have switched standard_conforming_strings off
				sql = append(sql, `SELECT pg_catalog.lowrite(0, E'\\x`...)
				sql = hex.AppendEncode(sql, piece[:n])
				sql = append(sql, "');\n"...)
				t.Bytes += int64(n)
				w.progress.Data(it.Entry, int64(n), 0)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return count, false, w.unreadable(ctx, it, src, own, err)
			}
			if len(sql) >= largeObjectBatch {
				if err := send(); err != nil || failed {
					return count, false, err
				}
			}
		}
		sql = append(sql, "SELECT pg_catalog.lo_close(0);\n"...)
		count++
		if len(sql) >= largeObjectBatch {
			if err := send(); err != nil || failed {
				return count, false, err
			}
		}
	}
	if err := send(); err != nil || failed {
		return count, false, err
	}
	return count, true, nil
}
