package restore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// LedgerSchema is the schema of the ledger in a database that is being restored.
//
// The ledger says which entries are done. An entry's row is written in the transaction that does its work, so there
// is one exactly when the other is there, whoever dies at whatever moment. The tables are
//
//	run   one row: which archive is restored, with which options, by which process
//	done  a row for each part of an entry that was done: its state, its rows, and the error of one that failed
//
// What cannot be done in a transaction has its row written before, in state "begun"; if that is how it is found, it is done
// again and may find itself done already.
//
// The sessions of a restore hold a lock (an advisory one, shared), and whoever begins or resumes one waits for
// it alone: a session whose client was killed may still be at work, and may still finish what it does.
const LedgerSchema = "pghaul_restore"

// ledgerFormat is the version of the ledger's tables.
const ledgerFormat = 1

// Parts of an entry that have rows of their own.
const (
	partDrop    = "drop"
	partEntry   = "entry"
	partAnalyze = "analyze" // of a TABLE entry: the statistics of the table
)

// States of a part.
const (
	stateDone   = "done"
	stateFailed = "failed" // done as far as the server let it be done; the error was reported
	stateAdded  = "added"  // a foreign key that is to be checked
	stateBegun  = "begun"  // maybe done; it could not be in a transaction
)

// ledger is the ledger of one restore. Its fields do not change once there are workers.
type ledger struct {
	identity
	token   string // of this process
	closing bool   // its removal was begun
}

// identity says what is restored and how: the same when a restore may be resumed.
type identity struct {
	archive string // hash of the table of contents
	wanted  string // hash of what is wanted of it
	options string // those that change statements, as text
}

// row is a row of the ledger.
type row struct {
	id      pgarchive.ID
	part    string
	state   string
	rows    int64
	message string
}

// LedgerError says why a restore cannot begin or be resumed.
type LedgerError struct {
	Reason string // what is the case
	WayOut string // what can be done
}

func (e *LedgerError) Error() string { return e.Reason }

// keepsLedger says whether a restore with these options can keep a ledger. Inside transactions of the restore's own all or nothing
// of many entries is done, and somebody else than the connected role may not write to the ledger.
func (o *Options) keepsLedger() bool {
	return o.Ledger && !o.SingleTransaction && o.TransactionSize == 0 && !o.UseSetSessionAuthorization && o.Superuser == ""
}

// identity works out what is restored and how.
func (r *run) identity() identity {
	toc := sha256.New()
	h := r.r.Header()
	hashTexts(toc, h.Database, h.ServerVersion, h.DumpVersion, strconv.FormatInt(h.Created.Unix(), 10))
	entries := slices.Clone(r.r.Entries())
	slices.SortFunc(entries, func(a, b *pgarchive.Entry) int { return int(a.ID) - int(b.ID) })
	for _, e := range entries {
		hashTexts(toc, strconv.Itoa(int(e.ID)), e.Desc, e.Namespace, e.Tag, e.Owner, e.Tablespace, e.TableAM, e.Defn, e.DropStmt, e.CopyStmt)
	}
	wanted := sha256.New()
	items := slices.Clone(r.plan.Items)
	slices.SortFunc(items, func(a, b *Item) int { return int(a.Entry.ID) - int(b.Entry.ID) })
	for _, it := range items {
		if it.Want&wantAny != 0 {
			hashTexts(wanted, strconv.Itoa(int(it.Entry.ID)), strconv.Itoa(int(it.Want&wantAny)))
		}
	}
	return identity{hex.EncodeToString(toc.Sum(nil)), hex.EncodeToString(wanted.Sum(nil)), r.o.statementOptions()}
}

