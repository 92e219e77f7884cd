package dump

import (
	"context"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// maxLockStatement is the length in bytes above which a LOCK TABLE statement gets no more tables.
const maxLockStatement = 100_000

// lockStatements makes the statements that lock the tables. ONLY: children have an entry of
// their own if they are wanted.
func lockStatements(tables []*catalog.Table, q sqltext.Quoter) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String()+" IN ACCESS SHARE MODE")
			b.Reset()
		}
	}
	for _, t := range tables {
		if b.Len() == 0 {
			b.WriteString("LOCK TABLE ONLY ")
		} else {
			b.WriteString(", ONLY ")
		}
		b.WriteString(q.Qualified(t.Schema.Name, t.Name))
		if b.Len() >= maxLockStatement {
			flush()
		}
	}
	flush()
	return out
}

// lockTables locks the tables in the session that holds the snapshot, so that they
// are neither dropped nor altered before they are dumped.
func (d *dumper) lockTables(ctx context.Context, tables []*catalog.Table) error {
	if len(tables) == 0 {
		return nil
	}
	c := d.holder.conn
	if wait := d.opts.LockWaitTimeout; wait != "" {
		// statement_timeout rather than lock_timeout: what is bounded is the wait as a whole
		if err := exec(ctx, c, "set lock timeout", "SET statement_timeout = "+sqltext.EscapeLiteral(wait)); err != nil {
			return err
		}
	}
	for _, sql := range lockStatements(tables, d.quote) {
		if err := c.Exec(ctx, sql); err != nil {
			return d.lockError(sql, len(tables), err)
		}
	}
	if d.opts.LockWaitTimeout != "" {
		return exec(ctx, c, "reset lock timeout", "SET statement_timeout = 0")
	}
	return nil
}

// outOfMemory is what a server reports that has no room for another lock.
const outOfMemory = "53200"

func (d *dumper) lockError(sql string, tables int, err error) error {
	e := &Error{Op: "lock tables", Query: sql, Err: err}
	if pg.SQLState(err) == outOfMemory {
		e.Hint = d.facts.lockHint(tables)
	}
	return e
}

// lockHint says which setting makes room for the locks of so many tables. The lock table has room for
// max_locks_per_transaction locks for each of max_connections + max_prepared_transactions (src/backend/storage/lmgr/lock.c).
func (f *serverFacts) lockHint(tables int) string {
	slots := max(1, f.maxConnections+f.maxPrepared)
	need := (tables+slots-1)/slots + 1
	need = max(need+need/4, 2*f.maxLocks)
	return fmt.Sprintf("The dump locks %d tables, and the server has room for about %d locks. "+
		"Set max_locks_per_transaction to %d or more (it is %d) and restart the server, or dump fewer schemas at a time.",
		tables, f.maxLocks*slots, need, f.maxLocks)
}

// relock takes, in a worker, the lock that the holder has. Without NOWAIT the worker
// would queue behind a session that waits for the holder, and both for ever.
func relock(ctx context.Context, c *pg.Conn, relation string) error {
	if err := c.Exec(ctx, "LOCK TABLE ONLY "+relation+" IN ACCESS SHARE MODE NOWAIT"); err != nil {
		if pg.IsLockNotAvailable(err) {
			return &LockError{Relation: relation, Err: err}
		}
		return err
	}
	return nil
}
