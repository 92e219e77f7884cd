package catalog

// AccessMethod is a row of pg_am.
type AccessMethod struct {
	Meta
	AMType  byte   // i index, t table
	Handler string // regproc
}