// hashTexts adds texts to a hash, each with its length.
func hashTexts(h hash.Hash, texts ...string) {
	var n [8]byte
	for _, s := range texts {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
}

// statementOptions names the options that change statements.
func (o *Options) statementOptions() string {
	var list []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"--clean", o.Clean}, {"--if-exists", o.IfExists}, {"--create", o.Create}, {"--no-owner", o.NoOwner},
		{"--no-tablespaces", o.NoTablespaces}, {"--no-table-access-method", o.NoTableAM},
		{"--disable-triggers", o.DisableTriggers}, {"--enable-row-security", o.EnableRowSecurity},
	} {
		if f.set {
			list = append(list, f.name)
		}
	}
	if o.Role != "" {
		list = append(list, "--role="+o.Role)
	}
	for _, from := range slices.Sorted(maps.Keys(o.RoleMap)) {
		list = append(list, "--map-role="+from+"="+o.RoleMap[from])
	}
	return strings.Join(list, " ")
}

// The key of the lock of a restore's sessions, in two parts.
const lockKey = "1885825121, 1919251315" // "pgha", "rest"

const (
	lockAlone  = "SELECT pg_catalog.pg_advisory_lock(" + lockKey + ")"
	lockShared = "SELECT pg_catalog.pg_advisory_lock_shared(" + lockKey + ")"
	unlock     = "SELECT pg_catalog.pg_advisory_unlock(" + lockKey + ")"
)

// lockPatience is how long to wait for the sessions of an interrupted restore to end. Those whose client is gone notice
// that within a second (noticeClient).
var lockPatience = "15s"

// ledgerThere asks for the ledger's tables.
const ledgerThere = "SELECT pg_catalog.to_regclass('" + LedgerSchema + ".done') IS NOT NULL AND " +
	"pg_catalog.to_regclass('" + LedgerSchema + ".run') IS NOT NULL"

// openLedger begins the ledger of a restore, or finds that of the restore that is resumed and marks what it did. It
// is for the leader.
func (w *worker) openLedger(ctx context.Context) error {
	if err := w.noticeClient(ctx); err != nil {
		return err
	}
	if err := w.lockAlone(ctx); err != nil {
		return err
	}
	there, err := w.conn.Value(ctx, ledgerThere)
	if err != nil {
		return fmt.Errorf("look for the ledger of an interrupted restore: %w", err)
	}
	token := make([]byte, 16)
	rand.Read(token)
	l := &ledger{identity: w.identity(), token: hex.EncodeToString(token)}
	switch {
	case there == "t":
		err = w.resume(ctx, l)
	case w.o.Resume:
		if err = w.startsEmpty(ctx); err == nil {
			w.log(Info, "no restore was begun here; starting from the beginning")
			err = w.newLedger(ctx, l)
		}
	default:
		err = w.newLedger(ctx, l)
	}
	if err != nil {
		return err
	}
	if err := w.conn.Exec(ctx, lockShared+";"+unlock); err != nil {
		return fmt.Errorf("lock the ledger of the restore: %w", err)
	}
	return nil
}

// Interrupted says whether a database holds the ledger of a restore that was interrupted, or is at work.
func Interrupted(ctx context.Context, c *pg.Conn) (bool, error) {
	there, err := c.Value(ctx, "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = '"+LedgerSchema+"'")
	if err != nil {
		return false, fmt.Errorf("look for the ledger of an interrupted restore: %w", err)
	}
	return there != "", nil
}

// lockAlone waits until no session of a restore is at work in the database.
func (w *worker) lockAlone(ctx context.Context) error {
	err := w.conn.Exec(ctx, "SET lock_timeout = '"+lockPatience+"'")
	if err == nil {
		err = w.conn.Exec(ctx, lockAlone)
	}
	if pg.IsLockNotAvailable(err) {
		var pids []string
		qerr := w.conn.Query(ctx, `SELECT pid FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted
AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
AND (classid, objid, objsubid) = (`+lockKey+`, 2) ORDER BY pid`, func(v [][]byte) error {
			pids = append(pids, string(v[0]))
			return nil
		})
		if qerr != nil {
			return fmt.Errorf("find the sessions of another restore: %w", qerr)
		}
		return &LedgerError{
			Reason: "another restore is at work in this database, in the sessions with process ID " + strings.Join(pids, ", "),
			WayOut: "Wait for its end. If its program is gone, end the sessions with pg_terminate_backend, then use --resume.",
		}
	}
	if err == nil {
		err = w.conn.Exec(ctx, "SET lock_timeout = 0")
	}
	if err != nil {
		return fmt.Errorf("lock the ledger of the restore: %w", err)
	}
	return nil
}

