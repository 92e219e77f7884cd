package pgarchive

import (
	"fmt"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// plainQuoter quotes identifiers only where needed.
var plainQuoter sqltext.Quoter

// ScriptOptions says how entries become SQL: the options of pg_restore.
// Make one with [NewScriptOptions]; the zero value selects nothing.
type ScriptOptions struct {
	Selection

	Clean    bool // drop what is restored first
	IfExists bool // … if it exists

	NoOwner       bool
	NoTablespaces bool
	NoTableAM     bool

	UseSetSessionAuth bool   // SET SESSION AUTHORIZATION instead of ALTER … OWNER
	DisableTriggers   bool   // around data, when no definitions are restored
	Superuser         string // who may do that
	Role              string // SET ROLE first
	EnableRowSecurity bool

	SingleTransaction bool
	TransactionSize   int // commit after so many statements; 0: no transactions of our own

	QuoteAll bool // quote all identifiers of the statements made here

	// Encoding, if not empty, overrides the archive's client_encoding.
	Encoding string

	// TargetVersion is the server_version_num of the server that gets the
	// statements: settings it does not know are left out. 0: a script, all settings.
	TargetVersion int

	// The rest is for scripts only.

	// RestrictKey fences the script with psql's \restrict. Empty: a random key.
	RestrictKey string
	NoRestrict  bool

	Verbose bool // more comments

	// Database, ServerVersion and Created override what the archive's header says.
	ServerVersion, DumpVersion string
	Created                    time.Time

	// Warn and Info get messages as pg_restore logs them; nil: none.
	Warn, Info func(msg string)
}

// NewScriptOptions returns options that restore everything.
func NewScriptOptions() *ScriptOptions { return &ScriptOptions{Selection: NewSelection()} }

func (o *ScriptOptions) warn(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Sprintf(format, args...))
	}
}

func (o *ScriptOptions) info(format string, args ...any) {
	if o.Info != nil {
		o.Info(fmt.Sprintf(format, args...))
	}
}

// Settings are what an archive's special entries say about the text in it.
type Settings struct {
	Encoding   string // PostgreSQL's name of the client encoding
	StdStrings bool   // standard_conforming_strings
	SearchPath string // a statement, ended by ";\n"; empty in archives before 1.13
}

// ReadSettings takes the settings from an archive's entries.
func ReadSettings(entries []*Entry) (Settings, error) {
	s := Settings{Encoding: "SQL_ASCII"}
	for _, e := range entries {
		switch e.Desc {
		case descEncoding:
			_, rest, ok := strings.Cut(e.Defn, "'")
			name, _, ok2 := strings.Cut(rest, "'")
			if !ok || !ok2 {
				return s, fmt.Errorf("invalid ENCODING item: %s", e.Defn)
			}
			enc, ok := canonicalEncoding(name)
			if !ok {
				return s, fmt.Errorf("unrecognized encoding \"%s\"", name)
			}
			s.Encoding = enc
		case descStdStrings:
			i := strings.IndexByte(e.Defn, '\'')
			switch {
			case i >= 0 && strings.HasPrefix(e.Defn[i:], "'on'"):
				s.StdStrings = true
			case i >= 0 && strings.HasPrefix(e.Defn[i:], "'off'"):
				s.StdStrings = false
			default:
				return s, fmt.Errorf("invalid STDSTRINGS item: %s", e.Defn)
			}
		case descSearchPath:
			s.SearchPath = e.Defn
		}
	}
	return s, nil
}

// encodings are the names of pg_enc2name_tbl (src/common/encnames.c).
var encodings = strings.Fields(`SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL
	LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7 LATIN8 LATIN9 LATIN10
	WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8
	WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004`)

