package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pghaul/pghaul/pgarchive"
)

// A source gives the data of one entry.
type source interface {
	data(ctx context.Context) (io.ReadCloser, error)
	largeObjects(ctx context.Context) (pgarchive.LargeObjectReader, error)
	again() bool // whether the data can be had a second time
}

// archiveSource is an entry of an archive that can be read at will.
type archiveSource struct {
	r  pgarchive.Reader
	id pgarchive.ID
}

func (s archiveSource) data(ctx context.Context) (io.ReadCloser, error) { return s.r.Data(ctx, s.id) }
func (s archiveSource) largeObjects(ctx context.Context) (pgarchive.LargeObjectReader, error) {
	return s.r.LargeObjects(ctx, s.id)
}
func (s archiveSource) again() bool { return !s.r.Sequential() }

// data loads the rows of a table.
func (w *worker) data(ctx context.Context, it *Item, src source, t *Timing) error {
	e := it.Entry
	// Triggers that are off for one piece of a table must not be switched on while another
	// is being loaded: then each piece is a transaction, whose lock keeps the others away.
	alone := w.run.ledger == nil && w.o.DisableTriggers && !w.plan.Schema && w.parallel && it.pieces > 1
	if alone {
		if err := w.transaction(ctx, it, "BEGIN"); err != nil {
			return err
		}
	}
	if w.run.ledger == nil {
		if err := w.prepareData(ctx, it); err != nil {
			return err
		}
	}
	w.log(Info, fmt.Sprintf("processing data for table \"%s.%s\"", e.Namespace, e.Tag))
	var err error
	if e.CopyStmt == "" {
		err = w.inserts(ctx, it, src, t)
	} else {
		err = w.copyIn(ctx, it, src, t)
	}
	if err != nil || w.run.ledger != nil {
		return err
	}
	if alone && w.conn.TxStatus() == 'E' {
		// The failure was reported. The session is again what it was before, which it has to find out.
		w.session.Reset()
		return w.transaction(ctx, it, "ROLLBACK")
	}
	for _, sql := range w.session.EndData(e) {
		if _, err := w.exec(ctx, it, sql); err != nil {
			return err
		}
	}
	if alone {
		return w.transaction(ctx, it, "COMMIT")
	}
	return nil
}

// prepareData sends what must stand before the data of an entry.
func (w *worker) prepareData(ctx context.Context, it *Item) error {
	for _, sql := range append(w.session.Entry(it.Entry, pgarchive.WantData), w.session.BeginData(it.Entry)...) {
		if _, err := w.exec(ctx, it, sql); err != nil {
			return err
		}
	}
	return nil
}

// copyIn loads the data of an entry with COPY. Where this restore made the
// table and the entry holds all its rows, and more than a few, the table is emptied in the same transaction, which
// lets the server skip the write-ahead log (wal_level minimal), and its rows are stored frozen, which
// saves the first vacuum.
func (w *worker) copyIn(ctx context.Context, it *Item, src source, t *Timing) error {
	freeze, apart := w.fresh(it), false
	for attempt := 1; ; attempt++ {
		rows, bytes, err := w.copyOnce(ctx, it, src, freeze, apart)
		t.Rows, t.Bytes = rows, bytes
		var again *retry
		if err == nil || !errors.As(err, &again) {
			return err
		}
		if attempt < maxAttempts && src.again() {
			freeze = freeze && !again.plain
			apart = apart || again.apart
			continue
		}
		if err := w.report(it, again.err); err != nil {
			return err
		}
		return w.failed(ctx, it, partEntry)
	}
}

// retry is an error of a COPY that another attempt may not have.
type retry struct {
	err   *EntryError
	plain bool // without TRUNCATE and FREEZE
	apart bool // with messages of their own for COPY and for what is booked
}

func (r *retry) Error() string { return r.err.Error() }

// fresh says whether a table data entry can be loaded into an emptied table.
func (w *worker) fresh(it *Item) bool {
	tab := it.table
	return !w.o.NoFreeze && tab != nil && tab.created && it.pieces == 1 && !it.Entry.LoadsViaRoot() && !w.inTransactions() &&
		(tab.Entry.RelKind == 0 || tab.Entry.RelKind == 'r') && it.Entry.Desc == "TABLE DATA"
}

