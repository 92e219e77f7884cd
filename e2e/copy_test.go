package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// A database with something of everything, copied and verified, is the same to the stock pg_dump; and the
// exit statuses are those of the help text.
func TestCopy(t *testing.T) {
	s := pgtest.Newest(t)
	src, dst := shop(t, s), s.NewDatabase(t)
	r := command(t, src, nil, "pghaul", "copy", "--verify", "--json", "-j", "3", src.DSN, dst.DSN)
	if r.code != 0 {
		t.Fatalf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	var out struct {
		Verified    bool
		Rows        int64
		Differences []string
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if !out.Verified || out.Rows == 0 || len(out.Differences) > 0 {
		t.Errorf("result %+v", out)
	}
	same(t, "source and copy", sorted(text(t, src)), sorted(text(t, dst)))

	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{src.DSN, dst.DSN}, 1, "not empty"},
		{[]string{src.DSN, src.DSN, "--force"}, 1, "same database"},
		{[]string{src.DSN}, 2, "1 arguments were given"},
		{[]string{src.DSN, dst.DSN, "--no-such-flag"}, 2, "unknown flag"},
		{[]string{src.DSN, "dbname=x port=none"}, 1, "target"},
	} {
		r := command(t, src, nil, "pghaul", append([]string{"copy"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.text) {
			t.Errorf("%v: status %d, want %d\n%s", c.args, r.code, c.code, r.stderr)
		}
	}
}
