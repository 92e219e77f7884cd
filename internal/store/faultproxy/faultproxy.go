// Package faultproxy stands between a store's client and its server and breaks what passes, for
// tests. What comes in is the address of a server that speaks HTTP and a rule that is asked at each request what shall go
// wrong with it; what goes out is an address that behaves like that server over a bad line.
//
// Requests keep their Host header and the spelling of their paths, so signed ones stay valid.
package faultproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Kind is what goes wrong with a request.
type Kind uint8

// The kinds.
const (
	None      Kind = iota
	Refuse         // the connection breaks before the server has seen the request
	CutBody        // the connection breaks after After bytes of the request's body; the server sees that too
	LostReply      // the server carries the request out, the connection breaks instead of a reply
	CutReply       // the connection breaks after After bytes of the reply's body
	Truncate       // the reply's body ends after After bytes as if that were all of it
	Flip           // one bit of byte After of the request's body changes on the way
	FlipReply      // one bit of byte After of the reply's body changes on the way
	Status         // the server is not asked, the reply has the status Code
	Stall          // nothing happens any more until the client goes away
)

var kinds = [...]string{"none", "refuse", "cut body", "lost reply", "cut reply", "truncate", "flip", "flip reply", "status", "stall"}

func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// Fault says what goes wrong. The zero value: nothing.
type Fault struct {
	Kind  Kind
	After int64 // bytes of a body; beyond its end: its end

	// Of Status:
	Code       int    // 500, 503, ...
	Error      string // the code in the reply's XML, such as SlowDown
	RetryAfter int    // seconds in the reply's header; 0: none
}

func (f Fault) String() string {
	if f.Kind == Status {
		return fmt.Sprintf("status %d %s", f.Code, f.Error)
	}
	return fmt.Sprintf("%s after %d", f.Kind, f.After)
}

// Faults that most tests want.
var (
	InternalError = Fault{Kind: Status, Code: http.StatusInternalServerError, Error: "InternalError"}
	SlowDown      = Fault{Kind: Status, Code: http.StatusServiceUnavailable, Error: "SlowDown", RetryAfter: 1}
)

// Request is what a rule is asked about.
type Request struct {
	N      int // how many requests there were before
	Method string
	Path   string // not escaped
	Query  url.Values
	Header http.Header
	Length int64 // of the body; -1: not known
}

// Part returns the number of the part that the request uploads, 0 if it does not: an S3 part.
func (r Request) Part() int {
	n, _ := strconv.Atoi(r.Query.Get("partNumber"))
	return n
}

// Rule decides what goes wrong. It is called by one goroutine at a time.
type Rule func(Request) Fault

// Never lets everything pass.
func Never(Request) Fault { return Fault{} }

// Every lets one of every n requests fail, the last of them.
func Every(n int, f Fault) Rule {
	return func(r Request) Fault {
		if r.N%n == n-1 {
			return f
		}
		return Fault{}
	}
}

// Once lets the first request fail that match is true of.
func Once(f Fault, match func(Request) bool) Rule {
	done := false
	return func(r Request) Fault {
		if done || !match(r) {
			return Fault{}
		}
		done = true
		return f
	}
}

// Random lets about share of all requests fail (0 to 1), each in a way drawn from faults; a negative After is drawn from
// the first 64 KiB. Equal seeds give equal faults for equal sequences of requests. It is for long runs.
func Random(seed uint64, share float64, faults ...Fault) Rule {
	rng := rand.New(rand.NewPCG(seed, 0))
	return func(Request) Fault {
		hit, which, after := rng.Float64() < share, rng.IntN(len(faults)), rng.Int64N(64<<10)
		if !hit {
			return Fault{}
		}
		f := faults[which]
		if f.After < 0 {
			f.After = after
		}
		return f
	}
}

// Line is every fault that a bad line or a busy server makes and that a client can get over, for Random.
func Line() []Fault {
	return []Fault{
		{Kind: Refuse}, {Kind: CutBody, After: -1}, {Kind: LostReply}, {Kind: CutReply, After: -1}, InternalError, SlowDown,
	}
}

// Proxy is the address with the faults.
type Proxy struct {
	URL string // http://127.0.0.1:port

	target *url.URL
	server *httptest.Server
	client *http.Transport

	mu   sync.Mutex
	rule Rule
	n    int
	log  []string
	down bool
}

// Start starts a proxy to a server's URL, which ends with the test.
func Start(t testing.TB, target string, rule Rule) *Proxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" {
		t.Fatalf("fault proxy to %q: %v", target, err)
	}
	p := &Proxy{target: u, rule: rule, client: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}}
	p.server = httptest.NewServer(p)
	p.URL = p.server.URL
	t.Cleanup(func() {
		p.server.CloseClientConnections() // a stalled request would keep Close waiting
		p.server.Close()
		p.client.CloseIdleConnections()
	})
	return p
}

