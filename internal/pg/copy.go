package pg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// CopyTo runs a COPY … TO STDOUT and gives its data to sink. It returns the number of rows, which the
// server's own count confirmed. When ctx is done or the sink fails, the statement is cancelled, what is still on its way is dropped,
// and the session stays usable. sql must be that one statement; without HEADER, which would count as a row.
func (c *Conn) CopyTo(ctx context.Context, sql string, sink CopySink) (rows int64, err error) {
	if err := c.acquire(); err != nil {
		return 0, err
	}
	defer c.release()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if c.pg.IsClosed() {
		return 0, serverGone(errors.New("connection is closed"))
	}
	if err := c.pg.SyncConn(ctx); err != nil {
		return 0, c.classify(ctx, err)
	}
	if c.copyBuf == nil {
		c.copyBuf = make([]byte, copyBufSize)
	}
	x := &copyOut{c: c, sink: sink}
	return x.run(ctx, sql)
}

// copyOut is one run of CopyTo.
type copyOut struct {
	c    *Conn
	sink CopySink

	sinkErr   error // the sink's, or the context's
	serverErr *ServerError
	fatal     bool // the server ended the session
	started   bool // CopyOutResponse was seen
	binary    bool
	finished  bool // CopyDone was seen
	tag       string

	cancel   context.CancelFunc // stops the cancel request
	canceled chan struct{}      // closed when the cancel request is over
}

func (x *copyOut) run(ctx context.Context, sql string) (int64, error) {
	c := x.c
	conn := c.pg.Conn()
	msg := make([]byte, 0, len(sql)+6)
	msg = append(msg, 'Q')
	msg = binary.BigEndian.AppendUint32(msg, uint32(len(sql)+5))
	msg = append(append(msg, sql...), 0)
	if strings.IndexByte(sql, 0) >= 0 {
		return 0, errors.New("statement contains a zero byte")
	}
	if _, err := conn.Write(msg); err != nil {
		c.pg.Close(expired())
		return 0, serverGone(err)
	}

	stop := context.AfterFunc(ctx, x.sendCancel())
	d := &deframer{r: c.reader, buf: c.copyBuf, control: x.control, sink: func(buf []byte, ends []int) error {
		if x.sinkErr == nil {
			if x.sinkErr = ctx.Err(); x.sinkErr == nil {
				if x.sinkErr = sink(x.sink, buf, ends); x.sinkErr != nil && stop() {
					go x.sendCancel()()
				}
			}
		}
		return nil // go on reading until the server has stopped
	}}
	err := d.run()
	if !stop() {
		// the cancel request must be over before the next statement, which it would hit
		<-x.canceled
		conn.SetDeadline(time.Time{})
		if err == nil && !x.fatal && SQLState(x.asError()) != "57014" {
			// it came too late for this statement; this one takes it, if the server has not dropped it
			_ = c.query(context.WithoutCancel(ctx), "SELECT 1", nil, func([][]byte) error { return nil })
		}
	}
	x.cancel()
	if x.sinkErr == nil {
		x.sinkErr = ctx.Err()
	}
	if err != nil || x.fatal {
		c.pg.Close(expired())
	}
	switch {
	case err != nil && x.sinkErr != nil:
		return d.messages, &canceledError{x.sinkErr, err}
	case x.serverErr != nil && x.sinkErr != nil:
		return d.messages, &canceledError{x.sinkErr, x.serverErr}
	case x.serverErr != nil:
		return d.messages, x.serverErr
	case err != nil:
		return d.messages, err
	case x.sinkErr != nil:
		return d.messages, x.sinkErr
	}
	return x.verify(d.messages)
}

func (x *copyOut) asError() error {
	if x.serverErr == nil {
		return nil
	}
	return x.serverErr
}

func sink(s CopySink, buf []byte, ends []int) error { return s.Rows(buf, ends) }

// expired is a context for closing a connection that nobody listens to any more.
func expired() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// sendCancel prepares a function, to be called once and beside run, that asks the server to stop and sees to it that reading ends.
func (x *copyOut) sendCancel() func() {
	ctx, cancel := context.WithTimeout(context.Background(), cancelGrace)
	done := make(chan struct{})
	x.cancel, x.canceled = cancel, done
	return func() {
		defer close(done)
		x.c.pg.Conn().SetDeadline(time.Now().Add(cancelGrace))
		// an error means no answer; then the deadline ends the session
		_ = x.c.pg.CancelRequest(ctx)
	}
}

