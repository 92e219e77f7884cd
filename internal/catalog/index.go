package catalog

// Index is a row of pg_index with its pg_class.
type Index struct {
	Meta
	Table                 *Table
	Def                   string // pg_get_indexdef
	Tablespace            string
	Options               []string
	StatCols              []int // columns with a statistics target, and the targets
	StatVals              []int
	Keys                  []int // indkey
	NKeyAtts, NAtts       int
	Clustered             bool
	ReplIdent             bool
	NullsNotDistinct      bool
	Valid                 bool
	ParentOID             uint32 // the partitioned index it is attached to
	AttachObj             *IndexAttach
	Constraint            *Constraint // the constraint it serves, or nil
	RelPages              int64
	RelTuples             string
	AllVisible, AllFrozen int64
	Exprs                 bool // has expression columns (their statistics go with the index)
}

// IndexAttach is ALTER INDEX ... ATTACH PARTITION.
type IndexAttach struct {
	Meta
	Parent, Partition *Index
}

// StatsExt is a row of pg_statistic_ext.
type StatsExt struct {
	Meta
	Table  *Table
	Def    string // pg_get_statisticsobjdef
	Target int    // -1: default
}

// RelStats is the planner statistics of a table, materialized view or index.
type RelStats struct {
	Meta
	RelKind    byte
	Rel        ID
	Pages      int64
	Tuples     string
	AllVisible int64
	AllFrozen  int64
	PostData   bool // of an index or materialized view: post-data section
	Columns    []ColumnStats
}
