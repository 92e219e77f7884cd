package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// DB is a database for one test.
type DB struct {
	// Name is the database's name, DSN connects to it as a superuser.
	Name, DSN string

	// Server is where it lives.
	Server *Server
}

// Options are wishes for a new database; the zero value has none.
type Options struct {
	Template string // default template0
	Encoding string // default the cluster's, UTF8
	Locale   string // LC_COLLATE and LC_CTYPE, default the cluster's, C.UTF-8
	Suffix   string // part of the name, to tell several databases of a test apart
}

var serial atomic.Int64

var notPlain = regexp.MustCompile(`[^a-z0-9]+`)

// NewDatabase creates an empty database and drops it when the test is over.
func (s *Server) NewDatabase(t testing.TB, options ...Options) *DB {
	t.Helper()
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	// The name says where it comes from, and is unique among the processes
	// that may use the same server.
	word := strings.Trim(notPlain.ReplaceAllString(strings.ToLower(t.Name()+"_"+o.Suffix), "_"), "_")
	name := fmt.Sprintf("t%d_%d_%s", os.Getpid(), serial.Add(1), word)
	name = strings.TrimRight(name[:min(len(name), 60)], "_")

	template := o.Template
	if template == "" {
		template = "template0"
	}
	sql := "create database " + ident(name) + " template " + ident(template)
	if o.Encoding != "" {
		sql += " encoding " + literal(o.Encoding)
	}
	if o.Locale != "" {
		sql += " lc_collate " + literal(o.Locale) + " lc_ctype " + literal(o.Locale)
	}
	if s.Major >= 15 {
		sql += " strategy file_copy" // of an idle template, with no flushing to disk, it is twice as fast
	}
	s.exec(t, s.DSN, sql)
	db := s.Database(t, name)
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("PGHAUL_TEST_KEEP") != "" {
			s.keeping.Store(true)
			t.Logf("database kept: %s", db.DSN)
			return
		}
		s.DropDatabase(t, name)
	})
	return db
}

// Database returns a database that exists, or that the test is about to create
// by other means; it is not dropped afterwards.
func (s *Server) Database(t testing.TB, name string) *DB {
	t.Helper()
	return &DB{Name: name, DSN: withDatabase(s.DSN, name), Server: s}
}

// DropDatabase drops a database if it exists, whoever is connected to it.
func (s *Server) DropDatabase(t testing.TB, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.DSN)
	if err != nil {
		t.Fatalf("drop database %s: %v", name, err)
	}
	defer conn.Close(ctx)
	exec := func(sql string) []*pgconn.Result {
		results, err := conn.Exec(ctx, sql).ReadAll()
		if err != nil {
			t.Fatalf("PostgreSQL %d: %v\nin: %s", s.Major, err, sql)
		}
		return results
	}
	// A database with subscriptions cannot be dropped.
	subscriptions := exec("select 1 from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = " + literal(name))
	if len(subscriptions[0].Rows) > 0 {
		s.dropSubscriptions(t, name)
	}
	force := " with (force)"
	if s.Major < 13 {
		exec("select pg_terminate_backend(pid) from pg_stat_activity where datname = " + literal(name))
		force = ""
	}
	exec("drop database if exists " + ident(name) + force)
}

// dropSubscriptions drops the subscriptions of a database. They leave behind the slots at their publishers.
func (s *Server) dropSubscriptions(t testing.TB, name string) {
	t.Helper()
	sql := s.query(t, s.DSN, `select string_agg(format(
  'alter subscription %1$I disable; alter subscription %1$I set (slot_name = none); drop subscription %1$I;', subname), ' ')
from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = `+literal(name))
	if sql != "" {
		s.exec(t, withDatabase(s.DSN, name), sql)
	}
}

// withDatabase returns the connection string with another database name.
func withDatabase(dsn, name string) string {
	if scheme, rest, ok := strings.Cut(dsn, "://"); ok {
		// postgres://user@host:port/db?options
		query := ""
		if i := strings.IndexByte(rest, '?'); i >= 0 {
			rest, query = rest[:i], rest[i:]
		}
		host, _, _ := strings.Cut(rest, "/")
		return scheme + "://" + host + "/" + name + query
	}
	return dsn + " dbname=" + name // the last one counts
}

// Exec runs SQL, one or more statements, and fails the test on an error.
// Several statements are one transaction unless they say otherwise.
func (db *DB) Exec(t testing.TB, sql string) {
	t.Helper()
	db.Server.exec(t, db.DSN, sql)
}

// QueryString runs a query and returns its rows as psql -At would print them:
// fields separated by |, rows by line feeds, NULL as nothing.
func (db *DB) QueryString(t testing.TB, sql string) string {
	t.Helper()
	return db.Server.query(t, db.DSN, sql)
}

// Conn returns a connection of the test, closed when it is over.
func (db *DB) Conn(t testing.TB) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), db.DSN)
	if err != nil {
		t.Fatalf("connect to %s: %v", db.Name, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		conn.Close(ctx)
	})
	return conn
}

