package pgflags

import (
	"io"

	"github.com/pghaul/pghaul/internal/pg"
)

// Program says under which name a command line is read. The names differ in the
// texts they print and in what they refuse.
type Program struct {
	Name string // "pg_dump", "pghaul dump"
	// Stock is set when the binary is called by the name of the program it stands in
	// for. It then refuses what that program refuses, and has none of our own options.
	Stock bool
	Stdin io.Reader // for filters read from "-"
}

// Connection is what the command line says of the server.
type Connection struct {
	DBName string // database name or connection string
	Server pg.Overrides
}

func (c *Connection) options(group string) []option {
	s := &c.Server
	return []option{
		{short: 'd', long: "dbname", arg: "DBNAME", group: group, help: "database name, or a connection string or URI", set: setString(&c.DBName)},
		{short: 'h', long: "host", arg: "HOST", group: group, help: "server's host name, or the folder of its Unix socket", set: setString(&s.Host)},
		{short: 'p', long: "port", arg: "PORT", group: group, help: "server's port", set: setString(&s.Port)},
		{short: 'U', long: "username", arg: "NAME", group: group, help: "role to connect as", set: setString(&s.User)},
		{short: 'w', long: "no-password", group: group, help: "never ask for a password", set: func(string) error { s.Prompt = pg.PromptNever; return nil }},
		{short: 'W', long: "password", group: group, help: "ask for a password before connecting", set: func(string) error { s.Prompt = pg.PromptAlways; return nil }},
	}
}

// parts are the three parts of a database, with the options that choose among them.
type parts struct {
	dataOnly, schemaOnly, statisticsOnly bool
	noData, noSchema, noStatistics       bool
	withStatistics                       bool
}

// check refuses combinations that say nothing.
func (p *parts) check() error {
	const data, schema, stats = "-a/--data-only", "-s/--schema-only", "--statistics-only"
	for _, c := range []struct {
		a, b         bool
		aName, bName string
	}{
		{p.schemaOnly, p.dataOnly, schema, data},
		{p.schemaOnly, p.statisticsOnly, schema, stats},
		{p.dataOnly, p.statisticsOnly, data, stats},
		{p.dataOnly, p.noData, data, "--no-data"},
		{p.schemaOnly, p.noSchema, schema, "--no-schema"},
		{p.statisticsOnly, p.noStatistics, stats, "--no-statistics"},
		{p.withStatistics, p.noStatistics, "--statistics", "--no-statistics"},
		{p.dataOnly, p.withStatistics, data, "--statistics"},
		{p.schemaOnly, p.withStatistics, schema, "--statistics"},
	} {
		if c.a && c.b {
			return together(c.aName, c.bName)
		}
	}
	return nil
}

func together(a, b string) error {
	return usagef("options %s and %s cannot be used together", a, b)
}

// data, schema and statistics say whether that part is wanted; byDefault is whether
// statistics are when no option speaks of them.
func (p *parts) data() bool {
	return (!p.schemaOnly && !p.statisticsOnly || p.dataOnly) && !p.noData
}

func (p *parts) schema() bool {
	return (!p.dataOnly && !p.statisticsOnly || p.schemaOnly) && !p.noSchema
}

func (p *parts) statistics(byDefault bool) bool {
	return (byDefault && !p.schemaOnly && !p.dataOnly || p.statisticsOnly || p.withStatistics) && !p.noStatistics
}
