package pgflags

import (
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/pgarchive"
)

// Dump is the command line of pg_dump.
type Dump struct {
	Connection
	Options dump.Options

	Verbose  int
	JSON     bool // our own: result as JSON on standard output
	Quiet    bool // our own: no progress
	Warnings []string

	script pgarchive.ScriptOptions

	parts                  parts
	format, compress       string
	inserts, columnInserts bool
	floatDigits            int
	pieceSize              string
	copyFormat             string
}

func (d *Dump) table(p Program) []option {
	c := &d.Options.Options
	const general, content = "General options", "What goes into the dump"
	t := []option{
		{short: 'f', long: "file", arg: "FILE", group: general, help: "where the dump goes: a file, or a folder for the directory format", set: setString(&d.Options.File)},
		{short: 'F', long: "format", arg: "c|d|t|p", group: general, help: "custom, directory, tar or plain SQL text (the default)", set: setString(&d.format)},
		{short: 'j', long: "jobs", arg: "N", group: general, help: "dump this many tables, or pieces of tables, at once", set: setInt(&d.Options.Jobs, "-j/--jobs", 1, maxJobs)},
		{short: 'v', long: "verbose", group: general, help: "say what is being done", set: func(string) error { d.Verbose++; return nil }},
		{short: 'V', long: "version", group: general, help: "print the version and exit", set: func(string) error { return ErrVersion }},
		{short: 'Z', long: "compress", arg: "METHOD[:DETAIL]", group: general, help: "none, gzip, lz4 or zstd, with a level or details", set: setString(&d.compress)},
		{long: "lock-wait-timeout", arg: "TIME", group: general, help: "give up when a table cannot be locked within this time", set: setString(&c.LockWaitTimeout)},
		{long: "no-sync", group: general, help: "do not wait until the files are safe on disk", set: setTrue(&d.Options.NoSync)},
		{long: "sync-method", arg: "METHOD", group: general, help: "how files are made safe: fsync or syncfs", set: setSyncMethod},
		{short: '?', long: "help", group: general, help: "print this text and exit", set: func(string) error { return ErrHelp }},

		{short: 'a', long: "data-only", group: content, help: "only rows, large objects and sequence values", set: setTrue(&d.parts.dataOnly)},
		{short: 'b', long: "large-objects", group: content, help: "large objects too, where a selection would leave them out", set: setTrue(&c.LargeObjects)},
		{long: "blobs", same: "large-objects", set: setTrue(&c.LargeObjects)},
		{short: 'B', long: "no-large-objects", group: content, help: "no large objects", set: setTrue(&c.NoLargeObjects)},
		{long: "no-blobs", same: "no-large-objects", set: setTrue(&c.NoLargeObjects)},
		{short: 'c', long: "clean", group: content, help: "begin with commands that drop the objects", set: setTrue(&c.Clean)},
		{short: 'C', long: "create", group: content, help: "create the database too, and connect to it", set: setTrue(&c.Create)},
		{short: 'e', long: "extension", arg: "PATTERN", group: content, help: "only these extensions", set: appendTo(&c.IncludeExtensions)},
		{short: 'E', long: "encoding", arg: "ENCODING", group: content, help: "character set of the dump (default: the database's)", set: setString(&d.Options.Encoding)},
		{short: 'n', long: "schema", arg: "PATTERN", group: content, help: "only these schemas", set: appendTo(&c.IncludeSchemas)},
		{short: 'N', long: "exclude-schema", arg: "PATTERN", group: content, help: "not these schemas", set: appendTo(&c.ExcludeSchemas)},
		{short: 'O', long: "no-owner", group: content, help: "no commands that set owners (plain text only)", set: setTrue(&c.NoOwner)},
		{short: 'R', long: "no-reconnect", set: ignore},
		{short: 's', long: "schema-only", group: content, help: "only definitions, no rows", set: setTrue(&d.parts.schemaOnly)},
		{short: 'S', long: "superuser", arg: "NAME", group: content, help: "superuser that --disable-triggers names (plain text only)", set: setString(&d.script.Superuser)},
		{short: 't', long: "table", arg: "PATTERN", group: content, help: "only these tables, views and sequences", set: appendTo(&c.IncludeTables)},
		{short: 'T', long: "exclude-table", arg: "PATTERN", group: content, help: "not these tables, views and sequences", set: appendTo(&c.ExcludeTables)},
		{short: 'x', long: "no-privileges", group: content, help: "no GRANT and REVOKE", set: setTrue(&c.NoPrivileges)},
		{long: "no-acl", same: "no-privileges", set: setTrue(&c.NoPrivileges)},
		{long: "binary-upgrade", group: content, help: "for upgrades in place only", set: setTrue(&c.BinaryUpgrade)},
		{long: "column-inserts", group: content, help: "rows as INSERT commands that name the columns", set: setTrue(&d.columnInserts)},
		{long: "attribute-inserts", same: "column-inserts", set: setTrue(&d.columnInserts)},
		{long: "disable-dollar-quoting", group: content, help: "quote function bodies as standard SQL strings", set: setTrue(&c.DisableDollarQuoting)},
		{long: "disable-triggers", group: content, help: "switch triggers off while a data-only dump is loaded", set: setTrue(&c.DisableTriggers)},
		{long: "enable-row-security", group: content, help: "dump only the rows that the role may see", set: setTrue(&c.EnableRowSecurity)},
		{long: "exclude-extension", arg: "PATTERN", group: content, help: "not these extensions", set: appendTo(&c.ExcludeExtensions)},
		{long: "exclude-table-and-children", arg: "PATTERN", group: content, help: "not these tables, nor their partitions and children", set: appendTo(&c.ExcludeTablesAndChildren)},
		{long: "exclude-table-data", arg: "PATTERN", group: content, help: "these tables without their rows", set: appendTo(&c.ExcludeTableData)},
		{long: "exclude-table-data-and-children", arg: "PATTERN", group: content, help: "these tables, their partitions and children without rows", set: appendTo(&c.ExcludeTableDataAndChildren)},
		{long: "extra-float-digits", arg: "N", group: content, help: "digits of floating-point values", set: func(v string) error {
			d.Options.ExtraFloatDigits = &d.floatDigits
			return setInt(&d.floatDigits, "--extra-float-digits", -15, 3)(v)
		}},
		{long: "filter", arg: "FILE", group: content, help: "read what to include and exclude from a file", set: func(v string) error { return readFilter(v, p.Stdin, d.filter) }},
		{long: "if-exists", group: content, help: "with --clean: drop only what exists", set: setTrue(&c.IfExists)},
		{long: "include-foreign-data", arg: "PATTERN", group: content, help: "rows of the foreign tables of these servers too", set: appendTo(&c.IncludeForeignData)},
		{long: "inserts", group: content, help: "rows as INSERT commands", set: setTrue(&d.inserts)},
		{long: "load-via-partition-root", group: content, help: "load the rows of partitions through the root table", set: setTrue(&c.LoadViaPartitionRoot)},
		{long: "no-comments", group: content, help: "no comments on objects", set: setTrue(&c.NoComments)},
		{long: "no-data", group: content, help: "no rows", set: setTrue(&d.parts.noData)},
		{long: "no-policies", group: content, help: "no row security policies", set: setTrue(&c.NoPolicies)},
		{long: "no-publications", group: content, help: "no publications", set: setTrue(&c.NoPublications)},
		{long: "no-schema", group: content, help: "no definitions", set: setTrue(&d.parts.noSchema)},
		{long: "no-security-labels", group: content, help: "no security labels", set: setTrue(&c.NoSecurityLabels)},
		{long: "no-statistics", group: content, help: "no planner statistics (the default)", set: setTrue(&d.parts.noStatistics)},
		{long: "no-subscriptions", group: content, help: "no subscriptions", set: setTrue(&c.NoSubscriptions)},
		{long: "no-table-access-method", group: content, help: "do not name table access methods", set: setTrue(&c.NoTableAccessMethod)},
		{long: "no-tablespaces", group: content, help: "do not name tablespaces", set: setTrue(&c.NoTablespaces)},
		{long: "no-toast-compression", group: content, help: "do not name compression methods of columns", set: setTrue(&c.NoToastCompression)},
		{long: "no-unlogged-table-data", group: content, help: "no rows of unlogged tables", set: setTrue(&c.NoUnloggedTableData)},
		{long: "on-conflict-do-nothing", group: content, help: "add ON CONFLICT DO NOTHING to INSERT commands", set: setTrue(&c.OnConflictDoNothing)},
		{long: "quote-all-identifiers", group: content, help: "quote every name, key word or not", set: setTrue(&c.QuoteAllIdentifiers)},
		{long: "restrict-key", arg: "KEY", group: content, help: "key of the \\restrict command of a plain text dump", set: setString(&d.script.RestrictKey)},
		{long: "rows-per-insert", arg: "N", group: content, help: "rows in one INSERT command; implies --inserts", set: setInt(&c.RowsPerInsert, "--rows-per-insert", 1, math.MaxInt32)},
		{long: "section", arg: "SECTION", group: content, help: "only this section: pre-data, data or post-data", set: setSection(&d.script.Sections)},
		{long: "sequence-data", group: content, help: "values of sequences even without rows", set: setTrue(&c.SequenceData)},
		{long: "serializable-deferrable", group: content, help: "wait for a moment without anomalies", set: setTrue(&d.Options.SerializableDeferrable)},
		{long: "snapshot", arg: "ID", group: content, help: "dump what this exported snapshot sees", set: setString(&d.Options.Snapshot)},
		{long: "statistics", group: content, help: "planner statistics too", set: setTrue(&d.parts.withStatistics)},
		{long: "statistics-only", group: content, help: "only planner statistics", set: setTrue(&d.parts.statisticsOnly)},
		{long: "strict-names", group: content, help: "fail when a pattern of tables or schemas matches nothing", set: setTrue(&c.StrictNames)},
		{long: "table-and-children", arg: "PATTERN", group: content, help: "only these tables, their partitions and children", set: appendTo(&c.IncludeTablesAndChildren)},
		{long: "use-set-session-authorization", group: content, help: "set owners by SET SESSION AUTHORIZATION, not ALTER ... OWNER", set: setTrue(&d.script.UseSetSessionAuth)},
	}
	t = append(t, d.Connection.options("Connection")...)
	t = append(t, option{long: "role", arg: "NAME", group: "Connection", help: "SET ROLE to this role after connecting", set: setString(&d.Options.Role)})
	if !p.Stock {
		const own = "Beyond pg_dump"
		t = append(t,
			option{long: "json", group: own, help: "print the result as JSON on standard output, progress as JSON lines on standard error", set: setTrue(&d.JSON)},
			option{long: "quiet", group: own, help: "no progress", set: setTrue(&d.Quiet)},
			option{long: "piece-size", arg: "SIZE", group: own, help: "cut tables into pieces of about this size, such as 64MB (by default 8MB to 64MB, by the size of all); 0 does not cut", set: setString(&d.pieceSize)},
			option{long: "copy-format", arg: "FORMAT", group: own, help: "form of the rows in an archive: text (the default), binary, or auto: binary where that is safe. Binary is faster, cannot become a script, and is restored by the same major version", set: setString(&d.copyFormat)},
			option{long: "no-manifest", group: own, help: "do not put counts and digests of all rows into the archive", set: setTrue(&d.Options.NoManifest)},
		)
	}
	return t
}

