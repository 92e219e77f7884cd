package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// gate is a way to a server on which a session stops when it sends a certain text.
type gate struct {
	dsn string

	mu      sync.Mutex
	text    []byte // nil: everything passes
	reached chan struct{}
	stay    chan struct{} // closed at the end of the test
}

func newGate(t *testing.T, db *pgtest.DB) *gate {
	t.Helper()
	env := map[string]string{}
	for _, v := range db.Env() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	network, target := "tcp", net.JoinHostPort(env["PGHOST"], env["PGPORT"])
	if strings.HasPrefix(env["PGHOST"], "/") {
		network, target = "unix", env["PGHOST"]+"/.s.PGSQL."+env["PGPORT"]
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	dsn := "sslmode=disable host=" + host + " port=" + port + " user=" + env["PGUSER"] + " dbname=" + db.Name
	g := &gate{dsn: dsn, reached: make(chan struct{}, 1), stay: make(chan struct{})}
	t.Cleanup(func() {
		l.Close()
		close(g.stay)
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, target)
			if err != nil {
				client.Close()
				return
			}
			go func() {
				io.Copy(client, server)
				client.Close()
			}()
			go func() {
				g.forward(server, client)
				server.Close()
			}()
		}
	}()
	return g
}

// forward copies what the client sends, and nothing any more from the text on; it returns when the client is gone.
func (g *gate) forward(server io.Writer, client io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		g.mu.Lock()
		stop := g.text != nil && bytes.Contains(buf[:n], g.text)
		g.mu.Unlock()
		if stop {
			g.reached <- struct{}{}
			io.Copy(io.Discard, client)
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (g *gate) stopAt(text string) {
	g.mu.Lock()
	g.text = []byte(text)
	if text == "" {
		g.text = nil
	}
	g.mu.Unlock()
}

// stopped is a backup that has come to the gate.
type stopped struct {
	cmd    *exec.Cmd
	ended  chan error
	stderr bytes.Buffer
	keeper int // process that keeps the snapshot, 0 if there is none
}

// stopAt starts a backup and returns when it sends the text to the server, and so many entries are in its record.
func stopAt(t *testing.T, g *gate, text, dir string, recorded int, args ...string) *stopped {
	t.Helper()
	g.stopAt(text)
	defer g.stopAt("")
	b := &stopped{cmd: exec.CommandContext(t.Context(), binary, append([]string{"backup", "--to", dir, "-j1"}, args...)...), ended: make(chan error, 1)}
	b.cmd.Stderr = &b.stderr
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.ended <- b.cmd.Wait() }()
	select {
	case <-g.reached:
	case err := <-b.ended:
		t.Fatalf("the backup did not come to %s: %v\n%s", text, err, b.stderr.String())
	}
	within(t, "record of stored entries", func() bool { return len(progressIn(t, dir).State.Done) >= recorded })
	b.keeper = childOf(t, b.cmd.Process.Pid)
	return b
}

// end sends a signal and returns the exit status.
func (b *stopped) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	if err := b.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	<-b.ended
	return b.cmd.ProcessState.ExitCode()
}

// childOf returns a process that the given one has started, 0 if there is none.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children") // one for each thread
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lists {
		b, _ := os.ReadFile(name) // the thread may have ended
		if list := strings.Fields(string(b)); len(list) > 0 {
			child, err := strconv.Atoi(list[0])
			if err != nil {
				t.Fatal(err)
			}
			return child
		}
	}
	return 0
}

// progress is what the tests want to know of a record.
type progress struct {
	State struct {
		Snapshot string
		Done     []struct{ ID int }
	}
}

// progressIn reads the newest record below a folder; it is empty if there is none.
func progressIn(t *testing.T, dir string) (p progress) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*", "progress.json"))
	if err != nil || len(found) == 0 {
		return p
	}
	b, err := os.ReadFile(found[len(found)-1])
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	within(t, "end of the process that keeps a snapshot", func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(b), ") Z ") // nobody may be there to wait for it
	})
}

// within looks until something is so, as another process makes it.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !so() {
		select {
		case <-deadline:
			t.Fatalf("there is no %s", what)
		case <-tick.C:
		}
	}
}