func (s *Server) exec(t testing.TB, dsn, sql string) {
	t.Helper()
	if _, err := run(dsn, sql); err != nil {
		t.Fatalf("PostgreSQL %d: %v\nin: %s", s.Major, describe(err, sql), clip(sql))
	}
}

func (s *Server) query(t testing.TB, dsn, sql string) string {
	t.Helper()
	results, err := run(dsn, sql)
	if err != nil {
		t.Fatalf("PostgreSQL %d: %v\nin: %s", s.Major, describe(err, sql), clip(sql))
	}
	var lines []string
	for _, r := range results {
		for _, row := range r.Rows {
			var fields []string
			for _, f := range row {
				fields = append(fields, string(f))
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
	}
	return strings.Join(lines, "\n")
}

func run(dsn, sql string) ([]*pgconn.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	return conn.Exec(ctx, sql).ReadAll()
}

// describe adds the line of the SQL text to a server's error.
func describe(err error, sql string) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Position > 0 && int(e.Position) <= len(sql) {
		return fmt.Errorf("%w at line %d", err, 1+strings.Count(sql[:e.Position-1], "\n"))
	}
	return err
}

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + " …"
	}
	return s
}

// Env returns the PG* variables that point a stock program at the database.
func (db *DB) Env() []string {
	c, err := pgconn.ParseConfig(db.DSN)
	if err != nil {
		return nil
	}
	env := []string{
		"PGHOST=" + c.Host, "PGPORT=" + strconv.Itoa(int(c.Port)), "PGUSER=" + c.User, "PGDATABASE=" + db.Name,
	}
	if c.Password != "" {
		env = append(env, "PGPASSWORD="+c.Password)
	}
	return env
}

// Command returns the command of a stock program of the server's version,
// pointed at the database. The test is skipped if there is no such program.
func (db *DB) Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(db.Server.NeedTool(t, name), args...)
	cmd.Env = append(os.Environ(), append(db.Env(), "LC_ALL=C.UTF-8")...)
	return cmd
}

// Tool runs a stock program of the server's version, pointed at the database.
func (db *DB) Tool(t testing.TB, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return db.ToolInput(t, nil, name, args...)
}

// ToolInput is Tool with an input.
func (db *DB) ToolInput(t testing.TB, in io.Reader, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := db.Command(t, name, args...)
	var out, talk bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &talk
	err = cmd.Run()
	return out.String(), talk.String(), err
}

// MustTool is Tool for a program that has to succeed; it returns its output.
func (db *DB) MustTool(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, talk, err := db.Tool(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, clip(talk))
	}
	return out
}

// Psql runs psql, stopping at the first error, and returns what it prints,
// unaligned and without headings.
func (db *DB) Psql(t testing.TB, args ...string) string {
	t.Helper()
	return db.MustTool(t, "psql", append([]string{"-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"}, args...)...)
}

// LoadSchema runs testdata/schemas/<name>.sql of the repository, in one
// transaction for each part. The file may hold parts for some versions only,
// between lines of their own:
//
//	--:since 17
//	--:until 16
//	--:end
//
// Lines at its start say what it needs; the test is skipped without it, roles are made:
//
//	-- needs version 14
//	-- needs extension hstore
//	-- roles pghaul_a, Pghaul B
func (db *DB) LoadSchema(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(Root(t), "testdata", "schemas", name+".sql")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		db.prepare(t, string(b))
		sql, err := forVersion(string(b), db.Server.Major)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if _, err := run(db.DSN, sql); err != nil {
			t.Fatalf("PostgreSQL %d: %s: %v", db.Server.Major, file, describe(err, sql))
		}
	}
}

// prepare sees to what a schema file says it needs.
func (db *DB) prepare(t testing.TB, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "-- needs version "); ok {
			major, err := strconv.Atoi(v)
			if err != nil {
				t.Fatalf("bad line %q", line)
			}
			db.Server.Need(t, major)
		}
		if name, ok := strings.CutPrefix(line, "-- needs extension "); ok {
			db.Server.NeedExtension(t, name)
		}
		if names, ok := strings.CutPrefix(line, "-- roles "); ok {
			db.Server.EnsureRole(t, strings.Split(names, ", ")...)
		}
	}
}

// forVersion blanks the lines of the parts that are for other versions; the
// others keep their line numbers.
func forVersion(text string, major int) (string, error) {
	var b strings.Builder
	skip, inside := false, false
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "--:since", "--:until":
			n, err := strconv.Atoi(strings.TrimSpace(rest))
			if err != nil {
				return "", fmt.Errorf("%s wants a major version, not %q", word, rest)
			}
			inside = true
			skip = word == "--:since" && major < n || word == "--:until" && major > n
			line = "\n"
		case "--:end":
			if !inside {
				return "", errors.New("--:end without a beginning")
			}
			skip, inside = false, false
			line = "\n"
		}
		if skip {
			line = "\n"
		}
		b.WriteString(line)
	}
	if inside {
		return "", errors.New("a part has no --:end")
	}
	return b.String(), nil
}

// Root returns the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod in a folder above the test")
		}
		dir = filepath.Dir(dir)
	}
}

func ident(s string) string   { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
