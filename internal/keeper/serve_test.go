package keeper

import (
	"bufio"
	"context"
	"io"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The keeper outlives who started it only once others can know of the snapshot.
func TestLinger(t *testing.T) {
	db := pgtest.Newest(t).NewDatabase(t)
	config, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, requests := io.Pipe()
		answers, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, in, out) }()
		k := &Keeper{in: requests, lines: bufio.NewReader(answers)}
		r, err := k.ask(request{Spec: &Spec{Label: "keeper of a test", Linger: time.Hour}, Connect: config.URI()})
		if err != nil {
			t.Fatal(err)
		}
		if known {
			if err := k.Known(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := k.Lock(nil); err != nil { // it answers as before
			t.Fatal(err)
		}
		requests.Close() // as the kernel does when the program is killed
		if known {
			db.Exec(t, "BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '"+r.Snapshot+"'; COMMIT")
			cancel()
		}
		if err := <-ended; err != nil && !known {
			t.Errorf("known %t: %v", known, err)
		}
	}
}
