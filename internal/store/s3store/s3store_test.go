package s3store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pghaul/pghaul/internal/store/driver"
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

// large is a size of three parts, of which the last is small.
func (s *server) large() int { return 2*s.part + s.part/50 }

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

// What a killed upload leaves is not listed, and swept.
func TestSweep(t *testing.T) { servers(t, testSweep) }

func testSweep(t *testing.T, s *server) {
	b := open(t, s, func(o *s3store.Options) {
		// The server loses the connection for good after the first part: neither completed nor aborted.
		o.Retry.Tries = 1
		o.Transport = &faulty{fault: func(r *http.Request, n int) fault {
			if r.Method == http.MethodPost && strings.Contains(r.URL.RawQuery, "uploadId") || r.Method == http.MethodDelete {
				return drop
			}
			return none
		}}
	})
	if err := b.Put(t.Context(), "a/x", bytes.NewReader(storetest.Bytes(1, s.large())), driver.PutOptions{}); err == nil {
		t.Fatal("the upload was completed")
	}
	b, err := s3store.Open("bucket-1", options(s))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := b.List(t.Context(), driver.ListRequest{}); err != nil || len(p.Objects) > 0 {
		t.Errorf("listed: %+v, %v", p, err)
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

// fault is what happens to a request.
type fault uint8

const (
	none      fault = iota
	drop            // the connection breaks before the server has the request
	late            // the reply is lost
	slowDown        // 503
	internal        // 500
	truncate        // the body of the reply ends early
	badDigest       // the request's body is damaged on the way
)

// faulty is a transport with faults.
type faulty struct {
	mu    sync.Mutex
	n     int
	fault func(r *http.Request, n int) fault
}

var errDropped = errors.New("connection reset by peer")

func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	what := f.fault(r, f.n)
	f.n++
	f.mu.Unlock()
	answer := func(status int, code string) (*http.Response, error) {
		if r.Body != nil {
			r.Body.Close()
		}
		body := fmt.Sprintf("<Error><Code>%s</Code><Message>a fault</Message></Error>", code)
		return &http.Response{
			StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/xml"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
	switch what {
	case drop:
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, errDropped
	case slowDown:
		return answer(http.StatusServiceUnavailable, "SlowDown")
	case internal:
		return answer(http.StatusInternalServerError, "InternalError")
	case badDigest:
		if r.Body != nil && r.ContentLength > 0 {
			r = r.Clone(r.Context())
			r.Body = &flipped{ReadCloser: r.Body}
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch what {
	case late:
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return nil, errDropped
	case truncate:
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, resp.ContentLength/2), resp.Body}
	}
	return resp, nil
}

// flipped changes a bit of the first byte.
type flipped struct {
	io.ReadCloser
	done bool
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if n > 0 && !f.done {
		p[0] ^= 1
		f.done = true
	}
	return n, err
}

// Whatever happens to a request once, an object arrives whole and comes back whole.
func TestFaults(t *testing.T) { servers(t, testFaults) }

func testFaults(t *testing.T, s *server) {
	data := storetest.Bytes(9, s.large())
	for name, what := range map[string]fault{
		"drop": drop, "late": late, "slow down": slowDown, "internal": internal, "truncate": truncate, "bad digest": badDigest,
	} {
		for every := 2; every <= 3; every++ {
			t.Run(fmt.Sprintf("%s every %d", name, every), func(t *testing.T) {
				t.Parallel()
				transport := &faulty{fault: func(r *http.Request, n int) fault {
					// A list of uploads, a lost reply of which is no matter, is not asked for here.
					if n%every == every-1 {
						return what
					}
					return none
				}}
				inner := open(t, s, func(o *s3store.Options) { o.Transport = transport })
				b := retrystore.New(inner, retrystore.Options{Backoff: options(s).Retry})
				for _, size := range []int{1000, s.large()} {
					if err := b.Put(t.Context(), "x", bytes.NewReader(data[:size]), driver.PutOptions{}); err != nil {
						t.Fatal(err)
					}
					got, err := storetest.Get(t.Context(), b, "x", 0, -1)
					if err != nil || !bytes.Equal(got, data[:size]) {
						t.Fatalf("%d of %d bytes, %v", len(got), size, err)
					}
				}
				if transport.n < 6 {
					t.Errorf("only %d requests", transport.n)
				}
			})
		}
	}
}

// A part that always fails ends the upload, and nothing of it stays.
func TestFailedPart(t *testing.T) { servers(t, testFailedPart) }

func testFailedPart(t *testing.T, s *server) {
	b := open(t, s, func(o *s3store.Options) {
		o.Transport = &faulty{fault: func(r *http.Request, _ int) fault {
			if strings.Contains(r.URL.RawQuery, "partNumber=2&") {
				return internal
			}
			return none
		}}
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
