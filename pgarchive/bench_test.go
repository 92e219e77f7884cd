package pgarchive_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"path/filepath"
	"testing"

	"github.com/pghaul/pghaul/pgarchive"
)

// tableText makes n bytes of COPY data.
func tableText(n int) []byte {
	r := rand.New(rand.NewSource(1))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "%d\tcustomer %d\t2024-01-02 03:04:05\t%x\n", b.Len(), r.Intn(5000), r.Int31())
	}
	return b.Bytes()
}

// BenchmarkWrite writes 64 MB of one table, and BenchmarkRead reads them.
func BenchmarkWrite(b *testing.B) {
	text := tableText(64 << 20)
	for _, tg := range targets {
		b.Run(tg.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			dir := b.TempDir()
			for i := 0; b.Loop(); i++ {
				writeTable(b, filepath.Join(dir, fmt.Sprint(i)), tg, text)
			}
		})
	}
}

func writeTable(b *testing.B, path string, tg target, text []byte) {
	b.Helper()
	w, err := pgarchive.Create(path, tg.format, tg.options(b, pgarchive.Header{}))
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Add(&pgarchive.Entry{ID: 1, Desc: "TABLE DATA", Tag: "t", Namespace: "s", Section: pgarchive.SectionData,
		CopyStmt: "COPY s.t (a) FROM stdin;\n", HasData: true}); err != nil {
		b.Fatal(err)
	}
	d, err := w.Data(1)
	if err != nil {
		b.Fatal(err)
	}
	for p := text; len(p) > 0; p = p[min(len(p), 256<<10):] {
		if _, err := d.Write(p[:min(len(p), 256<<10)]); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	text := tableText(64 << 20)
	for _, tg := range targets {
		b.Run(tg.String(), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x")
			writeTable(b, path, tg, text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := pgarchive.Open(path, 0)
				if err != nil {
					b.Fatal(err)
				}
				d, err := r.Data(ctx, 1)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, d); err != nil || n < int64(len(text)) {
					b.Fatal(n, err)
				}
				d.Close()
				r.Close()
			}
		})
	}
}
