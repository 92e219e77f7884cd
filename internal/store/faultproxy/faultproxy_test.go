package faultproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pghaul/pghaul/internal/store/faultproxy"
)

// echo replies with the request's body, and counts the requests that it saw whole.
type echo struct{ whole, broken atomic.Int32 }

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		e.broken.Add(1)
		return
	}
	e.whole.Add(1)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Header().Set("X-Path", r.URL.EscapedPath()+" "+r.Host)
	w.Write(b)
}

func TestKinds(t *testing.T) {
	e := new(echo)
	target := httptest.NewServer(e)
	defer target.Close()
	p := faultproxy.Start(t, target.URL, faultproxy.Never)
	text := strings.Repeat("0123456789", 20_000)
	for _, c := range []struct {
		f      faultproxy.Fault
		status int // 0: no reply
		got    int // bytes of the reply
		broken bool
		differ int // bytes that differ
		seen   bool
	}{
		{faultproxy.Fault{}, 200, len(text), false, 0, true},
		{faultproxy.Fault{Kind: faultproxy.Refuse}, 0, 0, true, 0, false},
		{faultproxy.Fault{Kind: faultproxy.CutBody, After: 50_000}, 0, 0, true, 0, false},
		{faultproxy.Fault{Kind: faultproxy.LostReply}, 0, 0, true, 0, true},
		{faultproxy.Fault{Kind: faultproxy.CutReply, After: 1000}, 200, 1000, true, 0, true},
		{faultproxy.Fault{Kind: faultproxy.Truncate, After: 1000}, 200, 1000, false, 0, true},
		{faultproxy.Fault{Kind: faultproxy.Flip, After: 70_000}, 200, len(text), false, 1, true},
		{faultproxy.Fault{Kind: faultproxy.FlipReply, After: 1 << 40}, 200, len(text), false, 1, true},
		{faultproxy.SlowDown, 503, -1, false, 0, false},
		{faultproxy.InternalError, 500, -1, false, 0, false},
	} {
		t.Run(c.f.String(), func(t *testing.T) {
			p.SetRule(faultproxy.Every(1, c.f))
			whole := e.whole.Load()
			// A POST is not repeated by the client on its own.
			resp, err := http.Post(p.URL+"/a%2Fb/%41", "text/plain", strings.NewReader(text))
			if (e.whole.Load() > whole) != c.seen {
				t.Errorf("the server saw it: %t, want %t", !c.seen, c.seen)
			}
			if c.status == 0 {
				if err == nil || !faultproxy.Gone(err) {
					t.Errorf("a reply, or %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || (err != nil) != c.broken || c.got >= 0 && len(got) != c.got {
				t.Errorf("status %d, %d bytes, %v", resp.StatusCode, len(got), err)
			}
			if c.got < 0 {
				return
			}
			if want := "/a%2Fb/%41 " + strings.TrimPrefix(p.URL, "http://"); resp.Header.Get("X-Path") != want {
				t.Errorf("it went to %s, want %s", resp.Header.Get("X-Path"), want)
			}
			differ := 0
			for i, b := range got {
				if b != text[i] {
					differ++
				}
			}
			if differ != c.differ {
				t.Errorf("%d bytes differ", differ)
			}
		})
	}
}

func TestStallAndDown(t *testing.T) {
	target := httptest.NewServer(new(echo))
	defer target.Close()
	stalled := make(chan struct{})
	p := faultproxy.Start(t, target.URL, func(faultproxy.Request) faultproxy.Fault {
		close(stalled)
		return faultproxy.Fault{Kind: faultproxy.Stall}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-stalled; cancel() }()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("stalled: %v", err)
	}
	p.SetRule(faultproxy.Never)
	p.SetDown(true)
	if _, err := http.Post(p.URL, "", nil); err == nil {
		t.Error("it is not down")
	}
	p.SetDown(false)
	resp, err := http.Post(p.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestRules(t *testing.T) {
	draw := func(r faultproxy.Rule) (kinds []string) {
		for n := range 300 {
			kinds = append(kinds, r(faultproxy.Request{N: n, Method: http.MethodPut}).String())
		}
		return kinds
	}
	a := draw(faultproxy.Random(1, 0.3, faultproxy.Line()...))
	if !slices.Equal(a, draw(faultproxy.Random(1, 0.3, faultproxy.Line()...))) {
		t.Error("equal seeds give different faults")
	}
	hits := 300
	for _, k := range a {
		if k == fmt.Sprint(faultproxy.Fault{}) {
			hits--
		}
	}
	if hits < 60 || hits > 120 {
		t.Errorf("%d of 300 requests fail, want about 90", hits)
	}
	if slices.Equal(a, draw(faultproxy.Random(2, 0.3, faultproxy.Line()...))) {
		t.Error("other seeds give equal faults")
	}
	once := faultproxy.Once(faultproxy.SlowDown, func(r faultproxy.Request) bool { return r.N == 1 })
	every := faultproxy.Every(3, faultproxy.SlowDown)
	for n, want := range []bool{false, true, false, false} {
		if got := once(faultproxy.Request{N: n % 2}).Kind != faultproxy.None; got != want && n < 3 || n == 3 && got {
			t.Errorf("once, request %d: %t", n, got)
		}
		if got := every(faultproxy.Request{N: n}).Kind != faultproxy.None; got != (n == 2) {
			t.Errorf("every third, request %d: %t", n, got)
		}
	}
}
