package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Type is a row of pg_type. KindType is a whole type, KindShellType the shell
// that stands in for a base type until its functions exist, KindDummyType a row
// type, an array or a multirange, which come with their table, element or range type.
type Type struct {
	Meta
	FormattedName string // format_type
	ElemOID       uint32
	ArrayOID      uint32
	RelOID        uint32 // typrelid
	OwnerOID      uint32
	TypType       byte // b c d e p r m
	RelKind       byte
	Defined       bool
	IsArray       bool
	IsMultirange  bool
	Shell         *Type // KindShellType object of a base type
	ShellOf       *Type // and back

	more *TypeMore
}

// TypeMore is what few types have: most are those of tables, and arrays.
type TypeMore struct {
	Checks  []*Constraint // of a domain
	NotNull *Constraint   // of a domain, since 17

	// The details of its kind, only if its definition is dumped.
	BaseDef *BaseType
	Domain  *DomainType
	Enum    []EnumLabel
	Range   *RangeType
	Attrs   []CompositeAttr
}

var noTypeMore TypeMore

// More returns what few types have, to be read only.
func (t *Type) More() *TypeMore { return cmp.Or(t.more, &noTypeMore) }

// rare returns what few types have, to be filled.
func (t *Type) rare() *TypeMore { return made(&t.more) }

// BaseType is what CREATE TYPE says of a base type. Functions are regproc texts, "-" for none.
type BaseType struct {
	Len                          string // typlen, "-1" for variable
	Input, Output, Receive, Send string
	TypmodIn, TypmodOut          string
	Analyze, Subscript           string
	Category, Delimiter          string
	Preferred, ByVal, Collatable bool
	Align, Storage               byte
	Default                      TypeDefault
}

// TypeDefault is the default of a type.
type TypeDefault struct {
	Text    *string // nil for none
	Literal bool    // Text is the value itself rather than an expression
}

// DomainType is what CREATE DOMAIN says.
type DomainType struct {
	Definition string // base type with modifier
	NotNull    bool
	Collation  uint32 // 0: the base type's
	Default    TypeDefault
}

// EnumLabel is a row of pg_enum.
type EnumLabel struct {
	OID   uint32
	Label string
}

// RangeType is what CREATE TYPE ... AS RANGE says.
type RangeType struct {
	Subtype                string  // format_type
	Multirange             *string // format_type, nil before 14
	MultirangeOID          uint32
	MultirangeArrayOID     uint32
	OpclassSchema, Opclass string
	OpclassDefault         bool
	Collation              uint32 // 0: the subtype's
	Canonical, SubDiff     string // regproc, "-" for none
}

// CompositeAttr is a column of a stand-alone composite type.
type CompositeAttr struct {
	Name      string
	Num       int
	Type      string // format_type with modifier
	Len       string
	Align     string
	Dropped   bool
	Collation uint32 // 0: the type's
}

// TypeNameOpts says how TypeName writes the type 0 (OidOptions in pg_dump.h).
type TypeNameOpts uint8

// The ways of writing type 0.
const (
	ZeroIsError TypeNameOpts = 1 << iota
	ZeroAsStar               // *
	ZeroAsNone               // NONE
)

// TypeName returns a type's name as format_type writes it: quoted, and qualified unless it is in
// pg_catalog (getFormattedTypeName in pg_dump.c). A type that does not exist gives "???", as format_type does.
func (db *Database) TypeName(oid uint32, zero TypeNameOpts) string {
	if oid == 0 {
		switch {
		case zero&ZeroAsStar != 0:
			return "*"
		case zero&ZeroAsNone != 0:
			return "NONE"
		default:
			return "-"
		}
	}
	t := db.Type(oid)
	if t == nil {
		return "???"
	}
	return t.FormattedName
}

func (r *reader) typesStage() stage {
	s := stage{name: "types", link: r.linkTypes}
	r.inParts(s.name, r.fetchTypes)
	return s
}

