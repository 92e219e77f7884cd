package s3store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/httpline"
	"github.com/pghaul/pghaul/internal/store/retrystore"
	"github.com/pghaul/pghaul/internal/store/s3store"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// server is an S3 server under test.
type server struct {
	endpoint, access, secret string
	checksSignatures         bool
	part                     int // the smallest it takes
	newBucket                func(t testing.TB) string
}

// large is a size of three parts, of which the last is small; two is one of two parts.
func (s *server) large() int { return 2*s.part + s.part/50 }
func (s *server) two() int   { return s.part + s.part/50 }

// servers runs a test with the fake and, if there is one, with a real server.
func servers(t *testing.T, test func(t *testing.T, s *server)) {
	t.Run("fake", func(t *testing.T) {
		f, address := startFake(t)
		test(t, &server{address, "access", "secret", false, 64 << 10, func(testing.TB) string {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.buckets++
			return fmt.Sprintf("bucket-%d", f.buckets)
		}})
	})
	t.Run("versitygw", func(t *testing.T) {
		s := storetest.StartS3(t)
		test(t, &server{s.Endpoint, s.Access, s.Secret, true, 5 << 20, s.NewBucket})
	})
}

func options(s *server) s3store.Options {
	return s3store.Options{
		Endpoint: s.endpoint, Region: "us-east-1", PartSize: int64(s.part),
		Credentials: credentials.NewStaticV4(s.access, s.secret, ""),
		Retry:       driver.Backoff{Tries: 4, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
	}
}

func open(t *testing.T, s *server, change func(*s3store.Options)) *s3store.Store {
	t.Helper()
	o := options(s)
	if change != nil {
		change(&o)
	}
	b, err := s3store.Open(s.newBucket(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) { servers(t, testConformance) }

func testConformance(t *testing.T, s *server) {
	storetest.Run(t, storetest.Harness{Large: s.large(), New: func(t *testing.T) driver.Store { return open(t, s, nil) }})
}

func TestOtherOptions(t *testing.T) { servers(t, testOtherOptions) }

func testOtherOptions(t *testing.T, s *server) {
	for name, change := range map[string]func(*s3store.Options){
		"MD5":           func(o *s3store.Options) { o.Checksum = s3store.MD5 },
		"no checksum":   func(o *s3store.Options) { o.Checksum = s3store.NoChecksum },
		"equal parts":   func(o *s3store.Options) { o.EqualParts = true },
		"one in flight": func(o *s3store.Options) { o.InFlight = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, s, change)
			for _, size := range []int{100, s.part, s.part + 1, s.large()} {
				data := storetest.Bytes(1, size)
				if err := b.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{}); err != nil {
					t.Fatal(err)
				}
				if got, err := storetest.Get(t.Context(), b, "x", 0, -1); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%d bytes: got %d, %v", size, len(got), err)
				}
			}
		})
	}
}

func TestUnconditional(t *testing.T) { servers(t, testUnconditional) }

func testUnconditional(t *testing.T, s *server) {
	b := open(t, s, func(o *s3store.Options) { o.Unconditional = true })
	if err := b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{IfAbsent: true}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

func TestRefusals(t *testing.T) { servers(t, testRefusals) }

func testRefusals(t *testing.T, s *server) {
	o := options(s)
	o.Credentials = credentials.NewStaticV4(s.access, "wrong", "")
	b, err := s3store.Open(s.newBucket(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}); s.checksSignatures && !errors.Is(err, driver.ErrDenied) {
		t.Errorf("with a wrong secret: %v", err)
	}
	if b, err = s3store.Open("no-such-bucket", options(s)); err != nil {
		t.Fatal(err)
	}
	_, lerr := b.List(t.Context(), driver.ListRequest{})
	for _, err := range []error{b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}), lerr} {
		if !driver.IsPermanent(err) || !strings.Contains(err.Error(), "no-such-bucket does not exist") {
			t.Errorf("without a bucket: %v", err)
		}
	}
	o = options(s)
	o.PartSize = 1 << 10
	if _, err := s3store.Open("x", o); err == nil {
		t.Error("parts of 1 KiB are taken")
	}
}

// proxied opens a bucket behind a bad line.
func proxied(t *testing.T, s *server, rule faultproxy.Rule) (*s3store.Store, *faultproxy.Proxy) {
	t.Helper()
	p := faultproxy.Start(t, s.endpoint, rule)
	return open(t, s, func(o *s3store.Options) { o.Endpoint = p.URL }), p
}

func completes(r faultproxy.Request) bool {
	return r.Method == http.MethodPost && r.Query.Has("uploadId")
}

// What a killed upload leaves is not listed, and swept.
func TestSweep(t *testing.T) { servers(t, testSweep) }

func testSweep(t *testing.T, s *server) {
	b, p := proxied(t, s, func(r faultproxy.Request) faultproxy.Fault {
		// Neither completed nor aborted.
		if completes(r) || r.Method == http.MethodDelete {
			return faultproxy.Fault{Kind: faultproxy.Refuse}
		}
		return faultproxy.Fault{}
	})
	if err := b.Put(t.Context(), "a/x", bytes.NewReader(storetest.Bytes(1, s.large())), driver.PutOptions{}); err == nil {
		t.Fatal("the upload was completed")
	}
	p.SetRule(faultproxy.Never)
	if l, err := b.List(t.Context(), driver.ListRequest{}); err != nil || len(l.Objects) > 0 {
		t.Errorf("listed: %+v, %v", l, err)
	}
	for _, c := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if n, err := b.Sweep(t.Context(), "a/", c.before); n != c.want || err != nil {
			t.Errorf("swept %d, want %d: %v", n, c.want, err)
		}
	}
}

