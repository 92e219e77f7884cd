package dump

import (
	"errors"
	"fmt"

	"github.com/pghaul/pghaul/internal/pg"
)

// Error is a failure at one object or query of the dumped server.
type Error struct {
	Op     string // what was done: "lock tables", "dump table data", ...
	Object string // with which object; empty if with none in particular
	Query  string // the statement that failed, if one did
	Hint   string // what to do about it
	Err    error
}

// Error returns operation, object and cause.
func (e *Error) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.Object, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// VersionError says that the server is older than those that can be dumped.
type VersionError struct {
	Server string // as the server says it: "9.6.24"
}

// Error names the version.
func (e *VersionError) Error() string {
	return fmt.Sprintf("server version %s is not supported: pghaul dumps PostgreSQL %d and newer", e.Server, minVersion/10000)
}

// States of the server's errors that have a way out which is not theirs to tell.
const (
	serializationFailure = "40001" // also a conflict with recovery (ProcessInterrupts in postgres.c)
	diskFull             = "53100"
)

// explain adds to an error what can be done about it, if the server's words do not say so.
func (d *dumper) explain(err error) error {
	hint := ""
	state, lost := pg.SQLState(err), pg.IsConnectionLost(err) || errors.Is(err, ErrSnapshotLost)
	switch {
	case d.facts.snapshot.InRecovery && (state == serializationFailure || lost):
		hint = "A standby ends sessions that see rows whose removal it has to apply. Set hot_standby_feedback = on there, " +
			"or max_standby_streaming_delay to more than the dump takes (-1: for ever), or dump the primary."
	case state == diskFull:
		hint = "The server's disk is full: the dump needs room there for temporary files only, so something else fills it."
	case lost:
		hint = "Its log says why the server ended the session: an administrator, a crash, a restart, or too little memory. If it says nothing, look at the network and at proxies in between."
	}
	if hint == "" {
		return err
	}
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Op: "dump database", Object: d.facts.database, Hint: hint, Err: err}
	}
	if e.Hint == "" {
		e.Hint = hint
	}
	return err
}
