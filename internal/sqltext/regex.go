package sqltext

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// matcher matches whole names against one anchored expression of PostgreSQL's "advanced" syntax, as far as it can be done
// here. An expression of letters, "." and ".*" only, which is what nearly every pattern comes to, is matched on bytes
// and so also in names that are not UTF-8; others go through Go's regexp.
type matcher struct {
	tokens  []token // nil: use re
	wild    bool    // tokens hold a wildcard
	literal string  // all tokens together, if not wild
	re      *regexp.Regexp
}

type token struct {
	kind tokenKind
	lit  byte
}

type tokenKind uint8

const (
	tokenByte tokenKind = iota // the byte lit
	tokenAny                   // one character
	tokenStar                  // any text
)

func (m *matcher) ok() bool { return m.tokens != nil || m.re != nil }

func (m *matcher) match(s string) bool {
	switch {
	case m.tokens != nil && !m.wild:
		return s == m.literal
	case m.tokens != nil:
		return matchTokens(m.tokens, s)
	case m.re != nil:
		return m.re.MatchString(s)
	}
	return false
}

// matchTokens goes back only to the last star, so its cost is at most the product of both lengths.
func matchTokens(toks []token, s string) bool {
	t, i := 0, 0
	starTok, starPos := -1, 0
	for {
		if t < len(toks) {
			switch tk := toks[t]; {
			case tk.kind == tokenStar:
				starTok, starPos = t, i
				t++
				continue
			case i < len(s) && tk.kind == tokenAny:
				i += charLen(s[i:])
				t++
				continue
			case i < len(s) && tk.lit == s[i] && tk.kind == tokenByte:
				i++
				t++
				continue
			}
		} else if i == len(s) {
			return true
		}
		if starTok < 0 || starPos >= len(s) {
			return false
		}
		starPos += charLen(s[starPos:])
		t, i = starTok+1, starPos
	}
}

func charLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// compileARE never fails: what it cannot match it leaves to the server, see matcher.ok.
func compileARE(are string) *matcher {
	body := strings.TrimSuffix(strings.TrimPrefix(are, "^("), ")$")
	if toks, wild, ok := simpleTokens(body); ok {
		m := &matcher{tokens: toks, wild: wild}
		if !wild {
			b := make([]byte, len(toks))
			for i, t := range toks {
				b[i] = t.lit
			}
			m.literal = string(b)
		}
		return m
	}
	text, ok := translateARE(are)
	if !ok {
		return &matcher{}
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return &matcher{}
	}
	return &matcher{re: re}
}

// simpleTokens reads an expression without any operator but "." and ".*".
func simpleTokens(body string) (toks []token, wild, ok bool) {
	toks = []token{}
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == '\\':
			i++
			if i == len(body) || isAlnum(body[i]) || body[i] >= utf8.RuneSelf {
				return nil, false, false // a class, a back reference, …
			}
			toks = append(toks, token{tokenByte, body[i]})
		case c == '.':
			wild = true
			if i+1 < len(body) && body[i+1] == '*' {
				i++
				if i+1 < len(body) && (body[i+1] == '*' || body[i+1] == '+' || body[i+1] == '?' || body[i+1] == '{') {
					return nil, false, false
				}
				if n := len(toks); n == 0 || toks[n-1].kind != tokenStar {
					toks = append(toks, token{tokenStar, 0})
				}
				continue
			}
			toks = append(toks, token{tokenAny, 0})
		case strings.IndexByte(`*+?()[]{}|^$`, c) >= 0:
			return nil, false, false
		default:
			toks = append(toks, token{tokenByte, c})
		}
	}
	return toks, wild, true
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// areClasses gives Go's form of the character class names that mean the same in every locale of a UTF-8 database, more or
// less: PostgreSQL asks the database's locale, Go has Unicode's tables.
var areClasses = map[string]string{
	"alpha": `\p{L}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{Nd}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`,
	"space": `\s\v`, "blank": ` \t`, "punct": `[:punct:]`, "xdigit": `[:xdigit:]`, "word": `\p{L}\p{Nd}_`,
}

