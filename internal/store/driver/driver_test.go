package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
)

func TestIsPermanent(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{errors.New("connection reset"), false},
		{io.ErrUnexpectedEOF, false},
		{fmt.Errorf("x: %w", driver.ErrNotFound), true},
		{fmt.Errorf("x: %w", driver.Permanent(errors.New("no such bucket"))), true},
		{fmt.Errorf("x: %w", context.Canceled), true},
		{errors.ErrUnsupported, true},
	} {
		if got := driver.IsPermanent(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

func TestExpectLength(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{{4, ""}, {5, "unexpected EOF"}, {3, "1 bytes more than expected"}} {
		_, err := io.ReadAll(driver.ExpectLength(io.NopCloser(strings.NewReader("four")), c.n))
		if fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%d: %v, want %q", c.n, err, c.want)
		}
	}
}

func TestCheckRange(t *testing.T) {
	for _, c := range []struct {
		header         string
		offset, length int64
		want           int64 // -1: refused
	}{
		{"bytes 0-9/100", 0, 10, 10}, {"bytes 90-99/100", 90, 20, 10}, {"bytes 90-99/100", 90, -1, 10}, {"bytes 5-5/*", 5, 1, 1},
		{"", 5, 10, -1}, {"bytes 0-99/100", 5, 10, -1}, {"bytes 5-99/100", 5, 10, -1}, {"bytes */100", 500, 10, -1},
	} {
		n, err := driver.CheckRange(c.header, c.offset, c.length)
		if (err != nil) != (c.want < 0) || err == nil && n != c.want {
			t.Errorf("%q for %d, %d: %d, %v", c.header, c.offset, c.length, n, err)
		}
	}
}

// A service that asks for patience gets it, up to a minute.
func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "100000": time.Minute, "soon": 0, "-3": 0} {
		var waited time.Duration
		b := driver.Backoff{Tries: 2, Min: time.Millisecond, Max: time.Millisecond, Sleep: func(_ context.Context, d time.Duration) error {
			waited = d
			return nil
		}}
		err := b.Do(t.Context(), "put", "x", func() error {
			return fmt.Errorf("busy: %w", driver.After(errors.New("slow down"), driver.RetryAfter(http.Header{"Retry-After": {header}})))
		})
		var gone interface{ Unreachable() bool }
		if !driver.IsPermanent(err) || !errors.As(err, &gone) || waited < want || waited > want+time.Millisecond {
			t.Errorf("%q: waited %s, %v", header, waited, err)
		}
	}
	date := time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
	if d := driver.RetryAfter(http.Header{"Retry-After": {date}}); d < 25*time.Second || d > 30*time.Second {
		t.Errorf("a date: %s", d)
	}
}
