package dump

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// session is a connection within the dump's snapshot.
type session struct {
	mu   sync.Mutex // held while conn is used by the heartbeat or by the one who works
	conn *pg.Conn
}

// serverFacts is what the dump needs to know of the server.
type serverFacts struct {
	maxLocks, maxConnections, maxPrepared int
	database, user                        string
	identity                              pg.Identity
	snapshot                              pg.Snapshot
	encoding                              string
	stdStrings                            bool
	settings                              map[string]string
}

// minVersion and maxVersion are the servers this program knows.
const (
	minVersion = 100000
	maxVersion = 189999
)

// connect opens the session that holds the snapshot, and the workers'.
func (d *dumper) connect(ctx context.Context) error {
	c, err := pg.Connect(ctx, d.config)
	if err != nil {
		return err
	}
	d.holder = &session{conn: c}
	d.sessions = append(d.sessions, d.holder)
	warn := func(message string) { d.progress.Message(true, message) }
	if err := CheckVersion(c.VersionString(), c.Version(), warn); err != nil {
		return err
	}
	if d.opts.Prepare != nil {
		if err := d.opts.Prepare(ctx, c, &d.opts); err != nil {
			return err
		}
	}
	if err := d.setUp(ctx, c); err != nil {
		return err
	}
	if err := d.begin(ctx, c, d.opts.Snapshot); err != nil {
		return err
	}
	jobs := d.opts.Jobs
	if jobs <= 1 {
		jobs = 0
		if d.opts.Reconnect {
			jobs = 1
		}
	}
	if jobs > 0 {
		// Of an imported snapshot too: who exported it may be gone when a worker comes back.
		if d.snapshot, err = c.ExportSnapshot(ctx); err != nil {
			return err
		}
		d.openWorkers(ctx, jobs)
	}
	return d.readFacts(ctx, c)
}

// opening is a worker's connection on its way. A session takes ten round trips to the server or more, so they are opened side by side while
// the holder begins to read.
type opening struct {
	done chan struct{} // closed when the other fields are set
	conn *pg.Conn
	err  error
	full error // instead of err, if the dump goes on without it
	stop context.CancelFunc
}

