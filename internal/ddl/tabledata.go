package ddl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// tableData renders the rows of a table, the value of a sequence or the REFRESH of a materialized view.
func (r *renderer) tableData(d *catalog.TableData) error {
	switch d.Kind {
	case catalog.KindSequenceSet:
		return r.sequenceSet(d)
	case catalog.KindRefreshMatview:
		if d.Table.Populated && d.Dump&catalog.Data != 0 {
			r.add(&d.Meta, pgarchive.Entry{
				Desc: "MATERIALIZED VIEW DATA", Section: pgarchive.SectionPostData,
				Defn: "REFRESH MATERIALIZED VIEW " + r.qualified(&d.Table.Meta) + ";\n",
			})
		}
		return nil
	}
	if d.Dump&catalog.Data != 0 {
		e := TableDataEntry(r.db, d)
		r.add(&d.Meta, e)
	}
	return nil
}

// TableDataEntry returns the TOC entry of a table's rows (dumpTableData): the COPY statement that loads them, none if
// they are dumped as INSERTs, and the table as the only dependency. DataBytes is the size of the table with its
// TOAST table. A caller that cuts the table gives each piece a copy with another ID.
func TableDataEntry(db *catalog.Database, d *catalog.TableData) pgarchive.Entry {
	t := d.Table
	quote := quoter(db)
	e := pgarchive.Entry{
		ID: pgarchive.ID(d.DumpID), CatalogID: pgarchive.CatalogID{TableOID: d.ID.Class, OID: d.ID.OID},
		Tag: t.Name, Namespace: t.Schema.Name, Owner: t.Owner,
		Desc: "TABLE DATA", Section: pgarchive.SectionData,
		Dependencies: []pgarchive.ID{pgarchive.ID(t.DumpID)},
		HasData:      true,
		DataBytes:    t.DataPages() * 8192,
	}
	target := quote.Qualified(t.Schema.Name, t.Name)
	if t.LoadViaRoot(&db.Options) {
		root := t.Root()
		target = quote.Qualified(root.Schema.Name, root.Name)
		e.Defn = LoadViaRootNote + sqltext.SanitizeLine(target, true)
	}
	if !UsesInserts(&db.Options) {
		e.CopyStmt = "COPY " + target + " " + copyColumns(quote, t) + " FROM stdin;\n"
	}
	return e
}

// LoadViaRootNote begins the definition of a data entry that is loaded through the root of its partition tree. pg_restore
// takes it as a sign not to truncate the entry's table first.
const LoadViaRootNote = "-- load via partition root "

// UsesInserts says whether rows are dumped as INSERT statements.
func UsesInserts(o *catalog.Options) bool { return o.Inserts || o.ColumnInserts || o.RowsPerInsert > 0 }

func quoter(db *catalog.Database) sqltext.Quoter {
	return sqltext.Quoter{All: db.Options.QuoteAllIdentifiers}
}

// storedColumns returns the quoted names of the columns that have values to copy: not dropped, not generated.
func storedColumns(quote sqltext.Quoter, t *catalog.Table) string {
	var names []string
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.Dropped && c.Generated == 0 {
			names = append(names, quote.Ident(c.Name))
		}
	}
	return strings.Join(names, ", ")
}

// copyColumns is storedColumns in parentheses, or nothing if there are none.
func copyColumns(quote sqltext.Quoter, t *catalog.Table) string {
	if list := storedColumns(quote, t); list != "" {
		return "(" + list + ")"
	}
	return ""
}

// CopyToSQL returns the statement that reads the table's rows from the source, without a final semicolon. A
// foreign table, or one of which only some rows are dumped, is read by a query.
func CopyToSQL(db *catalog.Database, d *catalog.TableData) string {
	t, quote := d.Table, quoter(db)
	table := quote.Qualified(t.Schema.Name, t.Name)
	if d.Filter == "" && t.RelKind != 'f' {
		return "COPY " + table + " " + copyColumns(quote, t) + " TO stdout"
	}
	list := storedColumns(quote, t)
	if list == "" {
		list = "*"
	}
	return "COPY (SELECT " + list + " FROM " + table + " " + d.Filter + ") TO stdout"
}

// CanCopyRange says whether the rows of d can be read by CopyRangeSQL: the table has blocks of its
// own and all of its rows are dumped.
func CanCopyRange(d *catalog.TableData) bool {
	return d.Kind == catalog.KindTableData && d.Table.RelKind == 'r' && d.Filter == "" &&
		(d.Table.AccessMethod == "heap" || d.Table.AccessMethod == "")
}

// CopyRangeSQL returns the statement that reads the rows in the blocks from lo to before hi of a table that
// CanCopyRange accepts. A hi of 0 means to the table's end.
func CopyRangeSQL(db *catalog.Database, d *catalog.TableData, lo, hi int64) string {
	t, quote := d.Table, quoter(db)
	end := ""
	if hi > 0 {
		end = " AND ctid < '(" + strconv.FormatInt(hi, 10) + ",0)'::pg_catalog.tid"
	}
	return fmt.Sprintf("COPY (SELECT %s FROM ONLY %s WHERE ctid >= '(%d,0)'::pg_catalog.tid%s) TO stdout",
		storedColumns(quote, t), quote.Qualified(t.Schema.Name, t.Name), lo, end)
}

