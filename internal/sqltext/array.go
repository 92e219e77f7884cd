package sqltext

import (
	"strings"
)

// ParseArray takes apart the text form of a one-dimensional array, {a,"b c",NULL}, into its elements. An unquoted
// NULL is returned as the text NULL: callers that can meet one use ParseArrayNull (parsePGArray).
func ParseArray(s string) ([]string, error) {
	var out []string
	err := scanArray(s, func(v string, _ bool) { out = append(out, v) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ParseArrayNull is ParseArray for arrays with NULL elements, which it returns as nil.
func ParseArrayNull(s string) ([]*string, error) {
	var out []*string
	err := scanArray(s, func(v string, quoted bool) {
		if !quoted && strings.EqualFold(v, "NULL") {
			out = append(out, nil)
			return
		}
		out = append(out, &v)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// scanArray calls elem for each element; quoted says that part of it stood in double quotes.
// The rules are those of parsePGArray: it takes a quoted part anywhere in an element.
func scanArray(s string, elem func(v string, quoted bool)) error {
	bad := &TextError{What: "malformed array", Text: s}
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return bad
	}
	i := 1
	var b []byte
	for s[i] != '}' {
		b = b[:0]
		quoted := false
		for s[i] != '}' && s[i] != ',' {
			if s[i] != '"' {
				b = append(b, s[i])
				i++
			} else {
				quoted = true
				i++
				for i < len(s) && s[i] != '"' {
					if s[i] == '\\' {
						if i++; i == len(s) {
							return bad
						}
					}
					b = append(b, s[i])
					i++
				}
				i++ // the closing quote
			}
			if i >= len(s) {
				return bad
			}
		}
		elem(string(b), quoted)
		if s[i] == ',' {
			if i++; i >= len(s) {
				return bad
			}
		}
	}
	if i != len(s)-1 {
		return bad // a brace inside
	}
	return nil
}

// FormatArray writes the text form of a one-dimensional array, with quotes where array_out puts them (appendPGArray).
func FormatArray(elems []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, e := range elems {
		if i > 0 {
			b.WriteByte(',')
		}
		if e != "" && !strings.EqualFold(e, "NULL") && !strings.ContainsAny(e, "\"\\{}, \t\n\r\v\f") {
			b.WriteString(e)
			continue
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(e))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

// Reloptions writes storage parameters "name=value" as they stand in WITH (…): prefix and name, "=", and the value,
// bare where it would be a plain identifier, else as a literal (appendReloptionsArray). prefix is "" or "toast.".
// A parameter without a name is an error.
func Reloptions(opts []string, prefix string, q Quoter, stdStrings bool) (string, error) {
	var b strings.Builder
	for i, o := range opts {
		name, value, _ := strings.Cut(o, "=")
		if name == "" {
			return "", &TextError{What: "storage parameter without a name", Text: o}
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(prefix + q.Ident(name) + "=")
		if q.Ident(value) == value {
			b.WriteString(value)
		} else {
			b.WriteString(Literal(value, stdStrings))
		}
	}
	return b.String(), nil
}

// ReloptionsArray is Reloptions for the text form of the array.
func ReloptionsArray(array, prefix string, q Quoter, stdStrings bool) (string, error) {
	opts, err := ParseArray(array)
	if err != nil {
		return "", err
	}
	return Reloptions(opts, prefix, q, stdStrings)
}