// noticeClient makes the server look while it works whether its client is still there, so that the sessions of a restore that was killed
// end soon. Some servers cannot.
func (w *worker) noticeClient(ctx context.Context) error {
	err := w.conn.NoticeLostClient(ctx)
	if err == nil && w.conn.Version() >= 140000 {
		err = w.conn.Exec(ctx, "SET client_connection_check_interval = '1s'")
		if _, ok := refused(err); ok {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("set up session: %w", err)
	}
	return nil
}

// newLedger makes the tables. A role that may not do so restores without.
func (w *worker) newLedger(ctx context.Context, l *ledger) error {
	var sql strings.Builder
	fmt.Fprintf(&sql, `CREATE SCHEMA %[1]s;
COMMENT ON SCHEMA %[1]s IS 'what pghaul restore has done so far; it goes away at the end';
CREATE TABLE %[1]s.run (format int PRIMARY KEY, archive text NOT NULL, wanted text NOT NULL, options text NOT NULL,
  token text NOT NULL, resumed int NOT NULL, begun timestamptz NOT NULL DEFAULT pg_catalog.now());
CREATE TABLE %[1]s.done (part text NOT NULL, id int NOT NULL, state text NOT NULL, rows int8 NOT NULL, message text,
  at timestamptz NOT NULL DEFAULT pg_catalog.now(), PRIMARY KEY (part, id));
INSERT INTO %[1]s.run VALUES (%[2]d, %[3]s, %[4]s, %[5]s, %[6]s, 0);
`, LedgerSchema, ledgerFormat, w.quote(l.archive), w.quote(l.wanted), w.quote(l.options), w.quote(l.token))
	err := w.conn.Exec(ctx, sql.String())
	if e, ok := refused(err); ok {
		if !pg.IsPermissionDenied(err) {
			return fmt.Errorf("make the ledger of the restore: %s", pg.Message(e, ""))
		}
		w.log(Warning, "this restore cannot be resumed if it is interrupted: the role may not create the schema "+LedgerSchema)
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the ledger of the restore: %w", err)
	}
	w.run.ledger = l
	return nil
}

// startsEmpty refuses to take a restore that never began for one that can be resumed, unless it makes no difference.
func (w *worker) startsEmpty(ctx context.Context) error {
	objects, err := UserObjects(ctx, w.conn, 1)
	if err != nil {
		return err
	}
	if len(objects) > 0 {
		return &LedgerError{
			Reason: "there is no interrupted restore to resume: the database holds no ledger of one (schema " + LedgerSchema + "), and is not empty",
			WayOut: "A restore that came to its end has removed its ledger. To restore again use an empty database.",
		}
	}
	return nil
}

// UserObjects names up to limit objects of the database that are neither PostgreSQL's, nor of an extension, nor the ledger's: schemas other than public,
// relations, functions, types, large objects. None means that the database is empty.
func UserObjects(ctx context.Context, c *pg.Conn, limit int) ([]string, error) {
	const sql = `WITH own AS (
  SELECT oid, nspname FROM pg_catalog.pg_namespace
  WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', '` + LedgerSchema + `'))
SELECT what, pg_catalog.count(*) OVER () FROM (
  SELECT 1 AS rank, c.oid, 'pg_class'::pg_catalog.regclass AS of, CASE c.relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view '
    WHEN 'S' THEN 'sequence ' WHEN 'f' THEN 'foreign table ' ELSE 'table ' END || pg_catalog.format('%%I.%%I', n.nspname, c.relname) AS what
  FROM pg_catalog.pg_class c JOIN own n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
  UNION ALL
  SELECT 2, p.oid, 'pg_proc'::pg_catalog.regclass, 'function ' || pg_catalog.format('%%I.%%I', n.nspname, p.proname)
  FROM pg_catalog.pg_proc p JOIN own n ON n.oid = p.pronamespace
  UNION ALL
  SELECT 3, t.oid, 'pg_type'::pg_catalog.regclass, 'type ' || pg_catalog.format('%%I.%%I', n.nspname, t.typname)
  FROM pg_catalog.pg_type t JOIN own n ON n.oid = t.typnamespace
  WHERE t.typtype IN ('d', 'e', 'r') OR t.typtype = 'c' AND EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')
  UNION ALL
  SELECT 4, n.oid, 'pg_namespace'::pg_catalog.regclass, 'schema ' || pg_catalog.quote_ident(n.nspname) FROM own n WHERE n.nspname <> 'public'
  UNION ALL
  SELECT 5, l.oid, 'pg_largeobject'::pg_catalog.regclass, 'large object ' || l.oid FROM pg_catalog.pg_largeobject_metadata l
) AS o
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = o.of AND d.objid = o.oid AND d.deptype = 'e')
ORDER BY rank, what LIMIT %d`
	var out []string
	err := c.Query(ctx, fmt.Sprintf(sql, limit), func(v [][]byte) error {
		out = append(out, string(v[0]))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look whether the database is empty: %w", err)
	}
	return out, nil
}

// resume takes over the ledger that is there.
func (w *worker) resume(ctx context.Context, l *ledger) error {
	const forget = " To give that one up, restore into a new database, or end it here with DROP SCHEMA " + LedgerSchema + " CASCADE."
	var (
		format int
		found  identity
		begun  string
		n      int
	)
	err := w.conn.Query(ctx, "SELECT format, archive, wanted, options, begun FROM "+LedgerSchema+".run", func(v [][]byte) error {
		n++
		format, _ = strconv.Atoi(string(v[0]))
		found = identity{string(v[1]), string(v[2]), string(v[3])}
		begun = string(v[4])
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the ledger of an interrupted restore: %w", err)
	}
	switch {
	case n != 1:
		return &LedgerError{fmt.Sprintf("the ledger of a restore in schema %s is damaged: it has %d rows for the run", LedgerSchema, n), strings.TrimSpace(forget)}
	case !w.o.Resume:
		return &LedgerError{"a restore that was begun in this database at " + begun + " was interrupted", "To go on with it use --resume with the same archive and options." + forget}
	case format != ledgerFormat:
		return &LedgerError{fmt.Sprintf("the restore to resume was begun by another version of pghaul: its ledger has format %d, this version writes %d", format, ledgerFormat),
			"Resume it with that version." + forget}
	case found.archive != l.archive:
		return &LedgerError{"the restore that was interrupted in this database was of another archive", "Resume with the archive it was begun with." + forget}
	case found.options != l.options:
		return &LedgerError{"the restore to resume was begun with other options: " + optionText(found.options) + ", now " + optionText(l.options), "Resume with the options it was begun with." + forget}
	case found.wanted != l.wanted:
		return &LedgerError{"the restore to resume was begun with another selection of what to restore", "Resume with the options it was begun with." + forget}
	}
	if err := w.conn.Exec(ctx, "UPDATE "+LedgerSchema+".run SET resumed = resumed + 1, token = "+w.quote(l.token)); err != nil {
		return fmt.Errorf("take over the ledger of an interrupted restore: %w", err)
	}
	w.run.ledger = l
	rows, err := w.rows(ctx, "")
	if err != nil {
		return err
	}
	w.mark(rows)
	return nil
}

func optionText(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// rows reads the ledger.
func (w *worker) rows(ctx context.Context, where string) ([]row, error) {
	var out []row
	err := w.conn.Query(ctx, "SELECT part, id, state, rows, message FROM "+LedgerSchema+".done"+where+" ORDER BY at, id", func(v [][]byte) error {
		id, err := strconv.ParseInt(string(v[1]), 10, 32)
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(v[3]), 10, 64)
		if err != nil {
			return err
		}
		out = append(out, row{pgarchive.ID(id), string(v[0]), string(v[2]), n, string(v[4])})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the ledger of the restore: %w", err)
	}
	return out, nil
}

// mark notes in the plan what the interrupted restore did. It is for the leader, before there are workers.
func (w *worker) mark(rows []row) {
	begun := func(it *Item) { it.begun = true }
	n := 0
	for _, x := range rows {
		it := w.plan.byID[x.id]
		if it == nil {
			continue
		}
		switch {
		case x.part == partDrop && x.state == stateBegun:
			begun(it)
		case x.part == partDrop:
			it.dropped = true
		case x.part == partAnalyze:
			it.analyzed = true
		case x.state == stateBegun:
			begun(it)
		case x.state == stateAdded:
			if k := newSplitKey(it.Entry.Defn); k != nil {
				k.added = true
				it.split = k
				it.checksOnly()
			}
		default:
			n++
			if x.state == stateFailed {
				it.failures++
			}
			w.tableMade(it)
			it.done, it.before = true, true
			it.Want &^= wantAny
			for _, d := range tablePieces(it) {
				d.lead = nil // they are no longer loaded together
			}
		}
		if x.state == stateFailed {
			w.mu.Lock()
			w.say(Error, "before the interruption: "+x.message)
			w.res.Errors = append(w.res.Errors, &EntryError{Entry: it.Entry, Message: x.message, Err: errors.New(x.message)})
			w.res.Ignored++
			w.mu.Unlock()
		}
	}
	w.res.Resumed = n
	w.log(Info, fmt.Sprintf("resuming: %d entries are done", n))
}

// tablePieces are the data entries of the table whose data an item is.
func tablePieces(it *Item) []*Item {
	if it.table == nil {
		return nil
	}
	return it.table.data
}

// join makes a session one of the restore's: as long as it lives nobody else begins one.
func (w *worker) join(ctx context.Context) error {
	if w.run.ledger == nil {
		return nil
	}
	if err := w.noticeClient(ctx); err != nil {
		return err
	}
	if err := w.conn.Exec(ctx, lockShared); err != nil {
		return fmt.Errorf("lock the ledger of the restore: %w", err)
	}
	if w.run.ledger.closing {
		there, err := w.conn.Value(ctx, ledgerThere)
		if err == nil && there == "f" {
			w.run.ledger = nil
		}
		return err
	}
	token, err := w.conn.Value(ctx, "SELECT token FROM "+LedgerSchema+".run")
	if err != nil && !pg.IsUndefined(err) {
		return fmt.Errorf("read the ledger of the restore: %w", err)
	}
	if token != w.run.ledger.token {
		return &LedgerError{"another process has taken over this restore, or its ledger was removed", "Look for another pghaul restore into this database."}
	}
	return nil
}

// closeLedger removes the ledger. Event triggers that were restored do not see it where the role may switch them off.
func (w *worker) closeLedger(ctx context.Context) error {
	if w.run.ledger == nil {
		return nil
	}
	w.run.ledger.closing = true
	const drop = "DROP SCHEMA IF EXISTS " + LedgerSchema + " CASCADE;"
	quiet := "SET LOCAL session_replication_role = replica;"
	if w.conn.Version() >= 170000 {
		quiet += "SET LOCAL event_triggers = off;"
	}
	err := w.conn.Exec(ctx, "BEGIN;"+quiet+drop+"COMMIT;")
	if _, ok := refused(err); ok {
		if w.conn.TxStatus() != 'I' {
			if err := w.transaction(ctx, nil, "ROLLBACK"); err != nil {
				return err
			}
		}
		err = w.conn.Exec(ctx, drop)
	}
	if err != nil {
		return fmt.Errorf("everything was restored, but the ledger in schema %s could not be removed: %w", LedgerSchema, err)
	}
	w.run.ledger = nil
	return nil
}

func (w *worker) quote(s string) string {
	return sqltext.Literal(s, w.session.Settings().StdStrings)
}

// insert is the statement that writes rows.
func (w *worker) insert(rows ...row) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + LedgerSchema + ".done (part, id, state, rows, message) VALUES ")
	for i, x := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		message := "NULL"
		if x.message != "" {
			message = w.quote(x.message)
		}
		fmt.Fprintf(&b, "('%s', %d, '%s', %d, %s)", x.part, x.id, x.state, x.rows, message)
	}
	b.WriteString(";\n")
	return b.String()
}

// update is the statement that changes the state of a row that is there.
func (w *worker) update(x row) string {
	return fmt.Sprintf("UPDATE "+LedgerSchema+".done SET state = '%s', message = %s, at = pg_catalog.now() WHERE part = '%s' AND id = %d;\n",
		x.state, w.quote(x.message), x.part, x.id)
}

// failed books an entry whose error was reported, and of which nothing was done or not what should be.
func (w *worker) failed(ctx context.Context, it *Item, part string) error {
	if w.run.ledger == nil {
		return nil
	}
	sql := strings.TrimSuffix(w.insert(row{it.Entry.ID, part, stateFailed, 0, w.lastMessage(it)}), ";\n")
	sql += " ON CONFLICT (part, id) DO UPDATE SET state = EXCLUDED.state, message = EXCLUDED.message"
	if err := w.conn.Exec(ctx, sql); err != nil {
		return w.lost(it, err)
	}
	return nil
}

// lastMessage is the message of the last error of an item, kept short.
func (w *worker) lastMessage(it *Item) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e, ok := w.lastErrorOf(it).(*EntryError); ok && e != nil {
		text := strings.ReplaceAll(e.Message, "\x00", "")
		return strings.ToValidUTF8(text[:min(len(text), 4000)], "")
	}
	return "it failed"
}

