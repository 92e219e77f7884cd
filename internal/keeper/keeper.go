package keeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
)

// Spec says which snapshot is kept, and how long.
type Spec struct {
	Snapshot               string `json:"snapshot,omitempty"` // to import and so to keep; empty: a new one
	SerializableDeferrable bool   `json:"serializable_deferrable,omitempty"`
	Role                   string `json:"role,omitempty"` // SET ROLE to it
	// Label is the application_name of the session.
	Label string `json:"label"`
	// Linger is how much longer the snapshot is kept when this program is gone without having called End, but has called
	// Known.
	Linger time.Duration `json:"linger"`
}

// ErrGone says that the snapshot to take over does not exist any more.
var ErrGone = errors.New("the snapshot is gone")

// Keeper is a process that keeps a snapshot.
type Keeper struct {
	Snapshot string // its name, for importing
	PID      uint32 // of its session, on the server

	cmd   *exec.Cmd
	mu    sync.Mutex // held from a request to its answer
	in    io.WriteCloser
	lines *bufio.Reader
	end   sync.Once
}

// Start starts the program with the arguments as a keeper; it must call Serve with its standard input and output. ctx bounds the start only.
func Start(ctx context.Context, program string, args []string, config *pg.Config, s Spec) (*Keeper, error) {
	k, err := start(ctx, program, args, config, s)
	if err != nil {
		return nil, fmt.Errorf("start a process that keeps the snapshot: %w", err)
	}
	return k, nil
}

func start(ctx context.Context, program string, args []string, config *pg.Config, s Spec) (*Keeper, error) {
	cmd := exec.Command(program, args...)
	// Its own session, so that what a terminal sends to this program does not reach it. Standard error stays
	// closed: whoever reads ours would wait for its end.
	cmd.SysProcAttr = attributes()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	k := &Keeper{cmd: cmd, in: in, lines: bufio.NewReader(out)}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	r, err := k.ask(request{Spec: &s, Connect: config.URI()})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		k.End()
		return nil, err
	}
	k.Snapshot, k.PID = r.Snapshot, r.PID
	return k, nil
}

// ask sends a request and returns the answer.
func (k *Keeper) ask(q request) (r reply, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := json.NewEncoder(k.in).Encode(q); err != nil {
		return r, err
	}
	line, err := k.lines.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("it ended without an answer: %w", err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, err
	}
	switch {
	case r.Gone:
		return r, fmt.Errorf("%w: %s", ErrGone, r.Error)
	case r.Error != "":
		return r, errors.New(r.Error)
	}
	return r, nil
}

// Lock lets the keeper's session take locks too, by statements that do not wait, and returns how many of these
// failed.
func (k *Keeper) Lock(statements []string) (missed int, err error) {
	r, err := k.ask(request{Lock: statements})
	if err != nil {
		return 0, fmt.Errorf("lock tables in the process that keeps the snapshot: %w", err)
	}
	return r.Missed, nil
}

// Known says that it is on record which snapshot is kept, so that it is worth keeping when this program is gone. Before, the
// keeper ends with it.
func (k *Keeper) Known() error {
	if _, err := k.ask(request{Known: true}); err != nil {
		return fmt.Errorf("speak to the process that keeps the snapshot: %w", err)
	}
	return nil
}

// patience is how long the keeper may take to end when it is told to.
const patience = 10 * time.Second

// End ends the keeper and returns when its process is gone. It may be called twice, and on nil.
func (k *Keeper) End() {
	if k == nil {
		return
	}
	k.end.Do(func() {
		json.NewEncoder(k.in).Encode(request{End: true}) // it may be gone already
		k.in.Close()
		kill := time.AfterFunc(patience, func() { k.cmd.Process.Kill() })
		defer kill.Stop()
		k.cmd.Wait()
	})
}
