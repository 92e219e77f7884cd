package rescue

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Order says how the values of a key column are compared.
type Order struct {
	Name string // for messages
	// compare compares two values in their text form.
	compare func(a, b []byte) int
	// check brings a value that a person gave into the form values have in an archive.
	check func(string) (string, error)
	// prefix: a bound stands for all values that begin with it, as a day for its hours.
	prefix bool
	// ranged: a range has a meaning
	ranged bool
}

// ByteOrder is the name of the order of most types: it may not be that of the server.
const ByteOrder = "texts, byte by byte"

// The orders.
var (
	numbers  = &Order{Name: "numbers", compare: compareNumbers, check: checkNumber, ranged: true}
	floats   = &Order{Name: "numbers", compare: compareFloats, check: checkNumber, ranged: true}
	times    = &Order{Name: "points in time, as they are written in the backup", compare: compareTimes, check: asIs, prefix: true, ranged: true}
	uuids    = &Order{Name: "UUIDs", compare: bytes.Compare, check: checkUUID, ranged: true}
	texts    = &Order{Name: ByteOrder, compare: bytes.Compare, check: asIs, ranged: true}
	padded   = &Order{Name: "texts without the spaces at their ends, byte by byte", compare: comparePadded, check: asIs, ranged: true}
	anything = &Order{Name: "texts; their type is not known, so there are no ranges", compare: bytes.Compare, check: asIs}
)

// orderOf returns the order for a type, as [Column] has it.
func orderOf(typ string) *Order {
	switch typ {
	case "":
		return anything
	case "smallint", "integer", "bigint", "numeric", "oid", "xid", "xid8":
		return numbers
	case "real", "double precision":
		return floats
	case "date", "timestamp without time zone", "timestamp with time zone":
		return times
	case "uuid":
		return uuids
	case "character":
		return padded
	}
	return texts
}

func asIs(s string) (string, error) { return s, nil }

func checkNumber(s string) (string, error) {
	t := strings.TrimPrefix(strings.TrimSpace(s), "+")
	if special(t) == 0 {
		digits := strings.TrimPrefix(t, "-")
		if f, err := strconv.ParseFloat(t, 64); err != nil && f == 0 || strings.ContainsAny(digits, "xXpP_iInN") {
			return "", fmt.Errorf("%q is not a number", s)
		}
		if strings.ContainsAny(digits, "eE") {
			return "", fmt.Errorf("%q: write the number without an exponent", s)
		}
	}
	return t, nil
}

func checkUUID(s string) (string, error) {
	t := strings.ToLower(strings.Trim(strings.TrimSpace(s), "{}"))
	hex := strings.ReplaceAll(t, "-", "")
	if len(hex) != 32 || strings.Trim(hex, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%q is not a UUID", s)
	}
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:], nil
}

// special gives numbers that are none their place: -infinity before all, then infinity and NaN after all; 0 for others.
func special(s string) int {
	switch strings.ToLower(s) {
	case "-infinity":
		return -1
	case "infinity":
		return 1
	case "nan":
		return 2
	}
	return 0
}

// compareNumbers compares decimal numbers without exponents, however long.
func compareNumbers(a, b []byte) int {
	if isLetter(a) || isLetter(b) {
		return cmp.Compare(special(string(a)), special(string(b)))
	}
	na, nb := negative(a), negative(b)
	switch {
	case na && !nb:
		return -1
	case nb && !na:
		return 1
	case na:
		return -magnitudes(a[1:], b[1:])
	}
	return magnitudes(a, b)
}

// isLetter reports whether a value is a word such as NaN.
func isLetter(s []byte) bool {
	return len(s) > 2 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' || s[1]|0x20 >= 'a' && s[1]|0x20 <= 'z')
}

// negative reports whether a number is below zero; -0 is not.
func negative(s []byte) bool {
	return len(s) > 0 && s[0] == '-' && len(bytes.Trim(s[1:], "0.")) > 0
}

func magnitudes(a, b []byte) int {
	if len(a) > 0 && a[0] == '-' { // -0
		a = a[1:]
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	ia, fa, _ := bytes.Cut(a, []byte{'.'})
	ib, fb, _ := bytes.Cut(b, []byte{'.'})
	ia, ib = bytes.TrimLeft(ia, "0"), bytes.TrimLeft(ib, "0")
	if c := cmp.Compare(len(ia), len(ib)); c != 0 {
		return c
	}
	if c := bytes.Compare(ia, ib); c != 0 {
		return c
	}
	return bytes.Compare(bytes.TrimRight(fa, "0"), bytes.TrimRight(fb, "0"))
}

// compareFloats compares numbers that may have exponents, with NaN after all others as the server has it.
func compareFloats(a, b []byte) int {
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	if errX != nil || errY != nil {
		return bytes.Compare(a, b)
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return cmp.Compare(y, x) // to cmp, NaN is below all others
	}
	return cmp.Compare(x, y)
}

func comparePadded(a, b []byte) int {
	return bytes.Compare(bytes.TrimRight(a, " "), bytes.TrimRight(b, " "))
}

// compareTimes compares dates and timestamps in ISO form, with years of any length, years BC and infinities.
func compareTimes(a, b []byte) int {
	ya, ra := year(a)
	yb, rb := year(b)
	if c := cmp.Compare(ya, yb); c != 0 {
		return c
	}
	return bytes.Compare(ra, rb)
}

// year returns the year of a point in time and what stands behind it.
func year(s []byte) (float64, []byte) {
	switch strings.ToLower(string(s)) {
	case "infinity":
		return math.Inf(1), nil
	case "-infinity":
		return math.Inf(-1), nil
	}
	n := 0
	y := 0.0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		y = y*10 + float64(s[n]-'0')
		n++
	}
	if rest, ok := bytes.CutSuffix(s, []byte(" BC")); ok {
		return -y, rest[n:]
	}
	return y, s[n:]
}