// once does the statements of an item and books it, both in one transaction. statements is asked again when the session has lost what it knew.
func (w *worker) once(ctx context.Context, it *Item, part string, statements func() []string) error {
	if it.begun {
		return w.outside(ctx, it, part, statements())
	}
	before := *w.session
	for attempt := 1; ; attempt++ {
		list := statements()
		if len(list) == 0 {
			return nil
		}
		err := w.conn.Exec(ctx, strings.Join(list, "\n")+"\n"+w.insert(row{it.Entry.ID, part, stateDone, 0, ""}))
		if err == nil {
			return nil
		}
		e, ok := refused(err)
		if !ok {
			return w.lost(it, err)
		}
		*w.session = before
		switch {
		case e.Code == deadlockDetected && attempt < maxAttempts:
			continue
		case e.Code == activeTransaction:
			if err := w.conn.Exec(ctx, w.insert(row{it.Entry.ID, part, stateBegun, 0, ""})); err != nil {
				return w.lost(it, err)
			}
			return w.outside(ctx, it, part, statements())
		}
		if madeDo, err := w.makeDo(ctx, e.Code); err != nil {
			return w.lost(it, err)
		} else if madeDo {
			continue
		}
		break
	}
	for attempt := 1; ; attempt++ {
		again, err := w.apart(ctx, it, part, statements(), attempt < maxAttempts)
		if err != nil || !again {
			return err
		}
		*w.session = before
	}
}

