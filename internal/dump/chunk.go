package dump

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/manifest"
)

// tableSize is how much a table holds on disk.
type tableSize struct {
	heap, toast int64 // bytes of the main forks
	isHeap      bool  // its access method is heap, so that its ctids are page numbers
}

// minRangeVersion is the first version that scans a range of ctids rather than the whole table.
const minRangeVersion = 140000

// readSizes asks for the sizes of the tables, in one query. pg_class.relpages would do for sorting, but is 0
// until a table was first vacuumed or analyzed.
func readSizes(ctx context.Context, q catalog.Querier, tables []*catalog.Table) (sizes map[uint32]tableSize, blockSize int64, err error) {
	sizes = make(map[uint32]tableSize, len(tables))
	if len(tables) == 0 {
		return sizes, 8192, nil
	}
	var oids strings.Builder
	for i, t := range tables {
		if i > 0 {
			oids.WriteByte(',')
		}
		oids.WriteString(strconv.FormatUint(uint64(t.ID.OID), 10))
	}
	sql := `SELECT c.oid, COALESCE(pg_catalog.pg_relation_size(c.oid), 0), COALESCE(pg_catalog.pg_relation_size(c.reltoastrelid), 0),
  COALESCE(a.amname = 'heap', true), pg_catalog.current_setting('block_size')
FROM pg_catalog.unnest('{` + oids.String() + `}'::pg_catalog.oid[]) AS wanted (oid)
JOIN pg_catalog.pg_class c ON c.oid = wanted.oid LEFT JOIN pg_catalog.pg_am a ON a.oid = c.relam
WHERE c.relkind = 'r'`
	err = q.Query(ctx, sql, func(v [][]byte) error {
		if len(v) != 5 {
			return fmt.Errorf("%d columns, expected 5", len(v))
		}
		var n [4]int64
		for i, c := range []int{0, 1, 2, 4} {
			if n[i], err = strconv.ParseInt(string(v[c]), 10, 64); err != nil {
				return fmt.Errorf("column %d: %w", c+1, err)
			}
		}
		sizes[uint32(n[0])] = tableSize{heap: n[1], toast: n[2], isHeap: string(v[3]) == "t"}
		blockSize = n[3]
		return nil
	})
	if err != nil {
		return nil, 0, &Error{Op: "read sizes of tables", Query: sql, Err: err}
	}
	if blockSize <= 0 {
		blockSize = 8192
	}
	return sizes, blockSize, nil
}

// maxPieces bounds the entries that one table makes, and with them the dependencies of each of its indexes: a
// table of more than 256 GB has larger pieces.
const maxPieces = 4096

// cut divides a table into ranges of pages of about pieceBytes each, the share of TOAST counted evenly. nil: one
// piece. The last range has no end, so that it does not matter whether the size was exact.
func cut(size tableSize, blockSize, pieceBytes int64) []manifest.PageRange {
	if pieceBytes <= 0 || !size.isHeap || size.heap+size.toast <= pieceBytes {
		return nil
	}
	pages := size.heap / blockSize
	n := (size.heap + size.toast + pieceBytes - 1) / pieceBytes
	n = min(n, pages, maxPieces)
	if n < 2 {
		return nil
	}
	per := (pages + n - 1) / n
	var out []manifest.PageRange
	for from := int64(0); from < pages; from += per {
		out = append(out, manifest.PageRange{From: uint32(from), To: uint32(from + per)})
	}
	if len(out) < 2 {
		return nil
	}
	out[len(out)-1].To = 0
	return out
}
