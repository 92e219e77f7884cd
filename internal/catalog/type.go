package catalog

// Type is a row of pg_type. KindType is a whole type, KindShellType the shell
// that stands in for a base type until its functions exist, KindDummyType a row
// type, an array or a multirange, which come with their table, element or range type.
type Type struct {
	Meta
	FormattedName string // format_type
	TypType       byte   // b c d e p r m
	Defined       bool
	IsArray       bool
	IsMultirange  bool
	ElemOID       uint32
	ArrayOID      uint32
	RelOID        uint32 // typrelid
	RelKind       byte
	OwnerOID      uint32
	Shell         *Type         // KindShellType object of a base type
	ShellOf       *Type         // and back
	Checks        []*Constraint // of a domain
	NotNull       *Constraint   // of a domain, since 17

	// The details of its kind, only if its definition is dumped.
	Base   *BaseType
	Domain *DomainType
	Enum   []EnumLabel
	Range  *RangeType
	Attrs  []CompositeAttr
}

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
