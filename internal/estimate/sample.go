package estimate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/pg"
)

// How much is sampled.
const (
	sampleTables = 40      // of the largest tables
	sampleBytes  = 1 << 20 // of a table's disk, about
	minRows      = 20      // of a table, though they be longer
	minPages     = 64      // of which they are taken
	countPages   = 2048    // in which rows are counted where the server has not
	keepBytes    = 4 << 20 // of a sample that are compressed
)

// sample is what a few pages of a table hold.
type sample struct {
	rows, bytes int64
	whole       bool                     // the sample is the table
	ratio       map[codec.Method]float64 // stored bytes of a byte
}

// methods are the ways to compress that are shown.
var methods = []codec.Method{codec.None, codec.LZ4, codec.Gzip, codec.Zstd}

// takeSamples looks into the largest tables, for at most limit. It returns what could not be read.
func takeSamples(ctx context.Context, c *pg.Conn, f *facts, limit time.Duration, specs map[codec.Method]codec.Spec) (problems []string, err error) {
	deadline := time.Now().Add(limit)
	largest := slices.Clone(f.tables)
	slices.SortFunc(largest, func(a, b *table) int { return int(min(max(b.disk()-a.disk(), -1), 1)) })
	for i, t := range largest {
		left := time.Until(deadline)
		if i == sampleTables || t.heap == 0 || left <= 0 {
			break
		}
		if t.columns == "" || !t.isHeap {
			continue
		}
		if err := c.Exec(ctx, fmt.Sprintf("SET statement_timeout = %d", max(1, left.Milliseconds()))); err != nil {
			return nil, err
		}
		s, err := t.take(ctx, c, f.blockSize, specs)
		switch {
		case err == nil:
			t.sample = s
		case pg.IsPermissionDenied(err):
			problems = append(problems, fmt.Sprintf("the role may not read %s: a backup by it will fail", t))
		case pg.IsLockNotAvailable(err):
			problems = append(problems, fmt.Sprintf("%s is locked by another session: a backup would wait for it", t))
		case pg.IsCanceled(err) && ctx.Err() == nil: // the time is over
		default:
			return nil, fmt.Errorf("sample table %s: %w", t, err)
		}
	}
	return problems, c.Exec(ctx, "SET statement_timeout = 0")
}

// take reads some of the table's rows as a dump would, from pages all over it, and counts its rows if the server has not.
func (t *table) take(ctx context.Context, c *pg.Conn, blockSize int64, specs map[codec.Method]codec.Spec) (*sample, error) {
	s := new(sample)
	pages := max(1, t.heap/blockSize)
	from := fmt.Sprintf("ONLY %s", t)
	if s.whole = t.disk() <= sampleBytes; !s.whole {
		if t.rows = t.counted(blockSize); t.rows == 0 {
			var err error
			if t.rows, err = t.count(ctx, c, pages); err != nil {
				return nil, err
			}
		}
		rows := max(minRows, sampleBytes*t.rows/max(1, t.disk()))
		// Twice the pages that hold so many rows, since some may be empty.
		wanted := min(pages, max(minPages, 2*rows*pages/max(1, t.rows)))
		from += fmt.Sprintf(" TABLESAMPLE SYSTEM (%.6f) REPEATABLE (1) LIMIT %d", 100*float64(wanted)/float64(pages), rows)
	}
	sql := "COPY (SELECT " + t.columns + " FROM " + from + ") TO STDOUT"
	var kept bytes.Buffer
	_, err := c.CopyTo(ctx, sql, pg.CopySinkFunc(func(buf []byte, ends []int) error {
		s.rows += int64(len(ends))
		s.bytes += int64(len(buf))
		kept.Write(buf[:min(len(buf), max(0, keepBytes-kept.Len()))])
		return nil
	}))
	if err != nil {
		return nil, err
	}
	s.ratio = make(map[codec.Method]float64)
	if kept.Len() == 0 {
		return s, nil
	}
	for m, spec := range specs {
		n, err := compressed(kept.Bytes(), spec)
		if err != nil {
			return nil, err
		}
		s.ratio[m] = float64(n) / float64(kept.Len())
	}
	return s, nil
}

// count counts the rows in a share of the pages, without looking at them, and returns how many that makes in all.
func (t *table) count(ctx context.Context, c *pg.Conn, pages int64) (int64, error) {
	percent := 100 * min(1, float64(countPages)/float64(pages))
	var n int64
	err := query(ctx, c, "rows", fmt.Sprintf("SELECT pg_catalog.count(*) FROM ONLY %s TABLESAMPLE SYSTEM (%.6f) REPEATABLE (1)", t, percent), func(r *row) { n = r.int() })
	return int64(float64(n) * 100 / percent), err
}

// compressed is how many bytes are left of b.
func compressed(b []byte, spec codec.Spec) (int64, error) {
	var n counter
	w, err := codec.NewWriter(&n, spec)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(b); err != nil {
		return 0, err
	}
	return int64(n), w.Close()
}

// counter counts what is written to it.
type counter int64

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// defaults are assumed where nothing was sampled: stored bytes of a byte of text, by the method.
var defaultRatio = map[codec.Method]float64{codec.None: 1, codec.LZ4: 0.45, codec.Gzip: 0.25, codec.Zstd: 0.27}

// Without a sample: bytes of text for a byte on disk, and bytes of a row on disk.
const (
	defaultText = 0.8
	defaultRow  = 150
)

// extend gives each table its rows and bytes, and returns what is stored of all by each method.
func (f *facts) extend() map[codec.Method]int64 {
	var sampledText, sampledDisk float64
	sums := make(map[codec.Method]float64)
	var weight float64
	for _, t := range f.tables {
		s := t.sample
		if s == nil {
			t.rows = t.counted(f.blockSize)
			continue
		}
		if s.whole {
			t.rows, t.bytes = s.rows, s.bytes
		} else if s.rows > 0 { // else its pages are empty
			t.bytes = int64(float64(t.rows) * float64(s.bytes) / float64(s.rows))
		}
		sampledText += float64(t.bytes)
		sampledDisk += float64(t.disk())
		if len(s.ratio) > 0 {
			weight += float64(t.bytes)
			for m, r := range s.ratio {
				sums[m] += r * float64(t.bytes)
			}
		}
	}
	text := defaultText
	if sampledDisk > 0 {
		text = sampledText / sampledDisk
	}
	stored := make(map[codec.Method]int64)
	for _, t := range f.tables {
		if t.sample == nil {
			t.bytes = int64(float64(t.disk()) * text)
			if t.rows <= 0 {
				t.rows = t.disk() / defaultRow
			}
		}
		for _, m := range methods {
			ratio := defaultRatio[m]
			if sums[m] > 0 {
				ratio = sums[m] / weight
			}
			if t.sample != nil && t.sample.ratio[m] > 0 {
				ratio = t.sample.ratio[m]
			}
			stored[m] += int64(float64(t.bytes) * ratio)
		}
	}
	for _, m := range methods {
		stored[m] += int64(float64(f.largeObjectsB) * defaultRatio[m])
	}
	return stored
}

// counted is how many rows the table has by the server's own statistics, 0 if it has none: the density when they
// were taken, at the size of today (estimate_rel_size in src/backend/optimizer/util/plancat.c).
func (t *table) counted(blockSize int64) int64 {
	if t.tuples <= 0 || t.pages <= 0 {
		return 0
	}
	return int64(t.tuples / float64(t.pages) * float64(t.heap/blockSize))
}