// maxJobs is PG_MAX_JOBS.
const maxJobs = math.MaxInt32

func newDump() Dump { return Dump{script: *pgarchive.NewScriptOptions()} }

// ParseDump reads a command line of pg_dump.
func ParseDump(p Program, args []string) (*Dump, error) {
	d := new(Dump)
	*d = newDump()
	operands, err := parse(d.table(p), args)
	if err != nil {
		return nil, err
	}
	if len(operands) > 0 && d.DBName == "" {
		d.DBName, operands = operands[0], operands[1:]
	}
	if len(operands) > 0 {
		return nil, tooMany(operands[0])
	}
	return d, d.check(p)
}

func tooMany(first string) error {
	return &UsageError{Text: "too many command-line arguments (first is \"" + first + "\")", TryHelp: true}
}

// maxDefaultJobs bounds the number of connections that nobody asked for.
const maxDefaultJobs = 16

// setJobs gives the commands of our own as many jobs as there are processors, and lets a single file
// be written by all of them.
func (d *Dump) setJobs(p Program, foreign bool) error {
	o := &d.Options
	o.Reconnect = !p.Stock && !foreign
	switch {
	case o.Jobs == 0 && p.Stock, o.Jobs == 0 && foreign:
		return nil
	case o.Jobs == 0:
		o.Jobs, o.FewerJobs = min(runtime.GOMAXPROCS(0), maxDefaultJobs), true
	case o.Jobs == 1 || o.Format == pgarchive.FormatDirectory:
	case p.Stock:
		return usagef("parallel backup only supported by the directory format")
	case o.Format != pgarchive.FormatCustom:
		return usagef("parallel backup only supported by the directory and custom formats")
	}
	return nil
}

