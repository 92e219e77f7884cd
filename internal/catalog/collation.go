package catalog

// Collation is a row of pg_collation.
type Collation struct {
	Meta
	Encoding int               // collencoding, -1 for all
	Details  *CollationDetails // only of collations whose definition is dumped
}

// CollationDetails is what CREATE COLLATION says. Nil texts are NULL in the catalogue.
type CollationDetails struct {
	Provider      byte // b builtin, c libc, i icu, d default
	Deterministic bool
	Collate       *string
	CType         *string
	Locale        *string // colllocale, before 17 colliculocale
	Rules         *string // collicurules
	Version       *string // for binary upgrade
}
