package parts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/parts"
)

// log is a sink that keeps what it is given.
type log struct {
	mu    sync.Mutex
	calls []string
	data  map[int64][]byte
	fail  int // the part that fails
	last  int
}

var errSink = errors.New("the sink failed")

func (l *log) One(_ context.Context, data []byte) error {
	l.calls, l.last = append(l.calls, fmt.Sprintf("one %d", len(data))), 1
	return nil
}

func (l *log) Begin(context.Context) error {
	l.calls = append(l.calls, "begin")
	return nil
}

func (l *log) Part(ctx context.Context, p parts.Part) error {
	if p.N == l.fail {
		return errSink
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, fmt.Sprintf("%d: %d", p.N, len(p.Data)))
	if l.data == nil {
		l.data = map[int64][]byte{}
	}
	l.data[p.Offset] = bytes.Clone(p.Data)
	if p.Last {
		l.last = p.N
	}
	return ctx.Err()
}

func TestSend(t *testing.T) {
	plan := parts.Plan{First: 4, Grow: 2, Max: 16, Count: 7}
	for size, want := range map[int]string{
		0: "one 0", 3: "one 3", 4: "one 4",
		5:  "begin, 1: 4, 2: 1",
		8:  "begin, 1: 4, 2: 4",
		9:  "begin, 1: 4, 2: 4, 3: 1",
		60: "begin, 1: 4, 2: 4, 3: 8, 4: 8, 5: 16, 6: 16, 7: 4",
		72: "begin, 1: 4, 2: 4, 3: 8, 4: 8, 5: 16, 6: 16, 7: 16",
	} {
		text := strings.Repeat("abcdefg", 20)[:size]
		for name, body := range map[string]io.Reader{
			"plain": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)), "error with data": iotest.DataErrReader(strings.NewReader(text)),
		} {
			l := new(log)
			if err := plan.Send(t.Context(), body, l); err != nil {
				t.Errorf("%d bytes, %s: %v", size, name, err)
			}
			if got := strings.Join(l.calls, ", "); got != want || l.last != max(1, len(l.calls)-1) {
				t.Errorf("%d bytes, %s: %s, last %d; want %s", size, name, got, l.last, want)
			}
			for offset, data := range l.data {
				if string(data) != text[offset:offset+int64(len(data))] {
					t.Errorf("%d bytes, %s: wrong bytes at %d", size, name, offset)
				}
			}
		}
	}
	if plan.Largest() != 72 {
		t.Errorf("largest: %d", plan.Largest())
	}
	if err := plan.Send(t.Context(), strings.NewReader(strings.Repeat("x", 73)), new(log)); err == nil || !driver.IsPermanent(err) || !strings.Contains(err.Error(), "more than the 72 bytes") {
		t.Errorf("too large: %v", err)
	}
}

func TestSendFails(t *testing.T) {
	errBody := errors.New("the body failed")
	for _, inFlight := range []int{0, 3} {
		plan := parts.Plan{First: 4, Count: 100, InFlight: inFlight}
		for _, size := range []int{0, 3, 4, 5, 40} {
			for _, err := range []error{errBody, io.ErrUnexpectedEOF} {
				body := io.MultiReader(strings.NewReader(strings.Repeat("x", size)), iotest.ErrReader(err))
				l := new(log)
				if got := plan.Send(t.Context(), body, l); got != err || l.last != 0 {
					t.Errorf("%d bytes: %v, last part %d", size, got, l.last)
				}
			}
		}
		l := &log{fail: 3}
		// The body never ends: the failed part has to.
		if err := plan.Send(t.Context(), zeros{}, l); err != errSink {
			t.Errorf("a failed part: %v", err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
