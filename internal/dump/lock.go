package dump

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// maxLockStatement is the length in bytes above which a LOCK TABLE statement gets no more tables.
const maxLockStatement = 100_000

// lockStatements makes the statements that lock the tables, at most batch with each; 0 is any number. ONLY: children have
// an entry of their own if they are wanted.
func lockStatements(tables []*catalog.Table, q sqltext.Quoter, batch int) []string {
	var out []string
	var b strings.Builder
	n := 0
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String()+" IN ACCESS SHARE MODE")
			b.Reset()
			n = 0
		}
	}
	for _, t := range tables {
		if b.Len() == 0 {
			b.WriteString("LOCK TABLE ONLY ")
		} else {
			b.WriteString(", ONLY ")
		}
		b.WriteString(q.Qualified(t.Schema.Name, t.Name))
		if n++; b.Len() >= maxLockStatement || n == batch {
			flush()
		}
	}
	flush()
	return out
}

// capacity is for how many locks the server is sure to have room: it has max_locks_per_transaction locks for each of
// max_connections + max_prepared_transactions, and a little more (src/backend/storage/lmgr/lock.c).
func (f *serverFacts) capacity() int { return f.maxLocks * max(1, f.maxConnections+f.maxPrepared) }

// lockTables locks the tables in the session that holds the snapshot, so that they
// are neither dropped nor altered before they are dumped.
//
// A dump without rows ends soon, and need not hold its locks if they are so many that others could get none: they are taken
// and given back in batches, which waits for those who alter a table now, and at the end it is checked
// that nobody has altered one since (checkUnlocked).
func (d *dumper) lockTables(ctx context.Context, tables []*catalog.Table) error {
	capacity := d.facts.capacity()
	switch {
	case d.opts.NoData && !d.opts.BinaryUpgrade && len(tables) > capacity/2:
		d.unlocked = tables
		return d.holdLocks(ctx, tables, max(1, capacity/10))
	case len(tables) > capacity+capacity/4:
		return &Error{
			Op: "lock tables", Hint: d.facts.lockHint(len(tables)),
			Err: fmt.Errorf("%d tables need more locks than the server has", len(tables)),
		}
	}
	return d.holdLocks(ctx, tables, 0)
}

// holdLocks takes the locks; with a batch, it gives them back when so many are held.
func (d *dumper) holdLocks(ctx context.Context, tables []*catalog.Table, batch int) error {
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
	for _, sql := range lockStatements(tables, d.quote, batch) {
		if batch > 0 {
			sql = "SAVEPOINT locks; " + sql + "; ROLLBACK TO SAVEPOINT locks; RELEASE SAVEPOINT locks"
		}
		if err := c.Exec(ctx, sql); err != nil {
			return d.lockError(sql, len(tables), err)
		}
	}
	if d.opts.LockWaitTimeout != "" {
		if err := exec(ctx, c, "reset lock timeout", "SET statement_timeout = 0"); err != nil {
			return err
		}
	}
	if batch > 0 || d.opts.Locked == nil {
		return nil
	}
	statements := lockStatements(tables, d.quote, lockedBatch)
	for i := range statements {
		statements[i] += " NOWAIT"
	}
	return d.opts.Locked(ctx, statements)
}

// lockedBatch is how many tables a statement for Locked names: if one of them is not to be had, none of them is locked.
const lockedBatch = 50

// outOfMemory is what a server reports that has no room for another lock.
const outOfMemory = "53200"

func (d *dumper) lockError(sql string, tables int, err error) error {
	e := &Error{Op: "lock tables", Query: sql, Err: err}
	if pg.SQLState(err) == outOfMemory {
		e.Hint = d.facts.lockHint(tables)
	}
	return e
}

// checkUnlocked fails if a table that is not locked, or an index of it, has been altered or dropped since the
// snapshot: what the server's functions said of it may then be of another time than the rest.
func (d *dumper) checkUnlocked(ctx context.Context) error {
	if len(d.unlocked) == 0 {
		return nil
	}
	var oids strings.Builder
	for i, t := range d.unlocked {
		if i > 0 {
			oids.WriteByte(',')
		}
		oids.WriteString(strconv.FormatUint(uint64(t.ID.OID), 10))
	}
	sql := `SELECT pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashtext(c.oid::pg_catalog.text || ' ' || c.xmin::pg_catalog.text)::pg_catalog.int8)
FROM (SELECT oid FROM pg_catalog.unnest('{` + oids.String() + `}'::pg_catalog.oid[]) AS t (oid)
  UNION ALL
  SELECT i.indexrelid FROM pg_catalog.unnest('{` + oids.String() + `}'::pg_catalog.oid[]) AS t (oid) JOIN pg_catalog.pg_index i ON i.indrelid = t.oid) AS r
JOIN pg_catalog.pg_class c ON c.oid = r.oid`
	now, err := pg.Connect(ctx, d.config)
	if err != nil {
		return fmt.Errorf("check that no table was altered: %w", err)
	}
	defer now.Close(context.WithoutCancel(ctx))
	var before, after [2]string
	if err := queryRow(ctx, d.holder.conn, "read versions of tables", sql, &before[0], &before[1]); err != nil {
		return err
	}
	if err := queryRow(ctx, now, "read versions of tables", sql, &after[0], &after[1]); err != nil {
		return err
	}
	if before != after {
		return &Error{
			Op: "dump definitions", Hint: d.facts.lockHint(len(d.unlocked)),
			Err: errors.New("tables or indexes were altered meanwhile, and the server has not enough locks to prevent that"),
		}
	}
	return nil
}

// lockHint says which setting makes room for the locks of so many tables.
func (f *serverFacts) lockHint(tables int) string {
	slots := max(1, f.maxConnections+f.maxPrepared)
	need := (tables+slots-1)/slots + 1
	need = max(need+need/4, 2*f.maxLocks)
	return fmt.Sprintf("The dump locks %d tables, and the server has room for about %d locks. "+
		"Set max_locks_per_transaction to %d or more (it is %d) and restart the server, or dump fewer schemas at a time.",
		tables, f.capacity(), need, f.maxLocks)
}

// relock takes, in a worker, the lock that the holder has. Without NOWAIT the worker
// would queue behind a session that waits for the holder, and both for ever. got is false if there is such a session.
func relock(ctx context.Context, c *pg.Conn, relation string) (got bool, err error) {
	err = c.Exec(ctx, "SAVEPOINT relock; LOCK TABLE ONLY "+relation+" IN ACCESS SHARE MODE NOWAIT; RELEASE SAVEPOINT relock")
	if pg.IsLockNotAvailable(err) {
		return false, c.Exec(ctx, "ROLLBACK TO SAVEPOINT relock; RELEASE SAVEPOINT relock")
	}
	return err == nil, err
}
