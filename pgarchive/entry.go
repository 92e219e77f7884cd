package pgarchive

// ID is a dump ID: the number by which entries of one archive name each other.
// Valid IDs are positive.
type ID int32

// CatalogID names the catalogue row an entry was made from.
type CatalogID struct {
	TableOID uint32 // pg_class OID of the catalogue, 0 for an entry of no catalogue object
	OID      uint32
}

// Section says in which of the three phases of a restore an entry belongs.
// The values are those of the file format (teSection in pg_backup.h).
type Section uint8

// The sections.
const (
	SectionNone     Section = 1 // COMMENT, ACL and the like: go with the entry they depend on
	SectionPreData  Section = 2
	SectionData     Section = 3
	SectionPostData Section = 4
)

// Entry is one TOC entry: an object with the statements that make and drop it,
// or a stream of data. Field names follow struct _tocEntry in
// PostgreSQL's src/bin/pg_dump/pg_backup_archiver.h.
type Entry struct {
	ID        ID
	CatalogID CatalogID
	Tag       string // the object's name, for functions with argument types
	Desc      string // kind of entry: TABLE, INDEX, TABLE DATA, ...
	Section   Section

	Defn     string // statements that create the object, each ended by ";\n"
	DropStmt string // statement that drops it
	CopyStmt string // the COPY statement of a data entry, ended by ";\n"

	Namespace  string // schema, empty if none
	Tablespace string // empty: the database's default, or does not apply
	TableAM    string // table access method, empty: does not apply
	RelKind    byte   // pg_class.relkind of tables, 0: does not apply (stored since 1.16)
	Owner      string

	Dependencies []ID

	// HasData says that the entry owns a data stream ("hadDumper" in the format).
	HasData bool

	// DataBytes is how much data the entry has, in bytes: the source's relation size
	// when writing, the stored size when reading an archive that knows it, else 0.
	// It only orders work; it is not stored.
	DataBytes int64

	// Filename is the name of the entry's data file in a directory or tar archive.
	// A Writer sets it; it is empty for entries without data.
	Filename string

	// offset of the data block in a custom archive
	offset offset
}