// SetRule replaces the rule and counts requests from 0 again.
func (p *Proxy) SetRule(rule Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule, p.n = rule, 0
}

// SetDown makes the server unreachable, requests under way included, or reachable again.
func (p *Proxy) SetDown(down bool) {
	p.mu.Lock()
	p.down = down
	p.mu.Unlock()
	if down {
		p.server.CloseClientConnections()
	}
}

// Count returns how many requests there were since the rule was set.
func (p *Proxy) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

// Faults returns a line for each fault there was, for the log of a failed test.
func (p *Proxy) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// ask returns the fault of a request.
func (p *Proxy) ask(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := Fault{Kind: Refuse}
	if !p.down {
		f = p.rule(Request{p.n, r.Method, r.URL.Path, r.URL.Query(), r.Header, r.ContentLength})
	}
	if f.Kind != None {
		p.log = append(p.log, fmt.Sprintf("%d: %s %s: %s", p.n, r.Method, r.URL.RequestURI(), f))
	}
	p.n++
	return f
}

// hangUp ends the connection without a reply.
func hangUp() { panic(http.ErrAbortHandler) }

// ServeHTTP passes a request on, or breaks it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.ask(r)
	switch f.Kind {
	case Refuse:
		hangUp()
	case Stall:
		io.Copy(io.Discard, r.Body) // only then the server sees that the client goes away
		<-r.Context().Done()
		hangUp()
	case Status:
		refuse(w, r, f)
		return
	}
	resp, err := p.forward(r, f)
	if err != nil {
		hangUp()
	}
	defer resp.Body.Close()
	if f.Kind == LostReply {
		io.Copy(io.Discard, resp.Body)
		hangUp()
	}
	reply(w, resp, f)
}

// refuse replies in the place of the server.
func refuse(w http.ResponseWriter, r *http.Request, f Fault) {
	io.Copy(io.Discard, r.Body) // a client that is still sending would not see the reply
	body := fmt.Sprintf("<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>a fault</Message></Error>", f.Error)
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Code)
	if r.Method != http.MethodHead {
		io.WriteString(w, body)
	}
}

var errCut = errors.New("cut by the fault proxy")

// forward sends the request to the server.
func (p *Proxy) forward(r *http.Request, f Fault) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.RequestURI = p.target.Scheme, p.target.Host, ""
	out.Close = false
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	switch {
	case f.Kind == CutBody && (r.ContentLength == 0 || f.After >= r.ContentLength && r.ContentLength > 0):
		cancel()
		return nil, errCut // nothing to cut off: as good as refused
	case f.Kind == CutBody:
		out.Body = &cutting{r.Body, f.After}
	case f.Kind == Flip:
		out.Body = &flipping{r.Body, max(0, min(f.After, r.ContentLength-1))}
	}
	resp, err := p.client.RoundTrip(out)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cancelling{resp.Body, cancel}
	return resp, nil
}

// reply sends the server's reply to the client.
func reply(w http.ResponseWriter, resp *http.Response, f Fault) {
	for name, values := range resp.Header {
		if !strings.EqualFold(name, "Connection") {
			w.Header()[name] = values
		}
	}
	body := io.Reader(resp.Body)
	after := f.After
	if resp.ContentLength >= 0 {
		after = max(0, min(after, resp.ContentLength-1))
	}
	switch f.Kind {
	case CutReply:
		body = io.LimitReader(body, after)
	case Truncate:
		body = io.LimitReader(body, after)
		if resp.ContentLength > 0 {
			w.Header().Set("Content-Length", strconv.FormatInt(after, 10))
		}
	case FlipReply:
		body = &flipping{resp.Body, after}
	}
	w.WriteHeader(resp.StatusCode)
	_, err := io.Copy(w, body)
	if err != nil || f.Kind == CutReply {
		http.NewResponseController(w).Flush()
		hangUp()
	}
}

// cutting is a body that breaks.
type cutting struct {
	io.ReadCloser
	left int64
}

func (c *cutting) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errCut
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// flipping changes a bit of byte at.
type flipping struct {
	io.ReadCloser
	at int64
}

func (f *flipping) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if f.at >= 0 && f.at < int64(n) {
		p[f.at] ^= 0x04
	}
	f.at -= int64(n)
	return n, err
}

type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

var _ http.Handler = (*Proxy)(nil)

// Gone reports whether an error is that of a connection that broke, as opposed to a reply.
func Gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || bytes.Contains([]byte(fmt.Sprint(err)), []byte("connection reset"))
}