func (d *Dump) check(p Program) error {
	c := &d.Options.Options
	if err := d.parts.check(); err != nil {
		return err
	}
	foreign := len(c.IncludeForeignData) > 0
	switch {
	case d.parts.schemaOnly && foreign:
		return together("-s/--schema-only", "--include-foreign-data")
	case d.Options.Jobs > 1 && foreign:
		return usagef("option --include-foreign-data is not supported with parallel backup")
	case d.parts.dataOnly && c.Clean:
		return together("-c/--clean", "-a/--data-only")
	case c.IfExists && !c.Clean:
		return usagef("option --if-exists requires option -c/--clean")
	}
	c.Inserts = d.inserts || d.columnInserts || c.RowsPerInsert > 0
	c.ColumnInserts = d.columnInserts
	if c.OnConflictDoNothing && !c.Inserts {
		return usagef("option --on-conflict-do-nothing requires option --inserts, --rows-per-insert, or --column-inserts")
	}
	c.NoData = !d.parts.data()
	c.NoSchema = !d.parts.schema()
	c.Statistics = d.parts.statistics(false)

	if err := d.setFormat(); err != nil {
		return err
	}
	plain := d.Options.Format == pgarchive.FormatPlain
	switch {
	case d.script.RestrictKey != "" && !plain:
		return usagef("option --restrict-key can only be used with --format=plain")
	case d.script.RestrictKey != "" && pgarchive.CheckRestrictKey(d.script.RestrictKey) != nil:
		return usagef("invalid restrict key")
	}
	if err := d.setCompression(p); err != nil {
		return err
	}
	if !plain {
		c.Create = true // so that a restore can be asked for --create
	}
	if err := d.setJobs(p, foreign); err != nil {
		return err
	}
	if d.Options.Format == pgarchive.FormatDirectory && d.Options.File == "" {
		return usagef("no output directory specified")
	}
	d.fillScript()
	if err := d.setCopyFormat(); err != nil {
		return err
	}
	return d.setPieceSize()
}

