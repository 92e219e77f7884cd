package pg

import (
	"context"
	"errors"
	"strconv"
	"strings"
)

// Identity says which database a session is in, and in which life of its server.
type Identity struct {
	// System is the identifier that initdb makes, shared by the servers of one replication; "" if the
	// server does not let everyone ask for it.
	System   string `json:"system"`
	Started  string `json:"started"` // when the server was started, by its own clock
	OID      uint32 `json:"oid"`     // of the database
	Database string `json:"database"`
}

// Same reports whether both are the same database, not necessarily on the same server of a replication.
func (i Identity) Same(o Identity) bool {
	if i.System == "" || o.System == "" {
		return i == o
	}
	return i.System == o.System && i.OID == o.OID && i.Database == o.Database
}

// Identity asks which database the session is in. A transaction that is under way goes on.
func (c *Conn) Identity(ctx context.Context) (Identity, error) {
	var i Identity
	rows := 0
	err := c.Query(ctx, "SELECT d.oid, d.datname, (extract(epoch FROM pg_catalog.pg_postmaster_start_time()) * 1000000)::pg_catalog.int8 "+
		"FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()",
		func(v [][]byte) error {
			rows++
			oid, err := strconv.ParseUint(string(v[0]), 10, 32)
			i.OID, i.Database, i.Started = uint32(oid), string(v[1]), string(v[2])
			return err
		})
	if err == nil && rows != 1 {
		err = errors.New("the database is not in pg_database")
	}
	if err == nil {
		i.System, err = c.valueIfAllowed(ctx, "SELECT system_identifier FROM pg_catalog.pg_control_system()")
	}
	if err != nil {
		return i, &Error{Op: "ask which database this is", Err: err}
	}
	return i, nil
}

// NoticeLostClient asks the server to end the session within about a minute and a half of the client's
// disappearance without a word, as after a power failure, so that locks and snapshots are not held for hours. Where the server, or a
// Unix socket, has no such setting, nothing happens.
func (c *Conn) NoticeLostClient(ctx context.Context) error {
	set := []string{"tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 6"}
	if c.version >= 140000 {
		set = append(set, "client_connection_check_interval = '10s'")
	}
	for _, s := range set {
		err := c.Exec(ctx, "SET "+s)
		if err != nil && SQLState(err) == "" {
			return err
		}
	}
	return nil
}

// SnapshotText is the content of the snapshot of the transaction at hand: which transactions it sees. It is the same
// for all sessions that have the snapshot.
func (c *Conn) SnapshotText(ctx context.Context) (string, error) {
	v, err := c.value(ctx, "SELECT pg_catalog.txid_current_snapshot()")
	return strings.TrimSpace(v), err
}