// activeTransaction is the SQLSTATE of a statement that must not be in a transaction.
const activeTransaction = "25001"

// apart does the statements of an item one by one in one transaction, so that those that fail leave behind what the others did. again says
// that nothing was done because of a deadlock.
func (w *worker) apart(ctx context.Context, it *Item, part string, list []string, mayRetry bool) (again bool, err error) {
	if err := w.transaction(ctx, it, "BEGIN"); err != nil {
		return false, err
	}
	before := it.failures
	for _, sql := range list {
		again, err := w.guarded(ctx, it, sql, mayRetry)
		if err != nil {
			return false, err
		}
		if again {
			return true, w.transaction(ctx, it, "ROLLBACK")
		}
	}
	x := row{it.Entry.ID, part, stateDone, 0, ""}
	if it.failures > before {
		x.state, x.message = stateFailed, w.lastMessage(it)
	}
	if err := w.conn.Exec(ctx, w.insert(x)); err != nil {
		return false, w.lost(it, err)
	}
	return false, w.transaction(ctx, it, "COMMIT")
}

// guarded does a statement in a transaction that goes on if it fails. again says that it was given up for the sake of another.
func (w *worker) guarded(ctx context.Context, it *Item, sql string, mayRetry bool) (again bool, err error) {
	if err := w.conn.Exec(ctx, "SAVEPOINT pghaul"); err != nil {
		return false, w.lost(it, err)
	}
	err = w.conn.Exec(ctx, sql)
	if err == nil {
		if err := w.conn.Exec(ctx, "RELEASE SAVEPOINT pghaul"); err != nil {
			return false, w.lost(it, err)
		}
		return false, nil
	}
	e, ok := refused(err)
	if !ok {
		return false, w.lost(it, err)
	}
	if e.Code == deadlockDetected && mayRetry {
		return true, nil
	}
	if err := w.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT pghaul; RELEASE SAVEPOINT pghaul"); err != nil {
		return false, w.lost(it, err)
	}
	return false, w.report(it, queryError(it, "could not execute query", sql, e))
}

