package dump

import (
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/pgarchive"
)

// Options say what to dump and how. The zero value dumps a whole database as a
// script to the standard output with one connection.
type Options struct {
	// Options say what of the database is wanted. Create is set by Run for the
	// archive formats, which always describe the database itself.
	catalog.Options

	Format      pgarchive.Format // FormatUnknown: plain
	File        string           // file or folder; "" and "-": standard output
	Compression pgarchive.Compression

	// Jobs is the number of connections that read data, beside the one that holds the
	// snapshot. 0 and 1: one connection does everything.
	Jobs int

	// PieceBytes is the size, in bytes of heap and TOAST, above which a table is cut, and
	// of the pieces. 0: 64 MiB; negative: tables are not cut. Only servers of version
	// 14 and newer read a range of pages without reading the whole table.
	PieceBytes int64

	Snapshot               string // import this snapshot rather than taking one
	SerializableDeferrable bool
	Role                   string // SET ROLE to it
	Encoding               string // client encoding of the dump; empty: the session's own
	ExtraFloatDigits       *int   // nil: 3

	// Settings are set last in each session, in order, for who needs more of the values' text form
	// fixed than a dump does: the TimeZone of the database this one is compared with, say.
	Settings [][2]string

	NoSync     bool // do not flush files to disk
	NoManifest bool // do not attach a manifest to the archive

	// Script says how a plain script looks, and which entries of any format are left out:
	// its Selection holds sections and the like. nil: everything, in the usual form.
	Script *pgarchive.ScriptOptions

	// ToolVersion is the version of the program for archive and manifest;
	// DumpVersion what the archive names as the version of pg_dump ("18.6").
	ToolVersion, DumpVersion string

	// Heartbeat is how often the session that holds the snapshot is asked for a sign of life. 0: 30 s.
	Heartbeat time.Duration

	// Archive opens the archive; nil: pgarchive.Create. For callers with another destination than a file.
	Archive func(pgarchive.WriterOptions) (pgarchive.Writer, error)
}

const (
	defaultPieceBytes = 64 << 20
	defaultHeartbeat  = 30 * time.Second
	maxTries          = 3 // of a piece whose worker lost its connection
)

func (o *Options) format() pgarchive.Format {
	if o.Format == pgarchive.FormatUnknown {
		return pgarchive.FormatPlain
	}
	return o.Format
}

// inserts says that rows become INSERT statements.
func (o *Options) inserts() bool { return ddl.UsesInserts(&o.Options) }
