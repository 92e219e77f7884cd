package dump

import "fmt"

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
