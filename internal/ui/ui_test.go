package ui

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0 B"}, {1023, "1023 B"}, {1024, "1.00 kiB"}, {10 << 20, "10.0 MiB"},
		{1023 << 20, "1.00 GiB"}, {999 << 20, "999 MiB"}, {1<<63 - 1, "8.00 EiB"},
	} {
		if got := Bytes(c.n); got != c.want {
			t.Errorf("Bytes(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		420 * time.Millisecond: "0.42s", 12300 * time.Millisecond: "12.3s",
		245 * time.Second: "4m05s", 2*time.Hour + 3*time.Minute: "2h03m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	l := NewLog("pg_dump", &b)
	l.Info("not shown")
	l.Error("no matching %s were found", "tables")
	l.Hint("look again")
	l.Verbose = 1
	l.Info("reading schemas")
	want := "pg_dump: error: no matching tables were found\npg_dump: hint: look again\npg_dump: reading schemas\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// A meter that is stopped has written what it counted, also when it is stopped twice.
func TestMeterJSON(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := NewMeter("dumping", ModeFor(f, true, false), f, NewLog("x", f))
	m.Total(1000, 3)
	m.Add(250, 10)
	m.Finish()
	m.Start("public.t")
	var s Snapshot
	if err := json.Unmarshal([]byte(m.line()), &s); err != nil {
		t.Fatal(err)
	}
	m.Stop()
	m.Stop()
	if s.Bytes != 250 || s.Rows != 10 || s.Entries != 1 || s.TotalEntries != 3 || s.Current != "public.t" {
		t.Errorf("got %+v", s)
	}
}

func TestMeterLine(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := NewMeter("restoring", ModeNone, f, NewLog("x", f))
	m.Total(2<<20, 8)
	m.Add(1<<20, 12345)
	m.Start("orders")
	if got := m.line(); !strings.HasPrefix(got, "restoring 0/8, 1.00 MiB (50 %), 12,345 rows, ") || !strings.HasSuffix(got, ": orders") {
		t.Errorf("line %q", got)
	}
}