// encodingAliases are other names that pg_char_to_encoding takes, without punctuation and in lower case.
var encodingAliases = map[string]string{
	"unicode": "UTF8", "abc": "WIN1258", "alt": "WIN866", "koi8": "KOI8R", "mskanji": "SJIS", "shiftjis": "SJIS",
	"tcvn": "WIN1258", "tcvn5712": "WIN1258", "vscii": "WIN1258", "win": "WIN1251", "win932": "SJIS", "win936": "GBK",
	"win949": "UHC", "win950": "BIG5", "windows949": "UHC", "windows950": "BIG5", "windows932": "SJIS", "windows936": "GBK",
	"iso88591": "LATIN1", "iso88592": "LATIN2", "iso88593": "LATIN3", "iso88594": "LATIN4", "iso88599": "LATIN5",
	"iso885910": "LATIN6", "iso885913": "LATIN7", "iso885914": "LATIN8", "iso885915": "LATIN9", "iso885916": "LATIN10",
	"windows1250": "WIN1250", "windows1251": "WIN1251", "windows1252": "WIN1252", "windows1253": "WIN1253",
	"windows1254": "WIN1254", "windows1255": "WIN1255", "windows1256": "WIN1256", "windows1257": "WIN1257",
	"windows1258": "WIN1258", "windows866": "WIN866", "windows874": "WIN874",
}

// canonicalEncoding returns PostgreSQL's own spelling of an encoding's name (pg_char_to_encoding).
func canonicalEncoding(name string) (string, bool) {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'A' && r <= 'Z':
				return r + 'a' - 'A'
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				return r
			}
			return -1
		}, s)
	}
	want := clean(name)
	for _, e := range encodings {
		if clean(e) == want {
			return e, true
		}
	}
	e, ok := encodingAliases[want]
	return e, ok
}

// A Session turns entries into statements, and knows what user, schema, tablespace
// and access method the statements before have set. Use one per connection.
type Session struct {
	o        *ScriptOptions
	q        sqltext.Quoter
	set      Settings
	byID     map[ID]*Entry
	selected *Selected

	user, schema, tablespace, tableAM state
}

// state is a setting that may be unknown.
type state struct {
	known bool
	value string
}

func (s *state) is(v string) bool { return s.known && s.value == v }
func (s *state) to(v string)      { s.known, s.value = true, v }

// NewSession returns the session of a fresh connection for the entries of one archive.
func NewSession(entries []*Entry, sel *Selected, o *ScriptOptions) (*Session, error) {
	set, err := ReadSettings(entries)
	if err != nil {
		return nil, err
	}
	if o.Encoding != "" {
		if set.Encoding, _ = canonicalEncoding(o.Encoding); set.Encoding == "" {
			return nil, fmt.Errorf("unrecognized encoding \"%s\"", o.Encoding)
		}
	}
	s := &Session{o: o, q: sqltext.Quoter{All: o.QuoteAll}, set: set, selected: sel, byID: make(map[ID]*Entry, len(entries))}
	for _, e := range entries {
		s.byID[e.ID] = e
	}
	return s, nil
}

// Clone returns the session of another, fresh connection.
func (s *Session) Clone() *Session {
	c := *s
	c.Reset()
	return &c
}

// Settings returns the archive's settings.
func (s *Session) Settings() Settings { return s.set }

// Reset forgets what was set: the connection is a new one.
func (s *Session) Reset() {
	s.user, s.schema, s.tablespace, s.tableAM = state{}, state{}, state{}, state{}
}

