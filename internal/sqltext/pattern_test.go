package sqltext

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSplitPattern(t *testing.T) {
	tests := []struct {
		in     string
		parts  int
		escape bool
		want   PatternParts
	}{
		{"t", 3, false, PatternParts{Name: "^(t)$"}},
		{"S.T*", 3, false, PatternParts{Schema: "^(s)$", Name: "^(t.*)$", Dots: 1}},
		{`"My.DB".s.t?`, 3, false, PatternParts{Database: "My.DB", Schema: "^(s)$", Name: "^(t.)$", Dots: 2}},
		{`"a""b".c`, 2, false, PatternParts{Schema: `^(a"b)$`, Name: "^(c)$", Dots: 1}},
		{"a.b.c.d", 3, false, PatternParts{Database: "a", Schema: "^(b)$", Name: "^(c.d)$", Dots: 3}},
		{"a.b", 1, false, PatternParts{Name: "^(a.b)$", Dots: 1}},
		{"a$b", 1, false, PatternParts{Name: `^(a\$b)$`}},
		{`"a$(b"`, 1, false, PatternParts{Name: `^(a\$\(b)$`}},
		{"f(x|y)+", 1, false, PatternParts{Name: "^(f(x|y)+)$"}},
		{"f(x|y)+", 1, true, PatternParts{Name: `^(f\(x\|y\)\+)$`}},
		{"int[]", 1, false, PatternParts{Name: `^(int\[])$`}},
		{"[0-9]x", 1, false, PatternParts{Name: "^([0-9]x)$"}},
		{"DB.S.T", 3, false, PatternParts{Database: "db", Schema: "^(s)$", Name: "^(t)$", Dots: 2}},
		{"", 3, false, PatternParts{Name: "^()$"}},
		{"..", 3, false, PatternParts{Schema: "^()$", Name: "^()$", Dots: 2}},
	}
	for _, tt := range tests {
		if got := SplitPattern(tt.in, tt.parts, tt.escape); got != tt.want {
			t.Errorf("SplitPattern(%q, %d, %v) = %+v, want %+v", tt.in, tt.parts, tt.escape, got, tt.want)
		}
	}
}

func TestParsePatternErrors(t *testing.T) {
	tests := []struct {
		in   string
		kind PatternKind
		want string
		is   error
	}{
		{"myhost.mydb.myschema", PatternSchema, "improper qualified name (too many dotted names): myhost.mydb.myschema", ErrTooManyDots},
		{"otherdb.myschema", PatternSchema, "cross-database references are not implemented: otherdb.myschema", ErrCrossDatabase},
		{`"some.other.db".myschema`, PatternSchema, `cross-database references are not implemented: "some.other.db".myschema`, ErrCrossDatabase},
		{".", PatternSchema, "cross-database references are not implemented: .", ErrCrossDatabase},
		{"..", PatternSchema, "improper qualified name (too many dotted names): ..", ErrTooManyDots},
		{"myhost.mydb.myschema.mytable", PatternRelation, "improper relation name (too many dotted names): myhost.mydb.myschema.mytable", ErrTooManyDots},
		{"otherdb.pg_catalog.pg_class", PatternRelation, "cross-database references are not implemented: otherdb.pg_catalog.pg_class", ErrCrossDatabase},
		{"myhost.mydb", PatternName, "improper qualified name (too many dotted names): myhost.mydb", ErrTooManyDots},
		{"postgres.public.t", PatternRelation, "", nil},
		{`"a.b.c.d"`, PatternRelation, "", nil},
		{"a.*", PatternRelation, "", nil},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.in, tt.kind)
		if err == nil {
			err = p.CheckDatabase("postgres")
		}
		if errText(err) != tt.want || !errors.Is(err, tt.is) {
			t.Errorf("pattern %s: %v, want %s", tt.in, err, tt.want)
		}
	}
}