// copyOnce makes one attempt. With a ledger what is booked of data that are little goes in one message with their COPY, unless apart. Errors of the entry are reported, except a *retry.
func (w *worker) copyOnce(ctx context.Context, it *Item, src source, freeze, apart bool) (rows, size int64, err error) {
	e := it.Entry
	sql := e.CopyStmt
	feed, err := w.newFeed(ctx, it, src)
	if err != nil {
		return 0, 0, w.unreadableBooked(ctx, it, src, false, err)
	}
	defer feed.Close()
	small := (freeze || w.run.ledger != nil) && feed.small()
	if small {
		// A new file for the table costs more than there is to gain.
		freeze = false
	}
	book := "" // in the message of COPY
	inside := freeze || w.run.ledger != nil
	if w.run.ledger != nil {
		begin := append(w.session.Entry(e, pgarchive.WantData), w.session.BeginData(e)...)
		if small && !apart && len(begin) == 0 && !w.o.DisableTriggers && it.failures == 0 {
			_, n := feed.total()
			book, inside = w.insert(row{e.ID, partEntry, stateDone, n, ""}), false
		} else {
			if err := w.transaction(ctx, it, "BEGIN"); err != nil {
				return 0, 0, err
			}
			if err := w.around(ctx, it, begin); err != nil {
				return 0, 0, err
			}
		}
	} else if freeze {
		if err := w.transaction(ctx, it, "BEGIN"); err != nil {
			return 0, 0, err
		}
	}
	if freeze {
		// Not its partitions and children, if it has any.
		truncate := w.session.Truncate(e)
		if w.run.ledger != nil {
			truncate = "SAVEPOINT pghaul;" + truncate + "RELEASE SAVEPOINT pghaul"
		}
		err := w.conn.Exec(ctx, truncate)
		if err != nil {
			if _, ok := refused(err); !ok {
				return 0, 0, w.lost(it, err)
			}
			// Who may not truncate may still insert.
			freeze = false
			if w.run.ledger != nil {
				err = w.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT pghaul; RELEASE SAVEPOINT pghaul")
			} else {
				inside = false
				err = w.transaction(ctx, it, "ROLLBACK")
			}
			if err != nil {
				return 0, 0, w.lost(it, err)
			}
		}
	}
	if freeze {
		sql = withFreeze(sql)
	}
	rows, err = w.conn.CopyFrom(ctx, book+sql, feed)
	fed := feed.Close()
	size, taken := feed.total()
	if err != nil {
		if fed != nil && ctx.Err() == nil && !w.conn.IsClosed() {
			// The data ended in an error, and the server was told to forget them.
			return 0, 0, w.unreadableBooked(ctx, it, src, inside, fed)
		}
		pe, ok := refused(err)
		if !ok {
			return 0, 0, w.lost(it, err)
		}
		if inside {
			if err := w.rollBack(ctx, it); err != nil {
				return 0, 0, err
			}
		}
		ee := copyError(it, sql, pe)
		if pe.Where == "" && refusedAtOnce(pe.Code) {
			ee = queryError(it, "could not execute query", sql, pe) // it did not begin
		}
		switch {
		case book != "" && src.again():
			return 0, 0, &retry{err: ee, apart: true} // for the error's own words
		case pe.Code == deadlockDetected && w.conn.TxStatus() == 'I':
			return 0, 0, &retry{err: ee}
		case freeze && (pe.Code == featureNotSupported || pe.Code == objectNotInState || pe.Code == wrongObjectType):
			return 0, 0, &retry{err: ee, plain: true}
		}
		if err := w.report(it, ee); err != nil {
			return 0, 0, err
		}
		return 0, 0, w.failed(ctx, it, partEntry)
	}
	if fed != nil { // a writer of OnData
		return 0, 0, w.unreadableBooked(ctx, it, src, inside, fed)
	}
	if feed.text && rows != taken {
		wrong := fmt.Errorf("the archive holds %d rows, the server took %d", taken, rows)
		if it.table != nil && it.table.created {
			return 0, 0, w.unreadableBooked(ctx, it, src, inside, wrong)
		}
		// A trigger of a table that was there before may keep rows out.
		w.log(Warning, fmt.Sprintf("data of %s: %s", it.name(), wrong))
	}
	switch {
	case book != "":
	case w.run.ledger != nil:
		if err = w.around(ctx, it, w.session.EndData(e)); err == nil {
			err = w.commitBooked(ctx, it, rows)
		}
	case inside:
		err = w.transaction(ctx, it, "COMMIT")
	}
	if err != nil {
		return 0, 0, err
	}
	return rows, size, nil
}

// around does, in the transaction of an entry's data, the statements before or after them.
func (w *worker) around(ctx context.Context, it *Item, list []string) error {
	for _, sql := range list {
		if _, err := w.guarded(ctx, it, sql, false); err != nil {
			return err
		}
	}
	return nil
}