// Start returns the statements that begin every session (_doSetFixedOutputState).
func (s *Session) Start() []string {
	set := func(since int, stmt string) string {
		if s.o.TargetVersion != 0 && s.o.TargetVersion < since {
			return ""
		}
		return stmt
	}
	stmts := []string{
		"SET statement_timeout = 0;",
		set(90300, "SET lock_timeout = 0;"),
		set(90600, "SET idle_in_transaction_session_timeout = 0;"),
		set(170000, "SET transaction_timeout = 0;"),
		"SET client_encoding = '" + s.set.Encoding + "';",
		"SET standard_conforming_strings = " + onOff(s.set.StdStrings) + ";",
	}
	if s.o.Role != "" {
		stmts = append(stmts, "SET ROLE "+s.q.Ident(s.o.Role)+";")
	}
	if s.set.SearchPath != "" {
		stmts = append(stmts, strings.TrimSuffix(s.set.SearchPath, "\n"))
	}
	stmts = append(stmts,
		"SET check_function_bodies = false;",
		"SET xmloption = content;",
		"SET client_min_messages = warning;")
	if !s.set.StdStrings {
		stmts = append(stmts, "SET escape_string_warning = off;")
	}
	stmts = append(stmts, set(90500, "SET row_security = "+onOff(s.o.EnableRowSecurity)+";"))
	out := stmts[:0]
	for _, st := range stmts {
		if st != "" {
			out = append(out, st)
		}
	}
	return out
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// Entry returns the statements for the entry's parts w that are not data streams:
// settings of the session first, then the definition, then the owner. It is empty
// if there is nothing to do. The statements do not end in a newline beyond their own.
func (s *Session) Entry(e *Entry, w Wanted) []string {
	if w&wantSomething == 0 {
		return nil
	}
	p := s.prepare(e)
	if !(w&wantSomething == WantData && e.HasData) {
		p = append(p, s.define(e)...)
	}
	return statements(p)
}

// piece is a piece of SQL and the blank lines that follow it in a script.
type piece struct {
	sql, space string
}

// statements drops what is for scripts only.
func statements(ps []piece) []string {
	var out []string
	for _, p := range ps {
		if sql := strings.TrimRight(p.sql, "\n"); sql != "" && !onlyComments(sql) {
			out = append(out, sql)
		}
	}
	return out
}

// onlyComments reports whether sql has nothing but lines of comment.
func onlyComments(sql string) bool {
	for line := range strings.Lines(sql) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}

// prepare sets what the entry needs before anything else.
func (s *Session) prepare(e *Entry) []piece {
	var p []piece
	p = append(p, s.becomeOwner(e)...)
	p = append(p, s.selectSchema(e.Namespace)...)
	p = append(p, s.selectTablespace(e)...)
	if e.RelKind != relkindPartitioned {
		p = append(p, s.selectTableAM(e)...)
	}
	return p
}

func (s *Session) becomeUser(user string) []piece {
	if s.user.is(user) {
		return nil
	}
	s.user.to(user)
	name := "DEFAULT"
	if user != "" {
		name = sqltext.Literal(user, s.set.StdStrings)
	}
	return []piece{{"SET SESSION AUTHORIZATION " + name + ";", "\n\n"}}
}

func (s *Session) becomeOwner(e *Entry) []piece {
	if s.o.NoOwner || !s.o.UseSetSessionAuth {
		return nil
	}
	return s.becomeUser(e.Owner)
}

// selectSchema sets search_path, in archives of the time before names were qualified.
func (s *Session) selectSchema(schema string) []piece {
	if s.set.SearchPath != "" || schema == "" || s.schema.is(schema) {
		return nil
	}
	s.schema.to(schema)
	stmt := "SET search_path = " + s.q.Ident(schema)
	if schema != "pg_catalog" {
		stmt += ", pg_catalog"
	}
	return []piece{{stmt + ";", "\n\n"}}
}

func (s *Session) selectTablespace(e *Entry) []piece {
	if s.o.NoTablespaces || !e.hasTablespace() || s.tablespace.is(e.Tablespace) {
		return nil
	}
	s.tablespace.to(e.Tablespace)
	name := "''"
	if e.Tablespace != "" {
		name = s.q.Ident(e.Tablespace)
	}
	return []piece{{"SET default_tablespace = " + name + ";", "\n\n"}}
}

func (s *Session) selectTableAM(e *Entry) []piece {
	if s.o.NoTableAM || !e.stored(setTableAM, e.TableAM) || s.tableAM.is(e.TableAM) {
		return nil
	}
	if s.o.TargetVersion != 0 && s.o.TargetVersion < 120000 {
		return nil
	}
	s.tableAM.to(e.TableAM)
	return []piece{{"SET default_table_access_method = " + s.q.Ident(e.TableAM) + ";", "\n\n"}}
}

// define returns the definition and the owner of an entry (the second half of _printTocEntry).
func (s *Session) define(e *Entry) []piece {
	var p []piece
	isSchema := e.Desc == "SCHEMA"
	comment := strings.HasPrefix(e.Defn, "--")
	switch {
	case s.o.NoOwner && isSchema && !comment:
		p = append(p, piece{"CREATE SCHEMA " + s.q.Ident(e.Tag) + ";\n", "\n\n"})
	case e.Desc == descBlobMetadata:
		p = append(p, s.perLargeObject(e, "SELECT pg_catalog.lo_create('", "')")...)
	case isLargeObjectsACL(e):
		p = append(p, s.largeObjectsACL(e)...)
	case e.Defn != "":
		p = append(p, piece{e.Defn, "\n\n"})
	}
	if !s.o.NoOwner && (!s.o.UseSetSessionAuth || isSchema && comment) && e.Owner != "" && e.DropStmt != "" {
		if e.Desc == descBlobMetadata {
			p = append(p, s.perLargeObject(e, "ALTER LARGE OBJECT ", " OWNER TO "+s.q.Ident(e.Owner))...)
		} else if what, err := s.ownedObject(e); err != nil {
			s.o.warn("%s", err)
		} else if what != "" {
			p = append(p, piece{"ALTER " + what + " OWNER TO " + s.q.Ident(e.Owner) + ";", "\n\n"})
		}
	}
	if e.RelKind == relkindPartitioned && !s.o.NoTableAM && e.stored(setTableAM, e.TableAM) &&
		(s.o.TargetVersion == 0 || s.o.TargetVersion >= 170000) {
		p = append(p, piece{"ALTER TABLE " + s.q.Qualified(e.Namespace, e.Tag) + " SET ACCESS METHOD " + s.q.Ident(e.TableAM) + ";", "\n\n"})
	}
	if e.RestorePass() == PassACL {
		s.user = state{} // the entry may have changed it
	}
	return p
}

// ownedObject returns what stands between ALTER and OWNER TO; it is empty for kinds
// that have no owner of their own (_getObjectDescription).
func (s *Session) ownedObject(e *Entry) (string, error) {
	switch e.Desc {
	case "COLLATION", "CONVERSION", "DOMAIN", "FOREIGN TABLE", "MATERIALIZED VIEW", "SEQUENCE", "STATISTICS",
		"TABLE", "TEXT SEARCH DICTIONARY", "TEXT SEARCH CONFIGURATION", "TYPE", "VIEW",
		"DATABASE", "PROCEDURAL LANGUAGE", "SCHEMA", "EVENT TRIGGER", "FOREIGN DATA WRAPPER", "SERVER",
		"PUBLICATION", "SUBSCRIPTION":
		return e.Desc + " " + s.q.Qualified(e.Namespace, e.Tag), nil
	case "BLOB":
		if !isNumber(e.Tag) {
			return "", fmt.Errorf("large object entry %d has a tag that is no OID: \"%s\"", e.ID, e.Tag)
		}
		return "LARGE OBJECT " + e.Tag, nil
	case "AGGREGATE", "FUNCTION", "OPERATOR", "OPERATOR CLASS", "OPERATOR FAMILY", "PROCEDURE":
		// The DROP statement names the object as ALTER does.
		if what, ok := strings.CutPrefix(e.DropStmt, "DROP "); ok {
			return strings.TrimRight(what, "\n;"), nil
		}
		return "", fmt.Errorf("drop statement of entry %s does not begin with DROP", e)
	case "CAST", "CHECK CONSTRAINT", "CONSTRAINT", "DATABASE PROPERTIES", "DEFAULT", "FK CONSTRAINT", "INDEX",
		"RULE", "TRIGGER", "ROW SECURITY", "POLICY", "USER MAPPING":
		return "", nil
	}
	return "", fmt.Errorf("don't know how to set owner for object type \"%s\"", e.Desc)
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// perLargeObject makes one statement per large object of a BLOB METADATA entry, whose
// definition is a list of OIDs (IssueCommandPerBlob).
func (s *Session) perLargeObject(e *Entry, begin, end string) []piece {
	var p []piece
	for line := range strings.Lines(e.Defn) {
		oid := strings.TrimSuffix(line, "\n")
		if !isNumber(oid) {
			s.o.warn("line of entry %s is no OID: \"%s\"", e, oid)
			continue
		}
		p = append(p, piece{begin + oid + end + ";", "\n"})
	}
	if len(p) == 0 {
		return []piece{{"", "\n"}}
	}
	p[len(p)-1].space = "\n\n"
	return p
}

// largeObjectsACL makes the statements that grant the privileges of one large object, which the entry holds, for each
// of its group (IssueACLPerBlob).
func (s *Session) largeObjectsACL(e *Entry) []piece {
	var group *Entry
	if len(e.Dependencies) > 0 {
		group = s.byID[e.Dependencies[0]]
	}
	if group == nil || group.Desc != descBlobMetadata {
		s.o.warn("entry %s does not depend on a %s entry", e, descBlobMetadata)
		return nil
	}
	const mark = "LARGE OBJECT "
	var p []piece
	start, end := 0, -1 // of the OID
	quoted := false
	for i := 0; i < len(e.Defn); i++ {
		switch c := e.Defn[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case end < 0 && strings.HasPrefix(e.Defn[i:], mark):
			head := e.Defn[start : i+len(mark)]
			j := i + len(mark)
			for j < len(e.Defn) && e.Defn[j] >= '0' && e.Defn[j] <= '9' {
				j++
			}
			start, end = j, len(p)
			p = append(p, piece{sql: head})
			i = j - 1
		case c == ';':
			if end < 0 {
				s.o.warn("statement of entry %s names no large object", e)
				return nil
			}
			head, tail := p[end].sql, e.Defn[start:i]
			p = append(p[:end], s.perLargeObject(group, head, tail)...)
			start, end = i+1, -1
			for start < len(e.Defn) && isSpace(e.Defn[start]) {
				start++
			}
			i = start - 1
		}
	}
	if end >= 0 {
		p = p[:end]
	}
	return p
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// BeginData returns the statements before the entry's data: triggers off, owner, schema.
func (s *Session) BeginData(e *Entry) []string { return statements(s.beginData(e)) }

func (s *Session) beginData(e *Entry) []piece {
	if e.isLargeObjects() || e.Desc == "BLOB COMMENTS" {
		return s.selectSchema("pg_catalog")
	}
	p := s.triggers(e, "DISABLE")
	p = append(p, s.becomeOwner(e)...)
	return append(p, s.selectSchema(e.Namespace)...)
}

// EndData returns the statements after the entry's data.
func (s *Session) EndData(e *Entry) []string { return statements(s.endData(e)) }

func (s *Session) endData(e *Entry) []piece {
	if e.isLargeObjects() || e.Desc == "BLOB COMMENTS" {
		return nil
	}
	return s.triggers(e, "ENABLE")
}

func (s *Session) triggers(e *Entry, verb string) []piece {
	if s.selected.Schema || !s.o.DisableTriggers {
		return nil
	}
	return append(s.becomeUser(s.o.Superuser),
		piece{"ALTER TABLE " + s.q.Qualified(e.Namespace, e.Tag) + " " + verb + " TRIGGER ALL;", "\n\n"})
}

// Truncate returns the statement that empties the entry's table before a load that
// fills a table made in the same restore.
func (s *Session) Truncate(e *Entry) string {
	return "TRUNCATE TABLE ONLY " + s.q.Qualified(e.Namespace, e.Tag) + ";"
}

// Drop is what --clean does about one entry.
type Drop struct {
	Entry *Entry
	SQL   []string

	// NoTransaction: the statements cannot run in a transaction block.
	NoTransaction bool
}

// Drops returns the statements that drop the wanted entries, in reverse order of entries. It is empty without Clean.
func (s *Session) Drops(entries []*Entry) []Drop {
	var out []Drop
	s.drops(entries, func(e *Entry, p []piece) {
		out = append(out, Drop{Entry: e, SQL: statements(p), NoTransaction: isDatabase(e)})
	})
	return out
}

func isDatabase(e *Entry) bool { return e.Desc == "DATABASE" || e.Desc == "DATABASE PROPERTIES" }

func (s *Session) drops(entries []*Entry, emit func(*Entry, []piece)) {
	if !s.o.Clean {
		return
	}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		if s.o.CreateDB && !isDatabase(e) {
			continue
		}
		if s.selected.Wanted(e.ID)&(WantSchema|WantData) == 0 || !e.stored(setDropStmt, e.DropStmt) {
			continue
		}
		s.o.info("dropping %s %s", e.Desc, e.Tag)
		p := s.becomeOwner(e)
		p = append(p, s.selectSchema(e.Namespace)...)
		emit(e, append(p, s.drop(e)...))
	}
	// What search_path is now depends on which schemas are left.
	s.schema = state{}
}

func (s *Session) drop(e *Entry) []piece {
	const unlinkExisting = "SELECT pg_catalog.lo_unlink(oid) FROM pg_catalog.pg_largeobject_metadata WHERE oid = '"
	if e.Desc == descBlobMetadata {
		if s.o.IfExists {
			return s.perLargeObject(e, unlinkExisting, "'")
		}
		return s.perLargeObject(e, "SELECT pg_catalog.lo_unlink('", "')")
	}
	if !s.o.IfExists || strings.HasPrefix(e.DropStmt, "--") {
		return []piece{{sql: e.DropStmt}}
	}
	if e.DropStmt == "" {
		return nil
	}
	if e.Desc == "BLOB" {
		return []piece{{sql: unlinkExisting + fmt.Sprint(e.CatalogID.OID) + "';\n"}}
	}
	stmt, err := dropIfExists(e)
	if err != nil {
		s.o.warn("%s", err)
	}
	return []piece{{sql: stmt}}
}

// dropIfExists puts IF EXISTS into the entry's DROP statement.
func dropIfExists(e *Entry) (string, error) {
	stmt, head := e.DropStmt, ""
	if rest, ok := strings.CutPrefix(stmt, "ALTER TABLE"); ok {
		stmt, head = rest, "ALTER TABLE IF EXISTS"
	}
	// ALTER COLUMN … DROP DEFAULT knows no IF EXISTS, and a view may be "dropped" by replacing it.
	if e.Desc == "DEFAULT" || e.Desc == "DATABASE PROPERTIES" || strings.HasPrefix(stmt, "CREATE OR REPLACE VIEW") {
		return head + stmt, nil
	}
	mark := "DROP " + e.Desc
	switch e.Desc {
	case "CONSTRAINT", "CHECK CONSTRAINT", "FK CONSTRAINT":
		mark = "DROP CONSTRAINT"
	}
	before, after, ok := strings.Cut(stmt, mark)
	if !ok {
		return head + stmt, fmt.Errorf("could not find where to insert IF EXISTS in statement \"%s\"", e.DropStmt)
	}
	return head + before + mark + " IF EXISTS" + after, nil
}

// TransactionCost returns how many statements the entry counts for against TransactionSize.
func (s *Session) TransactionCost(e *Entry, w Wanted) int {
	if w&wantSomething == 0 {
		return 0
	}
	n := 1
	switch {
	case w&wantSomething == WantData && e.HasData:
	case e.Desc == descBlobMetadata:
		n += strings.Count(e.Defn, "\n")
	case e.Desc == "FUNCTION" || e.Desc == "PROCEDURE" || isLargeObjectsACL(e):
	default:
		n += max(strings.Count(e.Defn, ";")-1, 0)
	}
	return n
}

// Reconnects reports whether after the entry's statements the session must go on in
// the database of that name: it was made, or its settings changed.
func (e *Entry) Reconnects() (database string, ok bool) { return e.Tag, isDatabase(e) }
