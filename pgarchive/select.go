package pgarchive

import (
	"fmt"
	"slices"
	"strings"
)

// Wanted says which parts of an entry are wanted (REQ_* in pg_backup_archiver.h).
type Wanted uint8

// The parts.
const (
	WantSchema  Wanted = 1 << iota // the definition
	WantData                       // the data, or statements that set data
	WantStats                      // planner statistics
	WantSpecial                    // the archive's settings, for every restore
)

// wantSomething are the parts that a restore acts on.
const wantSomething = WantSchema | WantData | WantStats

// Selection says which entries of an archive are wanted: the filters of pg_restore.
// Make one with [NewSelection]; the zero value wants nothing.
type Selection struct {
	DumpSchema, DumpData, DumpStatistics bool

	Sections []Section // only these; empty: all

	// Names as -n, -N, -t, -I, -P and -T give them; they match exactly. If any
	// of the last four lists is not empty, only relations, indexes,
	// functions and triggers named there are wanted.
	SchemaNames        []string
	SchemaExcludeNames []string
	TableNames         []string
	IndexNames         []string
	FunctionNames      []string
	TriggerNames       []string

	NoPrivileges     bool // no ACL entries
	NoComments       bool
	NoPolicies       bool
	NoPublications   bool
	NoSecurityLabels bool
	NoSubscriptions  bool

	CreateDB      bool // the DATABASE entries are wanted
	SequenceData  bool // sequence values even without data
	BinaryUpgrade bool // large objects' metadata even without data
	StrictNames   bool // each name must match something

	IDs map[ID]bool // only these, as a list file says; nil: all
}

// NewSelection returns a selection of everything.
func NewSelection() Selection {
	return Selection{DumpSchema: true, DumpData: true, DumpStatistics: true}
}

// byName reports whether kinds of objects were chosen by name.
func (s *Selection) byName() bool {
	return len(s.TableNames)+len(s.IndexNames)+len(s.FunctionNames)+len(s.TriggerNames) > 0
}

// Selected is the outcome of a Selection for one table of contents.
type Selected struct {
	// by ID, dense for those that are not much higher than entries are many
	dense  []Wanted
	sparse map[ID]Wanted

	// Schema says that definitions are restored: the selection asked for them and there
	// are some. Without, --disable-triggers takes effect.
	Schema bool
}

// Wanted returns what is wanted of the entry.
func (s *Selected) Wanted(id ID) Wanted {
	if id >= 0 && int(id) < len(s.dense) {
		return s.dense[id]
	}
	return s.sparse[id]
}

func (s *Selected) set(id ID, w Wanted) {
	if id >= 0 && int(id) < len(s.dense) {
		s.dense[id] = w
		return
	}
	if s.sparse == nil {
		s.sparse = make(map[ID]Wanted)
	}
	s.sparse[id] = w
}

// Inhibit drops the entry's data, as when its table could not be created.
func (s *Selected) Inhibit(id ID) { s.set(id, 0) }

