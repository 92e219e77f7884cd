package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// DumpSession are the settings of a session that dumps. The zero value is what pg_dump has without options.
type DumpSession struct {
	Encoding         string // --encoding; "" leaves what the server chose
	Role             string // --role
	RowSecurity      bool   // --enable-row-security: see only what policies show; otherwise filtering is an error
	QuoteAll         bool   // --quote-all-identifiers
	ExtraFloatDigits *int   // --extra-float-digits; nil is 3, which is exact

	// Settings are set last, in order, for callers that need more of the text form fixed than pg_dump does (TimeZone).
	Settings [][2]string
}

// SetupDump makes the session one whose texts mean the same everywhere, and that nothing interrupts
// (setup_connection in src/bin/pg_dump/pg_dump.c). It is to be called once, outside a transaction.
func (c *Conn) SetupDump(ctx context.Context, o DumpSession) error {
	if err := c.Exec(ctx, "SELECT pg_catalog.set_config('search_path', '', false)"); err != nil {
		return &Error{Op: "set up session", Err: err}
	}
	if o.Encoding != "" {
		if err := c.Exec(ctx, "SET client_encoding TO "+sqltext.EscapeLiteral(o.Encoding)); err != nil {
			if SQLState(err) != "" {
				return &encodingError{o.Encoding, err}
			}
			return &Error{Op: "set client encoding", Object: o.Encoding, Err: err}
		}
	}
	if o.Role != "" {
		if err := c.Exec(ctx, "SET ROLE "+sqltext.Quoter{}.Ident(o.Role)); err != nil {
			return &Error{Op: "set role", Object: o.Role, Err: err}
		}
	}
	if err := c.Exec(ctx, c.dumpSettings(o)); err != nil {
		return &Error{Op: "set up session", Err: err}
	}
	return nil
}

type encodingError struct {
	name string
	err  error
}

func (e *encodingError) Error() string {
	return fmt.Sprintf("invalid client encoding %q specified", e.name)
}
func (e *encodingError) Unwrap() error { return e.err }

func (c *Conn) dumpSettings(o DumpSession) string {
	digits := 3
	if o.ExtraFloatDigits != nil {
		digits = *o.ExtraFloatDigits
	}
	rowSecurity := "off"
	if o.RowSecurity {
		rowSecurity = "on"
	}
	type setting struct {
		since       int
		name, value string
	}
	list := []setting{
		{0, "DATESTYLE", "ISO"},
		{0, "INTERVALSTYLE", "POSTGRES"},
		{0, "extra_float_digits", strconv.Itoa(digits)},
		{0, "synchronize_seqscans", "off"},
		// The dump has sessions of its own side by side. On catalogues of 20,000 tables, parallel workers beside them
		// cost the server a third of its processor time.
		{90600, "max_parallel_workers_per_gather", "0"},
		// The server's own default. With 128 MB the plans of joins with lists of OIDs put the whole of pg_attribute into a hash table,
		// again and again: 20,000 tables took 6.7 s instead of 4.0 s.
		{0, "work_mem", "'4MB'"},
		{0, "statement_timeout", "0"},
		{90300, "lock_timeout", "0"},
		{90600, "idle_in_transaction_session_timeout", "0"},
		{140000, "idle_session_timeout", "0"}, // pg_dump leaves it, but its sessions never wait long
		{170000, "transaction_timeout", "0"},
		{90500, "row_security", rowSecurity},
	}
	if o.QuoteAll {
		list = append(list, setting{90100, "quote_all_identifiers", "true"})
	}
	var b strings.Builder
	for _, s := range list {
		if c.version >= s.since {
			b.WriteString("SET " + s.name + " = " + s.value + ";\n")
		}
	}
	// Views of other people must not run their functions on us, and foreign tables are not ours to read (CVE-2024-7348).
	// Minor versions since 2024 have the setting, so the server is asked.
	b.WriteString("SELECT pg_catalog.set_config(name, 'view, foreign-table', false) FROM pg_catalog.pg_settings " +
		"WHERE name = 'restrict_nonsystem_relation_kind';\n")
	for _, s := range o.Settings {
		b.WriteString("SELECT pg_catalog.set_config(" + sqltext.EscapeLiteral(s[0]) + ", " + sqltext.EscapeLiteral(s[1]) + ", false);\n")
	}
	return b.String()
}

// AllowForeignTables lets the session read foreign tables again, for --include-foreign-data.
func (c *Conn) AllowForeignTables(ctx context.Context) error {
	return c.Exec(ctx, "SELECT pg_catalog.set_config(name, 'view', false) FROM pg_catalog.pg_settings "+
		"WHERE name = 'restrict_nonsystem_relation_kind'")
}

// DumpTx says what kind of transaction a dump reads in.
type DumpTx struct {
	ImportSnapshot         string // another session's exported snapshot, or the user's own (--snapshot)
	SerializableDeferrable bool   // wait for a snapshot without serialization anomalies; not together with ImportSnapshot
}

