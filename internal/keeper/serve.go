package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
)

// request is a line to the keeper. The first has a Spec and a way to connect, the others one of the rest.
type request struct {
	Spec    *Spec    `json:"spec,omitempty"`
	Connect string   `json:"connect,omitempty"` // with the password
	Lock    []string `json:"lock,omitempty"`
	Known   bool     `json:"known,omitempty"`
	End     bool     `json:"end,omitempty"`
}

// reply is the keeper's answer to a request but End.
type reply struct {
	Snapshot string `json:"snapshot,omitempty"`
	PID      uint32 `json:"pid,omitempty"` // of the session, on the server
	Missed   int    `json:"missed,omitempty"`
	Error    string `json:"error,omitempty"`
	Gone     bool   `json:"gone,omitempty"` // the error is that the snapshot to take over is gone
}

// heartbeat is how often the idle session says something.
const heartbeat = 30 * time.Second

// Serve is the keeper: it reads requests from in and answers them on out, until it is told to end.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	first, err := readRequest(lines)
	if err == nil && first.Spec == nil {
		err = errors.New("it says nothing of a snapshot")
	}
	if err != nil {
		return fmt.Errorf("keep snapshot: read the request of a backup from standard input: %w", err)
	}
	answer := json.NewEncoder(out)
	k := &keeper{spec: *first.Spec}
	name, err := k.open(ctx, first.Connect)
	if err != nil {
		var op *pg.Error
		gone := errors.As(err, &op) && op.Op == pg.OpImportSnapshot && pg.IsSnapshotGone(err)
		return errors.Join(err, answer.Encode(reply{Error: err.Error(), Gone: gone}))
	}
	defer k.close(ctx)
	if err := answer.Encode(reply{Snapshot: name, PID: k.conn.BackendPID()}); err != nil {
		return err
	}
	return k.serve(ctx, lines, answer)
}

func readRequest(r *bufio.Reader) (q request, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return q, err
	}
	return q, json.Unmarshal(line, &q)
}

// keeper is the session that holds the snapshot.
type keeper struct {
	spec  Spec
	conn  *pg.Conn
	known bool // others can learn of the snapshot
}

// open begins the transaction and exports its snapshot.
func (k *keeper) open(ctx context.Context, connect string) (name string, err error) {
	config, err := pg.ParseConfig(connect, pg.Overrides{Prompt: pg.PromptNever, Warn: func(string) {}})
	if err != nil {
		return "", err
	}
	if k.conn, err = pg.Connect(ctx, config); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			k.close(ctx)
		}
	}()
	if err := k.conn.NoticeLostClient(ctx); err != nil {
		return "", err
	}
	label := [][2]string{{"application_name", k.spec.Label}}
	if err := k.conn.SetupDump(ctx, pg.DumpSession{Role: k.spec.Role, Settings: label}); err != nil {
		return "", err
	}
	tx := pg.DumpTx{ImportSnapshot: k.spec.Snapshot, SerializableDeferrable: k.spec.SerializableDeferrable}
	if err := k.conn.BeginDump(ctx, tx); err != nil {
		return "", err
	}
	return k.conn.ExportSnapshot(ctx)
}

func (k *keeper) close(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	k.conn.Close(ctx)
}

// serve answers requests and keeps the session alive in between.
func (k *keeper) serve(ctx context.Context, lines *bufio.Reader, answer *json.Encoder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan request)
	var last <-chan time.Time // when it is over, once the other side is gone
	go func() {
		defer close(requests)
		for {
			q, err := readRequest(lines)
			if err != nil {
				return
			}
			select {
			case requests <- q:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		idle, wake := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- k.idle(idle) }()
		var q request
		open, over := true, false
		var err error
		select {
		case q, open = <-requests:
		case <-last:
			over = true
		case <-ctx.Done():
			over = true
		case err = <-ended:
			ended <- err
		}
		wake()
		if err := <-ended; err != nil {
			return fmt.Errorf("keep snapshot: %w", err)
		}
		switch {
		case over || q.End || !open && !k.known:
			return nil
		case !open:
			requests = nil
			last = time.After(k.spec.Linger)
		case q.Known:
			k.known = true
			if err := answer.Encode(reply{}); err != nil {
				return err
			}
		default:
			missed, err := k.lock(ctx, q.Lock)
			if err != nil {
				return err
			}
			if err := answer.Encode(reply{Missed: missed}); err != nil {
				return err
			}
		}
	}
}

// idle keeps the session alive until ctx is done; it returns early, with an error, only when the session ends.
func (k *keeper) idle(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.conn.Idle(ctx, heartbeat); err != nil {
			return err
		}
		if ctx.Err() == nil {
			if err := k.conn.Ping(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lock runs statements that take locks and returns how many did not get them.
func (k *keeper) lock(ctx context.Context, statements []string) (missed int, err error) {
	for _, sql := range statements {
		err := k.conn.Exec(ctx, "SAVEPOINT locks; "+sql+"; RELEASE SAVEPOINT locks")
		if err == nil {
			continue
		}
		if pg.SQLState(err) == "" || pg.IsConnectionLost(err) {
			return missed, err
		}
		missed++
		if err := k.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT locks; RELEASE SAVEPOINT locks"); err != nil {
			return missed, err
		}
	}
	return missed, nil
}