// rollBack ends the transaction of an entry that failed.
func (w *worker) rollBack(ctx context.Context, it *Item) error {
	if err := w.transaction(ctx, it, "ROLLBACK"); err != nil {
		return err
	}
	if w.run.ledger != nil {
		w.session.Reset() // what was set in the transaction
	}
	return nil
}

// commitBooked ends the transaction of an entry's data, and books the entry in it.
func (w *worker) commitBooked(ctx context.Context, it *Item, rows int64) error {
	if w.run.ledger == nil {
		return w.transaction(ctx, it, "COMMIT")
	}
	x := row{it.Entry.ID, partEntry, stateDone, rows, ""}
	if it.failures > 0 {
		x.state, x.message = stateFailed, w.lastMessage(it)
	}
	err := w.conn.Exec(ctx, w.insert(x)+"COMMIT")
	e, ok := refused(err)
	if !ok {
		if err != nil {
			err = w.lost(it, err)
		}
		return err
	}
	if w.conn.TxStatus() != 'I' {
		if err := w.rollBack(ctx, it); err != nil {
			return err
		}
	}
	if err := w.report(it, queryError(it, "could not commit database transaction", "COMMIT", e)); err != nil {
		return err
	}
	return w.failed(ctx, it, partEntry)
}

// unreadableBooked is unreadable for data whose failure is booked.
func (w *worker) unreadableBooked(ctx context.Context, it *Item, src source, inside bool, err error) error {
	if err := w.unreadable(ctx, it, src, inside, err); err != nil {
		return err
	}
	if w.run.ledger != nil {
		w.session.Reset()
	}
	return w.failed(ctx, it, partEntry)
}

// refusedAtOnce says whether a statement with such an error was not even begun: what it names is not there, is
// not allowed or is of a wrong kind. Errors of rows have other classes, and a context that names the line.
func refusedAtOnce(code string) bool {
	switch code[:min(len(code), 2)] {
	case "42", "3F", "0A", "25", "55":
		return true
	}
	return false
}

// SQLSTATEs of a COPY FREEZE into something that cannot have it.
const (
	featureNotSupported = "0A000"
	objectNotInState    = "55000"
	wrongObjectType     = "42809"
)

// unreadable reports that the data of an entry are not what they should be, after leaving
// the transaction. A stream that breaks has no next entry, and a store that is gone has none to give: that ends the restore, which
// can be resumed.
func (w *worker) unreadable(ctx context.Context, it *Item, src source, inside bool, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if inside {
		if err := w.transaction(ctx, it, "ROLLBACK"); err != nil {
			return err
		}
	}
	ee := archiveError(it, err)
	if !src.again() || isUnreachable(err) {
		w.mu.Lock()
		w.res.Errors = append(w.res.Errors, ee)
		it.failures++
		w.mu.Unlock()
		return ee
	}
	return w.report(it, ee)
}

// withFreeze adds the FREEZE option to a COPY statement.
func withFreeze(sql string) string {
	body := strings.TrimRight(sql, "; \n")
	switch {
	case strings.HasSuffix(body, " FROM stdin"):
		return body + " WITH (FREEZE);\n"
	case strings.HasSuffix(body, ")") && strings.Contains(body, " FROM stdin WITH ("):
		return strings.TrimSuffix(body, ")") + ", FREEZE);\n"
	}
	return sql
}

// isBinary says whether a COPY statement takes the binary format.
func isBinary(sql string) bool {
	i := strings.LastIndex(sql, " FROM stdin")
	return i >= 0 && strings.Contains(strings.ToLower(sql[i:]), "format binary")
}

// feed reads the data of an entry ahead of the server, counts and watches them.
//
// One goroutine decompresses into blocks and hands them to OnData; Read takes the blocks.
type feed struct {
	outer   context.Context // the restore's
	full    chan block
	free    chan []byte
	stop    context.CancelFunc
	stopped <-chan struct{}
	ended   chan struct{}
	text    bool // rows are counted

	mu   sync.Mutex // guards what follows, which is of Read
	now  block      // being read
	rest []byte
	err  error // what the data ended in, once Read has seen it
	size int64 // of what Read has begun to give
	rows int64
}

type block struct {
	b    []byte
	rows int64
	err  error // io.EOF after the last
}

// Blocks: enough to keep the server fed while the next is decompressed.
const (
	blockSize  = 256 << 10
	blockCount = 4
)