func TestPatternMatch(t *testing.T) {
	tests := []struct {
		pattern  string
		yes, no  string // names separated by spaces
		notLocal bool
	}{
		{pattern: "t", yes: "t", no: "T tt xt"},
		{pattern: "T", yes: "t", no: "T"},
		{pattern: `"T"`, yes: "T", no: "t"},
		{pattern: "t*", yes: "t table tt", no: "xt T"},
		{pattern: "*_log", yes: "_log x_log x_log_log", no: "log x_logs"},
		{pattern: "a*b*c", yes: "abc axxbyyc abcbc", no: "ab acb abcd"},
		{pattern: "?", yes: "a é \xe9", no: "ab éé"},
		{pattern: "a?c", yes: "abc aéc", no: "ac abbc"},
		{pattern: "a|b", yes: "a b", no: "ab c"},
		{pattern: "t[0-9]+", yes: "t1 t123", no: "t tx t1x"},
		{pattern: "t[^0-9]", yes: "tx té", no: "t1 txx"},
		{pattern: `t\d`, yes: "t1", no: "t td"},
		{pattern: `t\w+`, yes: "tab té_1", no: "t"},
		{pattern: "(ab)+c", yes: "abc ababc", no: "c ac"},
		{pattern: "x{2,3}", yes: "xx xxx", no: "x xxxx"},
		{pattern: "t[[:digit:]]*", yes: "t1 t1x", no: "t tx"},
		{pattern: "a$b", yes: "a$b", no: "ab a"},
		{pattern: `"a.*b"`, yes: "a.*b", no: "axb a.b"},
		{pattern: `"x+y"`, yes: "x+y", no: "xy xxy"},
		{pattern: "*", yes: "a é \xff\xfe"},
		{pattern: "caf\xe9*", yes: "caf\xe9s", no: "cafés"},
		{pattern: `(a)\1`, notLocal: true},
		{pattern: "a(", notLocal: true},
		{pattern: `\mword\M`, notLocal: true},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern, PatternName)
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		if p.Local() == tt.notLocal {
			t.Errorf("%s: Local = %v", tt.pattern, p.Local())
			continue
		}
		for _, n := range strings.Fields(tt.yes) {
			if !p.MatchName(n) {
				t.Errorf("%s does not match %q", tt.pattern, n)
			}
		}
		for _, n := range strings.Fields(tt.no) {
			if p.MatchName(n) {
				t.Errorf("%s matches %q", tt.pattern, n)
			}
		}
	}
}

func TestCompileARE(t *testing.T) {
	for _, tt := range []struct {
		are  string
		here bool
	}{
		{"^(a|b)$", true},
		{"^([[:alpha:]_]+)$", true},
		{"^((?:ab)*)$", true},
		{"^((?=a)a)$", false},
		{"^([[.a.]])$", false},
		{"^([[=a=]])$", false},
		{"^([[:nonsense:]])$", false},
		{"^(a{,3})$", false},
		{"^(a{x})$", false},
		{"^(\\x41)$", false},
		{"^([\\d])$", false},
		{"^([a)$", false},
	} {
		if got := compileARE(tt.are).ok(); got != tt.here {
			t.Errorf("compileARE(%s) can match here: %v", tt.are, got)
		}
	}
}

func TestPatternCondition(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		version int
		want    string
	}{
		{"t*", 180000, `c.relname OPERATOR(pg_catalog.~) '^(t.*)$' COLLATE pg_catalog.default AND visible(c.oid)`},
		{"*", 180000, `visible(c.oid)`},
		{"*.*", 180000, ``},
		{"s.*", 100000, `n.nspname OPERATOR(pg_catalog.~) '^(s)$'`},
		{`"S".a$`, 180000, `c.relname OPERATOR(pg_catalog.~) E'^(a\\$)$' COLLATE pg_catalog.default AND n.nspname OPERATOR(pg_catalog.~) '^(S)$' COLLATE pg_catalog.default`},
	} {
		p, err := ParsePattern(tt.pattern, PatternRelation)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Condition("n.nspname", "c.relname", "visible(c.oid)", tt.version); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.pattern, got, tt.want)
		}
	}
}

func TestPatternLiteral(t *testing.T) {
	for _, tt := range []struct {
		pattern, want string
		ok            bool
	}{{"s.Abc", "abc", true}, {`"x*"`, "x*", true}, {"x*", "", false}, {"a|b", "", false}, {"a?", "", false}} {
		p, err := ParsePattern(tt.pattern, PatternRelation)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Literal(); got != tt.want || ok != tt.ok {
			t.Errorf("Literal of %s = %q, %v", tt.pattern, got, ok)
		}
	}
}

// The byte matcher must agree with the regexp it stands for.
func FuzzPattern(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add(`"A*".x$|y`, "A*")
	f.Add("[a-z]+{2}", "ab")
	f.Add("*?*", "é")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := ParsePattern(pattern, PatternRelation)
		if err != nil {
			return
		}
		got := p.MatchName(name)
		if p.name.tokens == nil || !utf8.ValidString(p.Name) || !utf8.ValidString(name) {
			return
		}
		re, err := regexp.Compile("(?s)" + p.Name)
		if err != nil {
			return
		}
		if want := re.MatchString(name); got != want {
			t.Fatalf("pattern %q (%s) on %q: %v, regexp says %v", pattern, p.Name, name, got, want)
		}
	})
}
