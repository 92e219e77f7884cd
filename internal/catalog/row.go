package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// row reads the values of one result row from left to right. It keeps the first
// error, so that a scan reads all its columns and asks for the error once.
type row struct {
	values [][]byte
	next   int
	err    error
	texts
}

// texts keeps the texts of a result, short ones together: there are hundreds of thousands.
type texts struct {
	b     strings.Builder
	known map[string]string // those that come again and again
}

const (
	textsTogether = 16 << 10 // bytes
	longText      = 512
)

func (t *texts) add(v []byte) string {
	switch {
	case len(v) == 0:
		return ""
	case len(v) > longText:
		return string(v)
	}
	if t.b.Cap()-t.b.Len() < len(v) {
		size := min(max(2*t.b.Cap(), 64), textsTogether)
		t.b = strings.Builder{}
		t.b.Grow(max(size, len(v)))
	}
	n := t.b.Len()
	t.b.Write(v)
	return t.b.String()[n:]
}

// again is add of a text that stands in many rows.
func (t *texts) again(v []byte) string {
	if s, ok := t.known[string(v)]; ok {
		return s
	}
	if t.known == nil {
		t.known = make(map[string]string)
	}
	s := t.add(v)
	t.known[s] = s
	return s
}

func (r *row) take() []byte {
	if r.next >= len(r.values) {
		r.fail("row has only %d columns", len(r.values))
		return nil
	}
	v := r.values[r.next]
	r.next++
	return v
}

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d: "+format, append([]any{r.next}, args...)...)
	}
}

// done returns the first error, also when columns are left over.
func (r *row) done() error {
	if r.err == nil && r.next != len(r.values) {
		r.err = fmt.Errorf("row has %d columns, %d were read", len(r.values), r.next)
	}
	return r.err
}

// str reads a text; NULL is the empty string.
func (r *row) str() string { return r.texts.add(r.take()) }

// strAgain is str for a column with few different texts.
func (r *row) strAgain() string { return r.texts.again(r.take()) }

// strNull reads a text and says whether it was not NULL.
func (r *row) strNull() (string, bool) {
	v := r.take()
	return r.texts.add(v), v != nil
}

// oid reads an OID; NULL is 0.
func (r *row) oid() uint32 {
	v := r.take()
	if v == nil {
		return 0
	}
	n, ok := digits(v)
	if !ok || n > math.MaxUint32 {
		r.fail("bad oid %q", v)
	}
	return uint32(n)
}

// int reads an integer; NULL is 0.
func (r *row) int() int { return int(r.int64()) }

func (r *row) int64() int64 {
	v := r.take()
	if v == nil {
		return 0
	}
	if n, ok := digits(v); ok {
		return int64(n)
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		r.fail("bad integer %q", v)
	}
	return n
}

// digits reads a number of at most 18 digits and nothing else.
func digits(v []byte) (n uint64, ok bool) {
	if len(v) == 0 || len(v) > 18 {
		return 0, false
	}
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}

// bool reads a boolean; NULL is false.
func (r *row) bool() bool { v := r.take(); return len(v) == 1 && v[0] == 't' }

// char reads a "char"; NULL and the empty string are 0.
func (r *row) char() byte {
	v := r.take()
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// strs reads a one-dimensional array of texts; NULL is nil.
func (r *row) strs() []string {
	v := r.take()
	if v == nil {
		return nil
	}
	a, err := sqltext.ParseArray(string(v))
	if err != nil {
		r.fail("%v", err)
	}
	return a
}

// oids reads an oid[] or the text form of an oidvector ("1 2 3"); NULL is nil.
func (r *row) oids() []uint32 { return appendOIDs(nil, r.take()) }

func appendOIDs(to []uint32, v []byte) []uint32 {
	n, in := uint64(0), false
	for i := 0; i <= len(v); i++ {
		if i < len(v) && v[i] >= '0' && v[i] <= '9' {
			n, in = n*10+uint64(v[i]-'0'), true
			continue
		}
		if in {
			to = append(to, uint32(n))
		}
		n, in = 0, false
	}
	return to
}