// newFeed starts reading the data of an item.
func (w *worker) newFeed(outer context.Context, it *Item, src source) (*feed, error) {
	ctx, stop := context.WithCancel(outer)
	in, err := src.data(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	f := &feed{
		outer:   outer,
		full:    make(chan block, blockCount),
		free:    make(chan []byte, blockCount),
		stop:    stop,
		stopped: ctx.Done(),
		ended:   make(chan struct{}),
		text:    it.Entry.CopyStmt != "" && !isBinary(it.Entry.CopyStmt),
	}
	for range blockCount {
		f.free <- nil
	}
	var tee io.Writer
	if w.o.OnData != nil {
		tee = w.o.OnData(it.Entry)
	}
	go func() {
		defer close(f.ended)
		err := f.readAhead(ctx, w.progress, it.Entry, in, tee)
		in.Close()
		if c, ok := tee.(io.Closer); ok {
			if cerr := c.Close(); err == nil && cerr != nil {
				err = cerr
			}
		}
		if err == nil {
			err = io.EOF
		}
		select {
		case f.full <- block{err: err}:
		case <-ctx.Done():
		}
	}()
	return f, nil
}

// readAhead fills blocks until the end of the data.
func (f *feed) readAhead(ctx context.Context, p Progress, e *pgarchive.Entry, in io.Reader, tee io.Writer) error {
	var count lineCount
	for {
		var buf []byte
		select {
		case buf = <-f.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		if buf == nil {
			buf = make([]byte, blockSize)
		}
		n, err := fill(in, buf)
		b := block{b: buf[:n]}
		if f.text {
			b.rows = count.add(b.b)
		}
		if n > 0 {
			if tee != nil {
				if _, err := tee.Write(b.b); err != nil {
					return err
				}
			}
			p.Data(e, int64(n), b.rows)
			select {
			case f.full <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		switch {
		case err == nil:
		case err != io.EOF:
			return err
		case f.text && !count.ended:
			return errTruncated
		default:
			return nil
		}
	}
}

var errTruncated = errors.New("they end before their end marker: the archive is truncated or damaged")

// small waits for the first block and says whether it is all there is. It comes before the first Read.
func (f *feed) small() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.take() {
		return false
	}
	return len(f.rest) < blockSize
}

// take waits for the next block; false says that the feed was closed. The caller holds mu.
func (f *feed) take() bool {
	select {
	case f.now = <-f.full:
	case <-f.stopped:
		return false
	case <-f.outer.Done():
		f.now = block{err: f.outer.Err()}
	}
	f.rest, f.err = f.now.b, f.now.err
	f.rows += f.now.rows
	f.size += int64(len(f.now.b))
	return true
}

// Read gives the data to the connection. A connection that broke may still be reading while it is closed.
func (f *feed) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if f.now.b != nil {
			f.free <- f.now.b[:cap(f.now.b)] // never full: there are blockCount blocks
			f.now = block{}
		}
		if !f.take() {
			return 0, context.Canceled
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close stops the reading, waits for its end, and returns the error the data ended in, if
// the connection has seen it.
func (f *feed) Close() error {
	f.stop()
	select {
	case <-f.ended:
	case <-f.outer.Done():
		// Somebody wants to leave, and a read of the standard input cannot be interrupted.
		leave(f.ended)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == io.EOF {
		return nil
	}
	return f.err
}

// total returns the bytes and rows that Read has given.
func (f *feed) total() (size, rows int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size, f.rows
}

// leave waits a moment for a goroutine that may be held up in a read.
func leave(ended <-chan struct{}) {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
	}
}

// lineCount counts the rows of COPY data in the text format: lines before the end marker.
type lineCount struct {
	ended   bool // the end marker was seen
	midLine bool
	held    int // bytes of the end marker seen at the start of a line
}

// endMarker is the line after the last row. No row looks like it: COPY escapes backslashes.
const endMarker = "\\.\n"

var (
	newline      = []byte("\n")
	markerInside = []byte("\n" + endMarker)
)

// add counts the rows that end in b, the next bytes of the data.
func (c *lineCount) add(b []byte) int64 {
	if c.ended || len(b) == 0 {
		return 0
	}
	if !c.midLine { // the marker may begin or go on here
		n := min(len(endMarker)-c.held, len(b))
		if string(b[:n]) == endMarker[c.held:c.held+n] {
			c.held += n
			c.ended = c.held == len(endMarker)
			return 0
		}
		c.held = 0
	}
	if i := bytes.Index(b, markerInside); i >= 0 {
		c.ended = true
		return int64(bytes.Count(b[:i+1], newline))
	}
	c.midLine = true
	for n := range len(endMarker) {
		if bytes.HasSuffix(b, markerInside[:1+n]) {
			c.midLine, c.held = false, n
		}
	}
	return int64(bytes.Count(b, newline))
}
