package pgflags

import (
	"math"
	"strings"

	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

// Restore is the command line of pg_restore.
type Restore struct {
	Connection

	Input   string // archive; empty: standard input
	File    string // output script or list; "-" is standard output
	HasFile bool
	Format  pgarchive.Format // 0: to be detected
	List    bool

	Options restore.Options

	Verbose int

	JSON       bool // our own: result as JSON on stdout
	NoProgress bool
	DryRun     bool // our own: print the plan

	Snapshot string // our own: which backup of a store
	Keys     Keys   // our own: what opens it
	Down     int64  // our own: bytes per second from a store; 0: no limit

	// Our own: what is done about the target, and about roles that it lacks.
	IntoSource, IntoNonempty, IntoOlder bool
	Yes                                 bool   // do not ask
	Confirm                             string // the name of the database that is meant
	Roles                               string // create, require, skip; "": the default

	format, limit string
}

func (r *Restore) table(p Program) []option {
	const general, content = "General options", "What is restored, and how"
	t := []option{
		{short: 'f', long: "file", arg: "FILE", group: general, help: "write an SQL script, or with -l the list, to this file (- is standard output)", set: func(v string) error { r.File, r.HasFile = v, true; return nil }},
		{short: 'F', long: "format", arg: "c|d|t", group: general, help: "format of the archive (normally found out)", set: setString(&r.format)},
		{short: 'l', long: "list", group: general, help: "print the archive's table of contents", set: setTrue(&r.List)},
		{short: 'v', long: "verbose", group: general, help: "say what is being done", set: func(string) error { r.Verbose++; return nil }},
		{short: 'V', long: "version", group: general, help: "print the version and exit", whole: true, set: func(string) error { return ErrVersion }},
		{short: '?', long: "help", group: general, help: "print this text and exit", whole: true, set: func(string) error { return ErrHelp }},

		{short: 'a', long: "data-only", group: content, help: "only rows, large objects and sequence values", set: setTrue(&r.Options.DataOnly)},
		{short: 'c', long: "clean", group: content, help: "drop the objects before they are made", set: setTrue(&r.Options.Clean)},
		{short: 'C', long: "create", group: content, help: "create the archive's database and restore into it", set: setTrue(&r.Options.Create)},
		{short: 'e', long: "exit-on-error", group: content, help: "stop at the first error; otherwise errors are counted", set: setTrue(&r.Options.ExitOnError)},
		{short: 'I', long: "index", arg: "NAME", group: content, help: "only this index", set: appendTo(&r.Options.Indexes)},
		{short: 'j', long: "jobs", arg: "N", group: content, help: "do up to this many things at once", set: setInt(&r.Options.Jobs, "-j/--jobs", 1, maxJobs)},
		{short: 'L', long: "use-list", arg: "FILE", group: content, help: "take the entries and their order from an edited list", set: setString(&r.Options.ListFile)},
		{short: 'n', long: "schema", arg: "NAME", group: content, help: "only what is in this schema", set: appendTo(&r.Options.Schemas)},
		{short: 'N', long: "exclude-schema", arg: "NAME", group: content, help: "not what is in this schema", set: appendTo(&r.Options.ExcludeSchemas)},
		{short: 'O', long: "no-owner", group: content, help: "leave the owners to be the connected role", set: setTrue(&r.Options.NoOwner)},
		{short: 'R', long: "no-reconnect", set: ignore},
		{short: 'P', long: "function", arg: "NAME(ARGS)", group: content, help: "only this function", set: appendTo(&r.Options.Functions)},
		{short: 's', long: "schema-only", group: content, help: "only definitions, no rows", set: setTrue(&r.Options.SchemaOnly)},
		{short: 'S', long: "superuser", arg: "NAME", group: content, help: "superuser that --disable-triggers works as", set: setString(&r.Options.Superuser)},
		{short: 't', long: "table", arg: "NAME", group: content, help: "only this table, view or sequence", set: appendTo(&r.Options.Tables)},
		{short: 'T', long: "trigger", arg: "NAME", group: content, help: "only this trigger", set: appendTo(&r.Options.Triggers)},
		{short: 'x', long: "no-privileges", group: content, help: "no GRANT and REVOKE", set: setTrue(&r.Options.NoPrivileges)},
		{long: "no-acl", same: "no-privileges", set: setTrue(&r.Options.NoPrivileges)},
		{short: '1', long: "single-transaction", group: content, help: "all or nothing: one transaction", set: func(string) error { r.Options.SingleTransaction, r.Options.ExitOnError = true, true; return nil }},
		{long: "disable-triggers", group: content, help: "switch triggers off while rows are loaded", set: setTrue(&r.Options.DisableTriggers)},
		{long: "enable-row-security", group: content, help: "load rows under row security", set: setTrue(&r.Options.EnableRowSecurity)},
		{long: "filter", arg: "FILE", group: content, help: "read what to include and exclude from a file", set: func(v string) error { return readFilter(v, p.Stdin, r.filter) }},
		{long: "if-exists", group: content, help: "with --clean: drop only what exists", set: setTrue(&r.Options.IfExists)},
		{long: "no-comments", group: content, help: "no comments on objects", set: setTrue(&r.Options.NoComments)},
		{long: "no-data", group: content, help: "no rows", set: setTrue(&r.Options.NoData)},
		{long: "no-data-for-failed-tables", group: content, help: "no rows for tables that could not be created", set: setTrue(&r.Options.NoDataForFailedTables)},
		{long: "no-policies", group: content, help: "no row security policies", set: setTrue(&r.Options.NoPolicies)},
		{long: "no-publications", group: content, help: "no publications", set: setTrue(&r.Options.NoPublications)},
		{long: "no-schema", group: content, help: "no definitions", set: setTrue(&r.Options.NoSchema)},
		{long: "no-security-labels", group: content, help: "no security labels", set: setTrue(&r.Options.NoSecurityLabels)},
		{long: "no-statistics", group: content, help: "no planner statistics", set: setTrue(&r.Options.NoStatistics)},
		{long: "no-subscriptions", group: content, help: "no subscriptions", set: setTrue(&r.Options.NoSubscriptions)},
		{long: "no-table-access-method", group: content, help: "do not set table access methods", set: setTrue(&r.Options.NoTableAM)},
		{long: "no-tablespaces", group: content, help: "do not set tablespaces", set: setTrue(&r.Options.NoTablespaces)},
		{long: "restrict-key", arg: "KEY", group: content, help: "key of the \\restrict command of a script", set: setString(&r.Options.RestrictKey)},
		{long: "section", arg: "SECTION", group: content, help: "only this section: pre-data, data or post-data", set: setSection(&r.Options.Sections)},
		{long: "statistics", group: content, help: "planner statistics (the default when the archive has them)", set: setTrue(&r.Options.Statistics)},
		{long: "statistics-only", group: content, help: "only planner statistics", set: setTrue(&r.Options.StatisticsOnly)},
		{long: "strict-names", group: content, help: "fail when a name of a table or schema matches nothing", set: setTrue(&r.Options.StrictNames)},
		{long: "transaction-size", arg: "N", group: content, help: "commit after this many objects", set: func(v string) error {
			r.Options.ExitOnError = true
			return setInt(&r.Options.TransactionSize, "--transaction-size", 1, math.MaxInt32)(v)
		}},
		{long: "use-set-session-authorization", group: content, help: "set owners by SET SESSION AUTHORIZATION, not ALTER ... OWNER", set: setTrue(&r.Options.UseSetSessionAuthorization)},
	}
	t = append(t, r.Connection.options("Connection")...)
	t = append(t, option{long: "role", arg: "NAME", group: "Connection", help: "SET ROLE to this role after connecting", set: setString(&r.Options.Role)})
	if !p.Stock {
		const own = "Beyond pg_restore"
		t = append(t,
			option{long: "json", group: own, help: "print the result as JSON on standard output, progress as JSON lines on standard error", set: setTrue(&r.JSON)},
			option{long: "quiet", group: own, help: "no progress", set: setTrue(&r.NoProgress)},
			option{long: "analyze", group: own, help: "with --jobs: gather planner statistics of each table when it is complete", set: setTrue(&r.Options.Analyze)},
			option{long: "snapshot", arg: "ID", group: own, help: "which backup of a store: latest (the default), ID, DATABASE/latest or DATABASE/ID", set: setString(&r.Snapshot)},
			option{long: "limit-download", arg: "SIZE", group: own, help: "get no more than this much a second from a store, such as 20MB", set: setString(&r.limit)},
			option{long: "resume", group: own, help: "go on with a restore of this archive into this database that was interrupted", set: setTrue(&r.Options.Resume)},
			option{long: "dry-run", group: own, help: "print what would be restored, in which order, with --dbname also what the target is like, and stop", set: setTrue(&r.DryRun)},
			option{long: "roles", arg: "MODE", group: own, help: "roles that the server lacks: create them without login (the default for a backup in a store), require them, or skip what is theirs", set: func(v string) error {
				switch v {
				case "create", "require", "skip":
					r.Roles = v
					return nil
				}
				return usagef("--roles is create, require or skip, not \"%s\"", v)
			}},
			option{long: "map-role", arg: "OLD=NEW", group: own, help: "give to the role NEW what belongs to or was granted to OLD; may be given more than once", set: r.mapRole},
			option{long: "into-source", group: own, help: "restore into the database the backup was taken from", set: setTrue(&r.IntoSource)},
			option{long: "into-nonempty", group: own, help: "restore into a database that has objects already", set: setTrue(&r.IntoNonempty)},
			option{long: "into-older", group: own, help: "restore a backup in a store into a server that is older than its source", set: setTrue(&r.IntoOlder)},
			option{long: "yes", group: own, help: "do not ask whether the database is the right one", set: setTrue(&r.Yes)},
			option{long: "confirm", arg: "NAME", group: own, help: "do not ask, and stop if the database is not called that", set: setString(&r.Confirm)},
		)
		t = append(t, keyOptions(own, r.Keys.Flags())...)
	}
	return t
}

// ParseRestore reads a command line of pg_restore.
func ParseRestore(p Program, args []string) (*Restore, error) {
	r := &Restore{}
	operands, err := parse(r.table(p), args)
	if err != nil {
		return nil, err
	}
	if len(operands) > 0 {
		r.Input, operands = operands[0], operands[1:]
	}
	if len(operands) > 0 {
		return nil, tooMany(operands[0])
	}
	return r, r.check(p)
}

func (r *Restore) check(p Program) error {
	if r.DBName == "" && !r.HasFile && !r.List && !r.DryRun {
		return usagef("one of -d/--dbname and -f/--file must be specified")
	}
	if r.DBName != "" && r.HasFile {
		return &UsageError{Text: "options -d/--dbname and -f/--file cannot be used together", TryHelp: true}
	}
	if r.Options.RestrictKey != "" {
		if r.DBName != "" {
			return together("-d/--dbname", "--restrict-key")
		}
		if pgarchive.CheckRestrictKey(r.Options.RestrictKey) != nil {
			return usagef("invalid restrict key")
		}
	}
	if err := r.Options.Check(); err != nil {
		return usagef("%s", err)
	}
	if err := r.Keys.Check(); err != nil {
		return err
	}
	if r.limit != "" {
		var err error
		if r.Down, err = parseSize(r.limit); err != nil {
			return err
		}
	}
	r.Options.Verbose = r.Verbose > 0
	r.Options.NoParallelStream = p.Stock
	r.Options.Fast = !p.Stock
	r.Options.Ledger = !p.Stock && r.DBName != ""
	if r.Options.Resume {
		if why := r.noLedger(); why != "" {
			return usagef("--resume is not possible %s", why)
		}
	}
	switch strings.ToLower(r.format) {
	case "":
	case "c", "custom":
		r.Format = pgarchive.FormatCustom
	case "d", "directory":
		r.Format = pgarchive.FormatDirectory
	case "t", "tar":
		r.Format = pgarchive.FormatTar
	case "p", "plain":
		return usagef("archive format \"%s\" is not supported; please use psql", r.format)
	default:
		return usagef("unrecognized archive format \"%s\"; please specify \"c\", \"d\", or \"t\"", r.format)
	}
	return nil
}

// mapRole takes OLD=NEW.
func (r *Restore) mapRole(v string) error {
	from, to, ok := strings.Cut(v, "=")
	if !ok || from == "" || to == "" {
		return usagef("--map-role takes OLD=NEW, not \"%s\"", v)
	}
	if r.Options.RoleMap == nil {
		r.Options.RoleMap = make(map[string]string)
	}
	if was, ok := r.Options.RoleMap[from]; ok && was != to {
		return usagef("--map-role maps \"%s\" twice, to \"%s\" and \"%s\"", from, was, to)
	}
	r.Options.RoleMap[from] = to
	return nil
}

// noLedger says why a restore cannot be resumed; "" if it can.
func (r *Restore) noLedger() string {
	switch o := &r.Options; {
	case r.DBName == "":
		return "without a database to restore into (-d/--dbname)"
	case o.SingleTransaction:
		return "with -1/--single-transaction, of which nothing stays when it is interrupted"
	case o.TransactionSize > 0:
		return "with --transaction-size"
	case o.UseSetSessionAuthorization:
		return "with --use-set-session-authorization"
	case o.Superuser != "":
		return "with -S/--superuser"
	}
	return ""
}

// filter takes one item of a filter file.
func (r *Restore) filter(it filterItem) bool {
	list := map[string]*[]string{
		"function": &r.Options.Functions, "index": &r.Options.Indexes, "schema": &r.Options.Schemas,
		"table": &r.Options.Tables, "trigger": &r.Options.Triggers,
	}[it.kind]
	if !it.include {
		if it.kind != "schema" {
			return false
		}
		list = &r.Options.ExcludeSchemas
	}
	if list == nil {
		return false
	}
	*list = append(*list, it.pattern)
	return true
}

// RestoreHelp is the help text of pg_restore under the program's name.
func RestoreHelp(p Program) string {
	what := "The archive is a file, a folder in directory format, or standard input."
	status := "Exit status: 0 when everything was restored, 1 when there was any error.\n"
	if !p.Stock {
		what = "The archive is a file, a folder in directory format, standard input, or the\n" +
			"address of a store with backups (file:///folder, s3://bucket/prefix)."
		status = `A restore that was interrupted goes on with --resume. The target is refused if
it is the backup's own source or, for a whole restore, not empty.

Exit status: 0 when everything was restored; 1 when there was any error, the
target was refused, or a statement was left out for want of a role (unless
--roles=skip); 2 when the command line is wrong; 130 when interrupted.
`
	}
	return help(p.Name+" restores a database from an archive of pg_dump or pghaul.\n\nUsage:\n  "+
		p.Name+" [OPTION]... [FILE]\n", new(Restore).table(p), "\n"+what+`
-I, -n, -N, -P, -t, -T and --section may be given more than once and together.

`+status)
}
