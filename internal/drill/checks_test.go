//go:build unix

package drill

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
)

// The statements of a file are checked one by one, in one transaction that leaves nothing.
func TestCheckSQL(t *testing.T) {
	db := pgtest.Newest(t).NewDatabase(t)
	db.Exec(t, "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)")
	config, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "checks.sql")
	run := func(sql string) []CheckResult {
		t.Helper()
		if err := os.WriteFile(file, []byte(sql), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := loadChecks([]Check{{SQL: file}})
		if err != nil {
			t.Fatal(err)
		}
		return list[0].runSQL(t.Context(), config)
	}
	results := run(`
-- rows
SELECT * FROM t;
-- none
SELECT * FROM t WHERE a > 2;
-- all true
SELECT a, a > 0, true FROM t;
-- one false
SELECT a, a < 2 AS small FROM t ORDER BY a;
-- null
SELECT NULL::boolean AS unknown;
-- words are no booleans
SELECT 'f'::text;
-- fails
SELECT 1 / 0;
-- no rows by nature
DELETE FROM t WHERE a > 5;
-- syntax
SELEKT;
INSERT INTO t VALUES (3) RETURNING a = 3 AS three;
-- sees what was done before
SELECT count(*) = 3 FROM t;`)
	want := []string{
		"rows: ", "none: no rows", "all true: ", "one false: column small is false in row 2", "null: column unknown is NULL in row 1", "words are no booleans: ",
		"fails: ERROR:  division by zero (SQLSTATE 22012)", "no rows by nature: ", "syntax: ERROR:  syntax error", file + ":20: ", "sees what was done before: ",
	}
	if len(results) != len(want) {
		t.Fatalf("%+v", results)
	}
	for i, r := range results {
		if got := r.Name + ": " + r.Message; !strings.HasPrefix(got, want[i]) || r.Passed != strings.HasSuffix(want[i], ": ") {
			t.Errorf("got %q, passed %v; want %q", got, r.Passed, want[i])
		}
	}
	if n := db.QueryString(t, "SELECT count(*) FROM t"); n != "2" {
		t.Errorf("%s rows are left behind", n)
	}
	results = run("SELECT 1; COMMIT; SELECT 2")
	if results[0].Passed != true || results[1].Passed || results[2].Passed || !strings.Contains(results[1].Message, "ended the transaction") {
		t.Errorf("%+v", results)
	}
}

func TestCheckFilesAreReadFirst(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.sql")
	if err := os.WriteFile(empty, []byte("-- nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Check{{SQL: empty}, {SQL: empty + "x"}, {Command: " \n"}, {}} {
		if _, err := loadChecks([]Check{c}); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// A command's children are gone when it is over, those in sessions of their own too, whether it ends
// by itself or is ended.
func TestCommandTreeEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: /proc, to find processes that left their group")
	}
	// Every process holds the pipe open. Three go on: one in the group, one in a session of its own, and one whose parents are gone
	// and that ignores SIGTERM.
	const start = `exec 9>held
sleep 1000 &
setsid sleep 1000 &
(setsid sh -c 'trap "" TERM; while :; do sleep 1; done' 2>errors &) # it may see its sleep killed
echo started
`
	for name, c := range map[string]struct {
		command, message string
		passed, cancel   bool
	}{
		"by itself":   {start, "", true, false},
		"with status": {start + "exit 3", "exit status 3", false, false},
		"by signal":   {start + "kill -9 $$", "signal: killed", false, false},
		"time over":   {start + "trap '' TERM; echo >&9; wait", "over", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			held := filepath.Join(dir, "held")
			if err := syscall.Mkfifo(held, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(held, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.cancel {
				go func() {
					fifo, err := os.Open(held) // waits for the command
					if err == nil {
						fifo.Read(make([]byte, 1))
						fifo.Close()
					}
					cancel(errors.New("over"))
				}()
			}
			r := runCommand(ctx, "cd "+dir+"\n"+c.command, os.Environ())
			if r.Passed != c.passed || r.Message != c.message || r.Output != "started\n" {
				t.Errorf("%+v", r)
			}
			// Killed is not yet gone, but soon.
			if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, f); err != nil {
				t.Errorf("a process goes on: %v", err)
			}
		})
	}
}

func TestOutputTail(t *testing.T) {
	r := runCommand(t.Context(), "seq 1 100000; printf 'last \\377'", os.Environ())
	if !r.Passed || len(r.Output) > outputKept+10 || !strings.HasPrefix(r.Output, "...\n") || !strings.HasSuffix(r.Output, "100000\nlast \uFFFD") {
		t.Errorf("passed %v, %d bytes: %.20q", r.Passed, len(r.Output), r.Output)
	}
}
