package rescue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/spelling"
)

// lexer reads the few statements of an archive that say how tables are built, as pg_dump writes them.
type lexer struct{ text string }

func (l *lexer) space() { l.text = strings.TrimLeft(l.text, " \n\t") }

func (l *lexer) rest() string {
	l.space()
	return l.text
}

// words passes over keywords, all or none of them.
func (l *lexer) words(words ...string) bool {
	text := l.text
	for _, w := range words {
		l.space()
		rest, ok := strings.CutPrefix(l.text, w)
		if !ok || rest != "" && isWord(rest[0]) {
			l.text = text
			return false
		}
		l.text = rest
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// ident reads a name, in double quotes or not.
func (l *lexer) ident() (string, bool) {
	l.space()
	if !strings.HasPrefix(l.text, `"`) {
		n := 0
		for n < len(l.text) && isWord(l.text[n]) {
			n++
		}
		name := l.text[:n]
		l.text = l.text[n:]
		return name, n > 0
	}
	var name strings.Builder
	for i := 1; i < len(l.text); i++ {
		if l.text[i] != '"' {
			name.WriteByte(l.text[i])
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == '"' {
			name.WriteByte('"')
			i++
			continue
		}
		l.text = l.text[i+1:]
		return name.String(), name.Len() > 0
	}
	return "", false
}

// qualified reads schema.name.
func (l *lexer) qualified() (at, bool) {
	schema, ok := l.ident()
	if !ok || !strings.HasPrefix(l.text, ".") {
		return at{}, false
	}
	l.text = l.text[1:]
	name, ok := l.ident()
	return at{schema, name}, ok
}

// list reads a list of names in parentheses. What follows a name within its place (WITHOUT OVERLAPS) is passed over.
func (l *lexer) list() ([]string, bool) {
	l.space()
	if !strings.HasPrefix(l.text, "(") {
		return nil, false
	}
	var names []string
	for _, item := range topLevel(l.text) {
		i := lexer{text: item}
		name, ok := i.ident()
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, len(names) > 0
}

// copyColumns are the columns that a COPY statement names.
func copyColumns(stmt string) ([]string, error) {
	l := lexer{text: stmt}
	if l.words("COPY") {
		if _, ok := l.qualified(); ok {
			if l.words("FROM", "stdin") { // a table without columns
				return nil, nil
			}
			if names, ok := l.list(); ok {
				return names, nil
			}
		}
	}
	return nil, fmt.Errorf("%.60q is not what pg_dump writes", stmt)
}

// topLevel cuts what stands in the parentheses with which text begins at its commas. Those within
// further parentheses, names and strings do not count.
func topLevel(text string) []string {
	var out []string
	depth, start := 0, 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			escapes := c == '\'' && i > 0 && text[i-1] == 'E'
			for i++; i < len(text) && text[i] != c; i++ { // a doubled quote is the end and a new beginning
				if escapes && text[i] == '\\' {
					i++
				}
			}
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				if item := strings.TrimSpace(text[start:i]); item != "" {
					out = append(out, item)
				}
				return out
			}
		case ',':
			if depth == 1 {
				out = append(out, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return nil // no end: not what pg_dump writes
}

// afterType is what may follow a type in the definition of a column or a domain.
var afterType = regexp.MustCompile(`\s(NOT NULL|NULL|DEFAULT|COLLATE|GENERATED|CONSTRAINT|CHECK|WITH OPTIONS|STORAGE|COMPRESSION)\b`)

// modifier is a length or precision.
var modifier = regexp.MustCompile(`\([0-9, -]*\)`)

// typeName takes a type without modifiers from the beginning of a text.
func typeName(text string) string {
	if i := afterType.FindStringIndex(text); i != nil {
		text = text[:i[0]]
	}
	return strings.TrimSpace(modifier.ReplaceAllString(text, ""))
}

// splitName takes a table's name apart: one or two names, in double quotes or as they stand.
func splitName(text string) ([]string, error) {
	var parts []string
	for rest := text; ; {
		var part string
		if strings.HasPrefix(rest, `"`) {
			l := lexer{text: rest}
			name, ok := l.ident()
			if !ok {
				return nil, fmt.Errorf("table name %s: the quotes do not end", text)
			}
			part, rest = name, l.text
			if rest != "" && rest[0] != '.' {
				return nil, fmt.Errorf("table name %s: a period is missing after the quotes", text)
			}
		} else {
			n := strings.IndexByte(rest, '.')
			if n < 0 {
				n = len(rest)
			}
			part, rest = rest[:n], rest[n:]
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		rest = rest[1:]
	}
	if len(parts) > 2 || slices.Contains(parts, "") {
		return nil, fmt.Errorf("table name %q is neither NAME nor SCHEMA.NAME; names with a period in them need double quotes", text)
	}
	return parts, nil
}

// suggest says which of the names may have been meant, as the end of a message; "" if none is near. A schema may
// have been left out.
func suggest(name string, names []string) string {
	letters := max(1, len(name)/4)
	near := spelling.Near(name, names, letters)
	for _, n := range names {
		if _, short, ok := strings.Cut(n, "."); ok && !slices.Contains(near, n) && len(spelling.Near(name, []string{short}, letters)) > 0 {
			near = append(near, n)
		}
	}
	const shown = 5
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near[:min(len(near), shown)], " or ") + "?"
}
