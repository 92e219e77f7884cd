package limitstore_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/limitstore"
	"github.com/pghaul/pghaul/internal/store/memstore"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// clock stands still but for those who sleep.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: func(*testing.T) driver.Store {
		c := &clock{now: time.Now()}
		return limitstore.New(memstore.New(), limitstore.Options{Up: 1 << 20, Down: 1 << 20, Now: c.Now, Sleep: c.Sleep})
	}})
}

func TestRates(t *testing.T) {
	start := time.Unix(1e9, 0)
	c := &clock{now: start}
	s := limitstore.New(memstore.New(), limitstore.Options{Up: 1000, Down: 4000, Now: c.Now, Sleep: c.Sleep})
	if err := s.Put(t.Context(), "x", bytes.NewReader(make([]byte, 8000)), driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := c.Now().Sub(start); d != 8*time.Second {
		t.Errorf("8,000 bytes up at 1,000 a second took %v", d)
	}
	start = c.Now()
	if _, err := storetest.Get(t.Context(), s, "x", 0, -1); err != nil {
		t.Fatal(err)
	}
	if d := c.Now().Sub(start); d != 2*time.Second {
		t.Errorf("8,000 bytes down at 4,000 a second took %v", d)
	}
}

func TestNoLimit(t *testing.T) {
	s := limitstore.New(memstore.New(), limitstore.Options{Sleep: func(context.Context, time.Duration) error {
		t.Error("waited")
		return nil
	}})
	if err := s.Put(t.Context(), "x", bytes.NewReader(make([]byte, 8000)), driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}
