package catalog

import (
	"bytes"
	"context"
	"strconv"
	"strings"
)

// A server takes some 30 µs to write an expression as text, most of them to open the relation it belongs to: on a database of many
// tables, longer than all else that is read of them. But the tables of such databases resemble each other. What an expression
// reads like depends only on its tree as the catalogue has it, in which columns are numbers, and on the names of these
// columns (ruleutils.c). So the trees are read, and the server is asked for one of each kind.

// deparser puts rows with expressions into groups whose texts are equal.
type deparser struct {
	like   []byte // the key of the row
	groups map[string]int
	first  []uint32 // by group: the OID of its first row
	texts  []string // by group, after ask
}

// begin starts the key of a row.
func (d *deparser) begin() { d.like = d.like[:0] }

// add adds to the key whatever else decides about the text.
func (d *deparser) add(part []byte) {
	d.addNumber(int64(len(part)))
	d.like = append(d.like, part...)
}

func (d *deparser) addNumber(n int64) { d.like = append(strconv.AppendInt(d.like, n, 10), ':') }

func (d *deparser) addFlags(flags ...bool) {
	for _, f := range flags {
		d.like = strconv.AppendBool(d.like, f)
	}
}

// addTree adds an expression of a table with these columns; ok is false if its text may depend on more.
func (d *deparser) addTree(tree []byte, columns []Column) (ok bool) {
	d.add(tree)
	const attribute = ":varattno "
	for rest := tree; ; {
		i := bytes.Index(rest, []byte(attribute))
		if i < 0 {
			return true
		}
		rest = rest[i+len(attribute):]
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			return false
		}
		n, err := strconv.Atoi(string(rest[:end]))
		// 0 is the whole row, which reads as the table's name; below are system columns
		if err != nil || n < 1 || n > len(columns) {
			return false
		}
		d.add([]byte(columns[n-1].Name))
	}
}

// group returns the group of the row: that of the rows with the same key, or one of its own if it is not to share.
func (d *deparser) group(oid uint32, share bool) int {
	if g, ok := d.groups[string(d.like)]; ok && share {
		return g
	}
	g := len(d.first)
	d.first = append(d.first, oid)
	if share {
		if d.groups == nil {
			d.groups = make(map[string]int)
		}
		d.groups[string(d.like)] = g
	}
	return g
}

// ask reads the texts of all groups. sql gives an OID and its text for the OIDs of a list %OIDS%.
func (d *deparser) ask(ctx context.Context, q Querier, sql string) error {
	d.groups, d.like = nil, nil
	d.texts = make([]string, len(d.first))
	if len(d.first) == 0 {
		return nil
	}
	place := make(map[uint32]int, len(d.first))
	for g, oid := range d.first {
		place[oid] = g
	}
	return query(ctx, q, strings.Replace(sql, "%OIDS%", oidList(d.first), 1), func(v *row) {
		if g, ok := place[v.oid()]; ok {
			d.texts[g] = v.str()
		} else {
			v.take()
		}
	})
}

// oidList writes OIDs as an oid[] literal.
func oidList(oids []uint32) string {
	b := make([]byte, 0, len(oids)*8+32)
	b = append(b, "'{"...)
	for i, oid := range oids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(oid), 10)
	}
	return string(append(b, "}'::pg_catalog.oid[]"...))
}

// await waits for what other fetches read, which were begun before and wait for nothing themselves.
func await(ctx context.Context, read <-chan struct{}) error {
	select {
	case <-read:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitLock waits until the tables are locked, so that the server's functions can be asked about them.
func (r *reader) awaitLock(ctx context.Context) error { return await(ctx, r.locked) }
