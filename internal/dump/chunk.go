package dump

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// tableSize is how much a table holds on disk.
type tableSize struct {
	heap, toast int64 // bytes of the main forks
	isHeap      bool  // its access method is heap, so that its ctids are page numbers
}

// minRangeVersion is the first version that scans a range of ctids rather than the whole table. Before, tables are cut by
// their keys.
const minRangeVersion = 140000

// part is a range of a table that is an item of its own: of pages, or of keys.
type part struct {
	pages *manifest.PageRange
	keys  *manifest.KeyRange
}

// keyColumn returns an integer column that is the first of the table's primary key, so that its index leads to a range of rows.
func keyColumn(t *catalog.Table) *catalog.Column {
	for _, x := range t.Indexes {
		if x.Constraint == nil || x.Constraint.Type != 'p' || !x.Valid || len(x.Keys) == 0 || x.Keys[0] < 1 || int(x.Keys[0]) > len(t.Columns) {
			continue
		}
		switch c := &t.Columns[x.Keys[0]-1]; c.TypeOID {
		case 20, 21, 23: // int8, int2, int4 (pg_type.dat)
			return c
		}
	}
	return nil
}

// readKeys finds values that divide the key's in n ranges of about as many rows: by the histogram that ANALYZE left, else evenly
// between the least and the greatest. Rows are where they are, whatever these values: they only decide how even the pieces are.
func readKeys(ctx context.Context, q catalog.Querier, quote sqltext.Quoter, t *catalog.Table, column string, n int64) ([]int64, error) {
	sql := fmt.Sprintf(`SELECT (SELECT pg_catalog.min(%[1]s) FROM ONLY %[2]s), (SELECT pg_catalog.max(%[1]s) FROM ONLY %[2]s),
  (SELECT histogram_bounds::pg_catalog.text FROM pg_catalog.pg_stats WHERE schemaname = %[3]s AND tablename = %[4]s AND attname = %[5]s AND NOT inherited)`,
		quote.Ident(column), quote.Qualified(t.Schema.Name, t.Name), sqltext.EscapeLiteral(t.Schema.Name), sqltext.EscapeLiteral(t.Name), sqltext.EscapeLiteral(column))
	var bounds []int64
	err := q.Query(ctx, sql, func(v [][]byte) error {
		if len(v) != 3 || v[0] == nil || v[1] == nil {
			return nil // there are no rows
		}
		low, err := strconv.ParseInt(string(v[0]), 10, 64)
		if err != nil {
			return err
		}
		high, err := strconv.ParseInt(string(v[1]), 10, 64)
		if err != nil {
			return err
		}
		bounds = divide(low, high, strings.Split(strings.Trim(string(v[2]), "{}"), ","), n)
		return nil
	})
	if err != nil {
		return nil, &Error{Op: "look for ranges of the key of table", Object: t.Schema.Name + "." + t.Name, Query: sql, Err: err}
	}
	return bounds, nil
}

// divide returns at most n-1 ascending values above low and up to high.
func divide(low, high int64, histogram []string, n int64) []int64 {
	var out []int64
	add := func(v int64) {
		if v > low && v <= high && (len(out) == 0 || v > out[len(out)-1]) {
			out = append(out, v)
		}
	}
	steps := int64(len(histogram) - 1)
	for i := int64(1); i < n; i++ {
		if steps >= n {
			if v, err := strconv.ParseInt(histogram[i*steps/n], 10, 64); err == nil {
				add(v)
			}
			continue
		}
		// in floating point, since the difference may be more than an int64 holds
		add(int64(float64(low) + (float64(high)-float64(low))/float64(n)*float64(i)))
	}
	return out
}

// keyParts are the ranges between the bounds, before the first and from the last on; nil if there are none.
func keyParts(column string, bounds []int64) []part {
	if len(bounds) == 0 {
		return nil
	}
	var out []part
	for i := range len(bounds) + 1 {
		k := &manifest.KeyRange{Column: manifest.Name(column)}
		if i > 0 {
			k.From = &bounds[i-1]
		}
		if i < len(bounds) {
			k.To = &bounds[i]
		}
		out = append(out, part{keys: k})
	}
	return out
}

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

// pieces is into how many pieces of about pieceBytes a table is to be cut.
func pieces(size tableSize, blockSize, pieceBytes int64) int64 {
	if pieceBytes <= 0 || !size.isHeap || size.heap+size.toast <= pieceBytes {
		return 1
	}
	return min((size.heap+size.toast+pieceBytes-1)/pieceBytes, size.heap/blockSize, maxPieces)
}

// cut divides a table into ranges of pages of about pieceBytes each, the share of TOAST counted evenly. nil: one
// piece. The last range has no end, so that it does not matter whether the size was exact.
func cut(size tableSize, blockSize, pieceBytes int64) []manifest.PageRange {
	n := pieces(size, blockSize, pieceBytes)
	if n < 2 {
		return nil
	}
	pages := size.heap / blockSize
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
