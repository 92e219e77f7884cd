package retrystore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultstore"
	"github.com/pghaul/pghaul/internal/store/memstore"
	"github.com/pghaul/pghaul/internal/store/retrystore"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

var errDown = errors.New("503 slow down")

// backoff does not wait, and counts.
func backoff(waits *[]time.Duration) driver.Backoff {
	return driver.Backoff{Tries: 5, Sleep: func(ctx context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return ctx.Err()
	}}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: func(*testing.T) driver.Store {
		return retrystore.New(memstore.New(), retrystore.Options{Backoff: backoff(nil)})
	}})
}

// Also a store that fails every other time keeps the promises.
func TestConformanceWithFaults(t *testing.T) {
	storetest.Run(t, storetest.Harness{Unconditional: false, New: func(*testing.T) driver.Store {
		faulty := faultstore.New(memstore.New(), func(op faultstore.Op, _ string, n int) faultstore.Fault {
			if n%2 == 0 {
				return faultstore.Fault{Err: errDown, After: int64(n * 1000)}
			}
			return faultstore.Fault{}
		})
		return retrystore.New(faulty, retrystore.Options{Backoff: backoff(nil)})
	}})
}

func TestStreamIsContinued(t *testing.T) {
	mem := memstore.New()
	data := storetest.Bytes(1, 100_000)
	if err := mem.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	// Each stream breaks after 10,000 bytes; progress makes the patience whole again.
	faulty := faultstore.New(mem, func(faultstore.Op, string, int) faultstore.Fault {
		return faultstore.Fault{Err: errDown, After: 10_000}
	})
	s := retrystore.New(faulty, retrystore.Options{Backoff: backoff(nil)})
	got, err := storetest.Get(t.Context(), s, "x", 5, 90_000)
	if err != nil || !bytes.Equal(got, data[5:90_005]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestGivesUp(t *testing.T) {
	var waits []time.Duration
	faulty := faultstore.New(memstore.New(), func(faultstore.Op, string, int) faultstore.Fault { return faultstore.Fault{Err: errDown} })
	s := retrystore.New(faulty, retrystore.Options{Backoff: backoff(&waits)})
	if err := s.Put(t.Context(), "x", bytes.NewReader([]byte("x")), driver.PutOptions{}); !errors.Is(err, errDown) || !driver.IsPermanent(err) {
		t.Errorf("put: %v", err)
	}
	if n := faulty.Count(faultstore.Put); n != 5 {
		t.Errorf("%d tries", n)
	}
	for i := 1; i < len(waits); i++ {
		if waits[i] < 125*time.Millisecond<<i || waits[i] > 250*time.Millisecond<<i {
			t.Errorf("wait %d is %v", i, waits[i])
		}
	}
}

func TestWhatIsNotTriedAgain(t *testing.T) {
	denied := false
	faulty := faultstore.New(memstore.New(), func(op faultstore.Op, _ string, n int) faultstore.Fault {
		switch {
		case denied:
			return faultstore.Fault{Err: driver.ErrDenied}
		case op == faultstore.Put:
			return faultstore.Fault{Err: errDown, After: 3000}
		}
		return faultstore.Fault{}
	})
	s := retrystore.New(faulty, retrystore.Options{Backoff: backoff(nil), Replay: 1000})
	if err := s.Put(t.Context(), "x", bytes.NewReader(make([]byte, 5000)), driver.PutOptions{}); !errors.Is(err, errDown) {
		t.Errorf("put: %v", err)
	}
	if n := faulty.Count(faultstore.Put); n != 1 {
		t.Errorf("a body of which too much has passed was put %d times", n)
	}
	if _, err := s.Stat(t.Context(), "none"); !errors.Is(err, driver.ErrNotFound) || faulty.Count(faultstore.Stat) != 1 {
		t.Errorf("stat: %v, %d tries", err, faulty.Count(faultstore.Stat))
	}
	denied = true
	if _, err := s.Get(t.Context(), "none", 0, -1); !errors.Is(err, driver.ErrDenied) || faulty.Count(faultstore.Get) != 1 {
		t.Errorf("get: %v, %d tries", err, faulty.Count(faultstore.Get))
	}
}

func TestLostReply(t *testing.T) {
	mem := memstore.New()
	faulty := faultstore.New(mem, func(op faultstore.Op, _ string, n int) faultstore.Fault {
		if n == 0 && op != faultstore.Get {
			return faultstore.Fault{Err: io.ErrUnexpectedEOF, Late: true}
		}
		return faultstore.Fault{}
	})
	s := retrystore.New(faulty, retrystore.Options{Backoff: backoff(nil)})
	if err := s.Put(t.Context(), "x", bytes.NewReader([]byte("x")), driver.PutOptions{}); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}
