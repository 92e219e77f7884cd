package gcsstore_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/gcsstore"
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

// Only the fake keeps what arrived of a part that broke, as the service does.
func TestFaults(t *testing.T) {
	f, address := startFake(t)
	storetest.RunFaults(t, storetest.FaultHarness{
		// Going on after a failure takes two requests.
		Endpoint: address, Retry: options("").Retry, Part: 2 * part, Every: 3, Seeds: 40,
		Open: func(t *testing.T, endpoint string) driver.Store {
			return open(t, f.newBucket(t), options(endpoint))
		},
		Faults: []faultproxy.Fault{
			{Kind: faultproxy.CutBody, After: 1 << 14}, {Kind: faultproxy.CutBody, After: part}, {Kind: faultproxy.CutReply, After: 50},
		},
	})
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
