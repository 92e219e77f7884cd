package restore

import (
	"errors"
	"io"

	"github.com/pghaul/pghaul/pgarchive"
)

// Options say what to restore and how. The zero value restores everything of the
// archive into an existing database, one entry after the other, and goes on after
// errors. The fields are pg_restore's options.
type Options struct {
	// Which kinds of content. At most one of the three; none: all.
	DataOnly       bool // -a: data, sequence values and large objects
	SchemaOnly     bool // -s: definitions
	StatisticsOnly bool // --statistics-only: planner statistics

	NoData       bool // --no-data
	NoSchema     bool // --no-schema
	NoStatistics bool // --no-statistics
	Statistics   bool // --statistics: statistics too; they are restored when present unless one of the "only" fields is set

	// Sections limits the restore to these; nil: all three.
	Sections []pgarchive.Section

	// Names as they stand in the archive, not patterns. Lists that are nil do not limit.
	Schemas        []string // -n: only objects of these schemas
	ExcludeSchemas []string // -N: no objects of these schemas
	Tables         []string // -t: only these tables, views, sequences (and what the following three name)
	Indexes        []string // -I
	Functions      []string // -P: with argument types, as the list of contents shows them
	Triggers       []string // -T: "table trigger"
	StrictNames    bool     // --strict-names: each name must be found

	// ListFile (-L) is the name of a file as written by List, edited: only entries
	// whose number is in it are restored, in its order. Empty: none.
	ListFile string

	NoOwner          bool // -O: do not set owners
	NoPrivileges     bool // -x: no GRANT and REVOKE
	NoComments       bool // --no-comments
	NoPolicies       bool // --no-policies: nor row security
	NoPublications   bool // --no-publications
	NoSecurityLabels bool // --no-security-labels
	NoSubscriptions  bool // --no-subscriptions
	NoTableAM        bool // --no-table-access-method
	NoTablespaces    bool // --no-tablespaces

	Clean    bool // -c: drop first what will be created
	IfExists bool // --if-exists: with Clean, no error when it is not there
	Create   bool // -C: create the database of the archive and restore into it

	// Role (--role) is set with SET ROLE after connecting; empty: none.
	Role string

	// UseSetSessionAuthorization makes objects belong to their owners by becoming the
	// owner while creating them, instead of by ALTER ... OWNER TO.
	UseSetSessionAuthorization bool

	// DisableTriggers disables all triggers of a table while its data are loaded, when
	// no definitions are restored. Superuser (-S) is who does this; empty: the connected user.
	DisableTriggers bool
	Superuser       string

	EnableRowSecurity bool // --enable-row-security: load under the row security of the target

	// NoDataForFailedTables skips the data of a table that could not be created.
	NoDataForFailedTables bool

	ExitOnError       bool // -e: the first error ends the restore
	SingleTransaction bool // -1: all in one transaction; implies ExitOnError
	TransactionSize   int  // --transaction-size: commit after so many actions; implies ExitOnError; 0: each statement by itself

	// Jobs (-j) is the number of connections that work at the same time once the
	// definitions are restored; 0 or 1: one.
	Jobs int

	// NoParallelStream refuses Jobs above 1 for an archive that cannot be read at will, as
	// pg_restore does. Otherwise such an archive is read once, while several connections work.
	NoParallelStream bool

	// RestrictKey is the key of \restrict in scripts; empty: a random one.
	RestrictKey string

	// Verbose puts more into scripts and lists.
	Verbose bool

	// ServerVersion is that of the target (180000) for scripts meant for an older server; 0: 18's text.
	// Restores ask the server.
	ServerVersion int

	// NoFreeze loads with plain COPY where COPY FREEZE would be possible.
	NoFreeze bool

	// Fast allows, with Jobs above 1, ways that pg_restore does not go and that end in the same
	// database: foreign keys are added unchecked and checked later, so that tables are checked side by
	// side; the pieces of a cut table are loaded in one transaction where that is cheaper; and
	// sessions get settings that suit the index they build, within those of the server.
	Fast bool

	// Analyze gathers planner statistics of each table that was loaded, as soon as nothing more is to be
	// done to it, with Jobs above 1.
	Analyze bool

	// RoleMap gives objects and privileges of one role to another: names in the archive, and those of the target.
	RoleMap map[string]string

	// SkipRoles are roles of the target (after RoleMap) that are not there, each with the reason to report: statements that give them something
	// are left out, and everything else is done.
	SkipRoles map[string]string

	// Ledger records in the target, in the schema LedgerSchema, what is done, in the transaction that does it. Then a lost connection
	// is replaced and only its work done again, and a restore that was interrupted can be resumed.
	// The schema is removed when the restore has come to its end. SingleTransaction, TransactionSize, UseSetSessionAuthorization and
	// Superuser exclude it: then there is none.
	Ledger bool

	// Resume goes on with the restore that was interrupted in the target. It is refused if that was of another archive or had other
	// options, and if there is none, unless the target is empty.
	Resume bool

	// Sizes are the rows and uncompressed bytes of data entries, for those that know; they make
	// estimates better than the sizes in the archive do.
	Sizes map[pgarchive.ID]Size

	// OnData, if set, is asked before each table data entry; what it returns, unless nil,
	// is written the uncompressed data of the entry as they stand in the archive, end marker
	// included, in blocks, by one goroutine. It is called by several goroutines at a time.
	// An entry that has to be loaded again after a deadlock is asked for again.
	// A writer that is an io.Closer is closed after the last byte. An error it returns is
	// an error of the entry.
	OnData func(e *pgarchive.Entry) io.Writer

	// OnError, if set, decides what a failed statement means: nil to go on with the
	// next, an error to end the restore with it. Calls do not overlap. Without it
	// ExitOnError decides.
	OnError func(e *EntryError) error

	// Log, if set, takes the messages in pg_restore's words, without prefix. Calls do not overlap.
	Log func(l Level, message string)
}

