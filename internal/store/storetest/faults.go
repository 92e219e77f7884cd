package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/retrystore"
)

// FaultHarness is the driver of a service, to be tested over a bad line.
type FaultHarness struct {
	Endpoint string // http://host:port of the server
	// Open returns an empty store that is reached through the endpoint, with requests that are repeated as Retry says.
	Open  func(t *testing.T, endpoint string) driver.Store
	Retry driver.Backoff

	Part   int                // size of a part; objects have two, or few bytes
	Every  int                // every so manieth request fails, or one less often
	Faults []faultproxy.Fault // what can fail besides what every line does
	Seeds  int                // runs with faults at random
}

// RunFaults breaks the line to the server in every way.
func RunFaults(t *testing.T, h FaultHarness) {
	for i, f := range append(faultproxy.Line(), h.Faults...) {
		if f.After < 0 {
			f.After = int64(h.Part / 2)
		}
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			testFault(t, h, f, h.Every+i%2)
		})
	}
	for seed := range h.Seeds {
		t.Run(fmt.Sprintf("at random %d", seed), func(t *testing.T) {
			t.Parallel()
			testRandom(t, h, uint64(seed))
		})
	}
}

// Whatever happens to every n-th request, an object arrives whole and comes back whole, is put only once if that is asked
// for, and nothing stays of tries that failed.
func testFault(t *testing.T, h FaultHarness, f faultproxy.Fault, every int) {
	p := faultproxy.Start(t, h.Endpoint, faultproxy.Every(every, f))
	inner := h.Open(t, p.URL)
	s := retrystore.New(inner, retrystore.Options{Backoff: h.Retry})
	data := Bytes(9, h.Part+5000)
	for _, o := range []driver.PutOptions{{}, {IfAbsent: true}} {
		for _, size := range []int{1000, len(data)} {
			key := fmt.Sprintf("a/%t-%d", o.IfAbsent, size)
			if err := s.Put(t.Context(), key, bytes.NewReader(data[:size]), o); err != nil {
				t.Fatalf("put %s: %v\n%q", key, err, p.Faults())
			}
			got, err := Get(t.Context(), s, key, 0, -1)
			if err != nil || !bytes.Equal(got, data[:size]) {
				t.Fatalf("get %s: %d bytes, %v\n%q", key, len(got), err, p.Faults())
			}
			if !o.IfAbsent {
				continue
			}
			if err := s.Put(t.Context(), key, bytes.NewReader(data[1:size]), o); !errors.Is(err, driver.ErrExists) {
				t.Errorf("put %s again: %v\n%q", key, err, p.Faults())
			}
		}
	}
	l, err := s.List(t.Context(), driver.ListRequest{Prefix: "a/"})
	if err != nil || len(l.Objects) != 4 {
		t.Errorf("list: %+v, %v", l, err)
	}
	if n := len(p.Faults()); n < 4 {
		t.Errorf("only %d of %d requests failed", n, p.Count())
	}
	sweeper, ok := inner.(driver.Sweeper)
	if !ok {
		return
	}
	// What can stay is an upload of which the reply to its beginning or end was lost.
	p.SetRule(faultproxy.Never)
	if _, err := sweeper.Sweep(t.Context(), "", time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if n, err := sweeper.Sweep(t.Context(), "", time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d uploads stay, %v", n, err)
	}
}

// On a line that breaks at random a put ends in an object that is whole, or in an error; and then there is none, or one that is
// whole since only the last reply was lost.
func testRandom(t *testing.T, h FaultHarness, seed uint64) {
	p := faultproxy.Start(t, h.Endpoint, faultproxy.Random(seed, 0.5, faultproxy.Line()...))
	s := h.Open(t, p.URL)
	data := Bytes(11, h.Part+5000)
	err := s.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{IfAbsent: seed%2 > 0})
	p.SetRule(faultproxy.Never)
	got, gerr := Get(t.Context(), s, "x", 0, -1)
	switch {
	case gerr == nil && !bytes.Equal(got, data):
		t.Errorf("%d wrong bytes", len(got))
	case err == nil && gerr != nil:
		t.Errorf("put succeeded, get: %v", gerr)
	case err != nil && !driver.IsPermanent(err):
		t.Errorf("put gave up with %v", err)
	case err != nil && gerr != nil && !errors.Is(gerr, driver.ErrNotFound):
		t.Errorf("put: %v, get: %v", err, gerr)
	}
	if t.Failed() {
		t.Logf("%q", p.Faults())
	}
}
