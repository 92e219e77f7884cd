package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// lastBuiltinOID is the highest OID that initdb gives (FirstNormalObjectId - 1 in transam.h).
const lastBuiltinOID = 16383

// selection is what the pattern options stand for, as OIDs.
type selection struct {
	schemas, notSchemas       map[uint32]bool
	tables, notTables         map[uint32]bool
	notData                   map[uint32]bool
	extensions, notExtensions map[uint32]bool
	foreignServers            map[uint32]bool
}

// everything says that no option names what to dump, so that also objects outside schemas are
// dumped (include_everything in pg_dump.c).
func (r *reader) everything() bool { return !r.db.Options.selective() }

func all(yes bool) Component {
	if yes {
		return AllPart
	}
	return None
}

// NoMatchError says that a pattern, or a list of them, found nothing. Its text is that of pg_dump.
type NoMatchError struct {
	What    string // schemas, tables, extensions, foreign servers
	Pattern string // empty: the whole list
}

func (e *NoMatchError) Error() string {
	if e.Pattern == "" {
		return "no matching " + e.What + " were found"
	}
	return fmt.Sprintf("no matching %s were found for pattern \"%s\"", e.What, e.Pattern)
}

// patternQuery finds the objects that a list of patterns means.
type patternQuery struct {
	what       string
	kind       sqltext.PatternKind
	from       string // SELECT list's table and joins, with WHERE and a condition
	oid        string
	schema     string // column names for the pattern
	name       string
	visibility string
	children   bool // also what inherits from them
}

var (
	schemaPatterns = patternQuery{what: "schemas", kind: sqltext.PatternSchema,
		from: "pg_catalog.pg_namespace n WHERE true", oid: "n.oid", name: "n.nspname"}
	extensionPatterns = patternQuery{what: "extensions", kind: sqltext.PatternName,
		from: "pg_catalog.pg_extension e WHERE true", oid: "e.oid", name: "e.extname"}
	serverPatterns = patternQuery{what: "foreign servers", kind: sqltext.PatternName,
		from: "pg_catalog.pg_foreign_server s WHERE true", oid: "s.oid", name: "s.srvname"}
	tablePatterns = patternQuery{what: "tables", kind: sqltext.PatternRelation,
		from: `pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.relkind OPERATOR(pg_catalog.=) ANY (array['r', 'S', 'v', 'm', 'f', 'p'])`,
		oid: "c.oid", schema: "n.nspname", name: "c.relname", visibility: "pg_catalog.pg_table_is_visible(c.oid)"}
	tableAndChildrenPatterns = func() patternQuery { q := tablePatterns; q.children = true; return q }()
)

// expand adds to oids what the patterns mean; with strict, a pattern that means nothing is an error. One query does it
// for the whole list. Every name in it is qualified, since it may run with the user's search path.
func (r *reader) expand(ctx context.Context, pq patternQuery, patterns []string, strict bool, oids *map[uint32]bool) error {
	if len(patterns) == 0 {
		return nil
	}
	var parts []string
	unqualified := false
	for i, text := range patterns {
		p, err := sqltext.ParsePattern(text, pq.kind)
		if err != nil {
			return err
		}
		if err := p.CheckDatabase(r.db.Info.Name); err != nil {
			return err
		}
		cond := p.Condition(pq.schema, pq.name, pq.visibility, r.db.Info.Version)
		if cond != "" {
			cond = " AND " + cond
		}
		if pq.visibility != "" && !p.HasSchema() {
			unqualified = true
		}
		parts = append(parts, fmt.Sprintf("SELECT %d AS pattern, %s AS oid FROM %s%s", i, pq.oid, pq.from, cond))
	}
	sql := strings.Join(parts, "\nUNION ALL\n")
	if pq.children {
		sql = "WITH RECURSIVE tree (pattern, oid) AS (\nSELECT * FROM (" + sql + `) found
UNION
SELECT t.pattern, i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent OPERATOR(pg_catalog.=) t.oid
) SELECT pattern, oid FROM tree`
	}
	if *oids == nil {
		*oids = make(map[uint32]bool)
	}
	q := r.session
	hits := make([]bool, len(patterns))
	run := func() error {
		return query(ctx, q, sql, func(row *row) {
			i, oid := row.int(), row.oid()
			if i < 0 || i >= len(hits) {
				row.fail("bad pattern number %d", i)
				return
			}
			hits[i], (*oids)[oid] = true, true
		})
	}
	if unqualified {
		err := withUserSearchPath(ctx, q, run)
		if err != nil {
			return err
		}
	} else if err := run(); err != nil {
		return err
	}
	if strict {
		for i, hit := range hits {
			if !hit {
				return &NoMatchError{pq.what, patterns[i]}
			}
		}
	}
	return nil
}

// withUserSearchPath runs f with the search path the user's sessions have, and empties it again.
func withUserSearchPath(ctx context.Context, q Querier, f func() error) error {
	ignore := func([][]byte) error { return nil }
	if err := q.Query(ctx, "RESET search_path", ignore); err != nil {
		return err
	}
	err := f()
	if err != nil {
		return err // the transaction is broken, so that the search path cannot be set
	}
	return q.Query(ctx, "SELECT pg_catalog.set_config('search_path', '', false)", ignore)
}

