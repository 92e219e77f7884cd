package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Querier runs a query in the dump's snapshot and hands over each row in text
// form, nil for NULL. The values are valid only during the call of row.
type Querier interface {
	Query(ctx context.Context, sql string, row func(values [][]byte) error) error
}

// DumpID numbers the objects of one dump, from 1.
type DumpID int32

// ID names a catalogue row: the OID of the catalogue (pg_class, pg_proc, ...) and of the row.
type ID struct {
	Class uint32
	OID   uint32
}

// Kind is the kind of a dumpable object, as enum DumpableObjectType in pg_dump.h.
type Kind uint8

// The kinds of objects.
const (
	KindSchema Kind = iota + 1
	KindExtension
	KindType
	KindShellType
	KindFunc
	KindAgg
	KindOperator
	KindAccessMethod
	KindOpclass
	KindOpfamily
	KindCollation
	KindConversion
	KindTable
	KindTableAttach
	KindAttrDef
	KindIndex
	KindIndexAttach
	KindStatsExt
	KindRelStats
	KindRule
	KindTrigger
	KindConstraint
	KindFKConstraint
	KindProcLang
	KindCast
	KindTableData
	KindSequenceSet
	KindDummyType
	KindTSParser
	KindTSDict
	KindTSTemplate
	KindTSConfig
	KindFDW
	KindForeignServer
	KindDefaultACL
	KindTransform
	KindLargeObject
	KindLargeObjectData
	KindPreDataBoundary
	KindPostDataBoundary
	KindEventTrigger
	KindRefreshMatview
	KindPolicy
	KindPublication
	KindPublicationRel
	KindPublicationSchema
	KindSubscription
	KindSubscriptionRel
	kindEnd
)

// NumKinds is one more than the highest Kind, for tables indexed by Kind.
const NumKinds = int(kindEnd)

var kindNames = [NumKinds]string{
	KindSchema:            "SCHEMA",
	KindExtension:         "EXTENSION",
	KindType:              "TYPE",
	KindShellType:         "SHELL TYPE",
	KindFunc:              "FUNCTION",
	KindAgg:               "AGGREGATE",
	KindOperator:          "OPERATOR",
	KindAccessMethod:      "ACCESS METHOD",
	KindOpclass:           "OPERATOR CLASS",
	KindOpfamily:          "OPERATOR FAMILY",
	KindCollation:         "COLLATION",
	KindConversion:        "CONVERSION",
	KindTable:             "TABLE",
	KindTableAttach:       "TABLE ATTACH",
	KindAttrDef:           "ATTRDEF",
	KindIndex:             "INDEX",
	KindIndexAttach:       "INDEX ATTACH",
	KindStatsExt:          "STATISTICS",
	KindRelStats:          "RELATION STATISTICS FOR",
	KindRule:              "RULE",
	KindTrigger:           "TRIGGER",
	KindConstraint:        "CONSTRAINT",
	KindFKConstraint:      "FK CONSTRAINT",
	KindProcLang:          "PROCEDURAL LANGUAGE",
	KindCast:              "CAST",
	KindTableData:         "TABLE DATA",
	KindSequenceSet:       "SEQUENCE SET",
	KindDummyType:         "DUMMY TYPE",
	KindTSParser:          "TEXT SEARCH PARSER",
	KindTSDict:            "TEXT SEARCH DICTIONARY",
	KindTSTemplate:        "TEXT SEARCH TEMPLATE",
	KindTSConfig:          "TEXT SEARCH CONFIGURATION",
	KindFDW:               "FOREIGN DATA WRAPPER",
	KindForeignServer:     "FOREIGN SERVER",
	KindDefaultACL:        "DEFAULT ACL",
	KindTransform:         "TRANSFORM",
	KindLargeObject:       "LARGE OBJECT",
	KindLargeObjectData:   "LARGE OBJECT DATA",
	KindPreDataBoundary:   "PRE-DATA BOUNDARY",
	KindPostDataBoundary:  "POST-DATA BOUNDARY",
	KindEventTrigger:      "EVENT TRIGGER",
	KindRefreshMatview:    "REFRESH MATERIALIZED VIEW",
	KindPolicy:            "POLICY",
	KindPublication:       "PUBLICATION",
	KindPublicationRel:    "PUBLICATION TABLE",
	KindPublicationSchema: "PUBLICATION TABLES IN SCHEMA",
	KindSubscription:      "SUBSCRIPTION",
	KindSubscriptionRel:   "SUBSCRIPTION TABLE",
}