func folders(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*", "*Z"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// identical compares the only backup in a folder with the database.
func identical(t *testing.T, dir string, db *pgtest.DB) {
	t.Helper()
	if r := command(t, nil, nil, "pghaul", "compare", "file://"+dir, db.DSN); r.code != 0 || !strings.HasPrefix(r.stdout, "IDENTICAL") {
		t.Errorf("compare: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if left := folders(t, dir); len(left) != 1 {
		t.Errorf("folders: %q", left)
	}
	for _, name := range filesIn(t, dir) {
		if strings.Contains(name, "partial") || strings.Contains(name, "progress") {
			t.Errorf("left over: %s", name)
		}
	}
}

// threeTables is a database whose tables are read in this order.
const threeTables = `CREATE TABLE one (id int PRIMARY KEY, body text);
	INSERT INTO one SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 3000) i;
	CREATE TABLE two (LIKE one INCLUDING ALL); INSERT INTO two TABLE one;
	CREATE TABLE last (a serial); INSERT INTO last DEFAULT VALUES;
	SELECT lo_from_bytea(0, '\x0102')`

// A backup is killed with nothing stored, in the middle, twice, and when only roles and manifest are missing. Each
// time it is gone on with, and shows the database as it was when it was begun.
func TestBackupGoesOn(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to find processes in")
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
		src.Exec(t, threeTables)
		for _, c := range []struct {
			name  string
			kills []string // what the session is stopped at
			done  []int    // entries that are recorded by then
		}{
			{"nothing stored", []string{"COPY public.one"}, []int{0}},
			{"some stored", []string{"COPY public.two"}, []int{1}},
			{"killed twice", []string{"COPY public.one", "COPY public.last"}, []int{0, 2}},
			{"before the manifest", []string{"shobj_description(oid, 'pg_authid')"}, []int{3}},
		} {
			copyOf := s.NewDatabase(t, pgtest.Options{Suffix: "copy", Template: src.Name})
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				g := newGate(t, copyOf)
				dir := filepath.Join(t.TempDir(), "backups")
				args := []string{"--keep-snapshot=10m", "--piece-size=0", "-d", g.dsn}
				var keepers []int
				for i, text := range c.kills {
					b := stopAt(t, g, text, dir, c.done[i], args...)
					b.end(t, os.Kill)
					if b.keeper == 0 {
						t.Fatalf("no process keeps the snapshot\n%s", b.stderr.String())
					}
					keepers = append(keepers, b.keeper)
				}
				want := progressIn(t, dir)
				copyOf.Exec(t, "INSERT INTO two VALUES (-1, 'after the snapshot'); DELETE FROM one WHERE id < 100")
				r := command(t, nil, nil, "pghaul", append([]string{"backup", "--to", dir, "-j2"}, args...)...)
				if r.code != 0 || !strings.Contains(r.stderr, "going on with backup") ||
					!strings.Contains(r.stderr, strconv.Itoa(len(want.State.Done))+" data entries are stored already") {
					t.Fatalf("backup: %d\n%s", r.code, r.stderr)
				}
				for _, pid := range keepers {
					gone(t, pid)
				}
				if n := copyOf.QueryString(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pghaul keeps%' AND datname = current_database()"); n != "0" {
					t.Errorf("%s sessions still keep a snapshot", n)
				}
				identical(t, dir, src)
			})
		}
	})
}

