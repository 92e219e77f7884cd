package pgarchive

import (
	"fmt"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
)

// Format is an archive format.
type Format uint8

// The formats. The values are those stored in an archive's header (ArchiveFormat in pg_backup.h).
const (
	FormatUnknown   Format = 0 // to be detected
	FormatCustom    Format = 1
	FormatTar       Format = 3
	FormatPlain     Format = 4
	FormatDirectory Format = 5
)

// String returns "custom", "directory", "tar" or "plain".
func (f Format) String() string {
	switch f {
	case FormatUnknown:
		return "unknown"
	case FormatCustom:
		return "custom"
	case FormatDirectory:
		return "directory"
	case FormatTar:
		return "tar"
	case FormatPlain:
		return "plain"
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// ParseFormat reads a format's name or its first letter, as -F takes it.
func ParseFormat(s string) (Format, error) {
	switch s {
	case "c", "custom":
		return FormatCustom, nil
	case "d", "directory":
		return FormatDirectory, nil
	case "t", "tar":
		return FormatTar, nil
	case "p", "plain":
		return FormatPlain, nil
	}
	return FormatUnknown, fmt.Errorf("invalid output format \"%s\" specified", s)
}

// Version is an archive's format version: major, minor and revision in the third, second
// and lowest byte, as in MAKE_ARCHIVE_VERSION.
type Version uint32

// The versions that differ in what is read or written (K_VERS_* in pg_backup_archiver.h).
const (
	V1_12 Version = 1<<16 | 12<<8 // one BLOB entry per large object
	V1_13 Version = 1<<16 | 13<<8 // schema-qualified names, search_path entry
	V1_14 Version = 1<<16 | 14<<8 // table access method
	V1_15 Version = 1<<16 | 15<<8 // compression method in the header
	V1_16 Version = 1<<16 | 16<<8 // BLOB METADATA, several BLOBS entries, relkind

	minVersion = V1_12
	maxVersion = V1_16 | 0xff
)

// Major, Minor and Rev return the parts of the version.
func (v Version) Major() int { return int(v >> 16 & 0xff) }
func (v Version) Minor() int { return int(v >> 8 & 0xff) }
func (v Version) Rev() int   { return int(v & 0xff) }

// String returns the version as "1.16-0".
func (v Version) String() string { return fmt.Sprintf("%d.%d-%d", v.Major(), v.Minor(), v.Rev()) }

// Compression says how the data of an archive are compressed.
type Compression = codec.Spec

// ParseCompression reads pg_dump's -Z argument, with pg_dump's error messages.
func ParseCompression(s string) (Compression, error) { return codec.Parse(s) }

// Header is what an archive says about itself.
type Header struct {
	// Version is the format version. A Writer takes it as the lowest it may
	// write and raises it where an entry needs more; zero is V1_14.
	Version Version

	Format      Format
	Compression codec.Spec
	Created     time.Time // in seconds; stored as local time. Zero if the archive's makes no sense; a Writer takes it as now

	Database      string // name of the dumped database
	ServerVersion string // version of the dumped server, as in "18.6 (Debian 18.6-3)"
	DumpVersion   string // version of the dumping program

	// IntSize and OffSize are the bytes of an integer and of a file offset.
	// A Writer writes 4 and 8, as pg_dump does on every current machine.
	IntSize, OffSize int
}

// CopyEnd is what ends the data of an entry with a CopyStmt in text form:
// pg_dump stores it, and psql needs it.
const CopyEnd = "\\.\n\n\n"

// Kinds of entries that mean something to the format. Desc of an entry is one of
// many more, see pg_restore -l.
const (
	descBlobs        = "BLOBS"
	descBlobMetadata = "BLOB METADATA"
	descEncoding     = "ENCODING"
	descStdStrings   = "STDSTRINGS"
	descSearchPath   = "SEARCHPATH"
)
