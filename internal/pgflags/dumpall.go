package pgflags

import (
	"strings"

	"github.com/pghaul/pghaul/internal/dumpall"
)

// Dumpall is the command line of pg_dumpall.
type Dumpall struct {
	dump Dump // the options that say how each database is dumped

	File     string
	Options  dumpall.Options
	Database string // -l: the database from which the globals are read
	Verbose  int
}

// Connection returns what the command line says of the server.
func (d *Dumpall) Connection() *Connection { return &d.dump.Connection }

// sharedWithDump are the options that mean the same as pg_dump's.
const sharedWithDump = " verbose version lock-wait-timeout no-sync help" +
	" data-only encoding no-owner schema-only superuser no-privileges no-acl binary-upgrade column-inserts attribute-inserts" +
	" disable-dollar-quoting disable-triggers extra-float-digits inserts load-via-partition-root" +
	" no-comments no-data no-policies no-publications no-schema no-security-labels no-statistics no-subscriptions" +
	" no-table-access-method no-tablespaces no-toast-compression no-unlogged-table-data on-conflict-do-nothing" +
	" quote-all-identifiers restrict-key rows-per-insert sequence-data statistics statistics-only" +
	" use-set-session-authorization host port username no-password password role "

func (d *Dumpall) table(p Program) []option {
	o := &d.Options
	const general, content, connection = "General options", "What goes into the dump", "Connection"
	own := []option{
		{short: 'f', long: "file", arg: "FILE", group: general, help: "where the script goes", set: setString(&d.File)},
		{short: 'c', long: "clean", group: content, help: "begin with commands that drop databases, roles and tablespaces", set: setTrue(&o.Clean)},
		{short: 'g', long: "globals-only", group: content, help: "only roles and tablespaces, no databases", set: setTrue(&o.GlobalsOnly)},
		{short: 'r', long: "roles-only", group: content, help: "only roles", set: setTrue(&o.RolesOnly)},
		{short: 't', long: "tablespaces-only", group: content, help: "only tablespaces", set: setTrue(&o.TablespacesOnly)},
		{long: "exclude-database", arg: "PATTERN", group: content, help: "not these databases", set: appendTo(&o.ExcludeDatabases)},
		{long: "filter", arg: "FILE", group: content, help: "read which databases to exclude from a file", set: func(v string) error { return readFilter(v, p.Stdin, d.filter) }},
		{long: "if-exists", group: content, help: "with --clean: drop only what exists", set: setTrue(&o.IfExists)},
		{long: "no-role-passwords", group: content, help: "no passwords of roles, which only superusers can read", set: setTrue(&o.NoRolePasswords)},
		{short: 'd', long: "dbname", arg: "CONNSTR", group: connection, help: "connection string or URI", set: setString(&d.dump.DBName)},
		{short: 'l', long: "database", arg: "DBNAME", group: connection, help: "database to read roles and tablespaces from", set: setString(&d.Database)},
	}
	shared := d.dump.table(Program{Name: p.Name, Stock: true, Stdin: p.Stdin})
	var all []option
	for _, group := range []string{general, content, connection} {
		for _, o := range own {
			if o.group == group {
				all = append(all, o)
			}
		}
		for _, o := range shared {
			// pg_dumpall, as pg_restore and unlike pg_dump, looks for these two before it parses the others
			o.whole = o.long == "help" || o.long == "version"
			if strings.Contains(sharedWithDump, " "+o.long+" ") && (o.group == group || o.group == "" && group == content) {
				all = append(all, o)
			}
		}
	}
	return all
}

// filter takes one item of a filter file: databases can be excluded, nothing else.
func (d *Dumpall) filter(it filterItem) bool {
	if it.include || it.kind != "database" {
		return false
	}
	d.Options.ExcludeDatabases = append(d.Options.ExcludeDatabases, it.pattern)
	return true
}

// ParseDumpall reads a command line of pg_dumpall.
func ParseDumpall(p Program, args []string) (*Dumpall, error) {
	d := new(Dumpall)
	d.dump = newDump()
	operands, err := parse(d.table(p), args)
	if err != nil {
		return nil, err
	}
	if len(operands) > 0 {
		return nil, tooMany(operands[0])
	}
	o := &d.Options
	const globals, roles, spaces = "-g/--globals-only", "-r/--roles-only", "-t/--tablespaces-only"
	only := func(a, b string) error {
		return &UsageError{Text: "options " + a + " and " + b + " cannot be used together", TryHelp: true}
	}
	switch {
	case len(o.ExcludeDatabases) > 0 && (o.GlobalsOnly || o.RolesOnly || o.TablespacesOnly):
		return nil, &UsageError{Text: "option --exclude-database cannot be used together with " + globals + ", " + roles + ", or " + spaces, TryHelp: true}
	case o.GlobalsOnly && o.RolesOnly:
		return nil, only(globals, roles)
	case o.GlobalsOnly && o.TablespacesOnly:
		return nil, only(globals, spaces)
	case o.IfExists && !o.Clean:
		return nil, usagef("option --if-exists requires option -c/--clean")
	case o.RolesOnly && o.TablespacesOnly:
		return nil, only(roles, spaces)
	}
	if err := d.dump.check(p); err != nil {
		return nil, err
	}
	d.Verbose = d.dump.Verbose
	o.Database, o.Verbose = d.dump.Options, d.Verbose > 0
	return d, nil
}

// DumpallHelp is the help text of pg_dumpall under the program's name.
func DumpallHelp(p Program) string {
	d := new(Dumpall)
	return help(p.Name+" writes a whole PostgreSQL server, roles and tablespaces too, as an SQL script.\n\nUsage:\n  "+
		p.Name+" [OPTION]...\n", d.table(p), `
Without -f the script goes to standard output.

Exit status: 0 when the script is complete, 1 when it failed.
`)
}
