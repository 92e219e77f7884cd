package catalog

// Table is a row of pg_class: a table, partitioned table, view, materialized view,
// sequence, foreign table or composite type.
type Table struct {
	Meta
	RelKind          byte // r p v m S f c t
	Persistence      byte // p u t
	Populated        bool // of materialized views
	ReplIdent        byte // relreplident: d n f i
	Tablespace       string
	AccessMethod     string
	Options          []string // reloptions without check_option
	CheckOption      string   // LOCAL or CASCADED, of views
	ToastOptions     []string
	HasIndex         bool
	HasRules         bool
	HasTriggers      bool
	RowSec           bool
	ForceRowSec      bool
	IsPartition      bool
	UnsafePartitions bool // hash partitioned by an enum: rows may belong elsewhere after a restore
	OwnerOID         uint32
	ToastOID         uint32
	TypeOID          uint32 // its row type
	OfTypeOID        uint32 // reloftype
	OfType           string // and its name, for typed tables
	ForeignServer    uint32
	ServerName       string
	FTOptions        []string // foreign table options

	// Of sequences: the owning column.
	OwningTable  uint32
	OwningColumn int
	IsIdentity   bool
	Sequence     *Sequence

	FrozenXID, MinMXID           uint32
	ToastFrozenXID, ToastMinMXID uint32

	Pages      int64 // relpages
	ToastPages int64
	Tuples     string // reltuples, as text
	AllVisible int64
	AllFrozen  int64

	Interesting  bool // needs more than the bare relation to be read
	DummyView    bool // created as a dummy view first, to break a loop
	PostponedDef bool // a materialized view moved to post-data, to break a loop

	Columns []Column
	Parents []*Table

	PartKeyDef string // PARTITION BY text
	PartBound  string // FOR VALUES text
	ViewDef    string // pg_get_viewdef of views and materialized views, ends in ";"
	ViewRule   *Rule  // the view's ON SELECT rule

	Checks   []*Constraint // CHECK constraints (and 18's NOT VALID not-null), inherited ones too
	Indexes  []*Index
	Stats    []*StatsExt
	Triggers []*Trigger
	AttachTo *TableAttach
	DataObj  *TableData
}

// Column is a row of pg_attribute with attnum > 0. Its number is its index plus 1.
type Column struct {
	Name        string
	Dropped     bool
	TypeName    string // format_type(atttypid, atttypmod)
	TypeOID     uint32
	StatsTarget int  // -1: default
	Storage     byte // attstorage
	TypeStorage byte // typstorage
	Identity    byte // a d or 0
	Generated   byte // s v or 0
	Len         int  // attlen
	Align       byte
	IsLocal     bool
	Inherited   bool   // by attinhcount > 0 from a parent that is dumped
	Compression byte   // attcompression
	Collation   uint32 // only where it differs from the type's
	Options     []string
	FDWOptions  string // text as in CREATE FOREIGN TABLE
	MissingVal  string // attmissingval, only for binary upgrade

	// The not-null constraint (named since 18).
	NotNull          bool
	NotNullName      string // constraint name when it must be given, else empty
	NotNullNoInherit bool
	NotNullIsLocal   bool
	NotNullInvalid   bool // NOT VALID: dumped as a separate constraint
	NotNullComment   bool // the constraint has a comment or the like, so its name is wanted

	Default *AttrDef // default or generation expression, or nil
}

// AttrDef is a row of pg_attrdef.
type AttrDef struct {
	Meta
	Table    *Table
	Column   int // attnum
	Expr     string
	Separate bool // its own ALTER TABLE rather than part of CREATE TABLE
}

// TableAttach is the ALTER TABLE ... ATTACH PARTITION of a partition.
type TableAttach struct {
	Meta
	Parent, Partition *Table
}

// TableData is the rows of a table, the definition of a sequence's SEQUENCE SET, or
// the REFRESH of a materialized view (by Kind).
type TableData struct {
	Meta
	Table  *Table
	Filter string // WHERE clause of an extension's configuration table
}