// fillScript says how the script of the plain format looks, and which entries
// are left out in every format.
func (d *Dump) fillScript() {
	c, s := &d.Options.Options, &d.script
	s.DumpSchema, s.DumpData, s.DumpStatistics = !c.NoSchema, !c.NoData, c.Statistics
	s.NoPrivileges, s.NoComments, s.NoPolicies = c.NoPrivileges, c.NoComments, c.NoPolicies
	s.NoPublications, s.NoSecurityLabels, s.NoSubscriptions = c.NoPublications, c.NoSecurityLabels, c.NoSubscriptions
	s.CreateDB, s.SequenceData, s.BinaryUpgrade = c.Create, c.SequenceData, c.BinaryUpgrade
	s.Clean, s.IfExists, s.NoOwner = c.Clean, c.IfExists, c.NoOwner
	s.NoTablespaces, s.NoTableAM = c.NoTablespaces, c.NoTableAccessMethod
	s.DisableTriggers, s.EnableRowSecurity = c.DisableTriggers, c.EnableRowSecurity
	s.QuoteAll, s.Role, s.Encoding = c.QuoteAllIdentifiers, d.Options.Role, d.Options.Encoding
	s.Verbose = d.Verbose > 0
	d.Options.Script = s
}

func (d *Dump) setCopyFormat() error {
	if d.copyFormat == "" {
		return nil
	}
	f, err := dump.ParseCopyFormat(d.copyFormat)
	if err != nil {
		return usagef("%s", err)
	}
	switch {
	case f == dump.CopyText:
	case d.Options.Format == pgarchive.FormatPlain:
		return usagef("--copy-format=%s is for archives: rows in COPY's binary form cannot stand in a script; choose -Fc, -Fd or -Ft", f)
	case d.Options.Inserts:
		return usagef("--copy-format=%s and rows as INSERT commands cannot be used together", f)
	}
	d.Options.CopyFormat = f
	return nil
}

