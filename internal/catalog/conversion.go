package catalog

// Conversion is a row of pg_conversion.
type Conversion struct {
	Meta
	From, To string // encodings
	Proc     string // regproc
	Default  bool
}
