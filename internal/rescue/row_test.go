package rescue

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func appendInt(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

func TestUnescape(t *testing.T) {
	for field, want := range map[string]string{
		`plain`: "plain", `a\tb\nc\\d`: "a\tb\nc\\d", `\b\f\r\v`: "\b\f\r\v", `\101\60x`: "A0x", `\x41\x4g`: "A\x04g",
		`\q\.`: "q.", `\`: `\`, `\\N`: `\N`, `\xyz`: "xyz", `\0`: "\x00",
	} {
		if got := string(unescape(nil, []byte(field))); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
}

func TestLinesThatEndEarly(t *testing.T) {
	for data, want := range map[string]error{"": errNoEnd, "a\n": errNoEnd, "a\n\\.": errNoEnd, "a": errNoEnd, "a\n\\.\n": io.EOF, "\\.\n\n\n": io.EOF} {
		l := lineReader{in: strings.NewReader(data)}
		var err error
		for err == nil {
			_, err = l.next()
		}
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", data, err, want)
		}
	}
}

// escape is a simple reference of how the server writes a value.
func escape(v string) string {
	return strings.NewReplacer("\\", `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`).Replace(v)
}

// Rows of any values, split and unescaped, are those values, however the data come in.
func FuzzRows(f *testing.F) {
	f.Add("a\x00b\nc\td", "\\.\n\\N", uint8(2))
	f.Add("", "x", uint8(3))
	f.Add("\\", "\x01", uint8(1))
	f.Fuzz(func(t *testing.T, a, b string, columns uint8) {
		values := strings.Split(a+"\x01"+b, "\x01")
		n := int(columns%5) + 1
		for len(values)%n != 0 {
			values = append(values, "")
		}
		var data strings.Builder
		for i, v := range values {
			data.WriteString(escape(v))
			if (i+1)%n == 0 {
				data.WriteByte('\n')
			} else {
				data.WriteByte('\t')
			}
		}
		data.WriteString("\\.\n\n\n")
		l := lineReader{in: iotest.OneByteReader(strings.NewReader(data.String()))}
		var got []string
		for {
			line, err := l.next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all := fields(nil, line)
			if len(all) != n {
				t.Fatalf("%q has %d fields", line, len(all))
			}
			for i, v := range all {
				if one, ok := field(line, i); !ok || !bytes.Equal(one, v) {
					t.Fatalf("field %d of %q is %q", i, line, one)
				}
				got = append(got, string(unescape(nil, v)))
			}
			if _, ok := field(line, n); ok {
				t.Fatalf("%q has a field %d", line, n)
			}
		}
		if strings.Join(got, "\x01") != strings.Join(values, "\x01") {
			t.Errorf("%q became %q", values, got)
		}
	})
}