// wait returns the connection; nil if the server has no more of them and the dump goes on with fewer.
func (o *opening) wait(ctx context.Context) (catalog.Querier, error) {
	select {
	case <-o.done:
		if o.conn == nil {
			return nil, o.err
		}
		return o.conn, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// openWorkers begins to open the workers' sessions.
func (d *dumper) openWorkers(ctx context.Context, jobs int) {
	fewer := d.opts.FewerJobs || d.opts.Jobs <= 1
	for range jobs {
		o := &opening{done: make(chan struct{})}
		d.opening = append(d.opening, o)
		ctx, stop := context.WithCancel(ctx)
		o.stop = stop
		go func() {
			defer close(o.done)
			o.conn, o.err = d.connectWorker(ctx)
			if fewer && tooManyConnections(o.err) {
				o.full, o.err = o.err, nil
			}
		}()
	}
}

// gather makes workers of the connections when all are open or have failed. full says why there are fewer than were wanted.
func (d *dumper) gather() (full error) {
	for _, o := range d.opening {
		<-o.done
		o.stop()
		if o.conn != nil {
			s := &session{conn: o.conn}
			d.workers = append(d.workers, s)
			d.sessions = append(d.sessions, s)
		}
		if o.full != nil {
			full = o.full
		}
	}
	d.opening = nil
	return full
}

// tooManyConnections says that the server, the database or the role has no connection left.
func tooManyConnections(err error) bool { return pg.SQLState(err) == "53300" }

// connectWorker opens a session that sees the holder's snapshot.
func (d *dumper) connectWorker(ctx context.Context) (*pg.Conn, error) {
	c, err := pg.Connect(ctx, d.config)
	if err != nil {
		return nil, fmt.Errorf("connect worker: %w", err)
	}
	err = d.setUp(ctx, c)
	if err == nil {
		err = d.begin(ctx, c, d.snapshot)
	}
	if err != nil {
		c.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return c, nil
}

// CheckVersion refuses a server that is too old, and warns of one that is newer than this program knows. version is what the
// server calls itself, num its server_version_num; warn may be nil.
func CheckVersion(version string, num int, warn func(message string)) error {
	if num < minVersion {
		return &VersionError{Server: version}
	}
	if num > maxVersion && warn != nil {
		warn(fmt.Sprintf("server version %s is newer than this program knows (%d): its catalogs are checked, but what is new in it may be missing from the dump",
			version, maxVersion/10000))
	}
	return nil
}

// setUp gives the session the settings under which values have the form a dump needs.
func (d *dumper) setUp(ctx context.Context, c *pg.Conn) error {
	return c.SetupDump(ctx, pg.DumpSession{
		Encoding: d.opts.Encoding, Role: d.opts.Role, RowSecurity: d.opts.EnableRowSecurity,
		QuoteAll: d.opts.QuoteAllIdentifiers, ExtraFloatDigits: d.opts.ExtraFloatDigits,
		Settings: d.opts.Settings,
	})
}

// restrictForeignTables takes back what pg.Conn's AllowForeignTables allowed.
const restrictForeignTables = "SELECT pg_catalog.set_config(name, 'view, foreign-table', false) " +
	"FROM pg_catalog.pg_settings WHERE name = 'restrict_nonsystem_relation_kind'"

// begin begins the transaction whose snapshot is dumped, or that sees the given snapshot.
func (d *dumper) begin(ctx context.Context, c *pg.Conn, snapshot string) error {
	return c.BeginDump(ctx, pg.DumpTx{ImportSnapshot: snapshot, SerializableDeferrable: d.opts.SerializableDeferrable})
}

// textSettings fix the text form of values.
var textSettings = []string{
	"DateStyle", "IntervalStyle", "TimeZone", "bytea_output", "client_encoding", "extra_float_digits",
	"lc_monetary", "server_encoding", "standard_conforming_strings", "xmloption",
}

// readFacts asks the server what the dump needs to know of it.
func (d *dumper) readFacts(ctx context.Context, c *pg.Conn) error {
	f := &d.facts
	var locks, connections, prepared, std string
	const sql = `SELECT pg_catalog.current_setting('max_locks_per_transaction'),
  pg_catalog.current_setting('max_connections'), pg_catalog.current_setting('max_prepared_transactions'),
  pg_catalog.current_database(), current_user,
  pg_catalog.pg_client_encoding(), pg_catalog.current_setting('standard_conforming_strings')`
	err := queryRow(ctx, c, "read server settings", sql,
		&locks, &connections, &prepared, &f.database, &f.user, &f.encoding, &std)
	if err != nil {
		return err
	}
	f.stdStrings = std == "on"
	if f.snapshot, err = c.Snapshot(ctx, d.opts.Snapshot); err != nil {
		return err
	}
	if r := d.opts.Resume; r != nil {
		f.snapshot.Time, f.snapshot.LSN = r.Time, r.LSN
	}
	for _, n := range []struct {
		text string
		to   *int
	}{{locks, &f.maxLocks}, {connections, &f.maxConnections}, {prepared, &f.maxPrepared}} {
		if *n.to, err = strconv.Atoi(n.text); err != nil {
			return fmt.Errorf("read server settings: %w", err)
		}
	}
	if f.identity, err = c.Identity(ctx); err != nil {
		return err
	}
	f.settings = make(map[string]string)
	names := sqltext.EscapeLiteral("{" + strings.Join(textSettings, ",") + "}")
	settings := `SELECT name, pg_catalog.current_setting(name) FROM pg_catalog.pg_settings WHERE name = ANY (` + names + `)`
	err = c.Query(ctx, settings, func(v [][]byte) error {
		f.settings[string(v[0])] = string(v[1])
		return nil
	})
	if err != nil {
		return &Error{Op: "read server settings", Query: settings, Err: err}
	}
	return nil
}

// heartbeat asks the holder for a sign of life until ctx is done: it sees a lost snapshot early, and
// keeps proxies and firewalls from cutting an idle connection.
func (d *dumper) heartbeat(ctx context.Context) error {
	every := d.opts.Heartbeat
	if every == 0 {
		every = defaultHeartbeat
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := d.ping(ctx); err != nil && ctx.Err() == nil {
				d.progress.Message(true, err.Error())
				return err
			}
		}
	}
}

// ErrSnapshotLost says that the session that held the snapshot is gone, so that
// the dump cannot be completed consistently.
var ErrSnapshotLost = errors.New("the connection that holds the snapshot is lost")

// ping asks the holder for a sign of life.
func (d *dumper) ping(ctx context.Context) error {
	d.holder.mu.Lock()
	defer d.holder.mu.Unlock()
	if err := d.holder.conn.Exec(ctx, "SELECT 1"); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshotLost, err)
	}
	return nil
}

// exec runs statements and says what for when they fail.
func exec(ctx context.Context, c *pg.Conn, op, sql string) error {
	if err := c.Exec(ctx, sql); err != nil {
		return &Error{Op: op, Query: sql, Err: err}
	}
	return nil
}

// queryRow runs a query that returns one row and stores its values; NULL is the empty string.
func queryRow(ctx context.Context, c *pg.Conn, op, sql string, to ...*string) error {
	rows := 0
	err := c.Query(ctx, sql, func(v [][]byte) error {
		if len(v) != len(to) {
			return fmt.Errorf("%d columns, expected %d", len(v), len(to))
		}
		for i := range v {
			*to[i] = string(v[i])
		}
		rows++
		return nil
	})
	if err == nil && rows != 1 {
		err = fmt.Errorf("query returned %d rows instead of one", rows)
	}
	if err != nil {
		return &Error{Op: op, Query: sql, Err: err}
	}
	return nil
}