// Select decides about each entry, in the order of the table of contents
// (ProcessArchiveRestoreOptions and _tocEntryRequired). Its one error is that of StrictNames.
func (s *Selection) Select(entries []*Entry) (*Selected, error) {
	last := ID(0)
	for _, e := range entries {
		if e.ID > last && int(e.ID) < 4*len(entries)+1000 {
			last = e.ID
		}
	}
	out := &Selected{dense: make([]Wanted, last+1)}
	c := &selector{Selection: s, entries: entries, out: out}
	section := SectionPreData
	for _, e := range entries {
		if e.Section != SectionNone {
			section = e.Section
		}
		w := c.required(e, section)
		out.set(e.ID, w)
		if w&WantSchema != 0 {
			out.Schema = s.DumpSchema
		}
	}
	if s.StrictNames {
		if err := c.checkNames(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type selector struct {
	*Selection
	entries []*Entry
	found   map[ID]*Entry // see byID
	out     *Selected
	touched map[nameKey]bool
}

// byID finds an entry. Most selections never need one.
func (c *selector) byID(id ID) *Entry {
	if c.found == nil {
		c.found = make(map[ID]*Entry, len(c.entries))
		for _, e := range c.entries {
			c.found[e.ID] = e
		}
	}
	return c.found[id]
}

type nameKey struct {
	kind, name string
}

// member looks name up in one of the lists and remembers that it matched.
func (c *selector) member(list []string, kind, name string) bool {
	if !slices.Contains(list, name) {
		return false
	}
	if c.touched == nil {
		c.touched = make(map[nameKey]bool)
	}
	c.touched[nameKey{kind, name}] = true
	return true
}

func (c *selector) checkNames() error {
	for _, l := range []struct {
		kind  string
		names []string
	}{
		{"schema", c.SchemaNames}, {"table", c.TableNames}, {"index", c.IndexNames},
		{"function", c.FunctionNames}, {"trigger", c.TriggerNames},
	} {
		for _, n := range l.names {
			if !c.touched[nameKey{l.kind, n}] {
				return fmt.Errorf("%s \"%s\" not found", l.kind, n)
			}
		}
	}
	return nil
}

// required is _tocEntryRequired.
func (c *selector) required(e *Entry, section Section) Wanted {
	switch e.Desc {
	case descEncoding, descStdStrings, descSearchPath:
		return WantSpecial
	case "DATABASE", "DATABASE PROPERTIES":
		if c.CreateDB {
			return WantSchema
		}
		return 0
	case "STATISTICS DATA":
		if !c.DumpStatistics {
			return 0
		}
	}
	if c.excludedKind(e) || !c.wantsSection(section) {
		return 0
	}
	if c.IDs != nil && !c.IDs[e.ID] {
		return 0
	}
	switch e.Desc {
	case "ACL", "COMMENT", "SECURITY LABEL":
		if !c.dependentWanted(e) {
			return 0
		}
	default:
		if !c.nameWanted(e) {
			return 0
		}
	}
	if e.Desc == "<Init>" && e.Tag == "Max OID" {
		return 0
	}
	return c.parts(e)
}

// excludedKind reports whether one of the --no-… switches drops the entry.
func (c *selector) excludedKind(e *Entry) bool {
	about := func(kind string) bool { return strings.HasPrefix(e.Tag, kind) }
	switch e.Desc {
	case "ACL", "ACL LANGUAGE", "DEFAULT ACL":
		return c.NoPrivileges
	case "COMMENT":
		return c.NoComments ||
			c.NoPolicies && about("POLICY") ||
			c.NoPublications && about("PUBLICATION") ||
			c.NoSubscriptions && about("SUBSCRIPTION")
	case "POLICY", "ROW SECURITY":
		return c.NoPolicies
	case "PUBLICATION", "PUBLICATION TABLE", "PUBLICATION TABLES IN SCHEMA":
		return c.NoPublications
	case "SECURITY LABEL":
		return c.NoSecurityLabels ||
			c.NoPublications && about("PUBLICATION") ||
			c.NoSubscriptions && about("SUBSCRIPTION")
	case "SUBSCRIPTION", "SUBSCRIPTION TABLE":
		return c.NoSubscriptions
	}
	return false
}

func (c *selector) wantsSection(s Section) bool {
	if len(c.Sections) == 0 {
		return s >= SectionPreData && s <= SectionPostData
	}
	return slices.Contains(c.Sections, s)
}

// dependentWanted decides about privileges, comments and labels: when objects are
// chosen by name, they go with any object they depend on.
func (c *selector) dependentWanted(e *Entry) bool {
	if strings.HasPrefix(e.Tag, "DATABASE ") {
		return c.CreateDB
	}
	if len(c.SchemaNames) == 0 && len(c.SchemaExcludeNames) == 0 && !c.byName() {
		return true
	}
	for _, id := range e.Dependencies {
		if p := c.byID(id); p != nil && p.Desc != "ACL" && c.out.Wanted(id) != 0 {
			return true
		}
	}
	return false
}

// nameWanted decides by schema and name.
func (c *selector) nameWanted(e *Entry) bool {
	if len(c.SchemaNames) > 0 && (!e.stored(setNamespace, e.Namespace) || !c.member(c.SchemaNames, "schema", e.Namespace)) {
		return false
	}
	if e.Namespace != "" && slices.Contains(c.SchemaExcludeNames, e.Namespace) {
		return false
	}
	if !c.byName() {
		return true
	}
	switch e.Desc {
	case "STATISTICS DATA":
		ok := false
		for _, id := range e.Dependencies {
			p := c.byID(id)
			if p == nil {
				continue
			}
			switch p.Desc {
			case "TABLE", "VIEW", "FOREIGN TABLE", "MATERIALIZED VIEW":
				ok = c.member(c.TableNames, "table", p.Tag) || ok
			case "INDEX":
				ok = c.member(c.IndexNames, "index", p.Tag) || ok
			}
		}
		return ok
	case "TABLE", "TABLE DATA", "VIEW", "FOREIGN TABLE", "MATERIALIZED VIEW",
		"MATERIALIZED VIEW DATA", "SEQUENCE", "SEQUENCE SET":
		return c.member(c.TableNames, "table", e.Tag)
	case "INDEX":
		return c.member(c.IndexNames, "index", e.Tag)
	case "FUNCTION", "AGGREGATE", "PROCEDURE":
		return c.member(c.FunctionNames, "function", e.Tag)
	case "TRIGGER":
		return c.member(c.TriggerNames, "trigger", e.Tag)
	}
	return false
}

// parts decides which parts of a chosen entry are wanted.
func (c *selector) parts(e *Entry) Wanted {
	w := WantSchema | WantData
	if e.Desc == "STATISTICS DATA" {
		w = WantStats
	}
	aboutLO := isLargeObjectMeta(e)
	if !e.HasData {
		if e.Desc == "SEQUENCE SET" || aboutLO {
			w &= WantData
		} else {
			w &^= WantData
		}
	}
	if e.Defn == "" || strings.HasPrefix(e.Defn, viaRootMark) {
		w &^= WantSchema
	}
	if !c.DumpData &&
		!(c.SequenceData && e.Desc == "SEQUENCE SET") &&
		!(c.BinaryUpgrade && aboutLO) {
		w &= WantSchema | WantStats
	}
	if !c.DumpSchema {
		w &= WantData | WantStats
	}
	return w
}

// isLargeObjectMeta reports whether the entry makes large objects or says something
// about them; such entries count as data.
func isLargeObjectMeta(e *Entry) bool {
	switch e.Desc {
	case "BLOB", descBlobMetadata:
		return true
	case "ACL", "COMMENT", "SECURITY LABEL":
		return strings.HasPrefix(e.Tag, "LARGE OBJECT")
	}
	return false
}

// isLargeObjectsACL reports whether the entry holds the privileges of a group of large objects.
func isLargeObjectsACL(e *Entry) bool {
	return e.Desc == "ACL" && strings.HasPrefix(e.Tag, "LARGE OBJECTS")
}

// Pass is one of the three rounds of a restore: data come before privileges, or a
// read-only table could not be loaded, and some things need the privileges.
type Pass uint8

// The passes (RestorePass in pg_backup_archiver.h).
const (
	PassMain    Pass = iota
	PassACL          // privileges
	PassPostACL      // event triggers, refreshes of materialized views, statistics of post-data objects
)

// RestorePass returns the pass in which the entry is restored (_tocEntryRestorePass).
func (e *Entry) RestorePass() Pass {
	switch e.Desc {
	case "ACL", "ACL LANGUAGE", "DEFAULT ACL":
		return PassACL
	case "EVENT TRIGGER", "MATERIALIZED VIEW DATA":
		return PassPostACL
	case "COMMENT", "SECURITY LABEL":
		if strings.HasPrefix(e.Tag, "EVENT TRIGGER ") {
			return PassPostACL
		}
	case "STATISTICS DATA":
		if e.Section == SectionPostData {
			return PassPostACL
		}
	}
	return PassMain
}

// Order returns the entries that a restore acts on, in the order in which it does: that of entries,
// pass after pass.
func (s *Selected) Order(entries []*Entry) []*Entry {
	out := make([]*Entry, 0, len(entries))
	for pass := PassMain; pass <= PassPostACL; pass++ {
		for _, e := range entries {
			if s.Wanted(e.ID)&wantSomething != 0 && e.RestorePass() == pass {
				out = append(out, e)
			}
		}
	}
	return out
}