// outside does statements that cannot be in a transaction. If an earlier run began them, what it did shows in errors that say so.
func (w *worker) outside(ctx context.Context, it *Item, part string, list []string) error {
	before := it.failures
	for _, sql := range list {
		err := w.conn.Exec(ctx, sql)
		if err == nil {
			continue
		}
		e, ok := refused(err)
		switch {
		case !ok:
			return w.lost(it, err)
		case it.begun && (part == partEntry && pg.IsDuplicate(err) || part == partDrop && pg.IsUndefined(err)):
			continue
		}
		if err := w.report(it, queryError(it, "could not execute query", sql, e)); err != nil {
			return err
		}
	}
	x := row{it.Entry.ID, part, stateDone, 0, ""}
	if it.failures > before {
		x.state, x.message = stateFailed, w.lastMessage(it)
	}
	it.begun = false
	if err := w.conn.Exec(ctx, w.update(x)); err != nil {
		return w.lost(it, err)
	}
	return nil
}

// How long a restore with a ledger tries to get a lost connection back: a server that was restarted, or a standby that
// takes over, needs a while.
const (
	reconnectFor   = 2 * time.Minute
	reconnectFirst = 50 * time.Millisecond
	reconnectMost  = 5 * time.Second
)

// reach connects, and keeps trying while the server is not there or has no connection to give.
func (r *run) reach(ctx context.Context) (*worker, error) {
	end := time.Now().Add(reconnectFor)
	for wait := reconnectFirst; ; wait = min(2*wait, reconnectMost) {
		w, err := r.connect(ctx)
		if err == nil || r.ledger == nil || ctx.Err() != nil || !pg.IsConnectionLost(err) && !pg.IsOutOfConnections(err) || time.Now().Add(wait).After(end) {
			return w, err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
	}
}

// maxLosses is how often the connection may be lost over the same work.
const maxLosses = 5

// steady does work on items, and does it again on another connection if that was lost. f must leave out items that are done. repeatable
// says that the data can be had a second time.
func (w *worker) steady(ctx context.Context, items []*Item, repeatable bool, f func() error) error {
	for losses := 1; ; losses++ {
		err := f()
		if err == nil || !w.canComeBack(ctx, err) || losses > maxLosses {
			return err
		}
		w.log(Warning, fmt.Sprintf("connection lost, connecting again: %s", err))
		if rerr := w.comeBack(ctx); rerr != nil {
			return fmt.Errorf("%w; connecting again: %w", err, rerr)
		}
		rows, rerr := w.rowsOf(ctx, items)
		if rerr != nil {
			if w.canComeBack(ctx, rerr) {
				continue // f finds the connection closed
			}
			return rerr
		}
		for _, x := range rows {
			w.remember(x)
		}
		for _, it := range items {
			if !it.done && !repeatable {
				return err
			}
		}
	}
}

// canComeBack says whether an error is the loss of a connection that can be replaced. That to a store is not the target's.
func (w *worker) canComeBack(ctx context.Context, err error) bool {
	return w.run.ledger != nil && ctx.Err() == nil && pg.IsConnectionLost(err) && !isUnreachable(err)
}

// comeBack replaces the connection.
func (w *worker) comeBack(ctx context.Context) error {
	w.close()
	next, err := w.reach(ctx)
	if err != nil {
		return err
	}
	w.conn, w.session, w.set = next.conn, next.session, settings{}
	return nil
}

func (w *worker) rowsOf(ctx context.Context, items []*Item) ([]row, error) {
	if len(items) == 0 {
		return nil, nil
	}
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = strconv.Itoa(int(it.Entry.ID))
	}
	return w.rows(ctx, " WHERE id IN ("+strings.Join(ids, ", ")+")")
}