// Level says how much a message matters.
type Level uint8

// The levels. pg_restore shows Info only when it is verbose.
const (
	Info Level = iota
	Warning
	Error
)

// String returns "info", "warning" or "error".
func (l Level) String() string {
	switch l {
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "info"
}

// Check says whether the options fit together, in pg_restore's words.
func (o *Options) Check() error {
	exclusive := func(a bool, an string, b bool, bn string) error {
		if a && b {
			return errors.New("options " + an + " and " + bn + " cannot be used together")
		}
		return nil
	}
	for _, err := range []error{
		exclusive(o.SchemaOnly, "-s/--schema-only", o.DataOnly, "-a/--data-only"),
		exclusive(o.SchemaOnly, "-s/--schema-only", o.StatisticsOnly, "--statistics-only"),
		exclusive(o.DataOnly, "-a/--data-only", o.StatisticsOnly, "--statistics-only"),
		exclusive(o.DataOnly, "-a/--data-only", o.NoData, "--no-data"),
		exclusive(o.SchemaOnly, "-s/--schema-only", o.NoSchema, "--no-schema"),
		exclusive(o.StatisticsOnly, "--statistics-only", o.NoStatistics, "--no-statistics"),
		exclusive(o.Statistics, "--statistics", o.NoStatistics, "--no-statistics"),
		exclusive(o.DataOnly, "-a/--data-only", o.Statistics, "--statistics"),
		exclusive(o.SchemaOnly, "-s/--schema-only", o.Statistics, "--statistics"),
		exclusive(o.Clean, "-c/--clean", o.DataOnly, "-a/--data-only"),
		exclusive(o.SingleTransaction, "-1/--single-transaction", o.TransactionSize > 0, "--transaction-size"),
		exclusive(o.Create, "-C/--create", o.SingleTransaction, "-1/--single-transaction"),
	} {
		if err != nil {
			return err
		}
	}
	if o.SingleTransaction && o.Jobs > 1 {
		return errors.New("cannot specify both --single-transaction and multiple jobs")
	}
	if o.IfExists && !o.Clean {
		return errors.New("option --if-exists requires option -c/--clean")
	}
	return nil
}

// jobs is the number of connections.
func (o *Options) jobs() int { return max(o.Jobs, 1) }

// stops says whether the first error ends the restore.
func (o *Options) stops() bool {
	return o.ExitOnError || o.SingleTransaction || o.TransactionSize > 0
}

// content says which kinds are wanted (main of pg_restore.c).
func (o *Options) content() (schema, data, statistics bool) {
	only := o.DataOnly || o.SchemaOnly || o.StatisticsOnly
	schema = (!only || o.SchemaOnly) && !o.NoSchema
	data = (!only || o.DataOnly) && !o.NoData
	statistics = (!o.SchemaOnly && !o.DataOnly || o.Statistics) && !o.NoStatistics
	return schema, data, statistics
}
