package dump

import (
	"context"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/pg"
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
	// OldCompression takes the place of Compression for servers before 16, whose pg_restore reads gzip only. nil: none does.
	OldCompression *pgarchive.Compression

	// Jobs is the number of connections that read data, beside the one that holds the
	// snapshot. 0 and 1: one connection does everything. A format that takes one table after the other
	// uses them for the catalogue only.
	Jobs int

	// Reconnect gives the data a session of their own also if Jobs is 0 or 1, so that a connection that is lost costs
	// one table and not the dump. It is a wish: without a free connection, one does everything.
	Reconnect bool

	// FewerJobs goes on with fewer connections when the server does not give as many as Jobs says.
	FewerJobs bool

	// PieceBytes is the size, in bytes of heap and TOAST, above which a table is cut, and
	// of the pieces. 0: 64 MiB, less in custom archives by many jobs and of databases that are small for the jobs; negative: tables are not cut. On servers before 14, which
	// do not read a range of pages without reading the whole table, only tables whose primary key begins with an integer are cut.
	PieceBytes int64

	cutByKeys bool // as for servers that do not read ranges of pages; for tests

	// CopyFormat is the form of the rows; the binary form is for archives only. What it can hold is read by
	// the same major version of the server.
	CopyFormat CopyFormat
	// BinaryTables says of a table whether its rows have the binary form; not nil, it takes the place of CopyFormat. For who
	// compares rows with those of another dump.
	BinaryTables func(schema, name string) bool

	Snapshot               string // import this snapshot rather than taking one
	SerializableDeferrable bool
	Role                   string // SET ROLE to it
	Encoding               string // client encoding of the dump; empty: the session's own
	ExtraFloatDigits       *int   // nil: 3

	// Settings are set last in each session, in order, for who needs more of the values' text form
	// fixed than a dump does: the TimeZone of the database this one is compared with, say.
	Settings [][2]string

	// Less says which of two items is begun first where several are read at a time; nil: the larger one. It
	// is called by one goroutine, when the archive has all entries.
	Less func(a, b *Item) bool

	NoSync     bool // do not flush files to disk
	NoManifest bool // do not attach a manifest to the archive
	// ScriptManifest makes a manifest of a script, too, for the Result: a script cannot carry one.
	ScriptManifest bool

	// Script says how a plain script looks, and which entries of any format are left out:
	// its Selection holds sections and the like. nil: everything, in the usual form.
	Script *pgarchive.ScriptOptions

	// ToolVersion is the version of the program for archive and manifest;
	// DumpVersion what the archive names as the version of pg_dump ("18.6").
	ToolVersion, DumpVersion string

	// Heartbeat is how often the session that holds the snapshot is asked for a sign of life. 0: 30 s.
	Heartbeat time.Duration

	// Prepare is called with the session that will hold the snapshot, before its transaction begins, and may
	// change the options: Snapshot and Resume. Locks on behalf of the whole dump (advisory ones) are best
	// taken in that session, whose end is the end of the dump. nil: nothing is changed.
	Prepare func(ctx context.Context, c *pg.Conn, o *Options) error

	// Locked is given statements that lock, without waiting, what the dump has locked, for another session that
	// keeps the same snapshot longer. nil: nobody wants them.
	Locked func(ctx context.Context, statements []string) error

	// Complete is called when the archive is complete and before the sessions end, for what has to be done while the locks of
	// Prepare are held. Its error is Run's. nil: nothing is.
	Complete func(ctx context.Context, r *Result) error

	// Resume says how far an earlier dump in the same snapshot came; nil: there was none.
	Resume *Resume

	// Archive opens the archive; nil: pgarchive.Create. For callers with another destination than a file.
	Archive func(pgarchive.WriterOptions) (pgarchive.Writer, error)
}

const (
	defaultPieceBytes = 64 << 20
	minPieceBytes     = 8 << 20
	piecesPerJob      = 16        // at least, where they are not too small
	customInHand      = 256 << 20 // of all workers, before compression
	defaultHeartbeat  = 30 * time.Second
	maxTries          = 3 // of a piece whose worker lost its connection
)

func (o *Options) format() pgarchive.Format {
	if o.Format == pgarchive.FormatUnknown {
		return pgarchive.FormatPlain
	}
	return o.Format
}

// pieceBytes is PieceBytes or its default for tables of so many bytes in all. The pieces that many workers have in hand wait in memory for
// their turn to get into the one file of a custom archive, so they are smaller there when there are many. They are smaller in a small
// database, too: when nothing is left to be begun, the workers wait for the one that has the last piece.
func (o *Options) pieceBytes(total int64) int64 {
	if o.PieceBytes != 0 {
		return o.PieceBytes
	}
	size, jobs := int64(defaultPieceBytes), int64(max(o.Jobs, 1))
	if o.format() == pgarchive.FormatCustom {
		size = min(size, customInHand/jobs)
	}
	if jobs > 1 {
		size = min(size, total/(jobs*piecesPerJob))
	}
	return max(size, minPieceBytes)
}

// inserts says that rows become INSERT statements.
func (o *Options) inserts() bool { return ddl.UsesInserts(&o.Options) }
