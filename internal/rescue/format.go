package rescue

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Format is how rows are written.
type Format uint8

// The formats.
const (
	SQL  Format = iota // INSERT statements
	CSV                // as COPY writes it, with a line of names
	Copy               // a COPY statement and its data, for psql
)

var formatNames = [...]string{SQL: "sql", CSV: "csv", Copy: "copy"}

// String returns sql, csv or copy.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// Set sets f by its name.
func (f *Format) Set(name string) error {
	for i, n := range formatNames {
		if n == name {
			*f = Format(i)
			return nil
		}
	}
	return errors.New("it is sql, csv or copy")
}

// Type is what a help text calls the value.
func (f *Format) Type() string { return "FORM" }

// embeds are the encodings in which a backslash may be the second byte of a letter, so that escapes cannot be told from letters.
var embeds = []string{"SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB", "SHIFT_JIS_2004"}

func (t *Table) embeds() bool {
	return slices.ContainsFunc(embeds, func(e string) bool { return strings.EqualFold(e, t.Encoding) })
}

// formatter writes rows of a table. A copy per goroutine shares nothing but what is not written to.
type formatter struct {
	t      *Table
	as     Format
	insert string // INSERT INTO … VALUES (
	buf    []byte
	fields [][]byte
}

func newFormatter(t *Table, as Format) (*formatter, error) {
	if as != Copy && t.embeds() {
		return nil, fmt.Errorf("%w: they are stored in the encoding %s, in which escapes cannot be told from letters; only --as copy is possible", ErrForm, t.Encoding)
	}
	f := &formatter{t: t, as: as, insert: "INSERT INTO " + t.Qualified() + t.columnList()}
	if t.always {
		f.insert += " OVERRIDING SYSTEM VALUE"
	}
	f.insert += " VALUES ("
	if len(t.Columns) == 0 {
		f.insert = "INSERT INTO " + t.Qualified() + " DEFAULT VALUES"
	}
	return f, nil
}

func (f *formatter) clone() *formatter {
	return &formatter{t: f.t, as: f.as, insert: f.insert}
}

// columnList is the list of columns in parentheses, with a space before it.
func (t *Table) columnList() string {
	if len(t.Columns) == 0 {
		return ""
	}
	var names []string
	for _, c := range t.Columns {
		names = append(names, sqltext.Quoter{}.Ident(c.Name))
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// head is what stands before the rows.
func (f *formatter) head(comment string) []byte {
	var b []byte
	switch f.as {
	case CSV:
		for i, c := range f.t.Columns {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCSV(b, []byte(c.Name), len(f.t.Columns) == 1)
		}
		return append(b, '\n')
	case SQL, Copy:
		b = fmt.Appendf(b, "-- %s\nBEGIN;\nSET LOCAL client_encoding = %s;\nSET LOCAL xmloption = content;\n\n", sqltext.SanitizeLine(comment, true), sqltext.EscapeLiteral(f.t.Encoding))
	}
	if f.as == Copy {
		b = fmt.Appendf(b, "COPY %s%s FROM stdin;\n", f.t.Qualified(), f.t.columnList())
	}
	return b
}

// tail is what stands behind the rows.
func (f *formatter) tail() []byte {
	switch f.as {
	case SQL:
		return []byte("\nCOMMIT;\n")
	case Copy:
		return []byte("\\.\n\nCOMMIT;\n")
	}
	return nil
}

// errFields says that a row has not the fields that it should.
var errFields = errors.New("a row has not as many fields as the table has columns: the archive is damaged")

// row appends a row, given as a line of the piece without its newline.
func (f *formatter) row(to, line []byte, p *Piece) ([]byte, error) {
	columns := len(f.t.Columns)
	if columns == 0 && len(line) == 0 {
		f.fields = f.fields[:0]
	} else if f.fields = fields(f.fields[:0], line); len(f.fields) != columns {
		return nil, errFields
	}
	get := func(i int) []byte {
		if p.fields != nil {
			i = p.fields[i]
		}
		return f.fields[i]
	}
	switch f.as {
	case SQL:
		to = append(to, f.insert...)
		for i := range columns {
			if i > 0 {
				to = append(to, ", "...)
			}
			if v := get(i); isNull(v) {
				to = append(to, "NULL"...)
			} else {
				to = appendLiteral(to, f.value(v))
			}
		}
		if columns > 0 {
			to = append(to, ')')
		}
		return append(to, ";\n"...), nil
	case CSV:
		for i := range columns {
			if i > 0 {
				to = append(to, ',')
			}
			if v := get(i); !isNull(v) {
				to = appendCSV(to, f.value(v), columns == 1)
			}
		}
		return append(to, '\n'), nil
	}
	for i := range columns {
		if i > 0 {
			to = append(to, '\t')
		}
		to = append(to, get(i)...)
	}
	return append(to, '\n'), nil
}

// value is the value of a field that is not NULL, valid until the next call.
func (f *formatter) value(field []byte) []byte {
	if bytes.IndexByte(field, '\\') < 0 {
		return field
	}
	f.buf = unescape(f.buf, field)
	return f.buf
}

// appendLiteral appends a string literal that means the same whatever standard_conforming_strings is (sqltext.EscapeLiteral).
func appendLiteral(to, v []byte) []byte {
	escape := bytes.IndexByte(v, '\\') >= 0
	if escape {
		to = append(to, 'E')
	}
	to = append(to, '\'')
	for _, c := range v {
		if c == '\'' || c == '\\' {
			to = append(to, c)
		}
		to = append(to, c)
	}
	return append(to, '\'')
}

// appendCSV appends a value that is not NULL as COPY does: in quotes if it is empty, which would be NULL, or has a
// separator in it, or would look like the end marker (CopyAttributeOutCSV in src/backend/commands/copyto.c).
func appendCSV(to, v []byte, single bool) []byte {
	if len(v) > 0 && !bytes.ContainsAny(v, ",\"\n\r") && !(single && string(v) == `\.`) {
		return append(to, v...)
	}
	to = append(to, '"')
	for _, c := range v {
		if c == '"' {
			to = append(to, '"')
		}
		to = append(to, c)
	}
	return append(to, '"')
}