// control handles every message but CopyData.
func (x *copyOut) control(kind byte, body []byte) (done bool, err error) {
	switch kind {
	case 'H': // CopyOutResponse
		if len(body) < 1 {
			return false, errors.New("malformed CopyOutResponse message")
		}
		x.started, x.binary = true, body[0] == 1
	case 'c': // CopyDone
		x.finished = true
	case 'C': // CommandComplete
		x.tag = strings.TrimRight(string(body), "\x00")
	case 'E':
		var m pgproto3.ErrorResponse
		if err := m.Decode(body); err != nil {
			return false, fmt.Errorf("malformed ErrorResponse message: %w", err)
		}
		x.serverErr = serverError(&m)
		if x.serverErr.SeverityUnlocalized == "FATAL" || x.serverErr.SeverityUnlocalized == "PANIC" || x.serverErr.Severity == "FATAL" {
			x.fatal = true
			return true, nil
		}
	case 'N':
		var m pgproto3.NoticeResponse
		if err := m.Decode(body); err != nil {
			return false, fmt.Errorf("malformed NoticeResponse message: %w", err)
		}
		if f := x.c.config.OnNotice; f != nil {
			f((*Notice)(serverError((*pgproto3.ErrorResponse)(&m))))
		}
	case 'S':
		var m pgproto3.ParameterStatus
		if err := m.Decode(body); err != nil {
			return false, fmt.Errorf("malformed ParameterStatus message: %w", err)
		}
		x.c.parameters[m.Name] = changed{before: x.c.pg.ParameterStatus(m.Name), value: m.Value}
	case 'A': // a notification: nobody listens
	case 'T', 'D', 'I', 'G': // the statement was not a COPY TO STDOUT
		if kind == 'G' {
			// the server waits for data now
			return false, errors.New("statement is a COPY FROM STDIN, not a COPY TO STDOUT")
		}
	case 'Z':
		if len(body) != 1 {
			return false, errors.New("malformed ReadyForQuery message")
		}
		x.c.rawStatus = body[0]
		return true, nil
	default:
		return false, fmt.Errorf("unexpected message of type %q during COPY", kind)
	}
	return false, nil
}

// verify holds the number of messages against the server's count of rows.
func (x *copyOut) verify(messages int64) (int64, error) {
	if !x.started || !x.finished {
		return messages, fmt.Errorf("statement is not a COPY TO STDOUT: server answered %q", x.tag)
	}
	rows := messages
	if x.binary {
		rows-- // the trailer is a message of its own, the header comes with the first row or the trailer
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(x.tag, "COPY "), 10, 64)
	if err != nil {
		return rows, fmt.Errorf("server ended COPY with %q instead of a row count", x.tag)
	}
	if n != rows {
		return rows, fmt.Errorf("server counted %d rows, %d arrived", n, rows)
	}
	return rows, nil
}

func serverError(m *pgproto3.ErrorResponse) *ServerError {
	return &ServerError{
		Severity: m.Severity, SeverityUnlocalized: m.SeverityUnlocalized, Code: m.Code, Message: m.Message, Detail: m.Detail,
		Hint: m.Hint, Position: m.Position, InternalPosition: m.InternalPosition, InternalQuery: m.InternalQuery, Where: m.Where,
		SchemaName: m.SchemaName, TableName: m.TableName, ColumnName: m.ColumnName, DataTypeName: m.DataTypeName,
		ConstraintName: m.ConstraintName, File: m.File, Line: m.Line, Routine: m.Routine,
	}
}

// CopyFrom runs a COPY … FROM STDIN with the data of r and returns the number of rows the server took. An error of r
// makes the COPY fail, so that nothing is loaded, and is returned. Reading r is not interrupted when ctx is done: r
// must see to that itself.
func (c *Conn) CopyFrom(ctx context.Context, sql string, r io.Reader) (rows int64, err error) {
	if err := c.acquire(); err != nil {
		return 0, err
	}
	defer c.release()
	in := &copyReader{r: r}
	tag, err := c.pg.CopyFrom(ctx, in, sql)
	c.fromPgconn()
	failed := in.failed()
	if err == nil && failed != nil {
		err = failed // the reader failed and the server did not mind
	}
	if err != nil {
		if failed != nil {
			return 0, &copyReadError{failed, err}
		}
		return 0, c.classify(ctx, err)
	}
	if n, ok := strings.CutPrefix(tag.String(), "COPY "); ok {
		if rows, err = strconv.ParseInt(n, 10, 64); err == nil {
			return rows, nil
		}
	}
	return 0, fmt.Errorf("server ended COPY with %q instead of a row count", tag.String())
}

// copyReadError is the end of a COPY FROM whose data could not be read.
type copyReadError struct{ read, server error }

func (e *copyReadError) Error() string { return "read data for COPY: " + e.read.Error() }
func (e *copyReadError) Unwrap() error { return e.read }

// copyReader fills the buffer it is given, whatever r hands out at a time: pgconn makes one message and one
// write of every read. pgconn may go on reading after it has returned the error of a lost connection.
type copyReader struct {
	r   io.Reader
	mu  sync.Mutex
	err error // other than io.EOF
}

// failed is the error the reading ended in, if it did not reach the end.
func (c *copyReader) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *copyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k, err := c.r.Read(p[n:])
		n += k
		if err != nil {
			if err != io.EOF {
				c.mu.Lock()
				c.err = err
				c.mu.Unlock()
			}
			return n, err
		}
	}
	return n, nil
}
