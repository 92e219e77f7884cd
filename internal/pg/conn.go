package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// cancelGrace is how long a cancelled statement may take to end before the connection is given up.
const cancelGrace = 10 * time.Second

// Conn is a session. One goroutine uses it at a time; only Cancel, KeepAlive and BackendPID may be called beside.
// When a statement is cancelled through its context the session stays usable if the server answers in time.
type Conn struct {
	config    *Config
	host      Host
	hostIndex int
	pg        *pgconn.PgConn
	reader    *sessionReader

	version       int
	versionString string

	// rawStatus is the transaction status after a COPY that pgconn did not see, 0 when pgconn knows better.
	rawStatus byte
	// parameters are what the server reported during such a COPY.
	parameters map[string]changed

	copyBuf []byte // of CopyTo, kept

	inUse atomic.Bool // by the caller
	mu    sync.Mutex  // held by the caller's statement or by a heartbeat
}

// changed is a parameter's new value, and what pgconn had then. When pgconn has something else it is newer.
type changed struct{ before, value string }

// acquire begins a use of the session; it fails when one is going on and waits for a heartbeat.
func (c *Conn) acquire() error {
	if !c.inUse.CompareAndSwap(false, true) {
		return ErrBusy
	}
	c.mu.Lock()
	return nil
}

func (c *Conn) release() {
	c.mu.Unlock()
	c.inUse.Store(false)
}

// readVersion takes the version from the parameter that every server reports at the start: "18.6 (Debian 18.6-3)", "9.6.24", "19devel".
func (c *Conn) readVersion() error {
	c.versionString = c.pg.ParameterStatus("server_version")
	num, _, _ := strings.Cut(c.versionString, " ")
	var parts [3]int
	for i, p := range strings.SplitN(num, ".", 3) {
		digits := strings.IndexFunc(p, func(r rune) bool { return r < '0' || r > '9' })
		if digits >= 0 {
			p = p[:digits]
		}
		n, err := strconv.Atoi(p)
		if err != nil && i == 0 {
			return fmt.Errorf("server reports an unknown version %q", c.versionString)
		}
		parts[i] = n
	}
	if parts[0] >= 10 {
		c.version = parts[0]*10000 + parts[1]
	} else {
		c.version = parts[0]*10000 + parts[1]*100 + parts[2]
	}
	return nil
}

// Version is the server's version as in server_version_num: 180006.
func (c *Conn) Version() int { return c.version }

// VersionString is the server's version as it reports it: "18.6 (Debian 18.6-3)".
func (c *Conn) VersionString() string { return c.versionString }

// Config is what the session was made from.
func (c *Conn) Config() *Config { return c.config }

// Host is the host that answered, and its position in Config.Hosts.
func (c *Conn) Host() (Host, int) { return c.host, c.hostIndex }

// SameHost returns a Config that leads to the very host this session is on.
func (c *Conn) SameHost() *Config { return c.config.WithHost(c.hostIndex) }

// Parameter is a run-time parameter that the server reports (server_encoding, standard_conforming_strings, …), "" if it
// does not report it.
func (c *Conn) Parameter(name string) string {
	v := c.pg.ParameterStatus(name)
	if ch, ok := c.parameters[name]; ok && ch.before == v {
		return ch.value
	}
	return v
}

// BackendPID is the process ID of the session on the server.
func (c *Conn) BackendPID() uint32 { return c.pg.PID() }

// TxStatus is 'I' outside a transaction, 'T' in one, 'E' in one that has failed.
func (c *Conn) TxStatus() byte {
	if c.rawStatus != 0 {
		return c.rawStatus
	}
	return c.pg.TxStatus()
}

// IsClosed says that the session is over.
func (c *Conn) IsClosed() bool { return c.pg.IsClosed() }

// Close ends the session. It may be called twice.
func (c *Conn) Close(ctx context.Context) error { return c.pg.Close(ctx) }

// Cancel asks the server to cancel what the session is doing. It may be called from any goroutine; the statement then
// ends with an error of state 57014, or had ended already.
func (c *Conn) Cancel(ctx context.Context) error {
	if err := c.pg.CancelRequest(ctx); err != nil {
		return fmt.Errorf("send cancel request: %w", err)
	}
	return nil
}

