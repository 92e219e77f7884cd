package sqltext

import (
	"strings"
	"testing"
)

func TestLiteral(t *testing.T) {
	tests := []struct{ in, std, nonStd, escape string }{
		{"", `''`, `''`, `''`},
		{"o'clock", `'o''clock'`, `'o''clock'`, `'o''clock'`},
		{`a\b`, `'a\b'`, `'a\\b'`, `E'a\\b'`},
		{`\'`, `'\'''`, `'\\'''`, `E'\\'''`},
		{"é", `'é'`, `'é'`, `'é'`},
	}
	for _, tt := range tests {
		if got := Literal(tt.in, true); got != tt.std {
			t.Errorf("Literal(%q, true) = %s, want %s", tt.in, got, tt.std)
		}
		if got := Literal(tt.in, false); got != tt.nonStd {
			t.Errorf("Literal(%q, false) = %s, want %s", tt.in, got, tt.nonStd)
		}
		if got := EscapeLiteral(tt.in); got != tt.escape {
			t.Errorf("EscapeLiteral(%q) = %s, want %s", tt.in, got, tt.escape)
		}
	}
}

func TestWriteEscapeLiteral(t *testing.T) {
	for _, tt := range []struct{ before, in, want string }{
		{"AS ", `x\y`, `AS E'x\\y'`},
		{"(", `x\y`, `( E'x\\y'`},
		{"", `x\y`, `E'x\\y'`},
		{"(", `xy`, `('xy'`},
	} {
		var b strings.Builder
		b.WriteString(tt.before)
		WriteEscapeLiteral(&b, tt.in)
		if b.String() != tt.want {
			t.Errorf("after %q: %s, want %s", tt.before, b.String(), tt.want)
		}
	}
}

func TestDollarQuote(t *testing.T) {
	for _, tt := range []struct{ in, tag, want string }{
		{"SELECT 1", "", "$$SELECT 1$$"},
		{"SELECT 1", "_", "$_$SELECT 1$_$"},
		{"SELECT '$$'", "", "$_$SELECT '$$'$_$"},
		{"costs 5$", "", "$_$costs 5$$_$"},
		{"$_$ $_X$", "_", "$_$"},
	} {
		got := DollarQuote(tt.in, tt.tag)
		if tt.in == "$_$ $_X$" {
			// "_" is taken, "__" is free
			tt.want = "$__$" + tt.in + "$__$"
		}
		if got != tt.want {
			t.Errorf("DollarQuote(%q, %q) = %s, want %s", tt.in, tt.tag, got, tt.want)
		}
	}
}

func FuzzDollarQuote(f *testing.F) {
	f.Add("$$ $_$ $_X$", "")
	f.Add("$__XXX", "_")
	f.Fuzz(func(t *testing.T, s, tag string) {
		if strings.Trim(tag, "abc_") != "" {
			return
		}
		got := DollarQuote(s, tag)
		end := strings.IndexByte(got[1:], '$') + 2
		delim := got[:end]
		// the first place where the delimiter comes again must be the end
		if i := strings.Index(got[end:], delim); i != len(s) || got[end:end+i] != s || got[end+i:] != delim {
			t.Fatalf("%q ends early", got)
		}
	})
}

func TestSmallTexts(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{SanitizeLine("a\r\nb", false), "a  b"},
		{SanitizeLine("", true), "-"},
		{SanitizeLine("", false), ""},
		{SanitizeLine("x", true), "x"},
		{ByteaLiteral([]byte{0, 0xab}, true), `'\x00ab'`},
		{ByteaLiteral([]byte{0, 0xab}, false), `'\\x00ab'`},
		{FormatVersion(180006, true), "18.6"},
		{FormatVersion(180006, false), "18"},
		{FormatVersion(90624, true), "9.6.24"},
		{FormatVersion(90624, false), "9.6"},
		{ConnStringValue("abc_1.x"), "abc_1.x"},
		{ConnStringValue(""), "''"},
		{ConnStringValue(`it's a\b`), `'it\'s a\\b'`},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestPsqlConnect(t *testing.T) {
	for _, tt := range []struct{ db, want string }{
		{"postgres", "\\connect postgres\n"},
		{"Prod", "\\connect \"Prod\"\n"},
		{"my db", "\\encoding SQL_ASCII\n\\connect -reuse-previous=on \"dbname='my db'\"\n"},
		{`a"b`, "\\encoding SQL_ASCII\n\\connect -reuse-previous=on \"dbname='a\"\"b'\"\n"},
	} {
		got, err := PsqlConnect(Quoter{}, tt.db)
		if err != nil || got != tt.want {
			t.Errorf("PsqlConnect(%q) = %q, %v, want %q", tt.db, got, err, tt.want)
		}
	}
	if _, err := PsqlConnect(Quoter{}, "foo\nbar"); err == nil {
		t.Error("a line end in a database name was accepted")
	}
}
