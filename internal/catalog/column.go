package catalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Column is a row of pg_attribute with attnum > 0. Its number is its index plus 1.
type Column struct {
	Name        string
	TypeName    string   // format_type(atttypid, atttypmod)
	Default     *AttrDef // default or generation expression, or nil
	TypeOID     uint32
	BaseType    uint32 // TypeOID, or the type a domain stands on
	Collation   uint32 // only where it differs from the type's
	typmod      int32  // atttypmod
	StatsTarget int16  // -1: default
	Len         int16  // attlen
	Storage     byte   // attstorage
	TypeStorage byte   // typstorage
	Identity    byte   // a d or 0
	Generated   byte   // s v or 0
	Align       byte
	Compression byte // attcompression
	IsLocal     bool
	Dropped     bool

	// The not-null constraint (named since 18).
	NotNull          bool // there is one, to be written with the column
	NotNullNoInherit bool
	NotNullIsLocal   bool
	NotNullInvalid   bool // it is NOT VALID: a Constraint of its own, and NotNull is false

	more *ColumnMore
}

// ColumnMore is what few columns have.
type ColumnMore struct {
	Options        []string
	FDWOptions     string // text as in CREATE FOREIGN TABLE
	MissingVal     string // attmissingval, only for binary upgrade
	NotNullName    string // name of the not-null constraint where it must be given, else empty
	NotNullComment string // its comment
}

var noColumnMore ColumnMore

// More returns what few columns have, to be read only.
func (c *Column) More() *ColumnMore { return cmp.Or(c.more, &noColumnMore) }

// PrintsColumn says whether column i (from 0) stands in the CREATE TABLE statement:
// not if dropped or only inherited. Partitions are created for themselves and
// attached later, so theirs always do; in binary upgrade all must, to keep their places.
func (t *Table) PrintsColumn(o *Options, i int) bool {
	c := &t.Columns[i]
	return o.BinaryUpgrade || !c.Dropped && (c.IsLocal || t.IsPartition)
}

// tableColumns are the columns of one relation.
type tableColumns struct {
	table   uint32
	columns []Column
}

// columnRuns puts columns together that come in no certain order, but mostly in that of their numbers.
type columnRuns struct {
	runs  []columnRun
	room  []Column // of which the last run has the end
	mixed bool     // a relation has several runs
}

// columnRun is columns of a relation that came one after the other, and the number of the first.
type columnRun struct {
	tableColumns
	first int
}

// add returns a column to be filled.
func (c *columnRuns) add(table uint32, num int) *Column {
	const together = 512
	var last *columnRun
	if n := len(c.runs); n > 0 {
		last = &c.runs[n-1]
	}
	if last == nil || last.table != table || num != last.first+len(last.columns) {
		c.runs = append(c.runs, columnRun{tableColumns{table: table}, num})
		c.mixed = c.mixed || num != 1
		last = &c.runs[len(c.runs)-1]
	}
	n := len(last.columns)
	if len(c.room) == cap(c.room) {
		c.room = append(make([]Column, 0, max(together, 2*n)), last.columns...)
	}
	c.room = append(c.room, Column{})
	last.columns = c.room[len(c.room)-n-1 : len(c.room) : len(c.room)]
	return &last.columns[n]
}

// tables returns the columns by relation, complete and in order.
func (c *columnRuns) tables() ([]tableColumns, error) {
	if c.mixed {
		slices.SortStableFunc(c.runs, func(a, b columnRun) int {
			return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.first, b.first))
		})
	}
	out := make([]tableColumns, 0, len(c.runs))
	for _, run := range c.runs {
		n := 0
		if k := len(out); k > 0 && out[k-1].table == run.table {
			n = len(out[k-1].columns)
			out[k-1].columns = append(out[k-1].columns, run.columns...)
		} else {
			out = append(out, run.tableColumns)
		}
		if run.first != n+1 {
			return nil, fmt.Errorf("column %d of table with OID %d comes as number %d", run.first, run.table, n+1)
		}
	}
	return out, nil
}

// columnsStage reads the columns of the interesting relations other than sequences.
func (r *reader) columnsStage() stage {
	s := stage{name: "columns", fetch: r.fetchDomainBases, link: r.linkColumns}
	lists := r.tableParts(func(t *Table) bool { return t.Interesting && t.RelKind != 'S' })
	r.columnParts = make([][]tableColumns, len(lists))
	r.columnsRead = make(chan struct{})
	var missing atomic.Int64
	missing.Store(int64(len(lists)))
	for i, oids := range lists {
		r.inParts(s.name, func(ctx context.Context, q Querier) error {
			var err error
			if r.columnParts[i], err = r.fetchColumns(ctx, q, oids); err != nil {
				return err
			}
			if missing.Add(-1) == 0 {
				r.allColumnsRead()
			}
			return nil
		})
	}
	return s
}

