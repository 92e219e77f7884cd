package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
)

// Server is a server for tests. Its fields are set when it is handed to a test.
type Server struct {
	// Major is the major version, 17.
	Major int

	// Version is server_version_num, 170012.
	Version int

	// BinDir is the folder of the stock programs of this version (pg_dump, psql,
	// …), empty if there is none.
	BinDir string

	// DSN connects to the database postgres as a superuser.
	DSN string

	programs localpg.Programs // to start it; zero for a server that runs already
	own      *scratch.Server

	once     sync.Once
	startErr error

	mu      sync.Mutex
	roles   map[string]bool
	keeping atomic.Bool
}

// all are the servers of this process, found once.
var all struct {
	once    sync.Once
	servers []*Server
	binDirs map[int][]string // of stock programs, by major version, also of versions not tested
	err     error
}

// inMain is set while the tests run under Main.
var inMain atomic.Bool

// Main is the whole of a TestMain: it runs the tests, stops the servers that
// they started, and exits.
func Main(m TestingM) { os.Exit(Wrap(m).Run()) }

// TestingM is implemented by testing.M.
type TestingM interface{ Run() int }

// Wrap returns m so that its Run also stops the servers; for a TestMain that
// hands m to somebody else, as with testscript.
func Wrap(m TestingM) TestingM { return wrapped{m} }

type wrapped struct{ m TestingM }

func (w wrapped) Run() int {
	// What a user's environment says about his servers is not about ours.
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "PG") && !strings.HasPrefix(name, "PGHAUL_") {
			os.Unsetenv(name)
		}
	}
	inMain.Store(true)
	code := w.m.Run()
	if err := stopAll(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		code = max(code, 1)
	}
	return code
}

// stopAll stops the servers that were started here.
func stopAll() error {
	var errs []string
	for _, s := range all.servers {
		if s.own == nil {
			continue
		}
		if s.keeping.Load() {
			s.own.Keep()
			fmt.Fprintf(os.Stderr, "pgtest: kept: %s -D %s\n", filepath.Join(s.own.BinDir, "postgres"), filepath.Join(s.own.Dir, "data"))
		}
		crash := s.own.Err()
		if err := s.own.Stop(context.Background()); err != nil {
			errs = append(errs, err.Error())
		}
		if crash != nil {
			errs = append(errs, fmt.Sprintf("PostgreSQL %d: %v", s.Major, crash))
		}
	}
	if errs != nil {
		return fmt.Errorf("%s", strings.Join(errs, "; "))
	}
	return nil
}

// Servers returns a server of each version at hand, oldest first, running. It
// skips the test if there is none.
func Servers(t testing.TB) []*Server {
	t.Helper()
	list := found(t)
	for _, s := range list {
		s.start(t)
	}
	return list
}

// Each runs fn once for each server at hand, as parallel subtests named by the
// version ("17").
func Each(t *testing.T, fn func(t *testing.T, s *Server)) {
	t.Helper()
	for _, s := range found(t) {
		t.Run(strconv.Itoa(s.Major), func(t *testing.T) {
			t.Parallel()
			s.start(t)
			fn(t, s)
		})
	}
}

// Newest returns the server of the newest version at hand.
func Newest(t testing.TB) *Server {
	t.Helper()
	list := found(t)
	s := list[len(list)-1]
	s.start(t)
	return s
}

// Version returns the server of a major version, or skips the test.
func Version(t testing.TB, major int) *Server {
	t.Helper()
	for _, s := range found(t) {
		if s.Major == major {
			s.start(t)
			return s
		}
	}
	Missing(t, fmt.Sprintf("PostgreSQL %d server", major))
	return nil
}

// StockProgram returns the file name of a stock program of a major version, whether or not the tests run on
// servers of that version. ok is false if there is none.
func StockProgram(t testing.TB, major int, name string) (file string, ok bool) {
	t.Helper()
	found(t)
	for _, dir := range all.binDirs[major] {
		file := filepath.Join(dir, name)
		if st, err := os.Stat(file); err == nil && st.Mode()&0o111 != 0 {
			return file, true
		}
	}
	return "", false
}

// Missing skips the test because what it needs is not there, or fails it when
// skips are forbidden.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("PGHAUL_TEST_FORBID_SKIP") != "" {
		t.Fatalf("missing: %s (and PGHAUL_TEST_FORBID_SKIP is set)", what)
	}
	t.Skipf("missing: %s", what)
}

func found(t testing.TB) []*Server {
	t.Helper()
	if !inMain.Load() {
		t.Fatal("pgtest: the package needs `func TestMain(m *testing.M) { pgtest.Main(m) }`, which stops the servers")
	}
	all.once.Do(func() { all.servers, all.binDirs, all.err = find() })
	if all.err != nil {
		t.Fatalf("find servers: %v", all.err)
	}
	if len(all.servers) == 0 {
		Missing(t, "PostgreSQL server programs; install the package postgresql, or see PGHAUL_PG_BINDIRS and PGHAUL_TEST_SERVERS in internal/pgtest/doc.go")
	}
	return all.servers
}

