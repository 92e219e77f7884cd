package e2e

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// A drill that is killed takes its server and the processes of its checks with it; its folder is removed by the next drill, which
// passes, runs checks and writes reports.
func TestKilledDrill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: a kernel that ends a process with its parent (Linux)")
	}
	s := pgtest.Newest(t)
	s.NeedTool(t, "psql")
	src := shop(t, s)
	archive := filepath.Join(t.TempDir(), "archive")
	must(t, src, "pghaul", "dump", "-Fc", "-f", archive)
	tmp, err := os.MkdirTemp("", "pghaul-e2e-") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil { // the server may run as another user
		t.Fatal(err)
	}
	held := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	// All processes of the check hold the pipe open, one of them in a session of its own; psql is connected to the server.
	c := exec.CommandContext(t.Context(), binary, "drill", "--quiet", archive, "--check-cmd",
		"exec 9>"+held+"; psql -c 'SELECT pg_sleep(1000)' & setsid sleep 1000 & echo started >&9; wait")
	c.Env = append(os.Environ(), "TMPDIR="+tmp)
	var talk strings.Builder
	c.Stderr = &talk
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // an early end must not leave the test waiting for the pipe
		c.Wait()
		close(ended)
		if f, err := os.OpenFile(held, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
	}()
	f, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, len("started\n"))); err != nil {
		<-ended
		t.Fatalf("no check: %s", talk.String())
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	// The pipe ends when the last process that holds it is gone.
	gone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, f)
		gone <- err
	}()
	select {
	case err = <-gone:
	case <-time.After(time.Minute):
		err = errors.New("they go on")
	}
	if err != nil {
		out, _ := exec.Command("pgrep", "-af", tmp).Output()
		t.Fatalf("processes of the check: %v\n%s", err, out)
	}

	checks := filepath.Join(tmp, "checks.sql")
	if err := os.WriteFile(checks, []byte("-- there are events\nSELECT count(*) > 0 FROM event;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	junit, page := filepath.Join(tmp, "report.xml"), filepath.Join(tmp, "report.html")
	t.Setenv("TMPDIR", tmp)
	r := command(t, src, nil, "pghaul", "drill", archive, "--quiet", "--check-sql", checks, "--junit", junit, "--html", page,
		"--check-cmd", `test "$(psql -At -c 'SELECT count(*) FROM event')" = 20000 && test "$(psql -At -d "$PGHAUL_DRILL_DSN" -c 'SELECT count(*) FROM parent')" = 2`)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "IDENTICAL") || !strings.Contains(r.stdout, "2 of 2 passed") {
		t.Errorf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if b, err := os.ReadFile(junit); err != nil || xml.Unmarshal(b, &suites) != nil || suites.Tests < 10 || suites.Failures != 0 {
		t.Errorf("%v: %+v\n%s", err, suites, b)
	}
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "This backup restores.") {
		t.Errorf("%v: %s", err, b)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if !strings.HasPrefix(f.Name(), "report.") && f.Name() != "checks.sql" {
			t.Errorf("left behind: %s", f.Name())
		}
	}
	if out, err := exec.Command("pgrep", "-f", tmp).Output(); err == nil {
		t.Errorf("processes left behind: %s", out)
	}
}
