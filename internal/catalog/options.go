package catalog

// Options say what of a database is wanted. The zero value wants everything.
// Names are those of pg_dump's options.
type Options struct {
	// Schema, Data and Statistics leave out a part when set.
	NoSchema     bool // no definitions
	NoData       bool // no rows, large objects or sequence values
	Statistics   bool // planner statistics (--statistics); off by default as in pg_dump 18
	SequenceData bool // sequence values even with NoData

	// Patterns, as psql takes them.
	IncludeSchemas, ExcludeSchemas                     []string
	IncludeTables, ExcludeTables                       []string
	IncludeTablesAndChildren, ExcludeTablesAndChildren []string
	ExcludeTableData, ExcludeTableDataAndChildren      []string
	IncludeExtensions, ExcludeExtensions               []string
	IncludeForeignData                                 []string
	StrictNames                                        bool

	LargeObjects   bool // --large-objects: also with IncludeSchemas or IncludeTables
	NoLargeObjects bool // --no-large-objects
	// LegacyLargeObjects writes one BLOB entry per large object and one BLOBS entry for all
	// data, as pg_dump up to 16 does, so that pg_restore up to 16 can read the archive.
	LegacyLargeObjects bool

	NoComments, NoPrivileges, NoSecurityLabels, NoPolicies bool
	NoPublications, NoSubscriptions                        bool
	NoTablespaces, NoTableAccessMethod                     bool
	NoToastCompression, NoUnloggedTableData                bool

	Create               bool // --create: the database itself, its settings and privileges
	Clean, IfExists      bool
	NoOwner              bool
	BinaryUpgrade        bool
	EnableRowSecurity    bool
	LoadViaPartitionRoot bool

	Inserts, ColumnInserts, OnConflictDoNothing bool
	RowsPerInsert                               int // 0: Inserts is one row a statement
	DisableDollarQuoting, DisableTriggers       bool
	QuoteAllIdentifiers                         bool
	LockWaitTimeout                             string
}

// selective says that only named objects are wanted, which drops whatever stands outside schemas.
func (o *Options) selective() bool {
	return len(o.IncludeSchemas)+len(o.IncludeTables)+len(o.IncludeTablesAndChildren)+len(o.IncludeExtensions) > 0
}

// wantLargeObjects says whether large objects are to be dumped (outputLOs in pg_dump.c).
func (o *Options) wantLargeObjects() bool {
	return o.LargeObjects || !o.selective() && !o.NoData && !o.NoLargeObjects
}
