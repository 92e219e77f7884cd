package gcsstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/gcsstore"
	"github.com/pghaul/pghaul/internal/store/retrystore"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// server is a service under test.
type server struct {
	endpoint  string
	newBucket func(t testing.TB) string
}

const (
	part  = 256 << 10
	large = 2*part + 5000
)

func testServer(t *testing.T, s *server) {
	t.Run("conformance", func(t *testing.T) { testConformance(t, s) })
	t.Run("sizes", func(t *testing.T) { testSizes(t, s) })
	t.Run("no bucket", func(t *testing.T) { testNoBucket(t, s) })
}

func TestFake(t *testing.T) {
	f, address := startFake(t)
	testServer(t, &server{address, f.newBucket})
}

func TestEmulator(t *testing.T) {
	e := storetest.StartGCS(t)
	testServer(t, &server{e.Endpoint, e.NewBucket})
}

func options(endpoint string) gcsstore.Options {
	return gcsstore.Options{
		Endpoint: endpoint, PartSize: part,
		Retry: driver.Backoff{Tries: 5, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}
}

func open(t *testing.T, bucket string, o gcsstore.Options) *gcsstore.Store {
	t.Helper()
	b, err := gcsstore.Open(bucket, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func testConformance(t *testing.T, s *server) {
	storetest.Run(t, storetest.Harness{Large: large, New: func(t *testing.T) driver.Store {
		return open(t, s.newBucket(t), options(s.endpoint))
	}})
}

// Objects around the borders of a part.
func testSizes(t *testing.T, s *server) {
	b := open(t, s.newBucket(t), options(s.endpoint))
	for _, size := range []int{part - 1, part, part + 1, 2 * part} {
		data := storetest.Bytes(1, size)
		if err := b.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, err := storetest.Get(t.Context(), b, "x", 0, -1); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
}

func testNoBucket(t *testing.T, s *server) {
	b := open(t, "no-such-bucket", options(s.endpoint))
	_, lerr := b.List(t.Context(), driver.ListRequest{})
	for _, err := range []error{
		b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}), lerr,
		b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, large)), driver.PutOptions{}),
	} {
		if !driver.IsPermanent(err) || !strings.Contains(err.Error(), "no-such-bucket does not exist") {
			t.Errorf("%v", err)
		}
	}
}

// Whatever happens to every third or fourth request, an object arrives whole and comes back whole. Only the fake
// keeps what arrived of a part that broke, as the service does.
func TestFaults(t *testing.T) {
	data := storetest.Bytes(9, large)
	f, address := startFake(t)
	for i, fault := range append(faultproxy.Line(),
		faultproxy.Fault{Kind: faultproxy.CutBody, After: 1 << 14}, faultproxy.Fault{Kind: faultproxy.CutReply, After: 50}) {
		if fault.After < 0 {
			fault.After = 300 << 10
		}
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			p := faultproxy.Start(t, address, faultproxy.Every(3+i%2, fault))
			o := options(p.URL)
			b := retrystore.New(open(t, f.newBucket(t), o), retrystore.Options{Backoff: o.Retry})
			for _, absent := range []bool{false, true} {
				for _, size := range []int{1000, large} {
					key := fmt.Sprintf("a/%t-%d", absent, size)
					if err := b.Put(t.Context(), key, bytes.NewReader(data[:size]), driver.PutOptions{IfAbsent: absent}); err != nil {
						t.Fatalf("put %s: %v\n%q", key, err, p.Faults())
					}
					got, err := storetest.Get(t.Context(), b, key, 0, -1)
					if err != nil || !bytes.Equal(got, data[:size]) {
						t.Fatalf("get %s: %d bytes, %v\n%q", key, len(got), err, p.Faults())
					}
				}
			}
			if l, err := b.List(t.Context(), driver.ListRequest{Prefix: "a/"}); err != nil || len(l.Objects) != 4 {
				t.Errorf("list: %+v, %v", l, err)
			}
			if n := len(p.Faults()); n < 3 {
				t.Errorf("only %d of %d requests failed", n, p.Count())
			}
		})
	}
}

// On a line that breaks at random a put ends in an object that is whole, or in an error.
func TestRandomFaults(t *testing.T) {
	data := storetest.Bytes(11, 5*part+77)
	f, address := startFake(t)
	for seed := range 40 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := faultproxy.Start(t, address, faultproxy.Random(uint64(seed), 0.5, faultproxy.Line()...))
			b := open(t, f.newBucket(t), options(p.URL))
			err := b.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{IfAbsent: seed%2 > 0})
			p.SetRule(faultproxy.Never)
			got, gerr := storetest.Get(t.Context(), b, "x", 0, -1)
			switch {
			case gerr == nil && !bytes.Equal(got, data):
				t.Errorf("%d wrong bytes", len(got))
			case err == nil && gerr != nil:
				t.Errorf("put succeeded, get: %v", gerr)
			case err != nil && (!driver.IsPermanent(err) || gerr != nil && !errors.Is(gerr, driver.ErrNotFound)):
				t.Errorf("put: %v, get: %v", err, gerr)
			}
			if t.Failed() {
				t.Logf("%q", p.Faults())
			}
		})
	}
}

// What is damaged on the way is refused by the service, in one request or in many, and nothing of it stays.
func TestDamagedUpload(t *testing.T) {
	f, address := startFake(t)
	p := faultproxy.Start(t, address, faultproxy.Never)
	b := open(t, f.newBucket(t), options(p.URL))
	for _, size := range []int{1000, large} {
		p.SetRule(func(r faultproxy.Request) faultproxy.Fault {
			if r.Length >= 1000 {
				return faultproxy.Fault{Kind: faultproxy.Flip, After: 700}
			}
			return faultproxy.Fault{}
		})
		err := b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, size)), driver.PutOptions{})
		if err == nil || !driver.IsPermanent(err) || !strings.Contains(err.Error(), "CRC32C") {
			t.Errorf("%d bytes: %v", size, err)
		}
		if _, err := b.Stat(t.Context(), "x"); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if len(f.sessions) > 0 {
		t.Errorf("%d sessions stay", len(f.sessions))
	}
}

// A session that the service has forgotten, and a busy one.
func TestRefusals(t *testing.T) {
	f, address := startFake(t)
	p := faultproxy.Start(t, address, func(r faultproxy.Request) faultproxy.Fault {
		if r.Query.Has("upload_id") && r.Method == http.MethodPut {
			return faultproxy.Fault{Kind: faultproxy.Status, Code: http.StatusGone}
		}
		return faultproxy.Fault{}
	})
	b := open(t, f.newBucket(t), options(p.URL))
	err := b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, large)), driver.PutOptions{})
	if !driver.IsPermanent(err) || errors.Is(err, driver.ErrNotFound) || !strings.Contains(err.Error(), "does not know the upload any more") {
		t.Errorf("%v", err)
	}
	for status, want := range map[int]error{401: driver.ErrDenied, 403: driver.ErrDenied} {
		p.SetRule(faultproxy.Every(1, faultproxy.Fault{Kind: faultproxy.Status, Code: status}))
		if _, err := b.Stat(t.Context(), "x"); !errors.Is(err, want) {
			t.Errorf("status %d: %v", status, err)
		}
	}
	if _, err := gcsstore.Open("x", gcsstore.Options{PartSize: 1000}); err == nil {
		t.Error("parts of 1000 bytes are taken")
	}
}
