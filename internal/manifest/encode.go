package manifest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pghaul/pghaul/internal/digest"
)

// Name is a name or another text of the database. PostgreSQL's texts need not be
// UTF-8 (a database of encoding SQL_ASCII), JSON's must: a name that is not valid
// UTF-8 is written as {"base64": "..."}.
type Name string

type nameJSON struct {
	Base64 *string `json:"base64"`
}

// MarshalJSON writes a string, or {"base64": "..."} for what is not UTF-8.
func (n Name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(string(n))
		return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
	}
	s := base64.StdEncoding.EncodeToString([]byte(n))
	return json.Marshal(nameJSON{&s})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Name) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*n = Name(s)
		return nil
	}
	var j nameJSON
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil || j.Base64 == nil {
		return fmt.Errorf("name %.60s is neither a string nor an object with base64", b)
	}
	s, err := base64.StdEncoding.Strict().DecodeString(*j.Base64)
	if err != nil {
		return fmt.Errorf("name in base64: %w", err)
	}
	*n = Name(s)
	return nil
}

func sum(rows, size int64, h Hash128) digest.Sum {
	return digest.Sum{Rows: rows, Bytes: size, Hi: binary.BigEndian.Uint64(h[:8]), Lo: binary.BigEndian.Uint64(h[8:])}
}

func hash128(s digest.Sum) (h Hash128) {
	binary.BigEndian.PutUint64(h[:8], s.Hi)
	binary.BigEndian.PutUint64(h[8:], s.Lo)
	return h
}

func unhex(dst, src []byte) error {
	b, err := hex.DecodeString(string(src))
	if err != nil || len(b) != len(dst) || strings.ToLower(string(src)) != string(src) {
		return fmt.Errorf("hash %.80q is not %d lower-case hexadecimal digits", src, 2*len(dst))
	}
	copy(dst, b)
	return nil
}

// Encode seals m and returns the document, one line for each object, table and so on.
func (m *Manifest) Encode() ([]byte, error) {
	m.Seal()
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	var b bytes.Buffer
	e := encoder{b: &b}
	e.open("{")
	e.member("format", m.Format)
	e.member("version", m.Version)
	e.member("tool", m.Tool)
	e.member("server", m.Server)
	e.member("database", m.Database)
	if m.Source != nil {
		e.member("source", m.Source)
	}
	e.member("snapshot", m.Snapshot)
	e.member("complete", m.Complete)
	e.member("settings", nonNil(m.Settings))
	list(&e, "objects", m.Objects)
	list(&e, "tables", m.Tables)
	list(&e, "sequences", m.Sequences)
	list(&e, "extensions", m.Extensions)
	list(&e, "roles", m.Roles)
	e.member("large_objects", m.LargeObjects)
	if len(m.Files) > 0 {
		list(&e, "files", m.Files)
	}
	e.member("totals", m.Totals)
	e.member("root", m.Root)
	b.WriteString("\n}\n")
	if e.err != nil {
		return nil, fmt.Errorf("write manifest: %w", e.err)
	}
	return b.Bytes(), nil
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// encoder writes the members of an object with one line for each element of a list.
type encoder struct {
	b     *bytes.Buffer
	comma string
	err   error
}

func (e *encoder) open(s string) { e.b.WriteString(s); e.comma = "\n" }

func (e *encoder) member(name string, v any) {
	e.b.WriteString(e.comma + ` "` + name + `": `)
	e.comma = ",\n"
	e.value(v)
}

func (e *encoder) value(v any) {
	enc := json.NewEncoder(e.b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && e.err == nil {
		e.err = err
	}
	e.b.Truncate(len(bytes.TrimSuffix(e.b.Bytes(), []byte("\n"))))
}

func list[T any](e *encoder, name string, v []T) {
	e.b.WriteString(e.comma + ` "` + name + `": [`)
	comma := "\n  "
	for _, x := range v {
		e.b.WriteString(comma)
		e.value(x)
		comma = ",\n  "
	}
	e.b.WriteString("]")
	e.comma = ",\n"
}

// ErrNewer says that a manifest was written by a newer version than this program knows.
var ErrNewer = errors.New("manifest is of a newer version")

// Decode reads a document and checks it: known version, no unknown members, names
// given once, sums that add up, and the root.
func Decode(b []byte) (*Manifest, error) {
	m, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return m, nil
}

func decode(b []byte) (*Manifest, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, describe(err, b)
	}
	if head.Format != Format {
		return nil, fmt.Errorf("format is %.40q, expected %q", head.Format, Format)
	}
	if head.Version > Version {
		return nil, fmt.Errorf("%w: it has version %d, this program reads up to %d; use a newer pghaul", ErrNewer, head.Version, Version)
	}
	if head.Version < 1 {
		return nil, fmt.Errorf("version %d is not valid", head.Version)
	}
	m := new(Manifest)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, describe(err, b)
	}
	if d.More() {
		return nil, errors.New("data after the document")
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	root, totals := m.Root, m.Totals
	m.Seal()
	if m.Totals != totals {
		return nil, fmt.Errorf("totals %+v do not fit the lists, which give %+v", totals, m.Totals)
	}
	if m.Root != root {
		return nil, fmt.Errorf("root %s does not fit the contents, which give %s: the manifest was changed or damaged", root, m.Root)
	}
	return m, nil
}

// describe adds where in the document a syntax error is.
func describe(err error, b []byte) error {
	var s *json.SyntaxError
	if errors.As(err, &s) && s.Offset >= 0 && s.Offset <= int64(len(b)) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(b[:s.Offset], []byte("\n")), err)
	}
	return err
}
