package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// crashServer is a PostgreSQL server that a test may kill; what runs beside it has another one.
type crashServer struct {
	dir      string // with the socket and the data
	programs string
	account  *syscall.Credential // nil: ourselves

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

// newCrashServer makes a server of the programs in a folder and starts it; it ends with the test.
func newCrashServer(t *testing.T, programs string) *crashServer {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pghaul-faults-") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &crashServer{dir: dir, programs: programs}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("nobody")
		if err != nil {
			t.Skipf("missing: the user nobody, as whom the server runs: %v", err)
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2, os.Chown(dir, uid, gid)); err != nil {
			t.Fatal(err)
		}
		s.account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	init := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

func (s *crashServer) data() string { return filepath.Join(s.dir, "data") }

func (s *crashServer) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.programs, name), args...)
	c.Dir = s.dir
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.account, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	return c
}

// dsn connects to a database without any fault.
func (s *crashServer) dsn(database string) string {
	return "host=" + s.dir + " port=5432 user=postgres dbname=" + database
}

func (s *crashServer) socket() string { return s.dir + "/.s.PGSQL.5432" }

// start starts the server and returns when it takes connections.
func (s *crashServer) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c := s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "port=5432", "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "max_connections=60", "-c", "autovacuum=off")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	s.cmd, s.ended = c, ended
	go func() {
		c.Wait()
		close(ended)
	}()
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgconn.Connect(ctx, s.dsn("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the server ended: %s", text[max(0, len(text)-2000):])
		case <-ctx.Done():
			return fmt.Errorf("the server takes no connection: %w", err)
		case <-tick.C:
		}
	}
}

// stop is PostgreSQL's immediate shutdown: no session is told, nothing is written.
func (s *crashServer) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quit()
}

func (s *crashServer) quit() {
	s.cmd.Process.Signal(syscall.SIGQUIT) // fails if it has ended already
	<-s.ended
}

// crash is an immediate shutdown and a start after it.
func (s *crashServer) crash(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quit()
	return s.start(ctx)
}

// exec runs SQL and returns the first column of the last result.
func (s *crashServer) exec(database, sql string) ([]string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	c, err := pgconn.Connect(ctx, s.dsn(database))
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
	results, err := c.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, sql)
	}
	var list []string
	if len(results) > 0 {
		for _, row := range results[len(results)-1].Rows {
			list = append(list, string(row[0]))
		}
	}
	return list, nil
}

// line is a way to a server that counts the bytes of both directions, does something at one of them, and can be cut.
type line struct {
	port   string
	socket string

	mu    sync.Mutex
	conns map[net.Conn]bool
	count int64
	at    int64  // 0: nothing is done
	do    func() // called once
}

func newLine(t *testing.T, socket string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	p := &line{port: port, socket: socket, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		p.cut()
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *line) dsn(database string) string {
	return "sslmode=disable host=127.0.0.1 port=" + p.port + " user=postgres dbname=" + database
}

func (p *line) serve(client net.Conn) {
	server, err := net.Dial("unix", p.socket)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client] = true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pass(client, server) })
	both.Go(func() { p.pass(server, client) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	p.mu.Unlock()
}

// pass copies one direction until either end is gone, and closes both.
func (p *line) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 8<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.counted(n)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *line) counted(n int) {
	p.mu.Lock()
	p.count += int64(n)
	var do func()
	if p.at > 0 && p.count >= p.at {
		do, p.at, p.do = p.do, 0, nil
	}
	p.mu.Unlock()
	if do != nil {
		do()
	}
}

// arm begins to count from 0; at a byte something is done, before it is passed on. At 0 nothing is.
func (p *line) arm(at int64, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.at, p.do = 0, at, do
}

// disarm leaves the count as it is.
func (p *line) disarm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.do = 0, nil
}

func (p *line) passed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// cut breaks all connections.
func (p *line) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// lines calls a function with each line of what is written to it.
type lines struct {
	io.Writer
	each func(string)
	rest string
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest += string(b)
	for {
		one, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			break
		}
		l.rest = rest
		l.each(one)
	}
	return l.Writer.Write(b)
}

// marked returns the processes, as "PID command", that have a text in their environment, or work in, or name, a folder.
func marked(text, dir string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if p == "/proc/"+strconv.Itoa(os.Getpid()) {
			continue
		}
		env, _ := os.ReadFile(p + "/environ") // a process may end while it is looked at
		cwd, _ := os.Readlink(p + "/cwd")
		args, _ := os.ReadFile(p + "/cmdline")
		if strings.Contains(string(env), text) || strings.HasPrefix(cwd, dir+"/") || strings.Contains(string(args), dir+"/") {
			if stat, _ := os.ReadFile(p + "/stat"); strings.Contains(string(stat), ") Z ") {
				continue // its parent has not asked yet
			}
			found = append(found, filepath.Base(p)+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return found
}

// pick returns one of a list.
func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }
