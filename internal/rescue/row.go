package rescue

import (
	"bytes"
	"errors"
	"io"
)

// A row is one line of COPY's text form: fields with tabs between them. Tabs and newlines within values are escaped, so that
// a newline always ends a row and a tab always a field, in every encoding a server can send (CopyAttributeOutText in
// src/backend/commands/copyto.c).

// field returns the field with that index of a line without its newline; false if there are not so many.
func field(line []byte, index int) ([]byte, bool) {
	for ; index > 0; index-- {
		i := bytes.IndexByte(line, '\t')
		if i < 0 {
			return nil, false
		}
		line = line[i+1:]
	}
	if i := bytes.IndexByte(line, '\t'); i >= 0 {
		line = line[:i]
	}
	return line, true
}

// fields appends the fields of a line without its newline.
func fields(to [][]byte, line []byte) [][]byte {
	for {
		i := bytes.IndexByte(line, '\t')
		if i < 0 {
			return append(to, line)
		}
		to = append(to, line[:i])
		line = line[i+1:]
	}
}

// isNull reports whether a field is NULL.
func isNull(field []byte) bool { return len(field) == 2 && field[0] == '\\' && field[1] == 'N' }

// unescape returns the value of a field that is not NULL, in buf if it has escapes (CopyReadAttributesText in
// src/backend/commands/copyfromparse.c).
func unescape(buf, field []byte) []byte {
	i := bytes.IndexByte(field, '\\')
	if i < 0 {
		return field
	}
	buf = append(buf[:0], field[:i]...)
	for ; i < len(field); i++ {
		c := field[i]
		if c != '\\' || i+1 == len(field) {
			buf = append(buf, c)
			continue
		}
		i++
		switch c = field[i]; c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v := int(c - '0')
			for n := 1; n < 3 && i+1 < len(field) && field[i+1] >= '0' && field[i+1] <= '7'; n++ {
				i++
				v = v*8 + int(field[i]-'0')
			}
			c = byte(v)
		case 'x':
			v, n := 0, 0
			for ; n < 2 && i+1 < len(field); n++ {
				h := hexValue(field[i+1])
				if h < 0 {
					break
				}
				i++
				v = v*16 + h
			}
			if n > 0 {
				c = byte(v)
			}
		}
		buf = append(buf, c)
	}
	return buf
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// maxLine limits the memory one row may take: a message of the server has at most 1 GiB.
const maxLine = 1 << 30

var (
	errLongLine = errors.New("a row is longer than any server sends: the archive is damaged")
	errNoEnd    = errors.New("the data end before their end marker: the archive is truncated or damaged")
)

// lineReader cuts data into lines. The zero value with an input is ready.
type lineReader struct {
	in       io.Reader
	buf      []byte
	from, to int // what of buf is not given out
}

// next returns the next line without its newline, valid until the next call; io.EOF at the end marker. The data must have one.
func (l *lineReader) next() ([]byte, error) {
	seen := l.from
	for {
		if i := bytes.IndexByte(l.buf[seen:l.to], '\n'); i >= 0 {
			line := l.buf[l.from : seen+i]
			l.from = seen + i + 1
			if len(line) == 2 && line[0] == '\\' && line[1] == '.' {
				return nil, io.EOF
			}
			return line, nil
		}
		seen = l.to
		if l.to == len(l.buf) {
			switch {
			case l.to-l.from > maxLine:
				return nil, errLongLine
			case l.from > 0:
				seen -= l.from
				l.to = copy(l.buf, l.buf[l.from:l.to])
				l.from = 0
			default:
				grown := make([]byte, max(256<<10, 2*len(l.buf)))
				copy(grown, l.buf)
				l.buf = grown
			}
		}
		n, err := l.in.Read(l.buf[l.to:])
		l.to += n
		if err == io.EOF && n == 0 {
			return nil, errNoEnd
		} else if err != nil && err != io.EOF {
			return nil, err
		}
	}
}