// translateARE rewrites an expression of PostgreSQL's syntax (doc/src/sgml/func.sgml, "POSIX Regular Expressions") in Go's.
// It gives up on what Go does not have or reads differently: back references, lookaround, collating elements,
// word boundaries, character codes.
func translateARE(are string) (string, bool) {
	if !utf8.ValidString(are) {
		return "", false
	}
	var b strings.Builder
	b.WriteString(`(?s)`) // "." matches a line end too
	for i := 0; i < len(are); i++ {
		c := are[i]
		switch c {
		case '\\':
			i++
			if i == len(are) {
				return "", false
			}
			switch e := are[i]; {
			case e == 'd':
				b.WriteString(`\p{Nd}`)
			case e == 'D':
				b.WriteString(`\P{Nd}`)
			case e == 'w':
				b.WriteString(`[\p{L}\p{Nd}_]`)
			case e == 'W':
				b.WriteString(`[^\p{L}\p{Nd}_]`)
			case e == 's':
				b.WriteString(`[\s\v]`)
			case e == 'S':
				b.WriteString(`[^\s\v]`)
			case isAlnum(e) || e >= utf8.RuneSelf:
				return "", false
			default:
				b.WriteString(regexp.QuoteMeta(string(e)))
			}
		case '[':
			n, text, ok := translateBracket(are[i:])
			if !ok {
				return "", false
			}
			b.WriteString(text)
			i += n - 1
		case '(':
			if strings.HasPrefix(are[i:], "(?") && !strings.HasPrefix(are[i:], "(?:") {
				return "", false
			}
			b.WriteByte(c)
		case '*', '+', '?', '}':
			// a second quantifier means "not greedy" or is an error there; whole matches do not depend on greed
			b.WriteByte(c)
			if i+1 < len(are) && strings.IndexByte("*+{", are[i+1]) >= 0 {
				return "", false
			}
		case '{':
			// there a bound, or an error; here it could be taken as text
			j := strings.IndexByte(are[i:], '}')
			if j < 2 || strings.Trim(are[i+1:i+j], "0123456789,") != "" || are[i+1] == ',' {
				return "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// translateBracket rewrites the bracket expression at the start of s and returns how long it is there.
func translateBracket(s string) (n int, text string, ok bool) {
	var b strings.Builder
	i := 1
	b.WriteByte('[')
	if strings.HasPrefix(s[i:], "^") {
		b.WriteByte('^')
		i++
	}
	for first := true; ; first = false {
		if i >= len(s) {
			return 0, "", false
		}
		switch {
		case s[i] == ']' && !first:
			b.WriteByte(']')
			return i + 1, b.String(), true
		case strings.HasPrefix(s[i:], "[."), strings.HasPrefix(s[i:], "[="):
			return 0, "", false
		case strings.HasPrefix(s[i:], "[:"):
			name, _, found := strings.Cut(s[i+2:], ":]")
			class := areClasses[name]
			if !found || class == "" {
				return 0, "", false
			}
			b.WriteString(class)
			i += len(name) + 4
		case s[i] == '\\':
			if i+1 >= len(s) || isAlnum(s[i+1]) || s[i+1] >= utf8.RuneSelf {
				return 0, "", false
			}
			b.WriteString(`\` + s[i+1:i+2])
			i += 2
		case s[i] == '-' && !first && i+1 < len(s) && s[i+1] != ']':
			b.WriteByte('-') // a range
			i++
		case s[i] < utf8.RuneSelf && !isAlnum(s[i]):
			if s[i] < ' ' || s[i] == 0x7f {
				return 0, "", false
			}
			b.WriteString(`\` + s[i:i+1])
			i++
		default:
			b.WriteByte(s[i])
			i++
		}
	}
}