// find makes the list of servers without starting any.
func find() ([]*Server, map[int][]string, error) {
	ctx := context.Background()
	byMajor := map[int]*Server{}
	binDirs := map[int][]string{}
	for _, p := range localpg.Find(ctx) {
		byMajor[p.Major] = &Server{Major: p.Major, BinDir: p.Dir, programs: p}
		binDirs[p.Major] = append(binDirs[p.Major], p.Dir)
	}
	for entry := range strings.SplitSeq(os.Getenv("PGHAUL_TEST_SERVERS"), ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		s, err := parseEntry(ctx, entry)
		if err != nil {
			return nil, nil, fmt.Errorf("PGHAUL_TEST_SERVERS: %w", err)
		}
		byMajor[s.Major] = s
		if s.BinDir != "" {
			binDirs[s.Major] = append([]string{s.BinDir}, binDirs[s.Major]...)
		}
	}
	if v := os.Getenv("PGHAUL_TEST_VERSIONS"); v != "" {
		wanted := strings.Split(v, ",")
		for major := range byMajor {
			if !slices.Contains(wanted, strconv.Itoa(major)) {
				delete(byMajor, major)
			}
		}
	}
	var list []*Server
	for _, s := range byMajor {
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Major < list[j].Major })
	return list, binDirs, nil
}

// parseEntry reads one entry of PGHAUL_TEST_SERVERS.
func parseEntry(ctx context.Context, entry string) (*Server, error) {
	if filepath.IsAbs(entry) {
		p, err := localpg.Look(ctx, entry)
		if err != nil {
			return nil, err
		}
		return &Server{Major: p.Major, BinDir: p.Dir, programs: p}, nil
	}
	s := &Server{DSN: entry}
	if dsn, client, ok := strings.Cut(s.DSN, ";client="); ok {
		s.DSN, s.BinDir = dsn, client
	}
	if number, dsn, ok := strings.Cut(s.DSN, "="); ok {
		if n, err := strconv.Atoi(number); err == nil {
			s.Major, s.DSN = n, dsn
		}
	}
	num, err := serverVersion(ctx, s.DSN)
	if err != nil {
		return nil, err
	}
	if s.Major != 0 && s.Major != num/10000 {
		return nil, fmt.Errorf("server said to be version %d is version %d", s.Major, num/10000)
	}
	s.Version, s.Major = num, num/10000
	return s, nil
}

// serverVersion asks a running server for its server_version_num.
func serverVersion(ctx context.Context, dsn string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	res, err := conn.Exec(ctx, "show server_version_num").ReadAll()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(res[0].Rows[0][0]))
}

// start makes sure that the server runs.
func (s *Server) start(t testing.TB) {
	t.Helper()
	s.once.Do(func() { s.startErr = s.run() })
	if s.startErr != nil {
		t.Fatalf("start PostgreSQL %d: %v", s.Major, s.startErr)
	}
	if s.own != nil {
		if err := s.own.Err(); err != nil {
			t.Fatalf("PostgreSQL %d crashed in an earlier test: %v", s.Major, err)
		}
	}
}

func (s *Server) run() error {
	if s.programs.Dir == "" {
		return nil
	}
	own, err := localpg.StartPrograms(context.Background(), s.programs, scratch.Spec{
		Settings: map[string]string{
			"fsync":                      "off",
			"synchronous_commit":         "off",
			"full_page_writes":           "off",
			"autovacuum":                 "off",
			"max_connections":            "200",
			"max_locks_per_transaction":  "512",
			"max_prepared_transactions":  "10",
			"max_wal_size":               "4GB",
			"shared_buffers":             "128MB",
			"wal_level":                  "logical", // so that publications are created without a warning
			"dynamic_shared_memory_type": "mmap",    // a container's /dev/shm may be tiny
		},
	})
	if err != nil {
		return err
	}
	s.own = own
	s.DSN, s.Version = own.DSN, own.Version
	return nil
}

// NeedTool skips the test if the stock program of this name and of the server's
// version is not there.
func (s *Server) NeedTool(t testing.TB, name string) string {
	t.Helper()
	if s.BinDir != "" {
		file := filepath.Join(s.BinDir, name)
		if st, err := os.Stat(file); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return file
		}
	}
	Missing(t, fmt.Sprintf("program %s of PostgreSQL %d", name, s.Major))
	return ""
}

// Need skips the test if the server is older than the major version.
func (s *Server) Need(t testing.TB, major int) {
	t.Helper()
	if s.Major < major {
		t.Skipf("needs PostgreSQL %d, this is %d", major, s.Major)
	}
}

// NeedExtension skips the test if the extension is not installed on the server's
// machine. Where skips are forbidden that is still allowed as long as a server of
// another version has the extension: not every extension is packaged for all.
func (s *Server) NeedExtension(t testing.TB, name string) {
	t.Helper()
	if s.hasExtension(t, name) {
		return
	}
	what := fmt.Sprintf("extension %s for PostgreSQL %d", name, s.Major)
	if os.Getenv("PGHAUL_TEST_FORBID_SKIP") != "" {
		for _, other := range Servers(t) {
			if other != s && other.hasExtension(t, name) {
				t.Skipf("missing: %s (tested with PostgreSQL %d)", what, other.Major)
			}
		}
	}
	Missing(t, what)
}

func (s *Server) hasExtension(t testing.TB, name string) bool {
	t.Helper()
	return s.query(t, s.DSN, "select count(*) from pg_available_extensions where name = "+literal(name)) != "0"
}

// Own returns the throwaway server behind s, nil for a server that is not ours
// to stop or to damage.
func (s *Server) Own() *scratch.Server { return s.own }

// EnsureRole makes sure that roles of these names exist. They stay until the
// server goes, so they must carry no rights that another test minds.
func (s *Server) EnsureRole(t testing.TB, names ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if s.roles[name] {
			continue
		}
		// Another process may use the same server and do the same.
		s.exec(t, s.DSN, "select pg_advisory_lock(20041024); do $_$ begin if not exists (select from pg_roles where rolname = "+literal(name)+
			") then create role "+ident(name)+"; end if; end $_$; select pg_advisory_unlock(20041024)")
		if s.roles == nil {
			s.roles = map[string]bool{}
		}
		s.roles[name] = true
	}
}
