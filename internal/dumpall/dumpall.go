package dumpall

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Options say what of the cluster is wanted. The zero value wants everything.
type Options struct {
	// Database says how each database is dumped. Its Script must be set; Format, File and
	// Jobs are not looked at.
	Database dump.Options

	GlobalsOnly, RolesOnly, TablespacesOnly bool

	Clean, IfExists bool // drop databases, roles and tablespaces first
	NoRolePasswords bool // read pg_roles, which everyone may, instead of pg_authid

	ExcludeDatabases []string // patterns as psql takes them

	Verbose bool // more comments in the script

	// Info and Warn take messages, without prefix; nil: none.
	Info, Warn func(message string)
	// Warning takes what is odd about a database; nil: Warn takes its text.
	Warning func(catalog.Warning)
}

// Run writes the script to w. config names the database from which the globals are read.
func Run(ctx context.Context, config *pg.Config, w io.Writer, o Options) error {
	conn, err := pg.Connect(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if err := dump.CheckVersion(conn.VersionString(), conn.Version(), nil); err != nil {
		return err // the dump of each database warns of newer ones
	}
	out := bufio.NewWriterSize(w, 64<<10)
	c := &cluster{
		ctx: ctx, config: config, conn: conn, o: &o, out: out,
		quote: sqltext.Quoter{All: o.Database.QuoteAllIdentifiers},
		roles: "pg_catalog.pg_authid",
	}
	if o.NoRolePasswords {
		c.roles = "pg_catalog.pg_roles"
	}
	if err := c.run(); err != nil {
		return err
	}
	return out.Flush()
}

// cluster is the state of one Run. A failed write is kept by out.
type cluster struct {
	ctx    context.Context
	config *pg.Config
	conn   *pg.Conn
	o      *Options
	out    *bufio.Writer
	quote  sqltext.Quoter
	roles  string // the catalogue that roles are read from
}

func (c *cluster) run() error {
	excluded, err := c.excluded()
	if err != nil {
		return err
	}
	if err := c.setup(); err != nil {
		return err
	}
	key := c.o.Database.Script.RestrictKey
	if key == "" {
		key = pgarchive.NewRestrictKey()
	}
	c.print("--\n-- PostgreSQL database cluster dump\n--\n\n")
	c.timestamp("Started on")
	c.print("\\restrict %s\n\n", key)
	c.print("SET default_transaction_read_only = off;\n\n")
	c.print("SET client_encoding = '%s';\n", c.conn.Parameter("client_encoding"))
	stdStrings := c.conn.Parameter("standard_conforming_strings")
	c.print("SET standard_conforming_strings = %s;\n", stdStrings)
	if stdStrings == "off" {
		c.print("SET escape_string_warning = off;\n")
	}
	c.print("\n")
	d := &c.o.Database.Options
	if !d.NoSchema {
		if err := c.globals(); err != nil {
			return err
		}
	}
	// The script of each database fences itself.
	c.print("\\unrestrict %s\n\n", key)
	if !c.o.GlobalsOnly && !c.o.RolesOnly && !c.o.TablespacesOnly {
		if err := c.databases(excluded); err != nil {
			return err
		}
	}
	c.timestamp("Completed on")
	c.print("--\n-- PostgreSQL database cluster dump complete\n--\n\n")
	return nil
}

// globals writes what belongs to no database, and before it, with Clean, how it is dropped.
func (c *cluster) globals() error {
	spaces := !c.o.RolesOnly && !c.o.Database.NoTablespaces
	roles := !c.o.TablespacesOnly
	var steps []func() error
	add := func(when bool, step func() error) {
		if when {
			steps = append(steps, step)
		}
	}
	add(c.o.Clean && !c.o.GlobalsOnly && !c.o.RolesOnly && roles, c.dropDatabases)
	add(c.o.Clean && spaces, c.dropTablespaces)
	add(c.o.Clean && roles, c.dropRoles)
	add(roles, c.createRoles)
	add(roles, c.memberships)
	add(roles && c.conn.Version() >= 150000 && !c.o.Database.NoPrivileges, c.parameterPrivileges)
	add(spaces, c.tablespaces)
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) setup() error {
	d := &c.o.Database
	if d.Encoding != "" {
		if err := c.conn.Exec(c.ctx, "SET client_encoding TO "+sqltext.EscapeLiteral(d.Encoding)); err != nil {
			return fmt.Errorf("invalid client encoding \"%s\" specified", d.Encoding)
		}
	}
	if d.Role != "" {
		if err := c.exec("SET ROLE " + c.quote.Ident(d.Role)); err != nil {
			return err
		}
	}
	if d.QuoteAllIdentifiers {
		return c.exec("SET quote_all_identifiers = true")
	}
	return nil
}

func (c *cluster) exec(sql string) error {
	if err := c.conn.Exec(c.ctx, sql); err != nil {
		return &dump.Error{Op: "set up the session", Query: sql, Err: err}
	}
	return nil
}

// query reads rows of texts; NULL is the empty string in values and false in has.
func (c *cluster) query(what, sql string, row func(v []string, has []bool) error) error {
	err := c.conn.Query(c.ctx, sql, func(values [][]byte) error {
		v, has := make([]string, len(values)), make([]bool, len(values))
		for i, b := range values {
			v[i], has[i] = string(b), b != nil
		}
		return row(v, has)
	})
	if err != nil {
		return &dump.Error{Op: "read", Object: what, Query: sql, Err: err}
	}
	return nil
}

// names reads a list of names, under a heading that appears only if there are any.
func (c *cluster) names(what, heading, sql string, each func(name string)) error {
	first := true
	err := c.query(what, sql, func(v []string, _ []bool) error {
		if first {
			c.heading(heading)
			first = false
		}
		each(v[0])
		return nil
	})
	c.print("\n\n")
	return err
}

func (c *cluster) print(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }

func (c *cluster) heading(text string) { c.print("--\n-- %s\n--\n\n", text) }

func (c *cluster) timestamp(what string) {
	if c.o.Verbose {
		c.print("-- %s %s\n\n", what, time.Now().Format("2006-01-02 15:04:05 MST"))
	}
}

func (c *cluster) info(format string, args ...any) {
	if c.o.Info != nil {
		c.o.Info(fmt.Sprintf(format, args...))
	}
}

func (c *cluster) warn(format string, args ...any) {
	if c.o.Warn != nil {
		c.o.Warn(fmt.Sprintf(format, args...))
	}
}

// ifExists is what stands between DROP X and the name.
func (c *cluster) ifExists() string {
	if c.o.IfExists {
		return "IF EXISTS "
	}
	return ""
}

// excluded returns the names of the databases that the patterns exclude.
func (c *cluster) excluded() ([]string, error) {
	var out []string
	for _, text := range c.o.ExcludeDatabases {
		p, err := sqltext.ParsePattern(text, sqltext.PatternName)
		if err != nil {
			return nil, err
		}
		sql := "SELECT datname FROM pg_catalog.pg_database WHERE " + p.Condition("", "datname", "", c.conn.Version())
		err = c.query("databases", sql, func(v []string, _ []bool) error {
			out = append(out, v[0])
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// connectable is the condition for databases that can be dumped: neither closed nor
// left half dropped.
const connectable = "datallowconn AND datconnlimit <> -2"

func (c *cluster) dropDatabases() error {
	return c.names("databases", "Drop databases (except postgres and template1)",
		"SELECT datname FROM pg_catalog.pg_database WHERE "+connectable+" ORDER BY datname",
		func(name string) {
			if name != "template0" && name != "template1" && name != "postgres" {
				c.print("DROP DATABASE %s%s;\n", c.ifExists(), c.quote.Ident(name))
			}
		})
}

// databases writes the script of each database, template1 first: with Clean the script
// drops and creates postgres while it is connected to template1.
func (c *cluster) databases(excluded []string) error {
	var names []string
	sql := "SELECT datname FROM pg_catalog.pg_database WHERE " + connectable + " ORDER BY datname <> 'template1', datname"
	err := c.query("databases", sql, func(v []string, _ []bool) error {
		names = append(names, v[0])
		return nil
	})
	if err != nil {
		return err
	}
	if len(names) > 0 {
		c.heading("Databases")
	}
	for _, name := range names {
		switch {
		case name == "template0":
			continue
		case slices.Contains(excluded, name):
			c.info("excluding database \"%s\"", name)
			continue
		}
		c.info("dumping database \"%s\"", name)
		c.print("--\n-- Database \"%s\" dump\n--\n\n", sqltext.SanitizeLine(name, true))
		if strings.ContainsAny(name, "\r\n") {
			// A script cannot connect to it. The text is what people search for.
			return fmt.Errorf("shell command argument contains a newline or carriage return: \"dbname=%s\"", sqltext.ConnStringValue(name))
		}
		if err := c.database(name); err != nil {
			return fmt.Errorf("pg_dump failed on database \"%s\", exiting: %w", name, err)
		}
	}
	return nil
}

// database writes the script of one database.
func (c *cluster) database(name string) error {
	o := c.o.Database
	o.Format, o.Jobs, o.File = pgarchive.FormatPlain, 1, ""
	script := *o.Script
	o.Script = &script
	o.Options.Create, o.Options.Clean = true, false
	if name == "template1" || name == "postgres" { // they exist wherever the script may run
		o.Options.Create, o.Options.Clean = c.o.Clean, c.o.Clean
		if !c.o.Clean {
			c.print("\\connect %s\n\n", name)
		}
	}
	o.Options.IfExists = false
	script.CreateDB, script.Clean, script.IfExists = o.Options.Create, o.Options.Clean, false
	o.Archive = func(w pgarchive.WriterOptions) (pgarchive.Writer, error) {
		return pgarchive.NewPlainWriter(c.out, script, w)
	}
	_, err := dump.Run(c.ctx, c.config.WithDatabase(name), o, progress{c})
	return err
}

// progress passes the messages of a dump on.
type progress struct{ c *cluster }

var (
	_ dump.Progress = progress{}
	_ dump.Warner   = progress{}
)

func (p progress) Warning(w catalog.Warning) {
	if p.c.o.Warning != nil {
		p.c.o.Warning(w)
	} else {
		p.c.warn("%s", w.Text)
	}
}

func (progress) Planned(*dump.Plan)              {}
func (progress) Started(*dump.Item)              {}
func (progress) Copied(*dump.Item, int64, int64) {}
func (progress) Finished(*dump.Item, error)      {}

func (p progress) Message(warning bool, text string) {
	if warning {
		p.c.warn("%s", text)
	} else {
		p.c.info("%s", text)
	}
}