// String is the kind's name as in pg_dump's messages about objects.
func (k Kind) String() string {
	if int(k) < NumKinds && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Component is a set of the parts of an object that can be dumped for themselves.
type Component uint16

// The components (DUMP_COMPONENT_* in pg_dump.h).
const (
	Definition Component = 1 << iota
	Data
	Comment
	SecLabel
	UserMap
	ACLPart
	Policies
	Statistics

	None    Component = 0
	AllPart Component = 0xFFFF
)

// ACL is an object's privileges as the catalogue has them, each the text form of an aclitem[].
type ACL struct {
	Items    string // the object's ACL, empty if NULL (that is: the default)
	Default  string // acldefault() for its kind and owner
	PrivType byte   // pg_init_privs.privtype ('i', 'e') or 0 if there is no row
	Init     string // pg_init_privs.initprivs
}

// Object is anything that can be dumped.
type Object interface{ Base() *Meta }

// Meta is what all objects have. There are hundreds of thousands of them in large databases, so what few have is
// behind a pointer, here and in the kinds that are many.
type Meta struct {
	Name   string
	Owner  string  // role name
	Schema *Schema // nil for objects outside schemas
	ACL    *ACL    // nil: the default ones, now and from the start

	Extension *Extension // the extension it is a member of, or nil

	Deps []DumpID // direct dependencies, in the order found, without duplicates

	ID     ID
	DumpID DumpID
	Kind   Kind

	Dump     Component // what is to be dumped
	Contains Component // for a schema: what is to be dumped of the objects in it
	Has      Component // components that exist, so that absent ones cost no work

	DependsOnExt bool // marked with ALTER ... DEPENDS ON EXTENSION
	selected     bool // Dump was decided by a select function
}

// privileges returns m's ACL to be filled.
func (m *Meta) privileges() *ACL { return made(&m.ACL) }

// made returns what a pointer leads to, which is made if there is nothing.
func made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// Base returns m, so that a struct with an embedded Meta is an Object.
func (m *Meta) Base() *Meta { return m }

// AddDep records that m depends on id.
func (m *Meta) AddDep(id DumpID) {
	for _, d := range m.Deps {
		if d == id {
			return
		}
	}
	m.Deps = append(m.Deps, id)
}

// RemoveDep forgets a dependency of m on id.
func (m *Meta) RemoveDep(id DumpID) {
	kept := m.Deps[:0]
	for _, d := range m.Deps {
		if d != id {
			kept = append(kept, d)
		}
	}
	m.Deps = kept
}

// Database is a database as read in one snapshot.
type Database struct {
	Info    Info
	Options Options

	Objects []Object // all, in the order of their dump IDs, from ID 1 at index 0
	byID    map[ID]DumpID

	Schemas    []*Schema
	Extensions []*Extension
	Tables     []*Table // every relation of relkind r p v m f S c
	Types      []*Type
	Funcs      []*Func

	Comments   map[SubID]string // COMMENT ON texts
	Labels     map[SubID][]SecLabelText
	Roles      map[uint32]string      // role names by OID
	ColumnACLs map[uint32][]ColumnACL // by table OID

	// Def is the database's own definition, nil unless Options.Create.
	Def *DatabaseDef
	// RoleDetails are the roles that own something to be dumped or stand in its privileges, by name.
	RoleDetails []Role
	// Warnings are what the user should be told.
	Warnings []Warning

	UpgradeClasses map[uint32]UpgradeClass // by pg_class OID, only for binary upgrade

	PreDataBoundary, PostDataBoundary *Boundary
}

// Warning is something about the database that the dump goes on in spite of. Its texts are those of pg_dump's messages.
type Warning struct {
	Text    string
	Details []string
	Hints   []string
}

// SubID names an object or, with Sub > 0, one of its columns.
type SubID struct {
	ID
	Sub int32
}

// SecLabelText is one security label of an object.
type SecLabelText struct{ Provider, Label string }

// ColumnACL is the privileges of one column.
type ColumnACL struct {
	Column string
	ACL    ACL
}

// Boundary is one of the two dummy objects that divide the sections.
type Boundary struct{ Meta }

// Add gives o the next dump ID and enters it. o.Base().Kind and ID must be set;
// an object of no catalogue row has an ID with Class 0. Add puts Definition into Has and, unless a
// select function (reader.selectObject and its like) has decided already or Dump is set, wants
// everything of it (AssignDumpId in common.c). Setting Dump to None comes after Add.
func (db *Database) Add(o Object) {
	m := o.Base()
	if m.Dump == None && !m.selected {
		m.Dump, m.Contains = AllPart, AllPart
	}
	m.Has |= Definition
	db.Objects = append(db.Objects, o)
	m.DumpID = DumpID(len(db.Objects))
	if m.ID.Class != 0 {
		db.AddAlias(m.ID, o)
	}
}

// AddAlias makes Find return o, which was added before, for id.
func (db *Database) AddAlias(id ID, o Object) {
	if db.byID == nil {
		db.byID = make(map[ID]DumpID)
	}
	db.byID[id] = o.Base().DumpID
}

// expect makes room for so many objects.
func (db *Database) expect(n int) {
	byID := make(map[ID]DumpID, n)
	maps.Copy(byID, db.byID)
	db.byID = byID
	db.Objects = slices.Grow(db.Objects, n)
}

// Find returns the object of a catalogue row, nil if it is none of this database's objects.
func (db *Database) Find(id ID) Object { return db.ByDumpID(db.byID[id]) }

// ByDumpID returns the object with that dump ID, nil if there is none.
func (db *Database) ByDumpID(id DumpID) Object {
	if id < 1 || int(id) > len(db.Objects) {
		return nil
	}
	return db.Objects[id-1]
}

// Find functions for the kinds that others refer to by OID.

// Table returns the relation with that pg_class OID, or nil.
func (db *Database) Table(oid uint32) *Table {
	t, _ := db.Find(ID{ClassRelation, oid}).(*Table)
	return t
}

// Type returns the type with that pg_type OID, or nil.
func (db *Database) Type(oid uint32) *Type {
	t, _ := db.Find(ID{ClassType, oid}).(*Type)
	return t
}

// Func returns the function, procedure or aggregate with that pg_proc OID, or nil.
func (db *Database) Func(oid uint32) *Func {
	switch o := db.Find(ID{ClassProc, oid}).(type) {
	case *Func:
		return o
	case *Agg:
		return &o.Func
	}
	return nil
}

// OIDs of the catalogues, fixed since PostgreSQL 8 (src/include/catalog/*.h).
const (
	ClassType                 = 1247
	ClassProc                 = 1255
	ClassRelation             = 1259
	ClassDatabase             = 1262
	ClassRole                 = 1260
	ClassTablespace           = 1213
	ClassFDW                  = 2328
	ClassForeignServer        = 1417
	ClassUserMapping          = 1418
	ClassAccessMethod         = 2601
	ClassOpfamily             = 2753
	ClassAmop                 = 2602
	ClassAmproc               = 2603
	ClassAttrDef              = 2604
	ClassCast                 = 2605
	ClassConstraint           = 2606
	ClassConversion           = 2607
	ClassLanguage             = 2612
	ClassLargeObject          = 2613 // as named by pg_description and pg_depend
	ClassLOMetadata           = 2995
	ClassNamespace            = 2615
	ClassOpclass              = 2616
	ClassOperator             = 2617
	ClassRewrite              = 2618
	ClassTrigger              = 2620
	ClassTSConfig             = 3602
	ClassTSDict               = 3600
	ClassTSParser             = 3601
	ClassTSTemplate           = 3764
	ClassExtension            = 3079
	ClassDefaultACL           = 826
	ClassCollation            = 3456
	ClassEventTrigger         = 3466
	ClassPolicy               = 3256
	ClassTransform            = 3576
	ClassStatisticExt         = 3381
	ClassPublication          = 6104
	ClassPublicationRel       = 6106
	ClassPublicationNamespace = 6237
	ClassSubscription         = 6100
)
