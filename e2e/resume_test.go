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
	"testing"
	"time"

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

// killed is a backup that was killed with SIGKILL when it had come to the gate.
type killed struct {
	stderr string
	keeper int // process that keeps the snapshot, 0 if there is none
}

// killAt starts a backup and kills it when it sends the text to the server, and recorded entries (none if 0) are
// in its record.
func killAt(t *testing.T, g *gate, text, dir string, recorded int, args ...string) killed {
	t.Helper()
	g.stopAt(text)
	defer g.stopAt("")
	c := exec.CommandContext(t.Context(), binary, append([]string{"backup", "--to", dir, "-j1"}, args...)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-g.reached:
	case err := <-ended:
		t.Fatalf("the backup did not come to %s: %v\n%s", text, err, stderr.String())
	}
	within(t, "record of stored entries", func() bool { return len(progressIn(t, dir).State.Done) >= recorded })
	k := killed{keeper: childOf(t, c.Process.Pid)}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	k.stderr = stderr.String()
	return k
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

// A backup is killed with nothing stored, in the middle, twice, and when only roles and manifest are missing. Each
// time it is gone on with, and shows the database as it was when it was begun.
func TestBackupGoesOn(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc to find processes in")
	}
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
		src.Exec(t, `CREATE TABLE one (id int PRIMARY KEY, body text);
			INSERT INTO one SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 3000) i;
			CREATE TABLE two (LIKE one INCLUDING ALL); INSERT INTO two TABLE one;
			CREATE TABLE last (a serial); INSERT INTO last DEFAULT VALUES;
			SELECT lo_from_bytea(0, '\x0102')`)
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
					k := killAt(t, g, text, dir, c.done[i], args...)
					if k.keeper == 0 {
						t.Fatalf("no process keeps the snapshot\n%s", k.stderr)
					}
					keepers = append(keepers, k.keeper)
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
