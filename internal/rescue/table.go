package rescue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Table is a table of an archive whose rows can be taken out.
type Table struct {
	Namespace, Name string
	Columns         []Column // those with stored values, in the order in which they come out
	PrimaryKey      []string // names of its columns; nil: there is none, or the archive does not say
	Encoding        string   // of the archive's text, as PostgreSQL calls it
	Pieces          []Piece

	always bool // it has a column GENERATED ALWAYS AS IDENTITY
}

// Column is a column of a Table.
type Column struct {
	Name string
	Type string // without length and precision, domains replaced by what they are made of; "": not known
}

// Piece is one data entry.
type Piece struct {
	Entry *pgarchive.Entry
	// fields says where in a line of this entry each column of the table stands; nil: in the same order.
	fields []int
}

// Errors of [Find], to be asked for with errors.Is.
var (
	ErrNotFound = errors.New("no such table in the archive")
	ErrNoRows   = errors.New("the archive has no rows of it")
	ErrForm     = errors.New("the rows cannot be taken out one by one")
)

// Find looks for the table: name or schema.name, exact, in double quotes where a name holds a period. Of a partitioned
// table the rows of all partitions are taken.
func Find(r pgarchive.Reader, name string) (*Table, error) {
	if r.Sequential() {
		return nil, errors.New("the archive comes as a stream and cannot be searched: store it in a file first")
	}
	parts, err := splitName(name)
	if err != nil {
		return nil, err
	}
	c := newContents(r.Entries())
	at, err := c.lookUp(parts)
	if err != nil {
		return nil, err
	}
	t := &Table{Namespace: at.schema, Name: at.name, Encoding: c.encoding, PrimaryKey: c.keys[at], always: c.always[at]}
	for _, leaf := range c.leaves(at) {
		for _, e := range c.data[leaf] {
			if err := t.add(e); err != nil {
				return nil, err
			}
		}
	}
	if len(t.Pieces) == 0 {
		return nil, c.noRows(at)
	}
	types := c.columnTypes(at)
	for i := range t.Columns {
		t.Columns[i].Type = c.base(types[t.Columns[i].Name])
	}
	return t, nil
}

// add adds a data entry. The first says which columns there are.
func (t *Table) add(e *pgarchive.Entry) error {
	name := at{e.Namespace, e.Tag}
	switch {
	case e.CopyStmt == "":
		return fmt.Errorf("%w: those of %s are stored as INSERT statements, all of which \"pghaul restore -a -t %s -f FILE\" writes", ErrForm, name, e.Tag)
	case e.BinaryCopy():
		return fmt.Errorf("%w: those of %s are stored in COPY's binary form, which only a server can read (see --copy-format): restore the table with \"pghaul restore -t %s\" into a database of the same major version",
			ErrForm, name, e.Tag)
	}
	columns, err := copyColumns(e.CopyStmt)
	if err != nil {
		return fmt.Errorf("read COPY statement of %s: %w", name, err)
	}
	p := Piece{Entry: e}
	if len(t.Pieces) == 0 {
		for _, c := range columns {
			t.Columns = append(t.Columns, Column{Name: c})
		}
	} else if !slices.EqualFunc(t.Columns, columns, func(c Column, name string) bool { return c.Name == name }) {
		for _, c := range t.Columns {
			i := slices.Index(columns, c.Name)
			if i < 0 || len(columns) != len(t.Columns) {
				return fmt.Errorf("%w: partition %s has other columns than the first one; name one partition", ErrForm, name)
			}
			p.fields = append(p.fields, i)
		}
	}
	t.Pieces = append(t.Pieces, p)
	return nil
}

// Qualified is the table's name as SQL writes it.
func (t *Table) Qualified() string { return sqltext.Quoter{}.Qualified(t.Namespace, t.Name) }

// column finds a column by name.
func (t *Table) column(name string) (int, error) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i >= 0 {
		return i, nil
	}
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return 0, fmt.Errorf("%s has no column %q with stored values%s; there are %s", t.Qualified(), name, suggest(name, names), strings.Join(names, ", "))
}

// at is the place of a table.
type at struct{ schema, name string }

func (a at) String() string { return a.schema + "." + a.name }

// contents is what the table of contents tells about tables.
type contents struct {
	encoding   string
	data       map[at][]*pgarchive.Entry
	kinds      map[at]string // TABLE, VIEW, ...
	defns      map[at]string // of tables
	domains    map[at]string // base types
	keys       map[at][]string
	always     map[at]bool
	partitions map[at][]at
}

