package rescue

import (
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	for _, c := range []struct {
		typ    string
		keys   string // between spaces
		in     string
		out    string
		failed string
	}{
		{typ: "integer", keys: "5..10", in: "5 7 10", out: "4 11 100 1 -7"},
		{typ: "integer", keys: "-5..5", in: "-5 -1 0 -0 5", out: "-6 6 -10"},
		{typ: "integer", keys: "..0 10..", in: "0 -1 10 99999999999999999999", out: "1 9"},
		{typ: "integer", keys: "3,1,+2", in: "1 2 3", out: "0 4 12"},
		{typ: "integer", keys: "1..5 3..9 20", in: "1 6 9 20", out: "10 0 19 21"},
		{typ: "numeric", keys: "1.5..2", in: "1.5 1.50 1.75 2 2.000", out: "1.49 2.001 15 NaN Infinity -Infinity"},
		{typ: "numeric", keys: "1.5..", in: "2 Infinity NaN", out: "-Infinity -1.6"},
		{typ: "numeric", keys: "..-0.5", in: "-0.5 -0.51 -3 -Infinity", out: "-0.49 0.5 NaN"},
		{typ: "numeric", keys: "NaN", in: "NaN", out: "Infinity 0"},
		{typ: "double precision", keys: "0.001..1000", in: "0.001 1e-03 1e+02", out: "1e-05 1e+05 NaN -1"},
		{typ: "double precision", keys: "5..", in: "1e+20 Infinity NaN", out: "-1e+20"},
		{typ: "text", keys: "b..d", in: "b c d bzz", out: "a da B"},
		{typ: "text", keys: `"a,b","c..d","e""f"`, in: `a,b c..d e"f`, out: "a"},
		{typ: "text", keys: `"x".."y"`, in: "x xx y", out: "yy w"},
		{typ: "character", keys: "ab", in: "ab", out: "abc"},
		{typ: "uuid", keys: "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}", in: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", out: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"},
		{typ: "date", keys: "2026-01-01..2026-01-31", in: "2026-01-01 2026-01-31", out: "2025-12-31 2026-02-01 12026-01-15 infinity"},
		{typ: "date", keys: "..2026-01-01", in: "-infinity 0044-03-15_BC 0001-01-01", out: "infinity 10000-01-01"},
		{typ: "timestamp with time zone", keys: "2026-11-30", in: "2026-11-30_00:00:00+00 2026-11-30_23:59:59.5+00", out: "2026-11-29_23:59:59+00 2026-12-01_00:00:00+00"},
		{typ: "timestamp with time zone", keys: "2026-11-30..2026-11-30_10 2026-11-30", in: "2026-11-30_23:59:59.5+00", out: "2026-12-01_00:00:00+00"},
		{typ: "", keys: "a,b", in: "a b", out: "c"},

		{typ: "", keys: "a..b", failed: "no meaning"},
		{typ: "integer", keys: "x", failed: "not a number"},
		{typ: "integer", keys: "1e3", failed: "without an exponent"},
		{typ: "integer", keys: "9..1", failed: "above its end"},
		{typ: "integer", keys: "1..2..3", failed: "neither"},
		{typ: "integer", keys: "1,2..3", failed: "neither"},
		{typ: "text", keys: `"a`, failed: "quotes do not end"},
		{typ: "text", keys: `"a"b`, failed: "missing after the quotes"},
		{typ: "uuid", keys: "12", failed: "not a UUID"},
	} {
		t.Run(c.typ+" "+c.keys, func(t *testing.T) {
			var texts []string
			for _, k := range strings.Fields(c.keys) {
				texts = append(texts, strings.ReplaceAll(k, "_", " "))
			}
			k, err := ParseKey(texts, orderOf(c.typ))
			if c.failed != "" {
				if err == nil || !strings.Contains(err.Error(), c.failed) {
					t.Fatalf("error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range strings.Fields(c.in) {
				if v = strings.ReplaceAll(v, "_", " "); !k.Has([]byte(v)) {
					t.Errorf("%s is not in it", v)
				}
			}
			for _, v := range strings.Fields(c.out) {
				if v = strings.ReplaceAll(v, "_", " "); k.Has([]byte(v)) {
					t.Errorf("%s is in it", v)
				}
			}
		})
	}
}

func TestKeyOfNothing(t *testing.T) {
	if _, err := ParseKey([]string{""}, texts); err == nil {
		t.Error("an empty key is accepted")
	}
	k, err := ParseKey([]string{`""`}, texts)
	if err != nil || !k.Has(nil) || k.Has([]byte("a")) {
		t.Errorf("the empty text: %v, %v", k, err)
	}
	if !must(ParseKey([]string{".."}, numbers)).Has([]byte("7")) {
		t.Error("a range without ends does not hold everything")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Numbers are compared as a plain comparison of 64-bit numbers does.
func FuzzNumbers(f *testing.F) {
	f.Add(int64(0), int64(-1))
	f.Add(int64(100), int64(99))
	f.Fuzz(func(t *testing.T, a, b int64) {
		x, y := appendInt(a), appendInt(b)
		want := 0
		if a < b {
			want = -1
		} else if a > b {
			want = 1
		}
		if got := compareNumbers(x, y); got != want {
			t.Errorf("%s and %s: %d", x, y, got)
		}
	})
}
