package sqltext

import (
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	for sql, want := range map[string]string{
		`GRANT ALL ON FUNCTION s.f(a "TO", b integer) TO "odd ""x""";`: `GRANT|ALL|ON|FUNCTION|s|.|f|(|a|"TO"|,|b|integer|)|TO|"odd ""x"""|;`,
		`select 'it''s; -- no', E'a\'b', $x$ ; $x$ -- c ;
		, /* ; /* */ */ 1;`: `select|'it''s; -- no'|,|E'a\'b'|,|$x$ ; $x$|,|1|;`,
		`'open`: `'open`, `"`: `"`, `$a$`: `$a$`, `/* x`: ``, `$1`: `$|1`, `e'`: `e'`, `E'\`: `E'\`,
	} {
		var got []string
		for _, tok := range Scan(sql) {
			got = append(got, tok.Text)
			if sql[tok.Start:tok.End] != tok.Text {
				t.Errorf("%s: token %q is not where it says", sql, tok.Text)
			}
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%s\nis %s\nwant %s", sql, g, want)
		}
	}
	tokens := Scan(`a(b;c); d`)
	if n := len(Statements(tokens)); n != 2 {
		t.Errorf("%d statements, want 2", n)
	}
	if tok := Scan(`"odd ""x"`)[0]; tok.Name != `odd "x` || !tok.Quoted {
		t.Errorf("%+v", tok)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(`GRANT ALL ON TABLE "a" TO b; E'\' $a$ /* "`)
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, tok := range Scan(s) {
			if tok.Start < end || tok.End <= tok.Start || s[tok.Start:tok.End] != tok.Text {
				t.Fatalf("token %+v after %d", tok, end)
			}
			end = tok.End
		}
	})
}