// remember notes what the ledger says of an item that was being worked on when the connection was lost.
func (w *worker) remember(x row) {
	it := w.plan.byID[x.id]
	switch {
	case x.part == partDrop:
		it.begun = x.state == stateBegun
		it.dropped = !it.begun
	case x.part == partAnalyze:
		it.analyzed = true
	case x.state == stateBegun:
		it.begun = true
	case x.state == stateAdded:
		if it.split != nil {
			it.split.added = true
		}
	case !it.done:
		it.done = true
		if !w.parallel {
			w.tableMade(it)
		}
		w.finished(it, Timing{Entry: it.Entry, Begin: time.Now(), Rows: x.rows})
		w.progress.EntryDone(it.Entry, nil)
	}
}

// leadInCreated connects the leader of a restore that is resumed to the database that it creates. It returns nil if that is not there.
func (r *run) leadInCreated(ctx context.Context) (*worker, error) {
	var made *Item
	for _, it := range r.plan.Items {
		if it.Entry.Desc == "DATABASE" && it.Want&wantAny != 0 {
			made = it
		}
	}
	if made == nil {
		return nil, nil
	}
	before := r.target
	r.target = r.target.WithDatabase(made.Entry.Tag)
	w, err := r.connect(ctx)
	if err != nil {
		if pg.IsNoSuchDatabase(err) {
			r.target = before
			return nil, nil
		}
		return nil, err
	}
	if err = r.plan.CheckBinary(w.conn.Version()); err == nil {
		err = w.openLedger(ctx)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	made.begun = !made.done
	return w, nil
}

// databaseMade opens the ledger in the database that was made, and books that, or the settings that it got.
func (w *worker) databaseMade(ctx context.Context, it *Item) error {
	if !w.o.keepsLedger() {
		return nil
	}
	if w.run.ledger == nil {
		if err := w.openLedger(ctx); err != nil || w.run.ledger == nil {
			return err
		}
	}
	it.begun = false
	if err := w.conn.Exec(ctx, w.insert(row{it.Entry.ID, partEntry, stateDone, 0, ""})); err != nil {
		return w.lost(it, err)
	}
	return nil
}
