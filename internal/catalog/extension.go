package catalog

// Extension is a row of pg_extension.
type Extension struct {
	Meta
	Namespace    string
	Relocatable  bool
	Version      string
	Config       []uint32 // OIDs of configuration tables
	Conditions   []string // their WHERE clauses, empty for all rows
	VersionOwned bool
}
