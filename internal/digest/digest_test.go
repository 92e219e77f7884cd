package digest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rowsGen makes rows as COPY's text format has them: no newline within, no row that is the end marker.
func rowsGen() *rapid.Generator[[]string] {
	row := rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringMatching(`([a-c\t.]|\\[Nt.\\]){0,12}`).Draw(t, "row")
		if s == `\.` {
			s = `\\.`
		}
		if rapid.IntRange(0, 9).Draw(t, "wide") == 0 {
			s = strings.Repeat(s+"x", 300)
		}
		return s + "\n"
	})
	return rapid.SliceOfN(row, 0, 30)
}

// reference adds the rows one by one.
func reference(rows []string) (s Sum) {
	for _, r := range rows {
		s.AddRow([]byte(r))
	}
	return s
}

// cut draws a cut of n bytes into buffers.
func cut(t *rapid.T, n int) []int {
	var out []int
	for n > 0 {
		k := rapid.IntRange(1, min(n, 40)).Draw(t, "buffer")
		if rapid.Bool().Draw(t, "big") {
			k = rapid.IntRange(k, n).Draw(t, "buffer")
		}
		out, n = append(out, k), n-k
	}
	return out
}

func TestOrderAndPiecesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rowsGen().Draw(t, "rows")
		want := reference(rows)
		mixed := rapid.Permutation(rows).Draw(t, "order")
		at := rapid.IntRange(0, len(mixed)).Draw(t, "cut")
		got := reference(mixed[:at])
		got.Add(reference(mixed[at:]))
		if got != want {
			t.Fatalf("sum %v, want %v", got, want)
		}
	})
}

func TestBufferSplitsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rowsGen().Draw(t, "rows")
		want := reference(rows)
		data := []byte(strings.Join(rows, ""))

		var bounds []int
		for i, at := 0, 0; i < len(rows); i++ {
			at += len(rows[i])
			bounds = append(bounds, at)
		}
		var sink Rows
		at := 0
		for _, k := range cut(t, len(data)) {
			var ends []int
			for len(bounds) > 0 && bounds[0] <= at+k {
				ends, bounds = append(ends, bounds[0]-at), bounds[1:]
			}
			if err := sink.Rows(data[at:at+k], ends); err != nil {
				t.Fatal(err)
			}
			at += k
		}
		if sink.Sum() != want || sink.Partial() {
			t.Fatalf("Rows: %v (partial %v), want %v", sink.Sum(), sink.Partial(), want)
		}

		archived := append(data, "\\.\n\n\n"...)
		var lines Lines
		at = 0
		for _, k := range cut(t, len(archived)) {
			if n, err := lines.Write(archived[at : at+k]); err != nil || n != k {
				t.Fatalf("Write = %d, %v", n, err)
			}
			at += k
		}
		if err := lines.Close(); err != nil {
			t.Fatal(err)
		}
		if lines.Sum() != want {
			t.Fatalf("Lines: %v, want %v", lines.Sum(), want)
		}
	})
}

func TestChangesMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := append(rowsGen().Draw(t, "rows"), "one\n")
		sum := reference(rows)
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
		duplicated := append(slices.Clone(rows), rows[i])
		removed := slices.Delete(slices.Clone(rows), i, i+1)
		b := []byte(rows[i])
		b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		changed := slices.Clone(rows)
		changed[i] = string(b)
		for name, other := range map[string][]string{"duplicated": duplicated, "removed": removed, "changed": changed} {
			if got := reference(other); got.Hash() == sum.Hash() {
				t.Fatalf("row %d %s: the sum is still %v", i, name, got)
			}
		}
	})
}

func TestLinesEndMarker(t *testing.T) {
	for _, c := range []struct {
		name, data string
		rows       int64
		err        error
	}{
		{"no rows", "\\.\n\n\n", 0, nil},
		{"table without columns", "\n\n\\.\n\n\n", 2, nil},
		{"cut before the marker", "a\nb\n", 2, ErrNoEndMarker},
		{"cut in the marker", "a\n\\.", 1, ErrNoEndMarker},
		{"cut in a row", "a\nb", 1, ErrNoEndMarker},
		{"escaped backslash first", "\\\\.\n\\.\n", 1, nil},
		{"marker at the end of a row", "a\\.\n\\.\n", 1, nil},
		{"rows after the marker", "a\n\\.\nb\n", 1, ErrAfterEnd},
		{"nothing", "", 0, ErrNoEndMarker},
	} {
		for _, step := range []int{1, 2, 3, len(c.data) + 1} {
			var l Lines
			var err error
			for b := []byte(c.data); len(b) > 0 && err == nil; {
				k := min(step, len(b))
				_, err = l.Write(b[:k])
				b = b[k:]
			}
			if err == nil {
				err = l.Close()
			}
			if !errors.Is(err, c.err) || l.Sum().Rows != c.rows {
				t.Errorf("%s, buffers of %d: %d rows, error %v; want %d, %v", c.name, step, l.Sum().Rows, err, c.rows, c.err)
			}
		}
	}
}

func TestForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sum{
			Rows: rapid.Int64Min(0).Draw(t, "rows"), Bytes: rapid.Int64Min(0).Draw(t, "bytes"),
			Hi: rapid.Uint64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo"),
		}
		if got, err := Parse(s.String()); err != nil || got != s {
			t.Fatalf("Parse(%q) = %v, %v", s.String(), got, err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got Sum
		if err := json.Unmarshal(b, &got); err != nil || got != s {
			t.Fatalf("from %s: %v, %v", b, got, err)
		}
	})
	for _, bad := range []string{"", "1:2", "-1:2:" + strings.Repeat("0", 32), "1:2:00", "1:2:" + strings.Repeat("A", 32), "1:2:3:" + strings.Repeat("0", 32)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) gives no error", bad)
		}
	}
	for _, bad := range []string{`{}`, `{"rows":1,"bytes":2}`, `{"rows":-1,"bytes":2,"sum":"00000000000000000000000000000000"}`, `[]`} {
		var s Sum
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("no error from %s", bad)
		}
	}
}

// TestKnownSum fixes the function: a manifest of today must be comparable tomorrow.
func TestKnownSum(t *testing.T) {
	for _, c := range []struct {
		rows []string
		want string
	}{
		{nil, "0:0:00000000000000000000000000000000"},
		{[]string{"\n"}, "1:1:" + knownNewline},
		{[]string{"1\tone\n", "2\ttwo\n"}, "2:12:" + knownTwo},
	} {
		if got := reference(c.rows).String(); got != c.want {
			t.Errorf("%q: %s, want %s", c.rows, got, c.want)
		}
	}
}

func TestObjects(t *testing.T) {
	sum := func(objects map[uint32]string, order ...uint32) Sum {
		var o Objects
		for _, oid := range order {
			o.Begin(oid)
			for _, b := range []byte(objects[oid]) {
				o.Write([]byte{b})
			}
			o.End()
		}
		return o.Sum()
	}
	m := map[uint32]string{16400: "abc", 16401: "", 16402: "x"}
	want := sum(m, 16400, 16401, 16402)
	if want.Rows != 3 || want.Bytes != 4 {
		t.Errorf("counts are %v", want)
	}
	if got := sum(m, 16402, 16400, 16401); got != want {
		t.Errorf("another order gives %v, want %v", got, want)
	}
	if got := sum(map[uint32]string{16400: "x", 16401: "", 16402: "abc"}, 16400, 16401, 16402); got == want {
		t.Error("exchanged contents give the same sum")
	}
	if _, err := new(Objects).Write([]byte("x")); err == nil {
		t.Error("Write without Begin gives no error")
	}
}

func TestNoAllocationPerRow(t *testing.T) {
	buf, ends := benchRows(1000, 80)
	var sink Rows
	if n := testing.AllocsPerRun(10, func() {
		if err := sink.Rows(buf, ends); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for 1000 rows", n)
	}
}

func benchRows(n, size int) (buf []byte, ends []int) {
	row := append(bytes.Repeat([]byte("x"), size-1), '\n')
	for range n {
		buf = append(buf, row...)
		ends = append(ends, len(buf))
	}
	return buf, ends
}

func BenchmarkRows(b *testing.B) {
	for _, size := range []int{20, 100, 1000, 100000} {
		buf, ends := benchRows(max(1, 256<<10/size), size)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			var sink Rows
			for b.Loop() {
				if err := sink.Rows(buf, ends); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLines(b *testing.B) {
	buf, _ := benchRows(2600, 100)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	var sink Lines
	for b.Loop() {
		if _, err := sink.Write(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1:2:000102030405060708090a0b0c0d0e0f")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(s.String()); err != nil || again != s {
			t.Errorf("Parse(%q) = %v, which reads back as %v, %v", text, s, again, err)
		}
	})
}

const (
	knownNewline = "7858ef011ea0bad1384868fba0c21fdc"
	knownTwo     = "bb71407762c75aaeb295832ff49294a4"
)