// What cannot be gone on with is removed, if it is ours and nobody works on it.
func TestBackupStartsAnew(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to find processes in")
	}
	s := pgtest.Newest(t)
	type try struct {
		db   *pgtest.DB
		g    *gate
		dir  string
		args []string
	}
	again := func(t *testing.T, c *try, want string, args ...string) {
		t.Helper()
		r := command(t, nil, nil, "pghaul", append(append([]string{"backup", "--to", c.dir}, c.args...), args...)...)
		if r.code != 0 || !strings.Contains(r.stderr, want) {
			t.Fatalf("backup: %d, expected %q\n%s", r.code, want, r.stderr)
		}
	}
	for name, f := range map[string]func(t *testing.T, c *try){
		"nobody keeps the snapshot": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 0, c.args...)
			b.end(t, os.Kill)
			again(t, c, "its snapshot is gone")
			identical(t, c.dir, c.db)
		},
		"the keeper is gone": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 1, append(c.args, "--keep-snapshot=10m")...)
			b.end(t, os.Kill)
			if err := syscall.Kill(b.keeper, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			within(t, "end of the session", func() bool {
				return c.db.QueryString(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pghaul keeps%' AND datname = current_database()") == "0"
			})
			again(t, c, "its snapshot is gone")
			identical(t, c.dir, c.db)
		},
		"interrupted": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 1, append(c.args, "--keep-snapshot=10m")...)
			if code := b.end(t, os.Interrupt); code != 130 {
				t.Errorf("exit status %d\n%s", code, b.stderr.String())
			}
			gone(t, b.keeper)
			if left := filesIn(t, c.dir); len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
		},
		"another program works on it": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 1, append(c.args, "--keep-snapshot=10m")...)
			again(t, c, "still being written by another program")
			if n := len(folders(t, c.dir)); n != 2 {
				t.Errorf("%d folders", n)
			}
			b.end(t, os.Kill)
			again(t, c, "going on with")
			gone(t, b.keeper)
		},
		"another selection": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 0, c.args...)
			b.end(t, os.Kill)
			again(t, c, "backed up", "-t", "last")
			if n := len(folders(t, c.dir)); n != 2 {
				t.Errorf("%d folders", n)
			}
		},
		"another compression": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 1, append(c.args, "--keep-snapshot=10m")...)
			b.end(t, os.Kill)
			again(t, c, "is not what it was when the dump was begun", "-Z", "gzip")
			gone(t, b.keeper)
			identical(t, c.dir, c.db)
		},
		"connections are lost": func(t *testing.T, c *try) {
			b := stopAt(t, c.g, "COPY public.two", c.dir, 1, append(c.args, "--keep-snapshot=10m")...)
			c.db.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name NOT LIKE 'pghaul keeps%'")
			<-b.ended
			if code := b.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(b.stderr.String(), "the same command goes on with backup") {
				t.Errorf("exit status %d\n%s", code, b.stderr.String())
			}
			again(t, c, "going on with", "--keep-snapshot=10m")
			gone(t, b.keeper)
			identical(t, c.dir, c.db)
		},
		"encrypted": func(t *testing.T, c *try) {
			cache := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", cache)
			id, err := age.GenerateX25519Identity()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "identity")
			if err := os.WriteFile(file, []byte(id.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PGHAUL_IDENTITY", file) // for the comparison; a backup knows the recipient only
			c.args = append(c.args, "--keep-snapshot=10m", "--recipient", id.Recipient().String())
			b := stopAt(t, c.g, "shobj_description(oid, 'pg_authid')", c.dir, 0, c.args...)
			b.end(t, os.Kill)
			again(t, c, "3 data entries are stored already")
			gone(t, b.keeper)
			identical(t, c.dir, c.db)
			if left := filesIn(t, cache); len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
		},
		"the user's own snapshot": func(t *testing.T, c *try) {
			conn := c.db.Conn(t)
			r, err := conn.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()").ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			snapshot := "--snapshot=" + string(r[1].Rows[0][0])
			b := stopAt(t, c.g, "COPY public.two", c.dir, 1, append(c.args, snapshot)...)
			b.end(t, os.Kill)
			// Nobody locks the table, so it can be emptied, which a snapshot does not hide.
			c.db.Exec(t, "TRUNCATE two")
			if r := command(t, nil, nil, "pghaul", append([]string{"backup", "--to", filepath.Join(t.TempDir(), "x"), snapshot}, c.args...)...); r.code != 1 ||
				!strings.Contains(r.stderr, "dump table public.two: it was truncated") {
				t.Errorf("backup: %d\n%s", r.code, r.stderr)
			}
			conn.Close(t.Context())
			again(t, c, "its snapshot is gone")
			identical(t, c.dir, c.db)
		},
	} {
		db := s.NewDatabase(t)
		db.Exec(t, threeTables)
		t.Run(name, func(t *testing.T) {
			if name != "encrypted" { // that sets variables
				t.Parallel()
			}
			c := &try{db: db, g: newGate(t, db), dir: filepath.Join(t.TempDir(), "backups")}
			c.args = []string{"--piece-size=0", "-d", c.g.dsn}
			f(t, c)
		})
	}
}
