package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/scratch"
)

// Options say what is measured.
type Options struct {
	// Groups are names of Groups; empty: all.
	Groups []string
	// Scale is the size of the main database: 1 is about 800 MB. 0: 1.
	Scale float64
	// Tables is how many tables the database of many tables has. 0: 20,000.
	Tables int
	// Runs of each program. 0: 3.
	Runs int
	// Jobs of the programs that take -j. 0: 2.
	Jobs int
	// Major is the server's version; 0: the newest of this machine.
	Major int

	Provider scratch.Provider
	// Folders are where peers are looked for, beside PATH for pgcopydb.
	Folders []string
	// Program is the file name of this program, Tool what it is called in the report.
	Program, Tool string
	// Dir is where archives are written; empty: the system's folder for temporary files.
	Dir string
	// Progress is told what is being done; nil: nobody.
	Progress func(text string)
}

func (o *Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// group is a table of the report: what it is called, and who fills it.
type group struct {
	name, title, note string
	run               func(s *suite, ctx context.Context) ([]Line, error)
}

var groups = []group{
	{"dump", "Dump into one file", "The database of a service with many customers, most of its bytes in one table.", (*suite).dumps},
	{"formats", "Formats and compression", "What each costs, and the size of what it writes.", (*suite).formats},
	{"single", "One table with 95 % of the bytes", "", (*suite).single},
	{"restore", "Restore", "Into a fresh database of a throwaway server, after a checkpoint.", (*suite).restores},
	{"steps", "Where the time of a restore goes", "The sections of the archive, one after the other.", (*suite).steps},
	{"settings", "Settings of the server", "The same restore on a server with its default settings.", (*suite).settings},
	{"index", "Index builds", "Time and memory by access method and maintenance_work_mem, without parallel workers. The memory is that of the server's process, without shared buffers.", (*suite).indexes},
	{"copy", "Database to database", "", (*suite).copies},
	{"many", "Many tables, definitions only", "No rows: what is measured is the reading of the catalogue.", (*suite).many},
	{"growth", "As the database grows", "", (*suite).growth},
}

// Groups are the names of what can be measured.
func Groups() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// Run measures. When ctx is done, or a server or database cannot be had, it returns an error; a program that fails
// is reported in its line.
func Run(ctx context.Context, o Options) (*Report, error) {
	o.Scale, o.Tables, o.Runs, o.Jobs = orElse(o.Scale, 1), orElse(o.Tables, 20_000), orElse(o.Runs, 3), orElse(o.Jobs, 2)
	for _, name := range o.Groups {
		if !slices.Contains(Groups(), name) {
			return nil, fmt.Errorf("no group %q: there are %s", name, strings.Join(Groups(), ", "))
		}
	}
	dir, err := os.MkdirTemp(o.Dir, "pghaul-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := &suite{o: o, dir: dir, filled: make(map[string]string)}
	defer s.close(ctx)
	report := &Report{Version: Version, Tool: o.Tool, Started: time.Now(), Machine: Machine{
		OS: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(), Model: processorModel(), Load: load(), Settings: "settings of a throwaway server",
	}}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	report.Machine.Server = s.server.VersionString
	s.peers = findPeers(ctx, o.Folders, s.server.Major())
	report.Peers = s.peers
	for _, g := range groups {
		if len(o.Groups) > 0 && !slices.Contains(o.Groups, g.name) {
			continue
		}
		lines, err := g.run(s, ctx)
		if err != nil {
			return nil, fmt.Errorf("measure group %s: %w", g.name, err)
		}
		report.Groups = append(report.Groups, Group{Name: g.name, Title: g.title, Note: g.note, Lines: lines})
	}
	report.Seconds = time.Since(report.Started).Seconds()
	return report, nil
}

func orElse[T int | float64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

// suite is one run of everything.
type suite struct {
	o      Options
	dir    string
	server *scratch.Server
	meter  serverMeter
	peers  []Peer
	filled map[string]string // databases by what they hold

	archived string // the database of the archives that are there, see archives
}

func (s *suite) start(ctx context.Context) (err error) {
	s.o.progress("starting a server")
	s.server, err = s.o.Provider.Start(ctx, scratch.Spec{Major: s.o.Major, Tuned: true, Jobs: s.o.Jobs, NeedLocks: 2 * s.o.Tables})
	if err == nil {
		s.meter, err = meterOf(s.server)
	}
	return err
}

func (s *suite) close(ctx context.Context) {
	if s.server != nil {
		s.server.Stop(ctx)
	}
}

// meterOf finds the first process of the server by its file postmaster.pid.
func meterOf(server *scratch.Server) (serverMeter, error) {
	if server.Dir == "" {
		return serverMeter{}, nil
	}
	b, err := os.ReadFile(filepath.Join(server.Dir, "data", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return serverMeter{}, nil
	}
	if err != nil {
		return serverMeter{}, err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	return serverMeter{postmaster: pid}, err
}

//go:embed workload.sql
var workload string

//go:embed many.sql
var manyTables string

//go:embed single.sql
var singleTable string

// database returns the name of a database filled by a script, which is filled once.
func (s *suite) database(ctx context.Context, name, script string, values ...string) (string, error) {
	key := name + strings.Join(values, " ")
	if db, ok := s.filled[key]; ok {
		return db, nil
	}
	db := fmt.Sprintf("bench_%s_%d", name, len(s.filled))
	s.o.progress("filling a database (%s %s)", name, strings.Join(values, " "))
	if err := s.exec(ctx, s.server, "postgres", "CREATE DATABASE "+db); err != nil {
		return "", err
	}
	text := strings.NewReplacer(values...).Replace(script)
	body, vacuum, _ := strings.Cut(text, "\nVACUUM ANALYZE;")
	for _, part := range splitCall(body) {
		if err := s.exec(ctx, s.server, db, part); err != nil {
			return "", fmt.Errorf("fill database %s: %w", db, err)
		}
	}
	if err := s.exec(ctx, s.server, db, "VACUUM ANALYZE"+vacuum); err != nil {
		return "", err
	}
	s.filled[key] = db
	return db, nil
}

// splitCall sets a CALL, which may commit and so must be alone, apart from what is before and after it.
func splitCall(script string) []string {
	before, rest, found := strings.Cut(script, "\nCALL ")
	if !found {
		return []string{script}
	}
	call, after, _ := strings.Cut(rest, ";")
	return []string{before, "CALL " + call, after}
}

func (s *suite) exec(ctx context.Context, server *scratch.Server, db, sql string) error {
	conn, err := connect(ctx, server, db)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.Exec(ctx, sql)
}

func connect(ctx context.Context, server *scratch.Server, db string) (*pg.Conn, error) {
	c, err := pg.ParseConfig(server.DSN, pg.Overrides{})
	if err != nil {
		return nil, err
	}
	return pg.Connect(ctx, c.WithDatabase(db))
}

// main is the database of the main workload at a scale.
func (s *suite) main(ctx context.Context, scale float64) (string, error) {
	vector, err := s.has(ctx, "vector")
	if err != nil {
		return "", err
	}
	return s.database(ctx, "main", workload, "@scale@", strconv.FormatFloat(scale, 'f', -1, 64), "@vector@", strconv.FormatBool(vector))
}

func (s *suite) has(ctx context.Context, extension string) (found bool, err error) {
	conn, err := connect(ctx, s.server, "postgres")
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	err = conn.Query(ctx, "SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = '"+extension+"'", func([][]byte) error { found = true; return nil })
	return found, err
}

// command is a program at work on a server: it connects over the Unix socket, as its user there.
func (s *suite) command(server *scratch.Server, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "PGHOST="+server.SocketDir, "PGPORT="+strconv.Itoa(server.Port), "PGUSER=postgres", "LC_ALL=C")
	cmd.Dir = s.dir
	return cmd
}

// dsn is the connection string of a database, for programs that want one.
func (s *suite) dsn(db string) string {
	return fmt.Sprintf("host=%s port=%d user=postgres dbname=%s", s.server.SocketDir, s.server.Port, db)
}

// ours is this program with a command of it.
func (s *suite) ours(args ...string) Contender {
	return Contender{Name: "pghaul " + display(args), Command: func() *exec.Cmd { return s.command(s.server, s.o.Program, quiet(args)...) }}
}

// quiet asks our program for no progress.
func quiet(args []string) []string { return append([]string{args[0], "--quiet"}, args[1:]...) }

// peer is a peer, or false if it is not on this machine. major 0: the lowest version, which is the server's where it is there.
func (s *suite) peer(program string, args ...string) (Contender, bool) {
	for _, p := range s.peers {
		if p.Program == program {
			return Contender{Name: p.Name() + " " + display(args), Command: func() *exec.Cmd { return s.command(s.server, p.Path, args...) }}, true
		}
	}
	return Contender{}, false
}

// display leaves out what does not tell contenders apart: where files and databases are.
func display(args []string) string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-f" || a == "-d" || a == "--source" || a == "--target" || a == "--dir":
			i++
		case strings.Contains(a, "/") || strings.HasPrefix(a, "bench_") || strings.Contains(a, "dbname="):
		default:
			out = append(out, a)
		}
	}
	return strings.Join(out, " ")
}

// writing says where a contender writes to.
func writing(c Contender, path string) Contender {
	c.Output = path
	return c
}

// fresh gives a contender an empty database each time.
func (s *suite) fresh(c Contender, server *scratch.Server, db string) Contender {
	c.Prepare = func(ctx context.Context) error {
		for _, sql := range []string{"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db, "CHECKPOINT"} {
			if err := s.exec(ctx, server, "postgres", sql); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// sizeOf returns the bytes of a file, or of all files in a folder.
func sizeOf(path string) (total int64, err error) {
	err = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// processorModel is the name of the processor, as Linux tells it.
func processorModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// load is the machine's load over the last minute; 0 where it is not known.
func load() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	v, _ := strconv.ParseFloat(first, 64)
	return v
}
