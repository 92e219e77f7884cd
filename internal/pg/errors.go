package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// ServerError is an error that the server reported, with its SQLSTATE in Code.
type ServerError = pgconn.PgError

// Error says which operation failed, on what, and what to do about it.
type Error struct {
	Op     string // "copy table", "export snapshot"
	Object string // what it was about, "" if nothing in particular
	Hint   string // what a person can do, "" if that is not known
	Err    error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Object != "" {
		b.WriteString(" " + e.Object)
	}
	b.WriteString(": " + e.Err.Error())
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ErrConnectionLost is what errors.Is finds when the server went away in the middle of something.
var ErrConnectionLost = errors.New("connection to the server was lost")

// ErrBusy says that a Conn was used while an earlier use was not over, for example from the callback of Query.
var ErrBusy = errors.New("connection is busy")

// lostError is an I/O error of a session; libpq's words for the most common one.
type lostError struct{ err error }

func (e *lostError) Error() string {
	if errors.Is(e.err, io.EOF) || errors.Is(e.err, io.ErrUnexpectedEOF) || errors.Is(e.err, syscall.ECONNRESET) || errors.Is(e.err, syscall.EPIPE) {
		return "server closed the connection unexpectedly\n" +
			"\tThis probably means the server terminated abnormally\n" +
			"\tbefore or while processing the request."
	}
	return "could not talk to the server: " + e.err.Error()
}

func (e *lostError) Unwrap() []error { return []error{ErrConnectionLost, e.err} }

// serverGone turns the error of a read or write into a lostError.
func serverGone(err error) error {
	if errors.Is(err, ErrConnectionLost) {
		return err
	}
	return &lostError{err}
}

// SQLState returns the SQLSTATE of the server's error inside err, "" if there is none.
func SQLState(err error) string {
	var e *ServerError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func hasState(err error, states ...string) bool {
	s := SQLState(err)
	for _, want := range states {
		if s == want || len(want) == 2 && strings.HasPrefix(s, want) {
			return s != ""
		}
	}
	return false
}

// The questions one asks about an error of the server. States: src/backend/utils/errcodes.txt.

// IsPermissionDenied: insufficient_privilege.
func IsPermissionDenied(err error) bool { return hasState(err, "42501") }

// IsLockNotAvailable: a lock was not had in time or not at once.
func IsLockNotAvailable(err error) bool { return hasState(err, "55P03") }

// IsCanceled: the statement was cancelled, by us, by an administrator or by statement_timeout.
func IsCanceled(err error) bool { return hasState(err, "57014") || errors.Is(err, context.Canceled) }

// IsUndefined: a table, column, function, type or other object does not exist.
func IsUndefined(err error) bool {
	return hasState(err, "42P01", "42703", "42883", "42704", "3F000", "3D000")
}

// IsDuplicate: an object of the name exists already.
func IsDuplicate(err error) bool {
	return hasState(err, "42P07", "42P06", "42710", "42723", "42P04", "42701")
}

// IsWrongPassword: authentication failed.
func IsWrongPassword(err error) bool { return hasState(err, "28") || errors.Is(err, errPasswordNeeded) }

// IsNoSuchDatabase: the database to connect to does not exist.
func IsNoSuchDatabase(err error) bool { return hasState(err, "3D000") }

// IsDiskFull: the server's disk is full.
func IsDiskFull(err error) bool { return hasState(err, "53100") }

// IsOutOfConnections: the server takes no more sessions.
func IsOutOfConnections(err error) bool { return hasState(err, "53300") }

// IsSyntax: the server did not understand the statement, as an older one does with newer syntax.
func IsSyntax(err error) bool { return hasState(err, "42601") }

// IsUnknownSetting: the server does not know a setting.
func IsUnknownSetting(err error) bool { return hasState(err, "42704") }

// IsSnapshotGone: a snapshot to import does not exist any more.
func IsSnapshotGone(err error) bool { return hasState(err, "42704", "22023", "55000") }

// IsConnectionLost: the session is over, because the server ended it, crashed or cannot be reached any more.
func IsConnectionLost(err error) bool {
	if errors.Is(err, ErrConnectionLost) || hasState(err, "08", "57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04") {
		return true
	}
	var ne net.Error
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, net.ErrClosed) || errors.As(err, &ne) && !ne.Timeout()
}

// Message writes an error as PostgreSQL's own programs print it: "ERROR:  …" with the place in the statement, detail, hint and
// context on lines of their own, without a newline at the end (pqBuildErrorMessage3 in fe-protocol3.c, default verbosity).
// sql is the statement for the place, "" if it is not known. Errors that are not the server's are returned as they are.
func Message(err error, sql string) string {
	var e *ServerError
	if !errors.As(err, &e) {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s:  %s", e.Severity, e.Message)
	pos, in := int(e.Position), sql
	if pos == 0 && e.InternalPosition > 0 {
		pos, in = int(e.InternalPosition), e.InternalQuery
	}
	if pos > 0 && in != "" {
		b.WriteString(errorPlace(in, pos))
	} else if pos > 0 {
		fmt.Fprintf(&b, " at character %d", pos)
	}
	for _, f := range []struct{ label, text string }{
		{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"QUERY", e.InternalQuery}, {"CONTEXT", e.Where},
	} {
		if f.text != "" {
			b.WriteString("\n" + f.label + ":  " + f.text)
		}
	}
	return b.String()
}

// errorPlace shows the line that a position (in characters, from 1) is in, with a mark under it. Long lines are cut
// to 60 characters around the position (reportErrorPosition).
func errorPlace(sql string, pos int) string {
	const width, rest = 60, 10
	chars := []rune(sql)
	if pos > len(chars)+1 {
		return ""
	}
	at := pos - 1
	start, end, line := 0, len(chars), 1
	for i := 0; i < len(chars); i++ {
		if chars[i] != '\n' && chars[i] != '\r' {
			continue
		}
		crlf := chars[i] == '\n' && i > 0 && chars[i-1] == '\r'
		if i < at {
			start = i + 1
			if !crlf {
				line++
			}
		} else {
			end = i
			break
		}
	}
	text := make([]rune, 0, end-start)
	for _, r := range chars[start:end] {
		if r == '\t' {
			r = ' '
		}
		text = append(text, r)
	}
	col := at - start
	lead, tail := "", ""
	if len(text) > width {
		from := 0
		if col+rest > width {
			from = min(col+rest, len(text)) - width
			lead = "..."
		}
		to := min(from+width, len(text))
		if to < len(text) {
			tail = "..."
		}
		text, col = text[from:to], col-from
	}
	label := fmt.Sprintf("LINE %d: %s", line, lead)
	return "\n" + label + string(text) + tail + "\n" + strings.Repeat(" ", len(label)+col) + "^"
}

// systemError takes Go's wrapping off an error of the operating system, and gives it a capital letter as strerror does.
func systemError(err error) string {
	var errno syscall.Errno
	var se *os.SyscallError
	if errors.As(err, &se) && errors.As(se.Err, &errno) || errors.As(err, &errno) {
		s := errno.Error()
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return err.Error()
}
