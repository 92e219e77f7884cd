package sqltext

import (
	"slices"
	"testing"
)

func TestParseArray(t *testing.T) {
	tests := []struct {
		in   string
		want []string // nil with !ok
		ok   bool
	}{
		{`{}`, nil, true},
		{`{a}`, []string{"a"}, true},
		{`{a,"b c",NULL}`, []string{"a", "b c", "NULL"}, true},
		{`{"a\"b\\c",""}`, []string{`a"b\c`, ""}, true},
		{`{x"y,z"w}`, []string{"xy,zw"}, true},
		{`{"}"}`, []string{"}"}, true},
		{`{,}`, []string{""}, true},
		{``, nil, false},
		{`{`, nil, false},
		{`a`, nil, false},
		{`{a`, nil, false},
		{`{"a}`, nil, false},
		{`{"a\}`, nil, false},
		{`{a}b}`, nil, false},
		{`{"a"`, nil, false},
	}
	for _, tt := range tests {
		got, err := ParseArray(tt.in)
		if (err == nil) != tt.ok || !slices.Equal(got, tt.want) {
			t.Errorf("ParseArray(%q) = %q, %v, want %q, ok %v", tt.in, got, err, tt.want, tt.ok)
		}
	}
}

func TestParseArrayNull(t *testing.T) {
	got, err := ParseArrayNull(`{NULL,"NULL",null,a}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[0] != nil || got[2] != nil || got[1] == nil || *got[1] != "NULL" || *got[3] != "a" {
		t.Errorf("got %v", got)
	}
}

func FuzzArray(f *testing.F) {
	for _, s := range []string{`{}`, `{a,"b c",NULL}`, `{"a\"b\\c",""}`, `{"a\}`, `{,`, "{\xff}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		elems, err := ParseArray(s)
		if err != nil {
			return
		}
		if len(elems) > len(s) {
			t.Fatalf("%d elements out of %d bytes", len(elems), len(s))
		}
		again, err := ParseArray(FormatArray(elems))
		if err != nil || !slices.Equal(again, elems) {
			t.Fatalf("%q reads as %q, written and read again as %q, %v", s, elems, again, err)
		}
	})
}

func TestReloptions(t *testing.T) {
	tests := []struct {
		array, prefix, want string
		q                   Quoter
	}{
		{`{fillfactor=70}`, "", `fillfactor='70'`, Quoter{}},
		{`{autovacuum_enabled=false,fillfactor=80}`, "toast.", `toast.autovacuum_enabled='false', toast.fillfactor='80'`, Quoter{}},
		{`{buffering=auto}`, "", `buffering=auto`, Quoter{}},
		{`{buffering=auto}`, "", `"buffering"='auto'`, Quoter{All: true}},
		{`{security_barrier}`, "", `security_barrier=''`, Quoter{}},
		{`{"k=it's"}`, "", `k='it''s'`, Quoter{}},
		{`{}`, "", ``, Quoter{}},
	}
	for _, tt := range tests {
		got, err := ReloptionsArray(tt.array, tt.prefix, tt.q, true)
		if err != nil || got != tt.want {
			t.Errorf("Reloptions(%s) = %s, %v, want %s", tt.array, got, err, tt.want)
		}
	}
	if _, err := ReloptionsArray(`{=x}`, "", Quoter{}, true); err == nil {
		t.Error("an option without a name was accepted")
	}
}