// selectByPatterns turns the pattern options into OIDs, in the order in which pg_dump does and so
// reports their errors.
func (r *reader) selectByPatterns(ctx context.Context) error {
	o, s := &r.db.Options, &r.sel
	steps := []struct {
		pq       patternQuery
		patterns []string
		strict   bool
		oids     *map[uint32]bool
	}{
		{schemaPatterns, o.IncludeSchemas, o.StrictNames, &s.schemas},
		{schemaPatterns, o.ExcludeSchemas, false, &s.notSchemas},
		{tablePatterns, o.IncludeTables, o.StrictNames, &s.tables},
		{tableAndChildrenPatterns, o.IncludeTablesAndChildren, o.StrictNames, &s.tables},
		{tablePatterns, o.ExcludeTables, false, &s.notTables},
		{tableAndChildrenPatterns, o.ExcludeTablesAndChildren, false, &s.notTables},
		{tablePatterns, o.ExcludeTableData, false, &s.notData},
		{tableAndChildrenPatterns, o.ExcludeTableDataAndChildren, false, &s.notData},
		{serverPatterns, o.IncludeForeignData, true, &s.foreignServers},
		{extensionPatterns, o.IncludeExtensions, o.StrictNames, &s.extensions},
		{extensionPatterns, o.ExcludeExtensions, false, &s.notExtensions},
	}
	for i, step := range steps {
		if err := r.expand(ctx, step.pq, step.patterns, step.strict, step.oids); err != nil {
			return err
		}
		switch {
		case i == 0 && len(o.IncludeSchemas) > 0 && len(s.schemas) == 0,
			i == 3 && len(o.IncludeTables)+len(o.IncludeTablesAndChildren) > 0 && len(s.tables) == 0,
			i == 9 && len(o.IncludeExtensions) > 0 && len(s.extensions) == 0:
			return &NoMatchError{What: step.pq.what}
		}
	}
	return nil
}

// The select functions say what of an object is dumped. Each is called once, after the fields it looks at are set, Schema
// among them. Before Database.Add or after makes no difference.

// selectObject is for the kinds that have no rule of their own: with their schema, or, outside
// schemas, when everything is dumped (selectDumpableObject in pg_dump.c).
func (r *reader) selectObject(m *Meta) {
	m.selected = true
	if r.checkMember(m) {
		return
	}
	if m.Schema != nil {
		m.Dump = m.Schema.Contains
	} else {
		m.Dump = all(r.everything())
	}
}

// selectTable: tables named by -t and its like, else those of the wanted schemas (selectDumpableTable).
func (r *reader) selectTable(t *Table) {
	t.selected = true
	if r.checkMember(&t.Meta) {
		return
	}
	if len(r.sel.tables) > 0 {
		t.Dump = all(r.sel.tables[t.ID.OID])
	} else {
		t.Dump = t.Schema.Contains
	}
	if r.sel.notTables[t.ID.OID] {
		t.Dump = None
	}
}

// selectType makes row types, array and multirange types that the server made into KindDummyType; their Dump is that of what
// they belong to, since casts ask for it (selectDumpableType). RelOID, RelKind, IsArray and IsMultirange must be set.
func (r *reader) selectType(t *Type) {
	t.selected = true
	if t.RelOID != 0 && t.RelKind != 'c' {
		t.Kind = KindDummyType
		t.Dump = None
		if rel := r.db.Table(t.RelOID); rel != nil {
			t.Dump = rel.Dump
		}
		return
	}
	if t.IsArray || t.IsMultirange {
		t.Kind = KindDummyType
	}
	if r.checkMember(&t.Meta) {
		return
	}
	t.Dump = t.Schema.Contains
}

// selectDefaultACL: with the schema, or, outside schemas, when everything is dumped (selectDumpableDefaultACL).
func (r *reader) selectDefaultACL(m *Meta) {
	m.selected = true
	if m.Schema != nil {
		m.Dump = m.Schema.Contains
	} else {
		m.Dump = all(r.everything())
	}
}

// selectCast: casts have no name, schema or owner; those of initdb are known by their OIDs (selectDumpableCast).
func (r *reader) selectCast(m *Meta) {
	m.selected = true
	if r.checkMember(m) {
		return
	}
	m.Dump = all(r.everything() && m.ID.OID > lastBuiltinOID)
}

// selectLanguage: of initdb's languages only the privileges are dumped (selectDumpableProcLang).
func (r *reader) selectLanguage(m *Meta) {
	m.selected = true
	if r.checkMember(m) {
		return
	}
	switch {
	case !r.everything():
		m.Dump = None
	case m.ID.OID > lastBuiltinOID:
		m.Dump = AllPart
	default:
		m.Dump = ACLPart
	}
}

// selectAccessMethod is selectDumpableAccessMethod.
func (r *reader) selectAccessMethod(m *Meta) {
	r.selectCast(m)
}

// selectPublicationObject is for publications and what is in them, whatever schemas these
// are in (selectDumpablePublicationObject).
func (r *reader) selectPublicationObject(m *Meta) {
	m.selected = true
	if r.checkMember(m) {
		return
	}
	m.Dump = all(r.everything())
}

// selectStatistics: when its schema and its table are dumped (selectDumpableStatisticsObject). Table must be set.
func (r *reader) selectStatistics(s *StatsExt) {
	s.selected = true
	if r.checkMember(&s.Meta) {
		return
	}
	s.Dump = s.Schema.Contains
	if s.Table == nil || s.Table.Dump&Definition == 0 {
		s.Dump = None
	}
}

func replaceAll(s, old, new string) string { return strings.ReplaceAll(s, old, new) }
