package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// EntryError says that something of an entry could not be restored, in pg_restore's words.
type EntryError struct {
	Entry     *pgarchive.Entry // nil: the restore as a whole (set-up, transactions)
	Statement string           // what was sent; empty: the archive is at fault
	SQLState  string           // empty: the server did not say it
	Message   string           // what Error returns
	Err       error            // the cause
}

// Error returns the message as pg_restore prints it behind "error: ", with the server's
// detail, hint and context, and the statement.
func (e *EntryError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Err }

// queryError is the error of a statement (ExecuteSqlCommand in pg_backup_db.c).
// desc says what could not be done.
func queryError(it *Item, desc, sql string, err *pgconn.PgError) *EntryError {
	return &EntryError{
		Entry:     it.entry(),
		Statement: sql,
		SQLState:  err.Code,
		Message:   desc + ": " + pg.Message(err, sql) + "\nCommand was: " + sql,
		Err:       err,
	}
}

// copyError is the error of a COPY that began (EndDBCopyMode in pg_backup_db.c).
func copyError(it *Item, sql string, err *pgconn.PgError) *EntryError {
	return &EntryError{
		Entry:     it.entry(),
		Statement: sql,
		SQLState:  err.Code,
		Message:   fmt.Sprintf("COPY failed for table \"%s\": %s", it.Entry.Tag, pg.Message(err, "")),
		Err:       err,
	}
}

// archiveError is the error of an entry whose data cannot be read or are not what they should be.
func archiveError(it *Item, err error) *EntryError {
	return &EntryError{
		Entry:   it.entry(),
		Message: fmt.Sprintf("could not restore data of %s: %s", it.name(), err),
		Err:     err,
	}
}

// isUnreachable says whether what the archive is read from, a store, was given up on after many tries.
func isUnreachable(err error) bool {
	var u interface{ Unreachable() bool }
	return errors.As(err, &u) && u.Unreachable()
}

// refused returns the server's error if err is one after which the connection can go on.
func refused(err error) (*pgconn.PgError, bool) {
	var e *pgconn.PgError
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, false
	}
	return e, e.SeverityUnlocalized == "ERROR" || e.SeverityUnlocalized == "" && e.Severity == "ERROR"
}

// report takes an error of an entry: it is named, handed to the one who decides, and counted if the
// restore goes on. What it returns ends the restore.
func (r *run) report(it *Item, e *EntryError) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.staged {
		r.staged = true
		r.say(Info, "while PROCESSING TOC:")
	}
	if it != nil && r.lastFailed != it {
		en := it.Entry
		r.say(Info, fmt.Sprintf("from TOC entry %d; %d %d %s %s %s", en.ID, en.CatalogID.TableOID, en.CatalogID.OID,
			en.Desc, en.Tag, en.Owner))
	}
	r.lastFailed = it
	if it != nil {
		it.failures++
	}
	if r.o.stops() && r.o.OnError == nil {
		r.res.Errors = append(r.res.Errors, e)
		return e
	}
	r.say(Error, e.Message)
	r.res.Errors = append(r.res.Errors, e)
	if r.o.OnError != nil {
		if err := r.o.OnError(e); err != nil {
			return err
		}
	}
	r.res.Ignored++
	return nil
}

// log gives a message to Options.Log.
func (r *run) log(l Level, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(l, message)
}

// say is log for those who hold mu.
func (r *run) say(l Level, message string) {
	if r.o.Log != nil {
		r.o.Log(l, message)
	}
}
