package pgflags

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// filterItem is one line of a --filter file.
type filterItem struct {
	include bool
	kind    string // keyword as in the file: table, table_data_and_children, ...
	pattern string
}

// filterKinds are the keywords for kinds of objects (filter.c); messages write them
// with spaces.
var filterKinds = map[string]bool{
	"table_data": true, "table_data_and_children": true, "database": true,
	"extension": true, "foreign_data": true, "function": true, "index": true,
	"schema": true, "table": true, "table_and_children": true, "trigger": true,
}

// readFilter gives each item of a filter file to apply, which returns false for a kind
// that the program does not take. "-" is standard input.
func readFilter(name string, stdin io.Reader, apply func(filterItem) bool) error {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return usagef("could not open filter file \"%s\": %s", name, osText(err))
		}
		defer f.Close()
		in = f
	}
	r := &filterReader{name: name, lines: bufio.NewReader(in)}
	for {
		item, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !apply(item) {
			verb := "exclude"
			if item.include {
				verb = "include"
			}
			return r.bad("%s filter for \"%s\" is not allowed", verb, strings.ReplaceAll(item.kind, "_", " "))
		}
	}
}

type filterReader struct {
	name  string
	lines *bufio.Reader
	line  int
}

func (r *filterReader) bad(format string, args ...any) error {
	where := "read from file \"" + r.name + "\""
	if r.name == "-" {
		where = "read from standard input"
	}
	return usagef("invalid format in filter %s on line %d: %s", where, r.line, fmt.Sprintf(format, args...))
}

// readLine returns the next line without its end.
func (r *filterReader) readLine() (string, error) {
	s, err := r.lines.ReadString('\n')
	if err == io.EOF && s != "" {
		err = nil
	}
	if err == io.EOF {
		return "", err
	}
	if err != nil {
		return "", usagef("could not read from filter file \"%s\": %s", r.name, osText(err))
	}
	r.line++
	return strings.TrimRight(s, "\r\n"), nil
}

const filterSpace = " \t\v\f\r\n"

func (r *filterReader) next() (filterItem, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return filterItem{}, err
		}
		line = strings.TrimLeft(line, filterSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		verb, rest := cutWord(line)
		if verb != "include" && verb != "exclude" {
			return filterItem{}, r.bad("invalid filter command (expected \"include\" or \"exclude\")")
		}
		kind, rest := cutWord(rest)
		if kind == "" {
			return filterItem{}, r.bad("missing filter object type")
		}
		if !filterKinds[kind] {
			return filterItem{}, r.bad("unsupported filter object type: \"%s\"", kind)
		}
		pattern, err := r.pattern(rest)
		if err != nil {
			return filterItem{}, err
		}
		return filterItem{include: verb == "include", kind: kind, pattern: pattern}, nil
	}
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, filterSpace)
	if i := strings.IndexAny(s, filterSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// pattern reads an object name pattern up to a comment or the end of the line. Runs of
// space become one space and vanish beside punctuation; a quoted name may go on over
// several lines.
func (r *filterReader) pattern(s string) (string, error) {
	s = strings.TrimLeft(s, filterSpace)
	if s == "" {
		return "", r.bad("missing object name pattern")
	}
	var b strings.Builder
	space, glue := false, true // space: white space was read; glue: it would not be written
	for s != "" && s[0] != '#' {
		if n := strings.IndexAny(s, "#,.()\""+filterSpace); n != 0 {
			if n < 0 {
				n = len(s)
			}
			if space && !glue {
				b.WriteByte(' ')
			}
			b.WriteString(s[:n])
			s, glue, space = s[n:], false, false
		}
		if s == "" {
			break
		}
		switch c := s[0]; {
		case c == '"':
			if space && !glue {
				b.WriteByte(' ')
			}
			var err error
			if s, err = r.quoted(s[1:], &b); err != nil {
				return "", err
			}
			glue = false
		case c == ',':
			b.WriteString(", ")
			s, glue = s[1:], true
		case c == '.' || c == '(' || c == ')':
			b.WriteByte(c)
			s, glue = s[1:], true
		}
		trimmed := strings.TrimLeft(s, filterSpace)
		space = len(trimmed) < len(s)
		s = trimmed
	}
	return b.String(), nil
}

// quoted copies a double-quoted name whose opening quote has been read, and returns
// what follows it.
func (r *filterReader) quoted(s string, b *strings.Builder) (string, error) {
	b.WriteByte('"')
	for {
		if s == "" {
			line, err := r.readLine()
			if err == io.EOF {
				return "", r.bad("unexpected end of file")
			}
			if err != nil {
				return "", err
			}
			b.WriteByte('\n')
			if s = line; s == "" {
				continue
			}
		}
		c := s[0]
		s = s[1:]
		switch {
		case c == '"':
			b.WriteByte('"')
			if s == "" || s[0] != '"' {
				return s, nil
			}
			b.WriteByte('"')
			s = s[1:]
		case c == '\\' && s != "":
			if s[0] == 'n' {
				b.WriteByte('\n')
			} else if s[0] == '\\' {
				b.WriteByte('\\')
			}
			s = s[1:]
		default:
			b.WriteByte(c)
		}
	}
}

// osText is the operating system's part of an error.
func osText(err error) string {
	var p *os.PathError
	if e, ok := err.(*os.PathError); ok {
		p = e
		err = p.Err
	}
	s := err.Error()
	if s != "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}
