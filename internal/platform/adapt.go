package platform

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// descRows is the kind of the entries that fill stubbed tables. No archive has it.
const descRows = "PLATFORM ROWS"

// Adapt returns the archive as it restores beside the stubs: the same data, and a table of contents with more entries, which make those
// stubs that are objects of the database. A foreign key into a stubbed table waits for an entry that gives this table the
// values that are referred to, so that the key is really checked. Roles must be there before. r stays as it is, and is closed with the result.
func Adapt(r pgarchive.Reader, stubs []Stub) pgarchive.Reader {
	return &adapted{r, adaptEntries(r.Entries(), stubs)}
}

type adapted struct {
	pgarchive.Reader
	entries []*pgarchive.Entry
}

func (a *adapted) Entries() []*pgarchive.Entry { return a.entries }

func adaptEntries(entries []*pgarchive.Entry, stubs []Stub) []*pgarchive.Entry {
	last := pgarchive.ID(0)
	for _, e := range entries {
		last = max(last, e.ID)
	}
	next := func() pgarchive.ID { last++; return last }
	var made []*pgarchive.Entry
	tables := make(map[name]*pgarchive.Entry) // of stubs
	for _, s := range stubs {
		if s.Kind == KindRole {
			continue
		}
		e := &pgarchive.Entry{ID: next(), Desc: s.Kind, Tag: s.Name, Section: pgarchive.SectionPreData, Defn: s.SQL}
		if s.Kind == "TABLE" {
			e.Namespace, e.Tag = s.schema, s.name
			tables[name{s.schema, s.name}] = e
		}
		made = append(made, e)
	}
	if len(made) == 0 {
		return entries
	}
	at := head(entries)
	out := slices.Concat(entries[:at], made, entries[at:])
	return fillTables(out, tables, next)
}

// head returns the place after what comes first in an archive: its settings, the database, the schemas.
func head(entries []*pgarchive.Entry) int {
	at := 0
	for i, e := range entries {
		switch {
		case e.Section == pgarchive.SectionData || e.Section == pgarchive.SectionPostData:
			return at
		case e.Desc == "ENCODING" || e.Desc == "STDSTRINGS" || e.Desc == "SEARCHPATH" || e.Desc == "SCHEMA" ||
			strings.HasPrefix(e.Desc, "DATABASE"):
			at = i + 1
		}
	}
	return at
}

// name is that of a table.
type name struct{ schema, table string }

const (
	ident  = `(?:"(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)`
	idents = `\((` + ident + `(?:, ` + ident + `)*)\)`
	within = `(` + ident + `\.` + ident + `)`
)

var (
	// foreignKey is the statement of a foreign key as pg_dump writes it: table, columns, table referred to, its columns.
	foreignKey = regexp.MustCompile(`^ALTER TABLE (?:ONLY )?` + within + `\n    ADD CONSTRAINT ` + ident + ` FOREIGN KEY ` + idents + ` REFERENCES ` + within + idents)
	// attachment makes a table a partition of another.
	attachment = regexp.MustCompile(`^ALTER TABLE ONLY ` + within + ` ATTACH PARTITION ` + within)
)

// nameOf reads a qualified name as SQL writes it.
func nameOf(text string) name {
	schema, n := word(text)
	table, _ := word(text[n+1:])
	return name{schema, table}
}

// loaded says which entries load the rows of each table, with those of its partitions.
func loaded(entries []*pgarchive.Entry) func(name) []pgarchive.ID {
	data, parts := make(map[name][]pgarchive.ID), make(map[name][]name)
	for _, e := range entries {
		switch e.Desc {
		case "TABLE DATA":
			n := name{e.Namespace, e.Tag}
			data[n] = append(data[n], e.ID)
		case "TABLE ATTACH":
			if m := attachment.FindStringSubmatch(e.Defn); m != nil {
				parts[nameOf(m[1])] = append(parts[nameOf(m[1])], nameOf(m[2]))
			}
		}
	}
	var of func(n name, deep int) []pgarchive.ID
	of = func(n name, deep int) []pgarchive.ID {
		ids := slices.Clone(data[n])
		if deep > 0 { // an archive may say anything
			for _, p := range parts[n] {
				ids = append(ids, of(p, deep-1)...)
			}
		}
		return ids
	}
	return func(n name) []pgarchive.ID { return of(n, maxLevels) }
}

// maxLevels is how deep partitions may be.
const maxLevels = 8

// fill is what one stubbed table gets for one set of columns.
type fill struct {
	entry   *pgarchive.Entry
	selects []string
}

// fillTables adds the entries that fill stubbed tables, and makes the foreign keys into these wait for them.
func fillTables(entries []*pgarchive.Entry, tables map[name]*pgarchive.Entry, next func() pgarchive.ID) []*pgarchive.Entry {
	if len(tables) == 0 {
		return entries
	}
	fills := make(map[string]*fill)
	var order []string
	rows := loaded(entries)
	out := slices.Clone(entries)
	for i, e := range out {
		if e.Desc != "FK CONSTRAINT" {
			continue
		}
		m := foreignKey.FindStringSubmatch(e.Defn)
		if m == nil || tables[nameOf(m[3])] == nil {
			continue
		}
		table, columns, stub, key := m[1], m[2], m[3], m[4]
		of, into := tables[nameOf(stub)], stub+" ("+key+")"
		f := fills[into]
		if f == nil {
			f = &fill{entry: &pgarchive.Entry{
				ID: next(), Desc: descRows, Tag: stub, Section: pgarchive.SectionPostData, Dependencies: []pgarchive.ID{of.ID},
			}}
			fills[into], order = f, append(order, into)
		}
		f.selects = append(f.selects, "SELECT "+columns+" FROM "+table+" WHERE "+strings.ReplaceAll(columns, ", ", " IS NOT NULL AND ")+" IS NOT NULL")
		// The key of a partitioned table does not wait for the rows of the partitions, but those must have been read.
		f.entry.Dependencies = append(append(f.entry.Dependencies, e.Dependencies...), rows(nameOf(table))...)
		changed := *e
		changed.Dependencies = append(slices.Clone(e.Dependencies), of.ID, f.entry.ID)
		out[i] = &changed
	}
	first := slices.IndexFunc(out, func(e *pgarchive.Entry) bool { return e.Desc == "FK CONSTRAINT" })
	for i, into := range order {
		f := fills[into]
		slices.Sort(f.entry.Dependencies)
		f.entry.Dependencies = slices.Compact(f.entry.Dependencies)
		f.entry.Defn = "INSERT INTO " + into + "\n    " + strings.Join(f.selects, "\n    UNION ") + "\n    ON CONFLICT DO NOTHING;\n"
		out = slices.Insert(out, first+i, f.entry)
	}
	return out
}
