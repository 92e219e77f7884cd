//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/scratchtest"
)

func TestMain(m *testing.M) {
	scratchtest.Main(m, func(ctx context.Context, dir string) (*scratch.Server, error) {
		return new(Provider).Start(ctx, scratch.Spec{Dir: dir})
	})
}

func TestProvider(t *testing.T) {
	t.Parallel()
	programs(t)
	dir := place(t)
	scratchtest.Run(t, scratchtest.Harness{
		Provider: new(Provider),
		Spec:     scratch.Spec{Dir: dir},
		Left: func(t *testing.T) (left []string) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				name := filepath.Join(dir, e.Name())
				left = append(left, name)
				for _, pid := range processesIn(filepath.Join(name, "data")) {
					left = append(left, fmt.Sprintf("process %d", pid))
				}
			}
			return left
		},
		Crash: func(t *testing.T, s *scratch.Server) {
			pid, err := strconv.Atoi(query(t, s.DSN, "select pid from pg_stat_activity where backend_type = 'checkpointer'"))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
		CrashReason: "terminated by signal 9",
		Kept: func(t *testing.T, s *scratch.Server) {
			if got := scratchtest.Query(t, s.DSN, "select count(*) from treasure"); got != "0" {
				t.Errorf("the table that was made before: %s", got)
			}
			conn, err := pgconn.Connect(t.Context(), s.DSN)
			if err != nil {
				t.Fatal(err)
			}
			_, remove, _ := strings.Cut(strings.TrimSuffix(s.Kept, ")"), "(remove: ")
			if out, err := exec.Command("sh", "-c", remove).CombinedOutput(); err != nil || !strings.Contains(s.Kept, s.Dir) {
				t.Fatalf("%s: %v\n%s", s.Kept, err, out)
			}
			scratchtest.AwaitEnd(conn)
		},
		Owner: dir,
		// The kernel ends the server; the folder is removed by the next one who starts a server there.
		Orphaned: func(t *testing.T, info scratch.Info, conn *pgconn.PgConn) {
			if runtime.GOOS == "linux" { // elsewhere the server lives until the folder goes
				scratchtest.AwaitEnd(conn)
			}
			sweep(dir)
		},
	})
}

func programs(t *testing.T) []Programs {
	t.Helper()
	found := Find(t.Context())
	if len(found) == 0 {
		const missing = "missing: PostgreSQL server programs (package postgresql)"
		if os.Getenv("PGHAUL_TEST_FORBID_SKIP") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return found
}

// place returns a folder for servers that the user who runs them can enter.
// t.TempDir is closed to all but its owner.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "localpg-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkEmpty fails the test if a server left something in the folder.
func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left over: %s", filepath.Join(dir, e.Name()))
	}
}

func checkNoProcess(t *testing.T, s *scratch.Server) {
	t.Helper()
	if pids := processesIn(filepath.Join(s.Dir, "data")); len(pids) > 0 {
		t.Errorf("processes left over: %v", pids)
	}
}