func (r *reader) fetchTypes(ctx context.Context, q Querier) error {
	// Built-in types are read too: others have them as elements, arguments and operands. Only their names need
	// format_type; the rest is always written with its schema, which costs the server far less.
	// The relation and the element are looked up here.
	sql := `
SELECT t.oid, t.typname, t.typnamespace, t.typowner, t.typacl, CASE WHEN ` + hasPrivileges("t.typacl", "t.oid") + ` THEN pg_catalog.acldefault('T', t.typowner) END,
  t.typelem, t.typarray, t.typrelid, t.typtype, t.typisdefined,
  CASE WHEN n.nspname = 'pg_catalog' THEN pg_catalog.format_type(t.oid, NULL)
    ELSE pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.typname) END
FROM pg_catalog.pg_type t
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace`
	var rows rowList[Type]
	err := query(ctx, q, sql, func(row *row) {
		t := rows.add()
		t.Meta = r.objectMeta(row, KindType, ClassType)
		t.objectACL(row)
		t.ElemOID, t.ArrayOID, t.RelOID = row.oid(), row.oid(), row.oid()
		t.TypType, t.Defined, t.FormattedName = row.char(), row.bool(), row.str()
		t.IsMultirange = t.TypType == 'm'
	})
	if err != nil {
		return err
	}
	r.typeRows = make([]*Type, 0, rows.len())
	arrays := make(map[uint32]uint32, rows.len())
	for t := range rows.all() {
		r.typeRows = append(r.typeRows, t)
		if t.ArrayOID != 0 {
			arrays[t.ID.OID] = t.ArrayOID
		}
	}
	slices.SortFunc(r.typeRows, func(a, b *Type) int { return cmp.Compare(a.ID.OID, b.ID.OID) })
	for _, t := range r.typeRows {
		t.IsArray = strings.HasPrefix(t.Name, "_") && t.ElemOID != 0 && arrays[t.ElemOID] == t.ID.OID
		if rel := r.db.Table(t.RelOID); rel != nil {
			t.RelKind = rel.RelKind
		}
	}
	for _, t := range r.typeRows {
		r.selectType(t)
	}
	for _, fetch := range []func(context.Context, Querier) error{
		r.fetchBaseTypes, r.fetchDomains, r.fetchDomainConstraints, r.fetchEnumLabels, r.fetchRanges, r.fetchCompositeAttrs,
	} {
		if err := fetch(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// typesWanted returns the types of a typtype whose details are wanted.
func (r *reader) typesWanted(typtype byte) map[uint32]*Type {
	set := make(map[uint32]*Type)
	for _, t := range r.typeRows {
		if t.TypType == typtype && t.Kind == KindType && r.defined(&t.Meta) {
			set[t.ID.OID] = t
		}
	}
	return set
}

func (r *reader) fetchBaseTypes(ctx context.Context, q Querier) error {
	sql := `
SELECT t.oid, t.typlen, t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout, t.typanalyze,
  ` + r.since(14, "t.typsubscript", "'-'") + `, t.typcategory, t.typdelim, t.typispreferred, t.typbyval, t.typcollation <> 0,
  t.typalign, t.typstorage, pg_catalog.pg_get_expr(t.typdefaultbin, 0), t.typdefault
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_type t ON t.oid = w.oid`
	return details(ctx, q, r.typesWanted('b'), sql, func(t *Type, row *row) {
		t.rare().BaseDef = &BaseType{
			Len: row.str(), Input: row.str(), Output: row.str(), Receive: row.str(), Send: row.str(),
			TypmodIn: row.str(), TypmodOut: row.str(), Analyze: row.str(), Subscript: row.str(),
			Category: row.str(), Delimiter: row.str(), Preferred: row.bool(), ByVal: row.bool(), Collatable: row.bool(),
			Align: row.char(), Storage: row.char(), Default: row.typeDefault(),
		}
	})
}

// typeDefault reads the decompiled default expression and the default's text form. Where there is an
// expression, the text is only its copy.
func (r *row) typeDefault() TypeDefault {
	expr, text := r.strPtr(), r.strPtr()
	if expr != nil {
		return TypeDefault{Text: expr}
	}
	return TypeDefault{Text: text, Literal: text != nil}
}

func (r *reader) fetchDomains(ctx context.Context, q Querier) error {
	const sql = `
SELECT t.oid, pg_catalog.format_type(t.typbasetype, t.typtypmod), t.typnotnull,
  CASE WHEN t.typcollation <> u.typcollation THEN t.typcollation ELSE 0 END,
  pg_catalog.pg_get_expr(t.typdefaultbin, 'pg_catalog.pg_type'::pg_catalog.regclass), t.typdefault
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_type t ON t.oid = w.oid
  LEFT JOIN pg_catalog.pg_type u ON u.oid = t.typbasetype`
	return details(ctx, q, r.typesWanted('d'), sql, func(t *Type, row *row) {
		t.rare().Domain = &DomainType{Definition: row.str(), NotNull: row.bool(), Collation: row.oid(), Default: row.typeDefault()}
	})
}

func (r *reader) fetchDomainConstraints(ctx context.Context, q Querier) error {
	// not-null constraints of domains are rows of pg_constraint since 17
	sql := `
SELECT c.contypid, c.oid, c.conname, c.contype, pg_catalog.pg_get_constraintdef(c.oid), c.convalidated
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_constraint c ON c.contypid = w.oid
WHERE c.contype IN (` + r.since(17, "'c', 'n'", "'c'") + `)
ORDER BY c.contypid, c.conname`
	return details(ctx, q, r.typesWanted('d'), sql, func(t *Type, row *row) {
		c := &Constraint{Domain: t, IsLocal: true}
		c.Kind, c.ID, c.Name, c.Schema = KindConstraint, ID{ClassConstraint, row.oid()}, row.str(), t.Schema
		c.Owner, c.Dump, c.Has = t.Owner, AllPart, Definition
		c.Type, c.Def, c.Validated = row.char(), row.str(), row.bool()
		c.Separate = !c.Validated
		if c.Type == 'n' {
			t.rare().NotNull = c
		} else {
			t.rare().Checks = append(t.rare().Checks, c)
		}
	})
}

func (r *reader) fetchEnumLabels(ctx context.Context, q Querier) error {
	const sql = `
SELECT e.enumtypid, e.oid, e.enumlabel
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_enum e ON e.enumtypid = w.oid
ORDER BY e.enumtypid, e.enumsortorder`
	return details(ctx, q, r.typesWanted('e'), sql, func(t *Type, row *row) {
		t.rare().Enum = append(t.rare().Enum, EnumLabel{OID: row.oid(), Label: row.str()})
	})
}

func (r *reader) fetchRanges(ctx context.Context, q Querier) error {
	multirange, join := "NULL, 0, 0", ""
	if r.atLeast(14) {
		multirange = "pg_catalog.format_type(r.rngmultitypid, NULL), r.rngmultitypid, m.typarray"
		join = "LEFT JOIN pg_catalog.pg_type m ON m.oid = r.rngmultitypid"
	}
	sql := `
SELECT r.rngtypid, pg_catalog.format_type(r.rngsubtype, NULL), ` + multirange + `,
  n.nspname, o.opcname, o.opcdefault,
  CASE WHEN r.rngcollation = s.typcollation THEN 0 ELSE r.rngcollation END, r.rngcanonical, r.rngsubdiff
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_range r ON r.rngtypid = w.oid
  JOIN pg_catalog.pg_type s ON s.oid = r.rngsubtype
  JOIN pg_catalog.pg_opclass o ON o.oid = r.rngsubopc
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = o.opcnamespace ` + join
	return details(ctx, q, r.typesWanted('r'), sql, func(t *Type, row *row) {
		t.rare().Range = &RangeType{
			Subtype: row.str(), Multirange: row.strPtr(), MultirangeOID: row.oid(), MultirangeArrayOID: row.oid(),
			OpclassSchema: row.str(), Opclass: row.str(), OpclassDefault: row.bool(),
			Collation: row.oid(), Canonical: row.str(), SubDiff: row.str(),
		}
	})
}

func (r *reader) fetchCompositeAttrs(ctx context.Context, q Querier) error {
	const sql = `
SELECT ct.oid, a.attname, a.attnum, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attlen, a.attalign, a.attisdropped,
  CASE WHEN a.attcollation <> at.typcollation THEN a.attcollation ELSE 0 END
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_type ct ON ct.oid = w.oid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = ct.typrelid
  LEFT JOIN pg_catalog.pg_type at ON at.oid = a.atttypid
ORDER BY ct.oid, a.attnum`
	return details(ctx, q, r.typesWanted('c'), sql, func(t *Type, row *row) {
		t.rare().Attrs = append(t.rare().Attrs, CompositeAttr{
			Name: row.str(), Num: row.int(), Type: row.str(), Len: row.str(), Align: row.str(), Dropped: row.bool(),
			Collation: row.oid(),
		})
	})
}

func (r *reader) linkTypes() error {
	r.db.Types = make([]*Type, 0, len(r.typeRows))
	for _, t := range r.typeRows {
		r.db.Add(t)
		r.db.Types = append(r.db.Types, t)

		constraints := t.More().Checks
		if c := t.More().NotNull; c != nil {
			constraints = append(constraints[:len(constraints):len(constraints)], c)
		}
		for _, c := range constraints {
			r.db.Add(c)
			if !c.Separate {
				// what the constraint needs must exist before the domain; one that is
				// not validated comes after the domain anyway
				t.AddDep(c.DumpID)
			}
		}
		if t.Dump&Definition != 0 && (t.TypType == 'b' || t.TypType == 'r') {
			// It has no catalogue row of its own, so that the type's dependencies do not become its. Only sorting
			// finds out whether it is needed.
			t.Shell = &Type{
				Meta:    Meta{Kind: KindShellType, Name: t.Name, Schema: t.Schema, Owner: t.Owner, Has: Definition},
				ShellOf: t, TypType: t.TypType,
			}
			r.db.Add(t.Shell)
			t.Shell.Dump = None
		}
	}
	var names texts
	var name []byte
	for _, t := range r.typeRows {
		if t.IsArray && t.Schema != nil && t.Schema.Name != "pg_catalog" {
			if e := r.db.Type(t.ElemOID); e != nil {
				name = append(append(name[:0], e.FormattedName...), "[]"...)
				t.FormattedName = names.add(name)
			}
		}
	}
	r.typeRows = nil
	return nil
}
