package drill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/scratch"
)

// Check is something of the user's that must hold in the copy. One of the two is set.
type Check struct {
	// SQL is the name of a file of SQL statements. They run in one transaction, which is rolled back. A statement that
	// returns rows must return at least one, and each boolean in them must be true; any other must succeed.
	SQL string
	// Command is a shell command that must exit with status 0.
	Command string
}

// DefaultCheckTimeout is how long a check may take.
const DefaultCheckTimeout = 10 * time.Minute

// CheckResult is what came of one check: a command, or one statement of a file.
type CheckResult struct {
	Kind    string  `json:"kind"` // "sql" or "command"; of pghaul's own, KindRowSecurity or KindFiles
	Name    string  `json:"name"` // the comment before a statement, else file and line; the command
	File    string  `json:"file,omitempty"`
	Line    int     `json:"line,omitempty"`
	Passed  bool    `json:"passed"`
	Skipped bool    `json:"skipped,omitempty"` // the copy was not what it must be, so nothing was checked
	Seconds float64 `json:"seconds"`
	Message string  `json:"message,omitempty"` // why it did not pass
	Output  string  `json:"output,omitempty"`  // the last lines of what the command wrote
}

// loaded is a check whose file was read.
type loaded struct {
	Check
	statements []statement
}

// loadChecks reads the files, so that what is wrong with them is known before anything is done.
func loadChecks(list []Check) ([]loaded, error) {
	var out []loaded
	for _, c := range list {
		l := loaded{Check: c}
		switch {
		case c.SQL != "":
			b, err := os.ReadFile(c.SQL)
			if err != nil {
				return nil, fmt.Errorf("read the checks: %w", err)
			}
			if !utf8.Valid(b) {
				return nil, fmt.Errorf("read the checks: file %s is not UTF-8", c.SQL)
			}
			if l.statements = statements(strings.TrimPrefix(string(b), "\ufeff")); len(l.statements) == 0 {
				return nil, fmt.Errorf("read the checks: file %s has no statement", c.SQL)
			}
		case strings.TrimSpace(c.Command) == "":
			return nil, errors.New("read the checks: a command is empty")
		}
		out = append(out, l)
	}
	return out, nil
}

// runChecks runs the checks, or lists them as skipped. An error means that there is no answer.
func (d *drill) runChecks(ctx context.Context, server *scratch.Server, copyOf *pg.Config, skip bool) error {
	limit := d.o.CheckTimeout
	if limit <= 0 {
		limit = DefaultCheckTimeout
	}
	for _, c := range d.checks {
		if err := ctx.Err(); err != nil {
			return err
		}
		limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not through after %v", limit))
		var results []CheckResult
		switch {
		case c.SQL != "" && skip:
			for _, s := range c.statements {
				results = append(results, c.result(s))
			}
		case c.SQL != "":
			results = c.runSQL(limited, copyOf)
		case skip:
			results = []CheckResult{{Kind: "command", Name: c.Command}}
		default:
			results = []CheckResult{runCommand(limited, c.Command, d.checkEnvironment(server, copyOf))}
		}
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range results {
			results[i].Skipped = skip
		}
		d.report.Checks = append(d.report.Checks, results...)
		if err := server.Err(); err != nil {
			return fmt.Errorf("check the copy: %w", err)
		}
	}
	return nil
}

func (c *loaded) result(s statement) CheckResult {
	r := CheckResult{Kind: "sql", Name: s.name, File: c.SQL, Line: s.line}
	if r.Name == "" {
		r.Name = fmt.Sprintf("%s:%d", c.SQL, s.line)
	}
	return r
}

// runSQL runs the statements of a file. One that fails does not keep the others from being run.
func (c *loaded) runSQL(ctx context.Context, copyOf *pg.Config) []CheckResult {
	results := make([]CheckResult, len(c.statements))
	for i, s := range c.statements {
		results[i] = c.result(s)
		results[i].Message = "not run"
	}
	conn, err := pg.Connect(ctx, copyOf)
	if err == nil {
		defer conn.Close(context.WithoutCancel(ctx))
		err = conn.Exec(ctx, "BEGIN")
	}
	if err != nil {
		results[0].Message = "connect to the copy: " + reason(ctx, err)
		return results
	}
	for i, s := range c.statements {
		r := &results[i]
		began := time.Now()
		r.Message = checkStatement(ctx, conn, s)
		r.Seconds = time.Since(began).Seconds()
		r.Passed = r.Message == ""
		if ctx.Err() != nil || conn.IsClosed() {
			return results
		}
		if conn.TxStatus() == 'I' {
			r.Passed, r.Message = false, "the statement ended the transaction in which the checks run"
			return results
		}
	}
	_ = conn.Exec(ctx, "ROLLBACK") // the session ends anyway
	return results
}

const savepoint = "pghaul_check"

// checkStatement returns why a statement does not hold, "" if it does.
func checkStatement(ctx context.Context, conn *pg.Conn, s statement) string {
	if err := conn.Exec(ctx, "SAVEPOINT "+savepoint); err != nil {
		return reason(ctx, err)
	}
	var columns []pg.Column
	rows := 0
	untrue := ""
	err := conn.QueryTyped(ctx, s.sql, func(c []pg.Column) { columns = c }, func(values [][]byte) error {
		rows++
		for i, v := range values {
			if columns[i].Type == boolOID && string(v) != "t" && untrue == "" {
				word := "false"
				if v == nil {
					word = "NULL"
				}
				untrue = fmt.Sprintf("column %s is %s in row %d", columns[i].Name, word, rows)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		why := reason(ctx, err)
		if ctx.Err() == nil && !conn.IsClosed() && conn.TxStatus() != 'I' {
			if err := conn.Exec(ctx, "ROLLBACK TO SAVEPOINT "+savepoint); err != nil {
				why += "; " + reason(ctx, err)
			}
		}
		return why
	case untrue != "":
		return untrue
	case columns != nil && rows == 0:
		return "no rows"
	}
	return ""
}

const boolOID = 16

// reason is the text of an error, with the server's SQLSTATE, or why the time was over.
func reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return context.Cause(ctx).Error()
	}
	if state := pg.SQLState(err); state != "" {
		return pg.Message(err, "") + " (SQLSTATE " + state + ")"
	}
	return err.Error()
}

// Environment variables by which a command finds the copy.
const (
	dsnVariable     = "PGHAUL_DRILL_DSN"
	archiveVariable = "PGHAUL_DRILL_ARCHIVE"
)

// checkEnvironment is what a command gets to see: our own environment, and how to connect to the copy. It is
// over TCP where the server has that, since not every driver knows sockets.
func (d *drill) checkEnvironment(server *scratch.Server, copyOf *pg.Config) []string {
	if server.TCP != "" {
		if c, err := pg.ParseConfig(server.TCP, pg.Overrides{}); err == nil {
			copyOf = c.WithDatabase(copyOf.Database)
		}
	}
	return append(copyOf.Environ(os.Environ()), dsnVariable+"="+copyOf.URI(), archiveVariable+"="+d.report.Archive)
}
