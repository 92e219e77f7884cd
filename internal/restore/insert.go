package restore

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/pghaul/pghaul/pgarchive"
)

// inserts sends the data of an entry made of INSERT statements (pg_dump --inserts), or the
// comments of large objects of old archives (ExecuteSimpleCommands in pg_backup_db.c).
//
// The statements go in batches, each a message and so a transaction. If one of a batch fails,
// the batch is sent again statement by statement, so that only what fails is missing.
func (w *worker) inserts(ctx context.Context, it *Item, src source, t *Timing) error {
	feed, err := w.newFeed(ctx, it, src)
	if err != nil {
		return w.unreadableBooked(ctx, it, src, false, err)
	}
	defer feed.Close()
	inside := w.run.ledger != nil
	if inside {
		if err := w.transaction(ctx, it, "BEGIN"); err != nil {
			return err
		}
		if err := w.around(ctx, it, append(w.session.Entry(it.Entry, pgarchive.WantData), w.session.BeginData(it.Entry)...)); err != nil {
			return err
		}
	}
	split := statementSplitter{in: feed, standard: w.session.Settings().StdStrings}
	var (
		batch []string
		size  int
	)
	send := func() error {
		err := w.batch(ctx, it, batch)
		batch, size = batch[:0], 0
		return err
	}
	for {
		sql, err := split.next()
		t.Bytes, _ = feed.total()
		if err == io.EOF {
			break
		}
		if err != nil {
			return w.unreadableBooked(ctx, it, src, inside, err)
		}
		batch = append(batch, sql)
		size += len(sql)
		if size >= batchSize || len(batch) >= batchCount {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if err := send(); err != nil || !inside {
		return err
	}
	if err := w.around(ctx, it, w.session.EndData(it.Entry)); err != nil {
		return err
	}
	return w.commitBooked(ctx, it, 0)
}

// How much of INSERT statements is sent in one message.
const (
	batchSize  = 256 << 10
	batchCount = 500
)

// batch executes statements, if possible together.
func (w *worker) batch(ctx context.Context, it *Item, list []string) error {
	if len(list) == 0 {
		return nil
	}
	if w.run.ledger != nil {
		return w.batchInside(ctx, it, list)
	}
	if len(list) > 1 && w.conn.TxStatus() == 'I' {
		n := 0
		for _, s := range list {
			n += len(s)
		}
		all := make([]byte, 0, n)
		for _, s := range list {
			all = append(all, s...)
		}
		err := w.conn.Exec(ctx, string(all))
		if err == nil {
			return nil
		}
		if _, ok := refused(err); !ok {
			return w.lost(it, err)
		}
	}
	for _, s := range list {
		if _, err := w.exec(ctx, it, s); err != nil {
			return err
		}
	}
	return nil
}

// batchInside executes statements in the transaction of their entry, if possible together.
func (w *worker) batchInside(ctx context.Context, it *Item, list []string) error {
	err := w.conn.Exec(ctx, "SAVEPOINT pghaul; "+strings.Join(list, "\n")+"\nRELEASE SAVEPOINT pghaul")
	if err == nil {
		return nil
	}
	if _, ok := refused(err); !ok {
		return w.lost(it, err)
	}
	if err := w.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT pghaul; RELEASE SAVEPOINT pghaul"); err != nil {
		return w.lost(it, err)
	}
	for _, s := range list {
		if _, err := w.guarded(ctx, it, s, false); err != nil {
			return err
		}
	}
	return nil
}

// statementSplitter finds the ends of statements. It knows strings and quoted names,
// which is enough for INSERT statements as pg_dump writes them.
type statementSplitter struct {
	in       io.Reader
	standard bool // a backslash in a string is only a backslash
	buf      []byte
	at       int // what of buf was looked at
	eof      bool
	quote    byte // ' or " within one
	escaped  bool
}

var errUnfinished = errors.New("they end within a statement: the archive is truncated or damaged")

// maxStatement limits the memory one statement may take: the server's own limit of a message.
const maxStatement = 1 << 30

// next returns the next statement with its semicolon, io.EOF after the last.
func (s *statementSplitter) next() (string, error) {
	for {
		for ; s.at < len(s.buf); s.at++ {
			c := s.buf[s.at]
			switch {
			case s.quote == '\'':
				switch {
				case c == '\'' && !s.escaped:
					s.quote = 0
				case c == '\\' && !s.standard:
					s.escaped = !s.escaped
					continue
				}
				s.escaped = false
			case s.quote != 0:
				if c == s.quote {
					s.quote = 0
				}
			case c == '\'' || c == '"':
				s.quote, s.escaped = c, false
			case c == ';':
				sql := string(s.buf[:s.at+1])
				s.buf = s.buf[s.at+1:]
				s.at = 0
				return sql, nil
			case c == '\n' && s.at == 0: // between statements
				s.buf = s.buf[1:]
				s.at--
			}
		}
		if s.eof {
			if len(s.buf) > 0 {
				return "", errUnfinished
			}
			return "", io.EOF
		}
		if len(s.buf) > maxStatement {
			return "", errors.New("a statement is too long: the archive is damaged")
		}
		rest := len(s.buf)
		if cap(s.buf)-rest < 64<<10 {
			grown := make([]byte, rest, max(2*rest, 256<<10))
			copy(grown, s.buf)
			s.buf = grown
		}
		n, err := s.in.Read(s.buf[rest:cap(s.buf)])
		s.buf = s.buf[:rest+n]
		if err == io.EOF {
			s.eof = true
		} else if err != nil {
			return "", err
		}
	}
}