func TestFaults(t *testing.T) { servers(t, testFaults) }

func testFaults(t *testing.T, s *server) {
	seeds := 4
	if s.part < 1<<20 {
		seeds = 40
	}
	storetest.RunFaults(t, storetest.FaultHarness{
		Endpoint: s.endpoint, Retry: options(s).Retry, Part: s.part, Every: 2, Seeds: seeds,
		Open: func(t *testing.T, endpoint string) driver.Store {
			return open(t, s, func(o *s3store.Options) { o.Endpoint = endpoint })
		},
		Faults: []faultproxy.Fault{
			{Kind: faultproxy.CutBody, After: 1 << 14}, {Kind: faultproxy.CutReply, After: 1 << 14}, {Kind: faultproxy.Flip, After: 99},
		},
	})
}

// A reply that is damaged or cut off without a sign of it is not taken for the object.
func TestDamagedReplies(t *testing.T) { servers(t, testDamagedReplies) }

func testDamagedReplies(t *testing.T, s *server) {
	inner, p := proxied(t, s, faultproxy.Never)
	b := store.New(retrystore.New(inner, retrystore.Options{Backoff: options(s).Retry}), "", "a bucket")
	for _, size := range []int{1000, s.two()} {
		p.SetRule(faultproxy.Never)
		data := storetest.Bytes(12, size)
		o, err := b.Put(t.Context(), "x", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		after := int64(size / 2) // of a stream that breaks, the next request brings so much more
		for _, f := range []faultproxy.Fault{{Kind: faultproxy.FlipReply, After: after}, {Kind: faultproxy.Truncate, After: after}} {
			for _, every := range []int{1, 2} {
				p.SetRule(faultproxy.Every(every, f))
				switch err := b.Verify(t.Context(), o); {
				case err == nil && every == 1:
					t.Errorf("%d bytes, %s: taken as whole", size, f)
				case err != nil && !errors.Is(err, store.ErrDamaged) && !driver.IsPermanent(err):
					t.Errorf("%d bytes, %s: %v", size, f, err)
				}
			}
		}
	}
}

// A server that falls silent is given up and asked again.
func TestStall(t *testing.T) {
	f, address := startFake(t)
	f.buckets++
	p := faultproxy.Start(t, address, faultproxy.Never)
	o := options(&server{p.URL, "access", "secret", false, 64 << 10, nil})
	o.Transport = httpline.New(200 * time.Millisecond)
	inner, err := s3store.Open("bucket-1", o)
	if err != nil {
		t.Fatal(err)
	}
	b := retrystore.New(inner, retrystore.Options{Backoff: o.Retry})
	data := storetest.Bytes(1, 200<<10)
	for _, match := range []func(faultproxy.Request) bool{func(r faultproxy.Request) bool { return r.Part() == 2 }, completes} {
		p.SetRule(faultproxy.Once(faultproxy.Fault{Kind: faultproxy.Stall}, match))
		if err := b.Put(t.Context(), "x", bytes.NewReader(data), driver.PutOptions{}); err != nil {
			t.Error(err)
		}
	}
	p.SetRule(faultproxy.Once(faultproxy.Fault{Kind: faultproxy.Stall}, func(faultproxy.Request) bool { return true }))
	if got, err := storetest.Get(t.Context(), b, "x", 0, -1); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if len(p.Faults()) != 3 {
		t.Errorf("faults: %q", p.Faults())
	}
}

// Of a service that asks for patience all requests keep away.
func TestRetryAfter(t *testing.T) {
	f, address := startFake(t)
	f.buckets++
	p := faultproxy.Start(t, address, faultproxy.Once(faultproxy.Fault{Kind: faultproxy.Status, Code: 503, Error: "SlowDown", RetryAfter: 40},
		func(faultproxy.Request) bool { return true }))
	var waited time.Duration
	o := s3store.Options{
		Endpoint: p.URL, Region: "us-east-1", Credentials: credentials.NewStaticV4("access", "secret", ""),
		Retry: driver.Backoff{Min: 1, Sleep: func(_ context.Context, d time.Duration) error {
			waited += d
			return nil
		}},
	}
	b, err := s3store.Open("bucket-1", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}); err != nil || waited < 30*time.Second || waited > 41*time.Second {
		t.Errorf("waited %s, %v", waited, err)
	}
}

// A part that always fails ends the upload, and nothing of it stays.
func TestFailedPart(t *testing.T) { servers(t, testFailedPart) }

func testFailedPart(t *testing.T, s *server) {
	b, _ := proxied(t, s, func(r faultproxy.Request) faultproxy.Fault {
		if r.Part() == 2 {
			return faultproxy.InternalError
		}
		return faultproxy.Fault{}
	})
	err := b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, s.large())), driver.PutOptions{})
	if err == nil || !strings.Contains(err.Error(), "part 2: tried 4 times") || !driver.IsPermanent(err) {
		t.Errorf("%v", err)
	}
	if _, err := b.Stat(t.Context(), "x"); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if n, err := b.Sweep(t.Context(), "", time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("it left %d uploads, %v", n, err)
	}
}

// A server that does not come back ends in an error that says so.
func TestOutage(t *testing.T) { servers(t, testOutage) }

func testOutage(t *testing.T, s *server) {
	b, p := proxied(t, s, faultproxy.Never)
	p.SetDown(true)
	err := b.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, s.large())), driver.PutOptions{})
	if err == nil || !strings.Contains(err.Error(), "tried 4 times") {
		t.Errorf("%v", err)
	}
	p.SetDown(false)
	if err := b.Put(t.Context(), "x", strings.NewReader("x"), driver.PutOptions{}); err != nil {
		t.Error(err)
	}
}
