package sqltext

import (
	"testing"
)

func TestIdent(t *testing.T) {
	tests := []struct{ name, plain, all string }{
		{"accounts", `accounts`, `"accounts"`},
		{"_x9", `_x9`, `"_x9"`},
		{"", `""`, `""`},
		{"9lives", `"9lives"`, `"9lives"`},
		{"Users", `"Users"`, `"Users"`},
		{"dump_test\"", `"dump_test"""`, `"dump_test"""`},
		{"a b", `"a b"`, `"a b"`},
		{"a$b", `"a$b"`, `"a$b"`},
		{"straße", `"straße"`, `"straße"`},
		{"\xe9t\xe9", "\"\xe9t\xe9\"", "\"\xe9t\xe9\""}, // LATIN1 bytes stay
		{"user", `"user"`, `"user"`},                    // reserved
		{"left", `"left"`, `"left"`},                    // type or function name
		{"json_table", `"json_table"`, `"json_table"`},  // column name
		{"virtual", `virtual`, `"virtual"`},             // unreserved, new in 18
		{"abort", `abort`, `"abort"`},
		{"new\nline", "\"new\nline\"", "\"new\nline\""},
	}
	for _, tt := range tests {
		if got := (Quoter{}).Ident(tt.name); got != tt.plain {
			t.Errorf("Ident(%q) = %s, want %s", tt.name, got, tt.plain)
		}
		if got := (Quoter{All: true}).Ident(tt.name); got != tt.all {
			t.Errorf("Ident(%q) with All = %s, want %s", tt.name, got, tt.all)
		}
	}
}

func TestQualified(t *testing.T) {
	var q Quoter
	for _, tt := range []struct{ schema, name, want string }{
		{"public", "t", `public.t`},
		{"", "Order", `"Order"`},
		{"My App", "order", `"My App"."order"`},
	} {
		if got := q.Qualified(tt.schema, tt.name); got != tt.want {
			t.Errorf("Qualified(%q, %q) = %s, want %s", tt.schema, tt.name, got, tt.want)
		}
	}
	if got := q.Idents([]string{"a", "B"}); got != `a, "B"` {
		t.Errorf("Idents = %s", got)
	}
}

func TestReservedCount(t *testing.T) {
	// src/include/parser/kwlist.h of 18 lists 494 keywords, 330 of them unreserved
	if len(reserved) != 164 {
		t.Errorf("%d reserved words, want 164", len(reserved))
	}
}
