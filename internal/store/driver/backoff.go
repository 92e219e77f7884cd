package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Backoff says how often and after which waits something is tried again. The zero value tries
// eight times, over about half a minute.
type Backoff struct {
	Tries int           // altogether; 0: 8
	Min   time.Duration // longest first wait, doubled each time; 0: 250 ms
	Max   time.Duration // longest wait; 0: 15 s

	// Sleep waits, or returns ctx's error when that is done first; nil is the clock's.
	Sleep func(ctx context.Context, d time.Duration) error
	// Notify is told of each failure that will be tried again; nil is none.
	Notify func(op, key string, err error, wait time.Duration)
}

func (b *Backoff) tries() int { return positive(b.Tries, 8) }

func positive[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Wait returns how long to wait after failure n, counted from 0: between half and all of a time
// that doubles, so that many who failed together do not come back together.
func (b *Backoff) Wait(n int) time.Duration {
	d, top := positive(b.Min, 250*time.Millisecond), positive(b.Max, 15*time.Second)
	for ; n > 0 && d < top; n-- {
		d *= 2
	}
	d = min(d, top)
	return d/2 + rand.N(d/2+1)
}

// Do calls f until it succeeds, fails for good, ctx is done or it was tried often enough. The last
// error is returned, marked as permanent.
func (b *Backoff) Do(ctx context.Context, op, key string, f func() error) error {
	for n := 0; ; n++ {
		err := f()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w (%w)", ctx.Err(), err)
		case IsPermanent(err):
			return err
		case n+1 >= b.tries():
			return GaveUp(fmt.Errorf("tried %d times: %w", n+1, err))
		}
		if err := b.Pause(ctx, op, key, err, n); err != nil {
			return err
		}
	}
}

// After marks an error of a service that asked not to be tried again before d has passed.
func After(err error, d time.Duration) error {
	if d <= 0 {
		return err
	}
	return &later{err, d}
}

type later struct {
	error
	d time.Duration
}

func (l *later) Unwrap() error { return l.error }

// RetryAfter reads the header of that name, in seconds or as a date; 0: it says nothing.
func RetryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil {
		return time.Duration(max(0, min(n, 3600))) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// longest is how long a service can make us wait at a time.
const longest = time.Minute

// Pause waits after failure n, counted from 0, and longer if the service asked for it.
func (b *Backoff) Pause(ctx context.Context, op, key string, cause error, n int) error {
	wait := b.Wait(n)
	if l := (*later)(nil); errors.As(cause, &l) {
		wait += min(l.d, longest)
	}
	if b.Notify != nil {
		b.Notify(op, key, cause, wait)
	}
	sleep := b.Sleep
	if sleep == nil {
		sleep = Sleep
	}
	if err := sleep(ctx, wait); err != nil {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return nil
}

// Sleep waits, but not longer than ctx lasts.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