func newContents(entries []*pgarchive.Entry) *contents {
	c := &contents{
		encoding: "UTF8", data: make(map[at][]*pgarchive.Entry), kinds: make(map[at]string), defns: make(map[at]string),
		domains: make(map[at]string), keys: make(map[at][]string), always: make(map[at]bool), partitions: make(map[at][]at),
	}
	for _, e := range entries {
		here := at{e.Namespace, e.Tag}
		switch e.Desc {
		case "ENCODING":
			if _, v, ok := strings.Cut(e.Defn, "'"); ok {
				c.encoding, _, _ = strings.Cut(v, "'")
			}
		case "TABLE DATA":
			c.data[here] = append(c.data[here], e)
		case "TABLE", "FOREIGN TABLE":
			c.defns[here] = e.Defn
			c.kinds[here] = e.Desc
		case "VIEW", "MATERIALIZED VIEW":
			c.kinds[here] = e.Desc
		case "DOMAIN":
			if _, v, ok := strings.Cut(e.Defn, " AS "); ok {
				c.domains[here] = typeName(strings.TrimSuffix(v, ";\n"))
			}
		case "CONSTRAINT":
			c.constraint(e)
		case "SEQUENCE":
			l := lexer{text: e.Defn}
			if l.words("ALTER", "TABLE") && strings.Contains(e.Defn, " ADD GENERATED ALWAYS AS IDENTITY") {
				l.words("ONLY")
				if t, ok := l.qualified(); ok {
					c.always[t] = true
				}
			}
		case "TABLE ATTACH":
			l := lexer{text: e.Defn}
			if l.words("ALTER", "TABLE", "ONLY") {
				parent, ok := l.qualified()
				if ok && l.words("ATTACH", "PARTITION") {
					if child, ok := l.qualified(); ok {
						c.partitions[parent] = append(c.partitions[parent], child)
					}
				}
			}
		}
	}
	return c
}

// constraint notes a primary key.
func (c *contents) constraint(e *pgarchive.Entry) {
	l := lexer{text: e.Defn}
	if !l.words("ALTER", "TABLE") {
		return
	}
	l.words("ONLY")
	table, ok := l.qualified()
	if !ok || !l.words("ADD", "CONSTRAINT") {
		return
	}
	if _, ok := l.ident(); !ok || !l.words("PRIMARY", "KEY") {
		return
	}
	if columns, ok := l.list(); ok {
		c.keys[table] = columns
	}
}

// lookUp finds the one table of that name.
func (c *contents) lookUp(parts []string) (at, error) {
	var found []at
	fits := func(t at) bool {
		return parts[len(parts)-1] == t.name && (len(parts) == 1 || parts[0] == t.schema)
	}
	for t := range c.data {
		if fits(t) {
			found = append(found, t)
		}
	}
	for t := range c.kinds {
		if fits(t) && !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	if len(parts) == 1 && len(found) > 1 { // one that has rows goes before a view of the same name
		if rows := slices.DeleteFunc(slices.Clone(found), func(t at) bool { return len(c.leaves(t)) == 0 }); len(rows) == 1 {
			found = rows
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return at{}, fmt.Errorf("%w: %s%s", ErrNotFound, strings.Join(parts, "."), suggest(strings.Join(parts, "."), c.names()))
	}
	var names []string
	for _, t := range found {
		names = append(names, t.String())
	}
	slices.Sort(names)
	return at{}, fmt.Errorf("several tables are called %s: name one of %s", parts[0], strings.Join(names, ", "))
}

// names are those of the tables with rows.
func (c *contents) names() []string {
	var names []string
	for t := range c.data {
		names = append(names, t.String())
	}
	slices.Sort(names)
	return names
}

// noRows says why a table that is known has no rows.
func (c *contents) noRows(t at) error {
	switch kind := c.kinds[t]; {
	case kind == "VIEW", kind == "MATERIALIZED VIEW", kind == "FOREIGN TABLE":
		return fmt.Errorf("%w: %s is a %s", ErrNoRows, t, strings.ToLower(kind))
	case strings.Contains(c.defns[t], "\nPARTITION BY "):
		return fmt.Errorf("%w: %s is partitioned, and none of its partitions has data here", ErrNoRows, t)
	}
	return fmt.Errorf("%w: of %s it has the definition only", ErrNoRows, t)
}

// leaves are the tables that hold the rows of t.
func (c *contents) leaves(t at) []at {
	var out []at
	seen := make(map[at]bool) // a damaged archive may have a table that is a partition of itself
	var walk func(at)
	walk = func(t at) {
		if seen[t] {
			return
		}
		seen[t] = true
		if len(c.data[t]) > 0 {
			out = append(out, t)
			return
		}
		for _, p := range c.partitions[t] {
			walk(p)
		}
	}
	walk(t)
	return out
}

// columnTypes returns the types of the columns that the definition of t names, and of those it inherits.
func (c *contents) columnTypes(t at) map[string]string {
	types := make(map[string]string)
	seen := make(map[at]bool)
	var walk func(at)
	walk = func(t at) {
		if seen[t] {
			return
		}
		seen[t] = true
		text := c.defns[t]
		if _, rest, ok := strings.Cut(text, "\nINHERITS ("); ok {
			for _, parent := range topLevel("(" + rest) {
				l := lexer{text: parent}
				if p, ok := l.qualified(); ok {
					walk(p)
				}
			}
		}
		i := strings.IndexByte(text, '(')
		if i < 0 {
			return
		}
		for _, item := range topLevel(text[i:]) {
			l := lexer{text: item}
			if l.words("CONSTRAINT") {
				continue
			}
			if name, ok := l.ident(); ok {
				types[name] = typeName(l.rest())
			}
		}
	}
	walk(t)
	return types
}

// base replaces a domain by what it is made of.
func (c *contents) base(typ string) string {
	for range len(c.domains) + 1 {
		l := lexer{text: typ}
		name, ok := l.qualified()
		b, isDomain := c.domains[name]
		if !ok || l.rest() != "" || !isDomain {
			return typ
		}
		typ = b
	}
	return "" // domains over each other: a damaged archive
}