// Key is a set of values of the key column.
type Key struct {
	order  *Order
	ranges []span // disjoint, ascending
	exact  int    // how many values it has, if it has no ranges; else 0
}

// span is a range of values, both ends included; nil has no end on that side.
type span struct{ from, to []byte }

// ParseKey reads what a person wants: each text is a range FROM..TO, one end of which may be left out, or a list of values
// between commas. A value may stand in double quotes.
func ParseKey(texts []string, o *Order) (*Key, error) {
	k := &Key{order: o}
	ranges := 0
	for _, text := range texts {
		items, isRange, err := splitKey(text)
		if err != nil {
			return nil, err
		}
		for i, item := range items {
			if item.text == "" && !item.quoted && isRange {
				continue
			}
			if items[i].text, err = o.check(item.text); err != nil {
				return nil, err
			}
		}
		switch {
		case !isRange:
			for _, item := range items {
				k.ranges = append(k.ranges, span{[]byte(item.text), []byte(item.text)})
			}
			continue
		case !o.ranged:
			return nil, fmt.Errorf("--key %s: the archive does not say of which type the column is, so that a range has no meaning; name values", text)
		}
		ranges++
		var s span
		if items[0].text != "" || items[0].quoted {
			s.from = []byte(items[0].text)
		}
		if items[1].text != "" || items[1].quoted {
			s.to = []byte(items[1].text)
		}
		if s.from != nil && s.to != nil && k.above(s.from, s.to) {
			return nil, fmt.Errorf("--key %s: nothing can lie in it, its beginning is above its end", text)
		}
		k.ranges = append(k.ranges, s)
	}
	k.merge()
	if ranges == 0 && !o.prefix {
		k.exact = len(k.ranges)
	}
	return k, nil
}

// above reports whether v is above all that a range ending in to contains.
func (k *Key) above(v, to []byte) bool {
	if k.order.prefix && bytes.HasPrefix(v, to) {
		return false
	}
	return k.order.compare(v, to) > 0
}

// further reports whether a range that ends in to contains more than one that ends in other.
func (k *Key) further(to, other []byte) bool {
	if k.order.prefix && bytes.HasPrefix(other, to) {
		return len(to) < len(other)
	}
	return k.above(to, other)
}

// merge sorts the ranges and joins those that overlap.
func (k *Key) merge() {
	slices.SortFunc(k.ranges, func(a, b span) int {
		switch {
		case a.from == nil && b.from == nil:
			return 0
		case a.from == nil:
			return -1
		case b.from == nil:
			return 1
		}
		return k.order.compare(a.from, b.from)
	})
	var out []span
	for _, s := range k.ranges {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if last.to == nil {
				continue
			}
			if s.from == nil || !k.above(s.from, last.to) {
				if s.to == nil || k.further(s.to, last.to) {
					last.to = s.to
				}
				continue
			}
		}
		out = append(out, s)
	}
	k.ranges = out
}

// Has reports whether the value is wanted.
func (k *Key) Has(v []byte) bool {
	n, exact := slices.BinarySearchFunc(k.ranges, v, func(s span, v []byte) int {
		if s.from == nil {
			return -1
		}
		return k.order.compare(s.from, v)
	})
	if exact {
		return true
	}
	return n > 0 && (k.ranges[n-1].to == nil || !k.above(v, k.ranges[n-1].to))
}

// keyItem is one value as it was given.
type keyItem struct {
	text   string
	quoted bool
}

// splitKey takes a --key apart.
func splitKey(text string) (items []keyItem, isRange bool, err error) {
	for rest := text; ; {
		var item keyItem
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for end < len(rest) && rest[end] != '"' || strings.HasPrefix(rest[min(end, len(rest)):], `""`) {
				if rest[end] == '"' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return nil, false, fmt.Errorf("--key %s: the quotes do not end", text)
			}
			item = keyItem{strings.ReplaceAll(rest[1:end], `""`, `"`), true}
			rest = rest[end+1:]
			if rest != "" && rest[0] != ',' && !strings.HasPrefix(rest, "..") {
				return nil, false, fmt.Errorf("--key %s: a comma or .. is missing after the quotes", text)
			}
		} else {
			n := len(rest)
			if i := strings.IndexByte(rest, ','); i >= 0 {
				n = i
			}
			if i := strings.Index(rest, ".."); i >= 0 && i < n {
				n = i
			}
			item.text, rest = rest[:n], rest[n:]
		}
		items = append(items, item)
		switch {
		case rest == "":
			if isRange && len(items) != 2 || len(items) == 1 && text == "" {
				return nil, false, fmt.Errorf("--key %q is neither FROM..TO nor values with commas between them", text)
			}
			return items, isRange, nil
		case rest[0] == ',' && !isRange:
			rest = rest[1:]
		case rest[0] == '.' && len(items) == 1:
			isRange, rest = true, rest[2:]
		default:
			return nil, false, fmt.Errorf("--key %q is neither FROM..TO nor values with commas between them", text)
		}
	}
}
