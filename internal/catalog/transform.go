package catalog

// Transform is a row of pg_transform. Its name is those of its type and language, separated by a space.
type Transform struct {
	Meta
	Type           uint32
	Lang           string // language name
	FromSQL, ToSQL uint32 // functions, 0 for none
}