// OpImportSnapshot is the Op of an Error of BeginDump that is about the snapshot to import.
const OpImportSnapshot = "import snapshot"

// BeginDump begins the read-only transaction of a dump, and takes or imports its snapshot.
func (c *Conn) BeginDump(ctx context.Context, o DumpTx) error {
	mode := "REPEATABLE READ, READ ONLY"
	if o.SerializableDeferrable && o.ImportSnapshot == "" {
		mode = "SERIALIZABLE, READ ONLY, DEFERRABLE"
	}
	if err := c.Exec(ctx, "BEGIN; SET TRANSACTION ISOLATION LEVEL "+mode); err != nil {
		return &Error{Op: "begin transaction", Err: err}
	}
	if o.ImportSnapshot != "" {
		if err := c.Exec(ctx, "SET TRANSACTION SNAPSHOT "+sqltext.EscapeLiteral(o.ImportSnapshot)); err != nil {
			e := &Error{Op: OpImportSnapshot, Object: o.ImportSnapshot, Err: err}
			if IsSnapshotGone(err) {
				e.Hint = "the session that exported it is over, or it belongs to another database or server"
			}
			return e
		}
	}
	return nil
}

// ErrNoExport says that the server cannot export a snapshot, so that several sessions cannot see the same data.
var ErrNoExport = errors.New("parallel dumps from standby servers are not supported by this server version")

// ExportSnapshot gives other sessions the right to import the snapshot of the transaction at hand, as long as that lasts.
// Standbys can do it since version 10; older ones give ErrNoExport.
func (c *Conn) ExportSnapshot(ctx context.Context) (string, error) {
	if c.version < 100000 {
		standby, err := c.InRecovery(ctx)
		if err != nil {
			return "", err
		}
		if standby {
			return "", ErrNoExport
		}
	}
	id, err := c.value(ctx, "SELECT pg_catalog.pg_export_snapshot()")
	if err != nil {
		return "", &Error{Op: "export snapshot", Err: err}
	}
	return id, nil
}

// InRecovery says whether the server is a standby.
func (c *Conn) InRecovery(ctx context.Context) (bool, error) {
	v, err := c.value(ctx, "SELECT pg_catalog.pg_is_in_recovery()")
	return v == "t", err
}

// Snapshot says what a dump shows: the state of which server at which point.
type Snapshot struct {
	ID         string    // for importing, "" if it was not exported
	LSN        string    // the write-ahead log's position, at or shortly after the snapshot; "" if it may not be asked
	Time       time.Time // of the transaction's start, by the server's clock
	InRecovery bool      // taken on a standby
	Xmin, Xmax string    // transaction IDs: all before Xmin are over, none from Xmax on had begun
}

// Snapshot describes the snapshot of the transaction at hand. id is what ExportSnapshot returned, or "".
func (c *Conn) Snapshot(ctx context.Context, id string) (Snapshot, error) {
	s := Snapshot{ID: id}
	var err error
	if s.InRecovery, err = c.InRecovery(ctx); err != nil {
		return s, &Error{Op: "describe snapshot", Err: err}
	}
	err = c.Query(ctx, "SELECT pg_catalog.txid_snapshot_xmin(s), pg_catalog.txid_snapshot_xmax(s), "+
		"(extract(epoch FROM pg_catalog.transaction_timestamp()) * 1000000)::pg_catalog.int8 FROM pg_catalog.txid_current_snapshot() AS s",
		func(v [][]byte) error {
			s.Xmin, s.Xmax = string(v[0]), string(v[1])
			us, err := strconv.ParseInt(string(v[2]), 10, 64)
			s.Time = time.UnixMicro(us).UTC()
			return err
		})
	if err != nil {
		return s, &Error{Op: "describe snapshot", Err: err}
	}
	fn := "pg_current_wal_lsn"
	switch {
	case s.InRecovery && c.version >= 100000:
		fn = "pg_last_wal_replay_lsn"
	case s.InRecovery:
		fn = "pg_last_xlog_replay_location"
	case c.version < 100000:
		fn = "pg_current_xlog_location"
	}
	s.LSN, err = c.valueIfAllowed(ctx, "SELECT pg_catalog."+fn+"()")
	if err != nil {
		return s, &Error{Op: "describe snapshot", Err: err}
	}
	return s, nil
}

// valueIfAllowed is Value for a query that some hosted servers refuse: then it returns "", and a transaction that is
// under way goes on.
func (c *Conn) valueIfAllowed(ctx context.Context, sql string) (string, error) {
	inTx := c.TxStatus() == 'T'
	if inTx {
		if err := c.Exec(ctx, "SAVEPOINT pghaul"); err != nil {
			return "", err
		}
	}
	v, err := c.value(ctx, sql)
	if SQLState(err) != "" && !IsConnectionLost(err) && !IsCanceled(err) {
		v, err = "", nil
	}
	if inTx && err == nil {
		err = c.Exec(ctx, "ROLLBACK TO SAVEPOINT pghaul; RELEASE SAVEPOINT pghaul")
	}
	return v, err
}
