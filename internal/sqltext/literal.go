package sqltext

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// Literal returns s as a string literal '…' for a session whose standard_conforming_strings is
// stdStrings: single quotes are doubled, and backslashes too when the setting is off (appendStringLiteral).
func Literal(s string, stdStrings bool) string {
	s = strings.ReplaceAll(s, `'`, `''`)
	if !stdStrings {
		s = strings.ReplaceAll(s, `\`, `\\`)
	}
	return "'" + s + "'"
}

// EscapeLiteral returns s as a string literal that means the same whatever standard_conforming_strings is:
// '…' when there is no backslash in s, else E'…' with quotes and backslashes doubled.
// It is for statements sent to a server, and for places where pg_dump uses appendStringLiteralConn.
func EscapeLiteral(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return Literal(s, true)
	}
	return "E" + Literal(s, false)
}

// WriteEscapeLiteral appends EscapeLiteral(s) to b. Before an E'…' it puts a space when b ends in anything
// but a space, so that the E does not run into the word before it (appendStringLiteralConn).
func WriteEscapeLiteral(b *strings.Builder, s string) {
	if strings.IndexByte(s, '\\') >= 0 && b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
		b.WriteByte(' ')
	}
	b.WriteString(EscapeLiteral(s))
}

// DollarQuote returns s between dollar quotes $tag$. While "$tag" occurs in s, characters of "_XXXXXXX" are
// appended to the tag in turn (appendStringLiteralDQ). The tag may be empty and must be a valid start of a tag.
func DollarQuote(s, tag string) string {
	const more = "_XXXXXXX"
	delim := "$" + tag
	for i := 0; strings.Contains(s, delim); i = (i + 1) % len(more) {
		delim += more[i : i+1]
	}
	delim += "$"
	return delim + s + delim
}

// ByteaLiteral returns b as a string literal in bytea's hex form (appendByteaLiteral).
func ByteaLiteral(b []byte, stdStrings bool) string {
	return Literal(`\x`+hex.EncodeToString(b), stdStrings)
}

// SanitizeLine replaces line ends in s by spaces, so that s can stand in a one-line SQL comment or in a listing
// without ending it (sanitize_line). An empty s stands for "none": it gives "-" when wantHyphen, else "".
func SanitizeLine(s string, wantHyphen bool) string {
	if s == "" && wantHyphen {
		return "-"
	}
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(s)
}

// FormatVersion writes a version number as the server's PG_VERSION_NUM has it (180006, 90624) in words:
// "18.6" or "9.6.24" with the minor part, "18" or "9.6" without (formatPGVersionNumber).
func FormatVersion(num int, minor bool) string {
	i := strconv.Itoa
	switch {
	case num >= 100000 && minor:
		return i(num/10000) + "." + i(num%10000)
	case num >= 100000:
		return i(num / 10000)
	case minor:
		return i(num/10000) + "." + i(num/100%100) + "." + i(num%100)
	default:
		return i(num/10000) + "." + i(num/100%100)
	}
}

// ConnStringValue returns s as a value of a keyword/value connection string: as it is when made of ASCII letters,
// digits, "_" and ".", else in single quotes with quotes and backslashes escaped (appendConnStrVal).
func ConnStringValue(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !connStringPlain(r) }) < 0 {
		return s
	}
	return "'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(s) + "'"
}

func connStringPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.'
}

// PsqlConnect returns the psql lines, each ended by a newline, that connect to a database with the user, host and
// port of the connection at hand (appendPsqlMetaConnect). A name with a line end is an error.
func PsqlConnect(q Quoter, database string) (string, error) {
	if strings.ContainsAny(database, "\r\n") {
		return "", &TextError{What: "database name contains a newline or carriage return", Text: database}
	}
	if strings.IndexFunc(database, func(r rune) bool { return !connStringPlain(r) }) < 0 {
		return `\connect ` + q.Ident(database) + "\n", nil
	}
	// psql reads the name as bytes in SQL_ASCII, whatever the encoding of the database is
	return "\\encoding SQL_ASCII\n\\connect -reuse-previous=on " +
		q.Ident("dbname="+ConnStringValue(database)) + "\n", nil
}

// TextError says that a text could not be taken apart or written.
type TextError struct {
	What string // what is wrong, in words
	Text string // the text
}

func (e *TextError) Error() string { return e.What + `: "` + e.Text + `"` }
