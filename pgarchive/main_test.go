package pgarchive_test

import (
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

// zoo returns the archives of testdata/zoo: their names, and where they are now (those
// kept compressed by gzip are unpacked into a temporary folder).
func zoo(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/zoo/pg*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives in testdata/zoo: %v", err)
	}
	out := make(map[string]string)
	for _, n := range names {
		base := filepath.Base(n)
		if plain, ok := strings.CutSuffix(base, ".gz"); ok {
			base = plain
			n = gunzip(t, n)
		}
		out[base] = n
	}
	return out
}

func gunzip(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
	if err := os.WriteFile(out, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return out
}

// decompress reads a file whole.
func decompress(t testing.TB, path string, z pgarchive.Compression) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := codec.NewReader(f, z.Method)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
