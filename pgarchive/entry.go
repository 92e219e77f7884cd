package pgarchive

import (
	"fmt"
	"strings"
)

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

// String returns the section's name as --section takes it.
func (s Section) String() string {
	switch s {
	case SectionNone:
		return "none"
	case SectionPreData:
		return "pre-data"
	case SectionData:
		return "data"
	case SectionPostData:
		return "post-data"
	}
	return fmt.Sprintf("Section(%d)", uint8(s))
}

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

	// set tells which strings an archive stored, as opposed to NULL. It counts
	// only for entries read from an archive (setRead); for others an empty string
	// is NULL, but for the tablespace, see hasTablespace.
	set stringSet
}

// offset is where a data block of a custom archive starts.
type offset struct {
	state int8
	pos   int64
}

// What an archive says about an entry's offset (K_OFFSET_* in pg_backup_archiver.h).
const (
	offsetNotSet = 1 // there are data; the place was not known when the TOC was written
	offsetSet    = 2
	offsetNoData = 3
)

// stringSet is a set of an entry's strings.
type stringSet uint8

const (
	setRead stringSet = 1 << iota
	setDefn
	setDropStmt
	setCopyStmt
	setNamespace
	setTablespace
	setTableAM
	setOwner
)

// stored reports whether the string s, whose bit is f, is there rather than NULL.
// Of entries not read from an archive, the owner of a comment or label counts as stored even when the object
// has none, as pg_dump gives it as an empty string.
func (e *Entry) stored(f stringSet, s string) bool {
	if s == "" && f == setOwner && e.set&setRead == 0 {
		return e.Desc == "COMMENT" || e.Desc == "SECURITY LABEL"
	}
	return s != "" || e.set&(setRead|f) == setRead|f
}

// hasTablespace reports whether the entry is of a kind that lives in a tablespace, so that an empty
// Tablespace means the database's default and must be asked for (_selectTablespace).
func (e *Entry) hasTablespace() bool {
	if e.Tablespace != "" {
		return true
	}
	if e.set&setRead != 0 {
		return e.set&setTablespace != 0
	}
	switch e.Desc {
	case "TABLE", "MATERIALIZED VIEW", "INDEX":
		return true
	case "CONSTRAINT": // those with an index, and not those of a domain or a NOT NULL
		return !strings.HasPrefix(e.Defn, "ALTER DOMAIN") && !strings.Contains(e.Defn, " NOT NULL ")
	}
	return false
}

// String names the entry for messages: `12 (TABLE DATA public.events)`.
func (e *Entry) String() string {
	name := e.Tag
	if e.Namespace != "" {
		name = e.Namespace + "." + name
	}
	return fmt.Sprintf("%d (%s %s)", e.ID, e.Desc, name)
}

// isLargeObjects reports whether the entry's data are large objects.
func (e *Entry) isLargeObjects() bool { return e.Desc == descBlobs }

// LoadsViaRoot reports whether the data of the entry may arrive in another table than the entry's own, or only in part
// (is_load_via_partition_root): then the table must not be truncated before they are loaded.
func (e *Entry) LoadsViaRoot() bool {
	if strings.HasPrefix(e.Defn, viaRootMark) {
		return true
	}
	return e.CopyStmt != "" && !strings.HasPrefix(e.CopyStmt, "COPY "+plainQuoter.Qualified(e.Namespace, e.Tag)+" ")
}

const viaRootMark = "-- load via partition root "
