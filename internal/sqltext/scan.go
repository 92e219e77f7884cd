package sqltext

import "strings"

// Token is a piece of SQL text: a word, a quoted name, a string, a number, or one character of punctuation.
type Token struct {
	Text       string // as it stands
	Name       string // of a word (as it stands) or a quoted name (without its quotes); else ""
	Quoted     bool   // it is a quoted name
	Depth      int    // of parentheses around it
	Start, End int    // where it stands
}

// Is says whether the token is a word, in capital letters, that is not quoted.
func (t Token) Is(word string) bool {
	return !t.Quoted && t.Name != "" && strings.EqualFold(t.Name, word)
}

// Scan takes SQL text apart, as PostgreSQL's scanner does; comments and blanks are left out. It never fails: what is not ended ends with
// the text.
func Scan(s string) []Token {
	var out []Token
	depth := 0
	for i := 0; i < len(s); {
		c := s[i]
		start := i
		t := Token{Depth: depth}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case strings.HasPrefix(s[i:], "--"):
			if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n + 1
			} else {
				i = len(s)
			}
			continue
		case strings.HasPrefix(s[i:], "/*"):
			i = commentEnd(s, i)
			continue
		case c == '"':
			i = quoteEnd(s, i, '"', false)
			t.Quoted = true
			t.Name = strings.ReplaceAll(strings.TrimSuffix(s[start+1:i], `"`), `""`, `"`)
		case c == '\'':
			i = quoteEnd(s, i, '\'', false)
		case (c == 'E' || c == 'e') && strings.HasPrefix(s[i+1:], "'"):
			i = quoteEnd(s, i+1, '\'', true)
		case c == '$' && dollarTag(s[i:]) != "":
			tag := dollarTag(s[i:])
			if n := strings.Index(s[i+len(tag):], tag); n >= 0 {
				i += n + 2*len(tag)
			} else {
				i = len(s)
			}
		case isWordStart(c):
			for i < len(s) && (isWordStart(s[i]) || s[i] >= '0' && s[i] <= '9' || s[i] == '$') {
				i++
			}
			t.Name = s[start:i]
		case c == '(':
			depth++
			i++
		case c == ')':
			depth--
			t.Depth = depth
			i++
		default:
			i++
		}
		t.Text, t.Start, t.End = s[start:i], start, i
		out = append(out, t)
	}
	return out
}

// Statements cuts the tokens of several statements at their semicolons, which are the last token of each.
func Statements(tokens []Token) [][]Token {
	var out [][]Token
	begin := 0
	for i, t := range tokens {
		if t.Text == ";" && t.Depth == 0 {
			out = append(out, tokens[begin:i+1])
			begin = i + 1
		}
	}
	if begin < len(tokens) {
		out = append(out, tokens[begin:])
	}
	return out
}

// quoteEnd returns where what begins at i with a quote ends.
func quoteEnd(s string, i int, quote byte, backslash bool) int {
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && backslash:
			i++
		case s[i] == quote:
			if i+1 >= len(s) || s[i+1] != quote {
				return i + 1
			}
			i++
		}
	}
	return len(s)
}

// commentEnd returns where the comment that begins at i ends; comments nest.
func commentEnd(s string, i int) int {
	for depth := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			i += 2
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

// dollarTag returns the tag of dollar quotes that s begins with, or "".
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			return s[:i+1]
		case isWordStart(c) || i > 1 && c >= '0' && c <= '9':
		default:
			return ""
		}
	}
	return ""
}

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
