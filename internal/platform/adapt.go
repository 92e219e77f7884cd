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
	tables := make(map[string]*pgarchive.Entry) // of stubs, by the name as SQL writes it
	for _, s := range stubs {
		if s.Kind == KindRole {
			continue
		}
		e := &pgarchive.Entry{ID: next(), Desc: s.Kind, Tag: s.Name, Section: pgarchive.SectionPreData, Defn: s.SQL}
		if s.Kind == "TABLE" {
			e.Namespace, e.Tag = s.schema, s.name
			tables[quote.Qualified(s.schema, s.name)] = e
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

const (
	ident  = `(?:"(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)`
	names  = `\((` + ident + `(?:, ` + ident + `)*)\)`
	within = `(` + ident + `\.` + ident + `)`
)

// foreignKey is the statement of a foreign key as pg_dump writes it: table, columns, table referred to, its columns.
var foreignKey = regexp.MustCompile(`^ALTER TABLE (?:ONLY )?` + within + `\n    ADD CONSTRAINT ` + ident + ` FOREIGN KEY ` + names + ` REFERENCES ` + within + names)

// fill is what one stubbed table gets for one set of columns.
type fill struct {
	entry   *pgarchive.Entry
	selects []string
}

// fillTables adds the entries that fill stubbed tables, and makes the foreign keys into these wait for them.
func fillTables(entries []*pgarchive.Entry, tables map[string]*pgarchive.Entry, next func() pgarchive.ID) []*pgarchive.Entry {
	fills := make(map[string]*fill)
	var order []string
	out := slices.Clone(entries)
	for i, e := range out {
		if e.Desc != "FK CONSTRAINT" {
			continue
		}
		m := foreignKey.FindStringSubmatch(e.Defn)
		if m == nil || tables[m[3]] == nil {
			continue
		}
		table, columns, stub, key := m[1], m[2], m[3], m[4]
		into := stub + " (" + key + ")"
		f := fills[into]
		if f == nil {
			of := tables[stub]
			f = &fill{entry: &pgarchive.Entry{
				ID: next(), Desc: descRows, Tag: stub, Section: pgarchive.SectionPostData, Dependencies: []pgarchive.ID{of.ID},
			}}
			fills[into], order = f, append(order, into)
		}
		f.selects = append(f.selects, "SELECT "+columns+" FROM ONLY "+table+" WHERE "+strings.ReplaceAll(columns, ", ", " IS NOT NULL AND ")+" IS NOT NULL")
		if !strings.HasPrefix(e.Defn, "ALTER TABLE ONLY") { // partitioned: the rows are in its partitions
			f.selects[len(f.selects)-1] = strings.Replace(f.selects[len(f.selects)-1], " FROM ONLY ", " FROM ", 1)
		}
		f.entry.Dependencies = append(f.entry.Dependencies, e.Dependencies...)
		changed := *e
		changed.Dependencies = append(slices.Clone(e.Dependencies), tables[stub].ID, f.entry.ID)
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