// CopyKeysSQL returns the statement that reads the rows of a table that CanCopyRange accepts in which the column, an integer, is at
// least from and less than to; nil is no bound.
func CopyKeysSQL(db *catalog.Database, d *catalog.TableData, column string, from, to *int64) string {
	t, quote := d.Table, quoter(db)
	var where []string
	if from != nil {
		where = append(where, quote.Ident(column)+" >= "+bigint(*from))
	}
	if to != nil {
		where = append(where, quote.Ident(column)+" < "+bigint(*to))
	}
	return fmt.Sprintf("COPY (SELECT %s FROM ONLY %s WHERE %s) TO stdout",
		storedColumns(quote, t), quote.Qualified(t.Schema.Name, t.Name), strings.Join(where, " AND "))
}

func bigint(n int64) string { return "'" + strconv.FormatInt(n, 10) + "'::pg_catalog.int8" }

// An Inserter renders rows as INSERT statements (dumpTableData_insert). It is for one table and
// one goroutine.
type Inserter struct {
	query      string
	head       string
	end        string
	fields     []insertKind
	perStmt    int
	inStmt     int
	stdStrings bool
}

type insertKind uint8

const (
	insertString  insertKind = iota // a string literal
	insertNumber                    // bare, but NaN and infinity
	insertBits                      // B'...'
	insertBool                      // true or false
	insertDefault                   // a generated column
)

// insertKinds are the base types that are not written as string literals, by OID.
var insertKinds = map[uint32]insertKind{
	16: insertBool, 20: insertNumber, 21: insertNumber, 23: insertNumber, 26: insertNumber,
	700: insertNumber, 701: insertNumber, 1700: insertNumber, 1560: insertBits, 1562: insertBits,
}

// NewInserter returns an Inserter for the rows of d, by the options RowsPerInsert, ColumnInserts and
// OnConflictDoNothing of db.
func NewInserter(db *catalog.Database, d *catalog.TableData) *Inserter {
	t, o, quote := d.Table, &db.Options, quoter(db)
	in := &Inserter{perStmt: max(o.RowsPerInsert, 1), stdStrings: db.Info.StdStrings, end: ";\n"}
	if o.OnConflictDoNothing {
		in.end = " ON CONFLICT DO NOTHING;\n"
	}
	var selected, names []string
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case c.Dropped, c.Generated != 0 && o.ColumnInserts:
			continue
		case c.Generated != 0:
			selected = append(selected, "NULL") // its value is not looked at
			in.fields = append(in.fields, insertDefault)
		default:
			selected = append(selected, quote.Ident(c.Name))
			in.fields = append(in.fields, insertKinds[c.BaseType])
		}
		names = append(names, quote.Ident(c.Name))
	}
	if len(selected) == 0 {
		selected = []string{"NULL"}
	}
	in.query = "SELECT " + strings.Join(selected, ", ") + " FROM ONLY " + quote.Qualified(t.Schema.Name, t.Name)
	if d.Filter != "" {
		in.query += " " + d.Filter
	}
	target := t
	if t.LoadViaRoot(o) {
		target = t.Root()
	}
	in.head = "INSERT INTO " + quote.Qualified(target.Schema.Name, target.Name) + " "
	if len(in.fields) == 0 {
		in.head += "DEFAULT VALUES;\n"
		return in
	}
	if o.ColumnInserts {
		in.head += "(" + strings.Join(names, ", ") + ") "
	}
	if t.NeedsOverride {
		in.head += "OVERRIDING SYSTEM VALUE "
	}
	in.head += "VALUES"
	return in
}

// Query returns the query whose rows AppendRow takes, without a final semicolon.
func (in *Inserter) Query() string { return in.query }

// AppendRow appends the text of one row of Query's result to dst; values are in text form, nil for NULL. A
// statement ends with the row that fills it.
func (in *Inserter) AppendRow(dst []byte, values [][]byte) ([]byte, error) {
	if len(values) != len(in.fields) && !(len(in.fields) == 0 && len(values) == 1) {
		return dst, fmt.Errorf("wrong number of fields retrieved: %d instead of %d", len(values), len(in.fields))
	}
	if in.inStmt == 0 {
		dst = append(dst, in.head...)
	}
	if len(in.fields) == 0 {
		return dst, nil
	}
	switch {
	case in.perStmt == 1:
		dst = append(dst, " ("...)
	case in.inStmt > 0:
		dst = append(dst, ",\n\t("...)
	default:
		dst = append(dst, "\n\t("...)
	}
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = in.appendValue(dst, in.fields[i], v)
	}
	dst = append(dst, ')')
	in.inStmt++
	if in.inStmt >= in.perStmt {
		dst = append(dst, in.end...)
		in.inStmt = 0
	}
	return dst, nil
}

func (in *Inserter) appendValue(dst []byte, kind insertKind, v []byte) []byte {
	switch {
	case kind == insertDefault:
		return append(dst, "DEFAULT"...)
	case v == nil:
		return append(dst, "NULL"...)
	}
	switch kind {
	case insertNumber:
		if strings.Trim(string(v), "0123456789 +-eE.") == "" {
			return append(dst, v...)
		}
		return append(append(append(dst, '\''), v...), '\'')
	case insertBits:
		return append(append(append(dst, "B'"...), v...), '\'')
	case insertBool:
		if string(v) == "t" {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	}
	return append(dst, sqltext.Literal(string(v), in.stdStrings)...)
}

// Finish appends what ends the last statement, if it is not full, and the entry's data.
func (in *Inserter) Finish(dst []byte) []byte {
	if in.inStmt > 0 {
		dst = append(dst, in.end...)
		in.inStmt = 0
	}
	return append(dst, "\n\n"...)
}
