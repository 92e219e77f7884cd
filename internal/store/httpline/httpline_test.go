package httpline

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pghaul/pghaul/internal/store/faultproxy"
)

// A server that says nothing any more does not keep a request for ever.
func TestStalledServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	defer server.Close()
	post := func(address string, silence time.Duration) (string, error) {
		c := &http.Client{Transport: New(silence)}
		defer c.CloseIdleConnections()
		resp, err := c.Post(address, "text/plain", strings.NewReader("hello"))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	if got, err := post(server.URL, 0); got != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	p := faultproxy.Start(t, server.URL, faultproxy.Every(1, faultproxy.Fault{Kind: faultproxy.Stall}))
	if _, err := post(p.URL, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("stalled: %v", err)
	}
}

// As long as something moves in one direction, the other may be silent.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := &conn{Conn: ours, silence: time.Minute}
		reply := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			reply <- err
		}()
		go io.Copy(io.Discard, theirs)
		begin := time.Now()
		for range 20 {
			time.Sleep(30 * time.Second) // of the test's own clock
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		err := <-reply
		if took := time.Since(begin); !errors.Is(err, os.ErrDeadlineExceeded) || took < 11*time.Minute-6*time.Second || took > 11*time.Minute {
			t.Errorf("after %s: %v", took, err)
		}
		// What was silent because nobody asked goes on.
		ours, theirs = net.Pipe()
		defer theirs.Close()
		c = &conn{Conn: ours, silence: time.Minute}
		go theirs.Write([]byte("ab"))
		for range 2 {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
	})
}