// query is scratchtest.Query under a shorter name.
func query(t *testing.T, dsn, sql string) string { t.Helper(); return scratchtest.Query(t, dsn, sql) }
func TestStartStop(t *testing.T) {
	for _, p := range programs(t) {
		t.Run(strconv.Itoa(p.Major), func(t *testing.T) {
			t.Parallel()
			dir := place(t)
			s, err := StartPrograms(t.Context(), p, scratch.Spec{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if got := query(t, s.DSN, "show server_version_num"); got != strconv.Itoa(s.Version) {
				t.Errorf("version %d, the server says %s", s.Version, got)
			}
			if s.Major() != p.Major || !strings.HasPrefix(s.VersionString, p.Version) || s.BinDir != p.Dir {
				t.Errorf("programs %+v gave server %+v", p, s.Info)
			}
			if got := query(t, s.DSN, "show listen_addresses"); got != "" || s.TCP != "" {
				t.Errorf("listens on %q without being asked", got)
			}
			if st, err := os.Stat(s.SocketDir); err != nil || st.Mode().Perm() != 0o700 {
				t.Errorf("socket folder: %v %v", st.Mode(), err)
			}
			if err := s.Err(); err != nil {
				t.Errorf("running, but: %v", err)
			}
			for range 2 {
				if err := s.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			}
			<-s.Done()
			if err := s.Err(); err != nil {
				t.Errorf("after Stop: %v", err)
			}
			checkNoProcess(t, s)
			checkEmpty(t, dir)
		})
	}
}

func TestTuned(t *testing.T) {
	for _, p := range programs(t) {
		t.Run(strconv.Itoa(p.Major), func(t *testing.T) {
			t.Parallel()
			s, err := StartPrograms(t.Context(), p, scratch.Spec{
				Dir: place(t), Tuned: true, Jobs: 2, NeedLocks: 100000,
				Settings: map[string]string{"shared_buffers": "64MB", "application_name": "it's"},
			})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				"fsync": "off", "wal_level": "minimal", "autovacuum": "off", "max_locks_per_transaction": "2564",
				"shared_buffers": "64MB",
			} {
				if got := query(t, s.DSN, "show "+name); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			if got := query(t, s.DSN, "select boot_val <> '' and reset_val = $$it's$$ from pg_settings where name = 'application_name'"); got == "" {
				t.Error("no application_name")
			}
			// Parallel workers find the memory they share.
			query(t, s.DSN, "create table big as select g a, md5(g::text) b from generate_series(1, 100000) g")
			query(t, s.DSN, "set min_parallel_table_scan_size = 0; create index on big (b)")
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	p := programs(t)[0]
	dir := place(t)
	s, err := StartPrograms(t.Context(), p, scratch.Spec{Dir: dir, Locale: "C", Encoding: "LATIN1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	if got := query(t, s.DSN, "select pg_encoding_to_char(encoding) || ' ' || datcollate from pg_database where datname = 'template0'"); got != "LATIN1 C" {
		t.Errorf("got %s", got)
	}

	_, err = StartPrograms(t.Context(), p, scratch.Spec{Dir: dir, Locale: "xx_NOWHERE"})
	if err == nil || !strings.Contains(err.Error(), "run initdb") || !strings.Contains(err.Error(), "xx_NOWHERE") {
		t.Errorf("unknown locale: %v", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	checkEmpty(t, dir)
}

func TestTCP(t *testing.T) {
	t.Parallel()
	p := programs(t)[0]
	s, err := StartPrograms(t.Context(), p, scratch.Spec{Dir: place(t), TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	if got := query(t, s.TCP, "select inet_server_addr()"); got != "127.0.0.1/32" && got != "127.0.0.1" {
		t.Errorf("server address %s", got)
	}
	if got := query(t, s.DSN, "select inet_server_addr()"); got != "" {
		t.Errorf("server address over the socket %s", got)
	}
	conn, err := pgconn.Connect(t.Context(), fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=guess sslmode=disable", s.Port))
	if err == nil {
		conn.Close(t.Context())
		t.Error("connected with a wrong password")
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "password")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("password file: %v", err)
	}
}

func TestLongFolderName(t *testing.T) {
	t.Parallel()
	p := programs(t)[0]
	dir := place(t)
	long := filepath.Join(dir, strings.Repeat("long", 25))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := StartPrograms(t.Context(), p, scratch.Spec{Dir: long})
	if err != nil {
		t.Fatal(err)
	}
	query(t, s.DSN, "select 1")
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.SocketDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("socket folder %s left over: %v", s.SocketDir, err)
	}
	checkEmpty(t, long)
}

func TestBadSetting(t *testing.T) {
	t.Parallel()
	p := programs(t)[0]
	dir := place(t)
	_, err := StartPrograms(t.Context(), p, scratch.Spec{Dir: dir, Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), "server ended by itself") || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("got error %v", err)
	}
	checkEmpty(t, dir)
}

// TestContextEndsInitdb cancels while initdb runs. The initdb here is a script
// that starts a process of its own, says so through a pipe, and would never end.
func TestContextEndsInitdb(t *testing.T) {
	t.Parallel()
	p := programs(t)[0]
	dir, bin := place(t), place(t)
	fifo := filepath.Join(bin, "running")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(fifo, 0o666); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nsleep 1000 >%[1]s &\necho $! >%[1]s\nwait\n", fifo)
	writeProgram(t, bin, "initdb", script)
	writeProgram(t, bin, "postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) "+p.Version+"'\n")
	fake, err := Look(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := StartPrograms(ctx, fake, scratch.Spec{Dir: dir})
		result <- err
	}()
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 1)
	if _, err := io.ReadFull(f, line); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	// The pipe ends when the last process that holds it is gone.
	if _, err := io.Copy(io.Discard, f); err != nil {
		t.Error(err)
	}
	checkEmpty(t, dir)
}

func TestSweepTakesOnlyLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	make := func(name string) string {
		d := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(d, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		return d
	}
	claimed := func(name string) (string, *os.File) {
		d := make(name)
		f, err := claim(d, "")
		if err != nil {
			t.Fatal(err)
		}
		return d, f
	}
	unclaimed := make(prefix + "unclaimed")
	foreign := make("something-else")
	if err := os.WriteFile(filepath.Join(foreign, ownerFile), []byte("1\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	living, f := claimed(prefix + "living")
	defer f.Close()
	kept, f := claimed(prefix + "kept")
	f.Close()
	if err := os.WriteFile(filepath.Join(kept, keptFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	linked := make(prefix + "linked")
	if err := os.Symlink(filepath.Join(foreign, ownerFile), filepath.Join(linked, ownerFile)); err != nil {
		t.Fatal(err)
	}
	dead, f := claimed(prefix + "dead")
	f.Close()
	// A socket folder is removed by name; another folder is not.
	precious := make("precious")
	if err := os.WriteFile(filepath.Join(dead, ownerFile), []byte("1\n"+precious+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	sweep(dir)
	for _, d := range []string{unclaimed, foreign, living, kept, linked, precious} {
		if _, err := os.Stat(d); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dead, err)
	}
}

func TestReach(t *testing.T) {
	if os.Geteuid() != 0 {
		// Only root runs the server as somebody else.
		a, err := serverAccount()
		if err != nil || a.other {
			t.Errorf("account %+v, %v", a, err)
		}
		return
	}
	programs(t)
	_, err := (&Provider{}).Start(t.Context(), scratch.Spec{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "cannot enter") {
		t.Errorf("folder of root's own: %v", err)
	}
}
