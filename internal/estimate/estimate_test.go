package estimate

import (
	"math"
	"testing"

	"github.com/pghaul/pghaul/internal/codec"
)

func TestPriceOf(t *testing.T) {
	for host, want := range map[string]string{
		"": "this machine or its network", "/var/run/postgresql": "this machine or its network", "localhost": "this machine or its network", "db": "this machine or its network",
		"10.1.2.3": "this machine or its network", "db.abcd.supabase.co": "Supabase", "aws-0-eu-central-1.pooler.supabase.com": "Supabase",
		"x.abc.us-east-1.RDS.amazonaws.com.": "Amazon RDS or Aurora", "ep-x.eu-central-1.aws.neon.tech": "Neon", "db.example.com": "unknown",
		"notsupabase.co": "unknown", "203.0.113.7": "unknown",
	} {
		if got := priceOf(host); got.Platform != want {
			t.Errorf("%q: %s, want %s", host, got.Platform, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	wanted, err := schemas([]string{"app*", "public"}, []string{"app_old"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"app": true, "app1": true, "public": true, "other": false, "app_old": false} {
		if wanted(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if _, err := schemas([]string{"a.b"}, nil); err == nil {
		t.Error("a pattern with a period is accepted")
	}
}

// What was sampled stands for the rest.
func TestExtend(t *testing.T) {
	f := &facts{blockSize: 8192, tables: []*table{
		{name: "whole", isHeap: true, heap: 8192, sample: &sample{rows: 10, bytes: 1000, whole: true, ratio: map[codec.Method]float64{codec.Zstd: 0.5}}},
		{name: "counted", isHeap: true, heap: 8192 * 1000, rows: 100_000, sample: &sample{rows: 100, bytes: 5000, ratio: map[codec.Method]float64{codec.Zstd: 0.1}}},
		{name: "without a ratio", isHeap: true, heap: 8192 * 1000, rows: 20_000, sample: &sample{rows: 200, bytes: 5000}},
		{name: "not sampled", isHeap: true, heap: 8192 * 1000},
	}}
	if n := (&table{heap: 8192 * 1000, pages: 500, tuples: 50_000}).counted(8192); n != 100_000 {
		t.Errorf("%d rows", n)
	}
	stored := f.extend()
	for i, want := range []struct{ rows, bytes int64 }{{10, 1000}, {100_000, 5_000_000}, {20_000, 500_000}, {8192 * 1000 / defaultRow, 8192 * 1000 * 5_501_000 / (8192 * 2001)}} {
		if got := f.tables[i]; got.rows != want.rows || math.Abs(float64(got.bytes-want.bytes)) > 2 {
			t.Errorf("%s: %d rows, %d bytes, want %+v", got.name, got.rows, got.bytes, want)
		}
	}
	if stored[codec.None] != f.tables[0].bytes+f.tables[1].bytes+f.tables[2].bytes+f.tables[3].bytes || stored[codec.Zstd] < 500_000 || stored[codec.Zstd] > stored[codec.None]/5 {
		t.Errorf("stored: %v", stored)
	}
}

// More data, indexes and keys take longer to restore, more jobs less.
func TestRestoreTime(t *testing.T) {
	f := &facts{blockSize: 8192, objects: 3, tables: []*table{
		{oid: 1, schema: "s", name: "a", isHeap: true, heap: 1 << 30, rows: 1e6, bytes: 1 << 30}, {oid: 2, schema: "s", name: "b", isHeap: true, heap: 1 << 20, rows: 1e5, bytes: 1 << 20},
	}}
	seconds := func(jobs int) float64 {
		d, err := restoreTime2(f, jobs)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	data := seconds(1)
	f.indexes = []index{{table: 1, method: "btree", columns: 2, constraint: true}, {table: 1, method: "gin", columns: 1}, {table: 99, method: "btree", columns: 1}}
	f.keys = []foreignKey{{1, 2}, {1, 99}}
	if all, fast := seconds(1), seconds(4); data < 5 || all < data+5 || fast > 0.8*all {
		t.Errorf("data %.1f s, with indexes %.1f s, with 4 jobs %.1f s", data, all, fast)
	}
	if n := f.tables[0].pieces(8192, 64<<20); n != 16 {
		t.Errorf("%d pieces", n)
	}
}

func restoreTime2(f *facts, jobs int) (float64, error) {
	entries, sizes := f.toc(64 << 20)
	d, err := restoreTime(entries, sizes, jobs)
	return d.Seconds(), err
}
