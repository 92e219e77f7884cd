package catalog

// Schema is a row of pg_namespace.
type Schema struct {
	Meta
	Create   bool // CREATE SCHEMA is to be issued (not for public, which initdb makes)
	OwnerOID uint32
}