// Exec runs one or more statements by the simple protocol and drops the rows they return. Without transaction
// statements in it, sql is one transaction.
func (c *Conn) Exec(ctx context.Context, sql string) error {
	return c.Query(ctx, sql, func([][]byte) error { return nil })
}

// Query runs one or more statements by the simple protocol and calls row for each row they return. The values are in text form, nil for NULL,
// and valid only during the call. After an error of row the remaining rows are read and dropped, and that error is returned.
func (c *Conn) Query(ctx context.Context, sql string, row func(values [][]byte) error) error {
	if err := c.acquire(); err != nil {
		return err
	}
	defer c.release()
	return c.query(ctx, sql, nil, row)
}

// query is Query; head, unless nil, is told the columns of each result that has some.
func (c *Conn) query(ctx context.Context, sql string, head func([]Column), row func(values [][]byte) error) error {
	var rowErr error
	results := c.pg.Exec(ctx, sql)
	for results.NextResult() {
		r := results.ResultReader()
		if fields := r.FieldDescriptions(); head != nil && fields != nil {
			columns := make([]Column, len(fields))
			for i := range fields {
				columns[i] = Column{fields[i].Name, fields[i].DataTypeOID}
			}
			head(columns)
		}
		for r.NextRow() {
			if rowErr == nil {
				rowErr = row(r.Values())
			}
		}
		if _, err := r.Close(); err != nil {
			break // Close of results has it too
		}
	}
	err := results.Close()
	c.fromPgconn()
	if err != nil {
		return c.classify(ctx, err)
	}
	return rowErr
}

// fromPgconn says that pgconn has seen the last word of the server.
func (c *Conn) fromPgconn() {
	if c.rawStatus != 0 && !c.pg.IsClosed() {
		c.rawStatus = 0
	}
}

// classify gives an error of pgconn the context's error, or ErrConnectionLost, where these are the reason.
func (c *Conn) classify(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil && (SQLState(err) == "57014" || SQLState(err) == ""):
		return &canceledError{ctx.Err(), err}
	case SQLState(err) != "":
		return err
	case errors.Is(err, ErrConnectionLost):
		return err
	case c.pg.IsClosed():
		return serverGone(err)
	}
	return err
}

// canceledError is the end of a statement whose context is done.
type canceledError struct{ cause, err error }

func (e *canceledError) Error() string   { return e.cause.Error() }
func (e *canceledError) Unwrap() []error { return []error{e.cause, e.err} }

// value runs a query and returns the first value of its first row, "" for NULL or no row.
func (c *Conn) value(ctx context.Context, sql string) (string, error) {
	var v string
	n := 0
	err := c.Query(ctx, sql, func(values [][]byte) error {
		if n == 0 && len(values) > 0 {
			v = string(values[0])
		}
		n++
		return nil
	})
	return v, err
}

// Value runs a query and returns the first value of its first row; "" for NULL or when there is no row.
func (c *Conn) Value(ctx context.Context, sql string) (string, error) { return c.value(ctx, sql) }

// Ping runs an empty statement.
func (c *Conn) Ping(ctx context.Context) error { return c.Exec(ctx, "SELECT 1") }

// KeepAlive sends a statement every interval while the session is not used otherwise, so that a connection which only
// holds a snapshot is not taken for dead by firewalls, proxies and poolers. It goes on until stop is called, which
// returns the error of the heartbeat that failed, if one did; no more are sent after that.
func (c *Conn) KeepAlive(interval time.Duration) (stop func() error) {
	t := time.NewTicker(interval)
	return c.keepAlive(t.C, t.Stop)
}

func (c *Conn) keepAlive(tick <-chan time.Time, stopTick func()) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var failed error
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			if !c.mu.TryLock() {
				continue // in use, which is as good
			}
			err := c.query(ctx, "SELECT 1", nil, func([][]byte) error { return nil })
			c.mu.Unlock()
			if err != nil && ctx.Err() == nil {
				failed = fmt.Errorf("keep session %d alive: %w", c.BackendPID(), err)
				return
			}
		}
	}()
	return func() error {
		stopTick()
		cancel()
		<-done
		return failed
	}
}
