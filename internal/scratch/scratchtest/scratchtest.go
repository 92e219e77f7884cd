package scratchtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/scratch"
)

// Harness is a provider under test.
type Harness struct {
	Provider scratch.Provider
	Spec     scratch.Spec // what each test's wish begins with

	// Foreign says that the servers are somebody else's: only a database on
	// them is ours, and settings are not.
	Foreign bool

	// Left names all that is there of the provider's servers: folders, processes,
	// containers, databases. Before and after each test it is empty.
	Left func(t *testing.T) []string

	// Crash ends the server, or its connections if it is foreign.
	Crash func(t *testing.T, s *scratch.Server)

	// CrashReason is part of the error that tells of it.
	CrashReason string

	// Kept looks at what Keep left, and removes it.
	Kept func(t *testing.T, s *scratch.Server)

	// Owner is what Main gives to start, in the process that is killed.
	Owner string

	// Orphaned waits until the server of the killed process is gone, by itself or
	// by what the next Start does. conn is a connection to it.
	Orphaned func(t *testing.T, info scratch.Info, conn *pgconn.PgConn)
}

// ownerVariable is set in the process that is to be killed.
const ownerVariable = "PGHAUL_SCRATCHTEST_OWNER"

// Main is for TestMain. In the process that a test starts to kill it, it starts a server by start.
func Main(m interface{ Run() int }, start func(ctx context.Context, owner string) (*scratch.Server, error)) {
	owner, ok := os.LookupEnv(ownerVariable)
	if !ok {
		os.Exit(m.Run())
	}
	s, err := start(context.Background(), owner)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(s.Info); err != nil {
		os.Exit(1)
	}
	select {} // until the test kills us
}

// Run runs the tests, one after the other: they count what is left over.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *Harness)
	}{
		{"start and stop", startStop},
		{"end of context", endOfContext},
		{"context is done before", contextDone},
		{"crash", crash},
		{"extensions", extensions},
		{"keep, and kill the owner", keepAndKill},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkNothingLeft(t, &h)
			c.run(t, &h)
			checkNothingLeft(t, &h)
		})
	}
}

func checkNothingLeft(t *testing.T, h *Harness) {
	t.Helper()
	for _, name := range h.Left(t) {
		t.Errorf("left over: %s", name)
	}
}

func start(t *testing.T, h *Harness) *scratch.Server {
	t.Helper()
	s, err := h.Provider.Start(t.Context(), h.Spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	return s
}

// Query returns the first value of a statement's result, empty if there is none.
func Query(t *testing.T, dsn, sql string) string {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	last := results[len(results)-1]
	if len(last.Rows) == 0 {
		return ""
	}
	return string(last.Rows[0][0])
}

func startStop(t *testing.T, h *Harness) {
	spec := h.Spec
	spec.Tuned, spec.Jobs = true, 2
	spec.Settings = map[string]string{"work_mem": "5MB", "application_name": "it's"}
	s, err := h.Provider.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := Query(t, s.DSN, "show server_version_num"); got != strconv.Itoa(s.Version) {
		t.Errorf("version %d, the server says %s", s.Version, got)
	}
	if got := Query(t, s.DSN, "show server_version"); got != s.VersionString {
		t.Errorf("version %q, the server says %q", s.VersionString, got)
	}
	if spec.Major != 0 && s.Major() != spec.Major {
		t.Errorf("major version %d, wanted %d", s.Major(), spec.Major)
	}
	if s.Kept == "" {
		t.Error("says nothing about what Keep keeps")
	}
	if h.Foreign {
		if got := Query(t, s.DSN, "select current_database()"); got != s.Database || got == "" {
			t.Errorf("database %s, told %q", got, s.Database)
		}
	} else {
		if s.Database != "" {
			t.Errorf("only database %s may be used", s.Database)
		}
		for name, want := range map[string]string{"fsync": "off", "work_mem": "5MB", "wal_level": "minimal", "autovacuum": "off"} {
			if got := Query(t, s.DSN, "show "+name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		if got := Query(t, s.DSN, "select rolsuper from pg_roles where rolname = current_user"); got != "t" {
			t.Error("not a superuser")
		}
		if got := Query(t, s.DSN, "select reset_val from pg_settings where name = 'shared_buffers'"); got == "16384" {
			t.Error("not tuned")
		}
		Query(t, s.DSN, "create database another")
	}
	if got := Query(t, s.DSN, "select pg_encoding_to_char(encoding) from pg_database where datname = current_database()"); got != "UTF8" {
		t.Errorf("encoding %s", got)
	}
	Query(t, s.DSN, "create table big as select g a, md5(g::text) b from generate_series(1, 10000) g; create index on big (b)")
	if err := s.Err(); err != nil {
		t.Errorf("running, but: %v", err)
	}
	if len(h.Left(t)) == 0 {
		t.Error("the harness sees nothing of a running server")
	}
	// A session that is still busy does not hold it up.
	conn, err := pgconn.Connect(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	failed := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "select count(*) from generate_series(1, 1000000000) a, generate_series(1, 1000000) b").ReadAll()
		failed <- err
	}()
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if <-failed == nil {
		t.Error("the query came to an end")
	}
	<-s.Done()
	if err := s.Err(); err != nil {
		t.Errorf("after Stop: %v", err)
	}
}

func endOfContext(t *testing.T, h *Harness) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := h.Provider.Start(ctx, h.Spec)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-s.Done()
	if err := s.Stop(t.Context()); err != nil { // waits for the end that the context began
		t.Error(err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("after the end of the context: %v", err)
	}
}

func contextDone(t *testing.T, h *Harness) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Provider.Start(ctx, h.Spec); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

func crash(t *testing.T, h *Harness) {
	s := start(t, h)
	h.Crash(t, s)
	<-s.Done()
	// The reason is set before Done is closed.
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), h.CrashReason) {
		t.Errorf("got error %v, want one with %q", err, h.CrashReason)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func extensions(t *testing.T, h *Harness) {
	spec := h.Spec
	spec.Extensions = []string{"plpgsql", "pghaul_no_such_extension"}
	_, err := h.Provider.Start(t.Context(), spec)
	var missing *scratch.MissingExtensions
	if !errors.As(err, &missing) || !slices.Equal(missing.Names, spec.Extensions[1:]) {
		t.Errorf("got error %v", err)
	}
}

// keepAndKill has three servers at a time: one of a process that is then killed, one
// that is kept, and one that was started after these and must have left them alone.
func keepAndKill(t *testing.T, h *Harness) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"="+h.Owner)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var info scratch.Info
	if err := json.Unmarshal(line, &info); err != nil {
		t.Fatalf("%s", line)
	}
	conn, err := pgconn.Connect(t.Context(), info.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())

	kept := start(t, h)
	Query(t, kept.DSN, "create table treasure ()")
	kept.Keep()
	if err := kept.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := kept.Err(); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	if err := start(t, h).Stop(t.Context()); err != nil {
		t.Error(err)
	}
	h.Kept(t, kept)

	if err := conn.Ping(t.Context()); err != nil {
		t.Fatalf("the server of a living process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	h.Orphaned(t, info, conn)
}

// AwaitEnd waits until the server has ended that the connection leads to.
func AwaitEnd(conn *pgconn.PgConn) { io.Copy(io.Discard, conn.Conn()) }