// allColumnsRead lets those go on who wait for the columns.
func (r *reader) allColumnsRead() {
	r.columnsOf = make(map[uint32][]Column)
	for _, part := range r.columnParts {
		for _, t := range part {
			r.columnsOf[t.table] = t.columns
		}
	}
	close(r.columnsRead)
}

// userOptions leaves out pg_attver, which later minor versions of 17 and older store among a column's
// options for themselves: other servers refuse it, and theirs give it another value.
func userOptions(options []string) []string {
	return slices.DeleteFunc(options, func(o string) bool { return strings.HasPrefix(o, "pg_attver=") })
}

func (r *reader) fetchColumns(ctx context.Context, q Querier, oids string) ([]tableColumns, error) {
	v18 := r.db.Info.Version >= 180000
	sql := `SELECT a.attrelid, a.attnum, a.attname, a.attisdropped, a.atttypid, a.atttypmod,
	a.attstattarget, a.attstorage, a.attlen, a.attalign, a.attislocal, a.attcollation,
	a.attoptions,
	CASE WHEN a.attfdwoptions IS NOT NULL THEN (
		SELECT pg_catalog.string_agg(pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value),
			E',\n    ' ORDER BY option_name)
		FROM pg_catalog.pg_options_to_table(a.attfdwoptions)) END,
	a.attidentity, ` +
		r.since(12, `a.attgenerated`, `''`) + `, ` +
		r.since(14, `a.attcompression`, `''`) + `, `
	if r.db.Options.BinaryUpgrade {
		sql += r.since(11, `CASE WHEN a.atthasmissing AND NOT a.attisdropped THEN a.attmissingval ELSE NULL END`, `NULL`)
	} else {
		sql += `NULL`
	}
	if v18 {
		sql += `,
	nn.conname IS NOT NULL, nn.conname, NOT nn.convalidated, nn.connoinherit, nn.conislocal,
	CASE WHEN nn.convalidated THEN note.description END
`
	} else {
		sql += `,
	a.attnotnull, NULL, false, false, a.attislocal OR a.attnotnull, NULL
`
	}
	sql += `FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_attribute a ON a.attrelid = src.tbloid AND a.attnum > 0
`
	if v18 {
		sql += `LEFT JOIN pg_catalog.pg_constraint nn
	ON nn.conrelid = a.attrelid AND nn.contype = 'n' AND nn.conkey = ARRAY[a.attnum]
LEFT JOIN pg_catalog.pg_description note ON note.classoid = nn.tableoid AND note.objoid = nn.oid
`
	}
	// in no order: that would cost the server a third of the query's time
	var runs columnRuns
	types := make(columnTypes)
	err := query(ctx, q, sql, func(v *row) {
		table, num := v.oid(), v.int()
		c := runs.add(table, num)
		c.Name, c.Dropped = v.strAgain(), v.bool()
		c.TypeOID = v.oid()
		c.typmod = int32(v.int())
		types.add(c)
		c.StatsTarget = int16(v.intOr(-1))
		c.Storage, c.Len, c.Align, c.IsLocal = v.char(), int16(v.int()), v.char(), v.bool()
		c.Collation = v.oid()
		more := ColumnMore{Options: userOptions(v.strs()), FDWOptions: v.str()}
		c.Identity, c.Generated, c.Compression = v.char(), v.char(), v.char()
		more.MissingVal = v.str()
		c.NotNull, more.NotNullName, c.NotNullInvalid = v.bool(), v.strAgain(), v.bool()
		c.NotNullNoInherit, c.NotNullIsLocal, more.NotNullComment = v.bool(), v.bool(), v.str()
		if t := r.db.Table(table); t != nil {
			c.setNotNull(t, &r.db.Options, &more)
		}
		if len(more.Options) > 0 || more.FDWOptions != "" || more.MissingVal != "" || more.NotNullName != "" || more.NotNullComment != "" {
			c.more = &more
		}
	})
	if err != nil {
		return nil, err
	}
	if err := types.fetch(ctx, q); err != nil {
		return nil, err
	}
	parts, err := runs.tables()
	if err != nil {
		return nil, err
	}
	for _, t := range parts {
		for i := range t.columns {
			c := &t.columns[i]
			typ := types[c.typeKey()]
			c.TypeName, c.TypeStorage = typ.name, typ.storage
			if !typ.known || c.Collation == typ.collation {
				c.Collation = 0
			}
		}
	}
	return parts, nil
}

