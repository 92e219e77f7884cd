package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/sqltext"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// query returns the rows of the last statement of sql as text.
func query(t *testing.T, conn *pgconn.PgConn, sql string) (rows [][]string) {
	t.Helper()
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	for _, r := range results[len(results)-1].Rows {
		var row []string
		for _, v := range r {
			row = append(row, string(v))
		}
		rows = append(rows, row)
	}
	return rows
}

// What we match ourselves must come out as the server's regular expressions do.
func TestPatternsLikeServer(t *testing.T) {
	patterns := []string{
		"t", "T", `"T"`, "t*", "*t", "t?", "?", "*", "a*b*c", "t[0-9]", "t[0-9]+", "t[^0-9]*", "a|b", "(a|b)c", "x{2}", "x{2,}", "x{1,3}y",
		`t\d`, `t\d+`, `\w+`, `t\s`, `\S+`, `\D`, "t[[:alpha:]]", "t[[:alnum:]_]*", "[[:upper:]]", "[[:space:]]", "[a-c]x", "[]x]", "[^]x]", "[a-]", "a$b", `"a.b"`, `"a*"`,
		`a""b`, `"a""b"`, "^t", "t^", "a+?", "(?:ab)+", "()", "", `""`, "é*", "?é", "[é]", "[à-ü]", "t\\", `\[`, `a\|b`, "a[b", "int[]", "a**", "a{", "a{,2}", "a{1", `\m`, `(a)\1`,
		"[[.a.]]", "[[:foo:]]", "[a-z", "a(", "+", "|", "a|", "|a", "x?y", "-", "[\\w]x", "t#", "a b", "[ ]",
	}
	names := []string{
		"", "t", "T", "tt", "t1", "t12", "t_", "tx", "xt", "a", "b", "c", "ab", "abc", "axbxc", "ac", "bc", "x", "xx", "xxx", "xxxx", "xy", "xxy", "A", "É", "é", "éa", "aé", "a.b", "a*", "axb",
		`a"b`, "a$b", "t ", " ", "a|b", "[", "]", "a[b", "int[]", "-", "a-", "té", "ü", "bx", "]x", "abab", "aa", "\n", "t\n", "t#", "a b", "ax", "1", "ß", "^t", "t^",
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		conn := s.NewDatabase(t).Conn(t)
		here := 0
		for _, text := range patterns {
			p, err := sqltext.ParsePattern(text, sqltext.PatternName)
			if err != nil || !p.Local() {
				continue
			}
			here++
			var values []string
			for _, n := range names {
				values = append(values, "("+sqltext.EscapeLiteral(n)+")")
			}
			cond := p.Condition("", "n", "", s.Major*10000)
			if cond == "" {
				cond = "true"
			}
			sql := fmt.Sprintf("SELECT n FROM (VALUES %s) AS v(n) WHERE %s", strings.Join(values, ", "), cond)
			want := map[string]bool{}
			for _, row := range query(t, conn, sql) {
				want[row[0]] = true
			}
			for _, n := range names {
				if got := p.MatchName(n); got != want[n] {
					t.Errorf("pattern %s (%s) on %q: %v, the server says %v", text, p.Name, n, got, want[n])
				}
			}
		}
		if here < 50 {
			t.Errorf("only %d patterns were matched here", here)
		}
	})
}

// Names and values must come back from the server as they went in.
func TestQuotingLikeServer(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		conn := s.NewDatabase(t).Conn(t)
		for _, v := range []string{"", "x", "it's", `a\b`, `\'`, "é\n\t", `"`, "$$", "$_$", "user", "{a,b}", "NULL", `a"b,c`} {
			for what, sql := range map[string]string{
				"EscapeLiteral":        "SELECT " + sqltext.EscapeLiteral(v),
				"Literal":              "SELECT " + sqltext.Literal(v, true),
				"Literal, non-std":     "SELECT " + sqltext.Literal(v, false),
				"DollarQuote":          "SELECT " + sqltext.DollarQuote(v, ""),
				"DollarQuote with tag": "SELECT " + sqltext.DollarQuote(v, "_"),
				"FormatArray":          "SELECT (" + sqltext.EscapeLiteral(sqltext.FormatArray([]string{v, v})) + "::text[])[2]",
				"ByteaLiteral":         "SELECT convert_from(" + sqltext.ByteaLiteral([]byte(v), true) + "::bytea, 'UTF8')",
			} {
				if what == "Literal, non-std" {
					query(t, conn, "SET standard_conforming_strings = off; SET escape_string_warning = off; SELECT 1")
				} else {
					query(t, conn, "RESET standard_conforming_strings; SELECT 1")
				}
				if rows := query(t, conn, sql); len(rows) != 1 || rows[0][0] != v {
					t.Errorf("%s of %q: %q", what, v, rows)
				}
			}
			if v != "" {
				rows := query(t, conn, "SELECT * FROM (SELECT 1 AS "+sqltext.Quoter{}.Ident(v)+") AS q("+sqltext.Quoter{}.Ident(v)+") WHERE "+sqltext.Quoter{}.Ident(v)+" = 1")
				if len(rows) != 1 {
					t.Errorf("Ident of %q", v)
				}
			}
		}
		// every keyword: what we leave bare the server must take as a column's and a table's name
		for _, row := range query(t, conn, "SELECT word, catcode = 'U' FROM pg_get_keywords()") {
			bare := !sqltext.NeedsQuotes(row[0])
			if s.Major >= 18 && bare != (row[1] == "t") {
				t.Errorf("keyword %s: bare %v, unreserved %s", row[0], bare, row[1])
			}
			if bare && row[1] != "t" {
				t.Errorf("keyword %s is not unreserved in %d and left bare", row[0], s.Major)
			}
		}
	})
}
