package drill

import "strings"

// statement is one SQL statement of a file.
type statement struct {
	sql  string // without the semicolon at its end
	line int    // on which it begins, from 1
	name string // the text of the comment line right before it, "" if there is none
}

// statements cuts a script into its statements, at the semicolons that psql would send it at.
func statements(script string) []statement {
	var out []statement
	s := cutter{text: script}
	for {
		start, comment := s.skipSpace()
		if s.i >= len(script) {
			return out
		}
		s.toEnd()
		if sql := strings.TrimRight(script[start:s.i], " \t\r\n"); sql != "" {
			out = append(out, statement{sql: sql, line: 1 + strings.Count(script[:start], "\n"), name: comment})
		}
		if s.i < len(script) {
			s.i++ // the semicolon
		}
	}
}

// cutter walks through SQL text.
type cutter struct {
	text string
	i    int
}

// skipSpace passes over white space and comments and returns where the next statement begins, and the text of the comment line
// that stands right before it.
func (c *cutter) skipSpace() (start int, comment string) {
	for c.i < len(c.text) {
		rest := c.text[c.i:]
		switch {
		case strings.HasPrefix(rest, "--"):
			line, _, _ := strings.Cut(rest, "\n")
			c.i += len(line)
			comment = strings.TrimSpace(strings.TrimLeft(line, "-"))
		case strings.HasPrefix(rest, "/*"):
			c.blockComment()
			comment = ""
		case strings.ContainsRune(" \t\r\n\f\v", rune(rest[0])):
			if strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(rest, "\n"), " \t\r"), "\n") {
				comment = "" // an empty line parts them
			}
			c.i++
		default:
			return c.i, comment
		}
	}
	return c.i, ""
}

// toEnd goes to the semicolon that ends a statement, or to the end of the text.
func (c *cutter) toEnd() {
	parens, begins := 0, 0
	words := 0
	function := false // CREATE FUNCTION or PROCEDURE, whose body may be BEGIN ATOMIC … END
	for c.i < len(c.text) {
		rest := c.text[c.i:]
		switch b := rest[0]; {
		case b == ';' && parens == 0 && begins == 0:
			return
		case b == '(':
			parens++
		case b == ')':
			parens = max(0, parens-1)
		case b == '\'':
			c.quoted('\'', false)
			continue
		case b == '"':
			c.quoted('"', false)
			continue
		case b == '$':
			c.dollar()
			continue
		case strings.HasPrefix(rest, "--"):
			line, _, _ := strings.Cut(rest, "\n")
			c.i += len(line)
			continue
		case strings.HasPrefix(rest, "/*"):
			c.blockComment()
			continue
		case isWord(b):
			n := 1
			for n < len(rest) && (isWord(rest[n]) || rest[n] == '$') {
				n++
			}
			word := strings.ToUpper(rest[:n])
			c.i += n
			words++
			switch {
			case word == "E" && c.i < len(c.text) && c.text[c.i] == '\'':
				c.quoted('\'', true)
			case words <= 4 && (word == "FUNCTION" || word == "PROCEDURE"):
				function = true
			case function && (word == "BEGIN" || begins > 0 && word == "CASE"):
				begins++
			case begins > 0 && word == "END":
				begins--
			}
			continue
		}
		c.i++
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// quoted passes over a quoted text; escapes says that a backslash takes the next character with it.
func (c *cutter) quoted(quote byte, escapes bool) {
	for c.i++; c.i < len(c.text); c.i++ {
		switch c.text[c.i] {
		case '\\':
			if escapes {
				c.i++
			}
		case quote:
			c.i++
			return // a doubled quote begins another quoted text, which is as good
		}
	}
	c.i = min(c.i, len(c.text))
}

// dollar passes over a text in dollar quotes, or over a dollar.
func (c *cutter) dollar() {
	rest := c.text[c.i:]
	n := 1
	for n < len(rest) && isWord(rest[n]) {
		n++
	}
	if n >= len(rest) || rest[n] != '$' || n > 1 && rest[1] >= '0' && rest[1] <= '9' {
		c.i++
		return
	}
	tag := rest[:n+1]
	body := strings.Index(rest[n+1:], tag)
	if body < 0 {
		c.i = len(c.text)
		return
	}
	c.i += n + 1 + body + len(tag)
}

// blockComment passes over a comment, which may hold others.
func (c *cutter) blockComment() {
	depth := 0
	for c.i < len(c.text) {
		switch rest := c.text[c.i:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			c.i += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			c.i += 2
			if depth == 0 {
				return
			}
		default:
			c.i++
		}
	}
}
