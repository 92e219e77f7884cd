package catalog

// Type is a row of pg_type. KindType is a whole type, KindShellType the shell
// that stands in for a base type until its functions exist, KindDummyType a row
// type, which is dumped with its table.
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
	NotNull       *Constraint   // of a domain, since 18

	Base   *BaseType
	Domain *DomainType
	Enum   []EnumLabel
	Range  *RangeType
	Attrs  []CompositeAttr
}