// columnTypes are the types of columns by type and modifier: few, however many columns there are.
type columnTypes map[typeKey]columnType

type columnType struct {
	name      string // format_type
	storage   byte   // typstorage
	collation uint32 // typcollation
	known     bool
}

type typeKey struct {
	oid    uint32
	typmod int32
}

func (c *Column) typeKey() typeKey { return typeKey{c.TypeOID, c.typmod} }

func (t columnTypes) add(c *Column) {
	if c.TypeOID != 0 { // a dropped column may have none
		t[c.typeKey()] = columnType{}
	}
}

func (t columnTypes) fetch(ctx context.Context, q Querier) error {
	if len(t) == 0 {
		return nil
	}
	var oids, typmods []string
	for k := range t {
		oids, typmods = append(oids, strconv.FormatUint(uint64(k.oid), 10)), append(typmods, strconv.Itoa(int(k.typmod)))
	}
	return query(ctx, q, `SELECT w.oid, w.typmod, pg_catalog.format_type(t.oid, w.typmod), t.typstorage, t.typcollation, t.oid IS NOT NULL
FROM ROWS FROM (pg_catalog.unnest('{`+strings.Join(oids, ",")+`}'::pg_catalog.oid[]),
	pg_catalog.unnest('{`+strings.Join(typmods, ",")+`}'::pg_catalog.int4[])) AS w (oid, typmod)
LEFT JOIN pg_catalog.pg_type t ON t.oid = w.oid`, func(v *row) {
		k := typeKey{v.oid(), int32(v.int())}
		t[k] = columnType{v.str(), v.char(), v.oid(), v.bool()}
	})
}

func (r *reader) fetchDomainBases(ctx context.Context, q Querier) error {
	r.domainBases = make(map[uint32]uint32)
	return query(ctx, q, `SELECT oid, typbasetype FROM pg_catalog.pg_type WHERE typtype = 'd'`, func(v *row) {
		domain := v.oid()
		r.domainBases[domain] = v.oid()
	})
}

func (r *reader) linkColumns() error {
	for _, part := range r.columnParts {
		for _, p := range part {
			t, err := r.tableOf(p.table)
			if err != nil {
				return err
			}
			t.Columns = p.columns
			for i := range t.Columns {
				c := &t.Columns[i]
				c.BaseType = c.TypeOID
				for depth := 0; depth < 64; depth++ {
					base, ok := r.domainBases[c.BaseType]
					if !ok {
						break
					}
					c.BaseType = base
				}
				if c.Identity == 'a' {
					t.NeedsOverride = true
				}
			}
		}
	}
	r.domainBases, r.columnsOf, r.columnParts = nil, nil, nil
	return nil
}

// setNotNull settles what of the column's not-null constraint is written with the
// column: nothing if it is NOT VALID, for it must come after the rows; no name if it
// is the one the server would choose; its name if something refers to it.
func (c *Column) setNotNull(t *Table, o *Options, more *ColumnMore) {
	if c.NotNullInvalid {
		c.NotNull, more.NotNullName, c.NotNullIsLocal, c.NotNullNoInherit = false, "", false, false
		return
	}
	named := more.NotNullComment != "" || o.BinaryUpgrade && !t.IsPartition && !c.NotNullIsLocal
	if !named && more.NotNullName == t.Name+"_"+c.Name+"_not_null" {
		more.NotNullName = ""
	}
}

// intOr reads an integer; NULL is otherwise.
func (r *row) intOr(otherwise int) int {
	if r.next < len(r.values) && r.values[r.next] == nil {
		r.next++
		return otherwise
	}
	return r.int()
}

// appendInt16s appends the numbers of an int2vector ("1 2 -3").
func appendInt16s(to []int16, v []byte) ([]int16, error) {
	for len(v) > 0 {
		end := bytes.IndexByte(v, ' ')
		if end < 0 {
			end = len(v)
		}
		n, err := strconv.ParseInt(string(v[:end]), 10, 16)
		if err != nil {
			return to, fmt.Errorf("bad integer %q", v[:end])
		}
		to = append(to, int16(n))
		v = v[min(end+1, len(v)):]
	}
	return to, nil
}
