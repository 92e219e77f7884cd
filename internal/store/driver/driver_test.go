package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

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