func (d *Dump) setPieceSize() error {
	if d.pieceSize == "" {
		return nil
	}
	n, err := parseSize(d.pieceSize)
	if err != nil {
		return err
	}
	if d.Options.PieceBytes = n; n == 0 {
		d.Options.PieceBytes = -1
	}
	return nil
}

// parseSize reads a size in bytes, or with a unit as PostgreSQL writes them: kB, MB, GB, TB.
func parseSize(text string) (int64, error) {
	units := []struct {
		name  string
		shift uint
	}{{"TB", 40}, {"GB", 30}, {"MB", 20}, {"kB", 10}, {"B", 0}, {"", 0}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64>>u.shift {
			break
		}
		return n << u.shift, nil
	}
	return 0, usagef("invalid size \"%s\": give a number of bytes, or one with kB, MB, GB or TB", text)
}

func (d *Dump) setFormat() error {
	switch strings.ToLower(d.format) {
	case "", "p", "plain":
		d.Options.Format = pgarchive.FormatPlain
	case "c", "custom":
		d.Options.Format = pgarchive.FormatCustom
	case "d", "directory":
		d.Options.Format = pgarchive.FormatDirectory
	case "t", "tar":
		d.Options.Format = pgarchive.FormatTar
	default:
		return usagef("invalid output format \"%s\" specified", d.format)
	}
	return nil
}

// ownCompression is the default of our own commands: smaller than pg_dump's gzip in a fraction of the time.
const ownCompression = "zstd:1"

func (d *Dump) setCompression(p Program) error {
	text := d.compress
	if text == "" {
		text = "none"
		if d.Options.Format == pgarchive.FormatCustom || d.Options.Format == pgarchive.FormatDirectory {
			text = ownCompression
			if p.Stock {
				text = "gzip"
			} else {
				d.Options.OldCompression = &codec.Spec{Method: codec.Gzip, Level: 1, HasLevel: true}
			}
		}
	}
	spec, err := codec.Parse(text)
	if err != nil {
		return usagef("%s", err)
	}
	if spec.HasWorkers {
		d.Warnings = append(d.Warnings, "compression option \"workers\" is not currently supported by pg_dump")
	}
	if d.Options.Format == pgarchive.FormatTar && spec.Method != codec.None {
		return usagef("compression is not supported by tar archive format")
	}
	d.Options.Compression = spec
	return nil
}

func setSyncMethod(v string) error {
	if v != "fsync" && v != "syncfs" {
		return usagef("unrecognized sync method: %s", v)
	}
	return nil
}

// filter takes one item of a filter file.
func (d *Dump) filter(it filterItem) bool {
	c := &d.Options.Options
	lists := map[string][2]*[]string{ // include, exclude
		"extension":               {&c.IncludeExtensions, &c.ExcludeExtensions},
		"foreign_data":            {&c.IncludeForeignData, nil},
		"schema":                  {&c.IncludeSchemas, &c.ExcludeSchemas},
		"table":                   {&c.IncludeTables, &c.ExcludeTables},
		"table_and_children":      {&c.IncludeTablesAndChildren, &c.ExcludeTablesAndChildren},
		"table_data":              {nil, &c.ExcludeTableData},
		"table_data_and_children": {nil, &c.ExcludeTableDataAndChildren},
	}
	list := lists[it.kind][1]
	if it.include {
		list = lists[it.kind][0]
	}
	if list == nil {
		return false
	}
	*list = append(*list, it.pattern)
	return true
}

func setSection(p *[]pgarchive.Section) func(string) error {
	return func(v string) error {
		switch v {
		case "pre-data":
			*p = append(*p, pgarchive.SectionPreData)
		case "data":
			*p = append(*p, pgarchive.SectionData)
		case "post-data":
			*p = append(*p, pgarchive.SectionPostData)
		default:
			return &UsageError{Text: "unrecognized section name: \"" + v + "\"", TryHelp: true}
		}
		return nil
	}
}

// DumpHelp is the help text of pg_dump under the program's name.
func DumpHelp(p Program) string {
	return help(p.Name+" writes a PostgreSQL database into a file from which it can be restored.\n\nUsage:\n  "+
		p.Name+" [OPTION]... [DBNAME]\n", new(Dump).table(p), `
A pattern may hold * and ?, as in psql, and may be given more than once. Without
a database name, the PGDATABASE environment variable says which one.

Exit status: 0 when the dump is complete, 1 when it failed. A dump that failed
leaves no file behind.
`)
}
