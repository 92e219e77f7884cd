package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/minio/minio-go/v7"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/store/faultproxy"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// Operations of a fault run.
const (
	keepBackup  = "backup --keep-snapshot"
	plainBackup = "backup"
	restoring   = "restore"
	drilling    = "drill"
)

// fault is what goes wrong while a command runs.
type fault struct {
	kind string
	by   string  // what is counted: "bytes" to and from the database, "requests" to the store, "lines" of progress from the first that is not of the start
	at   float64 // share of what a run without faults has; of lines: which one

	store faultproxy.Fault // of kind "store"
	span  int              // so many requests in a row; 0: all from there on
	rng   *rand.Rand       // what is drawn when it happens
}

func (f fault) String() string {
	s := f.kind
	if f.kind == "store" {
		s = "store: " + f.store.String()
		switch {
		case f.store.Kind == faultproxy.Refuse && f.span == 0:
			s = "store: down"
		case f.span == 0:
			s += ", for good"
		case f.span > 1:
			s += fmt.Sprintf(", %d times", f.span)
		}
	}
	return fmt.Sprintf("%s at %.2f of %s", s, f.at, f.by)
}

// class is the column of the table that the fault is counted in.
func (f fault) class() string {
	if f.kind != "store" {
		return f.kind
	}
	switch {
	case f.span == 0:
		return "store down"
	case f.store.Kind == faultproxy.Status:
		return "store 500, 503"
	case f.store.Kind == faultproxy.Flip, f.store.Kind == faultproxy.FlipReply, f.store.Kind == faultproxy.Truncate:
		return "store: bytes changed"
	}
	return "store: connection lost"
}

// faultRun is what a seed stands for.
type faultRun struct {
	seed      uint64
	op        string
	bucket    bool
	encrypted bool
	auto      bool // --copy-format=auto
	prior     bool // there is a complete backup already
	mutate    bool // the source changes before the second command
	jobs      int
	faults    []fault // of the first command, the second, ...
}

// lateSeed and later seeds draw later moments: the first bytes from a small database are its catalogue, read before anything is stored.
const lateSeed = 1000

// drawRun draws a run. Equal seeds give equal runs.
func drawRun(seed uint64) faultRun {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := faultRun{
		seed: seed, op: pick(rng, keepBackup, keepBackup, keepBackup, plainBackup, plainBackup, restoring, restoring, restoring, restoring, drilling),
		bucket: rng.IntN(2) == 0, encrypted: rng.IntN(3) == 0, auto: rng.IntN(3) == 0,
		prior: rng.IntN(4) == 0, mutate: rng.IntN(2) == 0, jobs: 1 + rng.IntN(4),
	}
	n := 1
	if rng.IntN(4) == 0 {
		n = 2
	}
	for range n {
		r.faults = append(r.faults, r.drawFault(rng))
	}
	return r
}

func (r faultRun) drawFault(rng *rand.Rand) fault {
	f := fault{at: rng.Float64(), by: "bytes", rng: rand.New(rand.NewPCG(rng.Uint64(), 2))}
	if r.bucket && rng.IntN(2) == 0 {
		f.by = "requests"
	}
	if r.seed >= lateSeed {
		f.at = 0.4 + 0.6*f.at
	}
	where := rng.IntN(10)
	if r.op == drilling {
		if f.by == "bytes" {
			f.by, f.at = pick(rng, "lines of the start", "lines", "lines"), float64(1+rng.IntN(3))
		}
		f.kind = pick(rng, "SIGKILL", "SIGTERM", "server of the drill ended")
		if !r.bucket || where < 5 {
			return f
		}
		where = 9
	}
	backup := r.op == keepBackup || r.op == plainBackup
	switch {
	case where < 4 || where >= 7 && !r.bucket && !backup:
		f.kind = pick(rng, "SIGKILL", "SIGKILL", "SIGTERM")
		if r.op == keepBackup && rng.IntN(4) == 0 {
			f.kind = "SIGKILL, keeper too"
		}
	case where < 7:
		f.kind = pick(rng, "one session ended", "all sessions ended", "server restarted", "connections broken")
	case !r.bucket:
		f.kind = "disk full"
	default:
		f.by, f.kind, f.span = "requests", "store", pick(rng, 1, 1, 2, 4, 7)
		if f.at >= 1 { // it was a line
			f.at = rng.Float64()
		}
		after := rng.Int64N(64 << 10)
		switch rng.IntN(11) {
		case 0:
			f.store = faultproxy.Fault{Kind: faultproxy.CutBody, After: after}
		case 1:
			f.store = faultproxy.Fault{Kind: faultproxy.LostReply}
		case 2:
			f.store = faultproxy.Fault{Kind: faultproxy.CutReply, After: after}
		case 3:
			f.store = faultproxy.InternalError
		case 4:
			f.store = faultproxy.SlowDown
		case 5:
			f.store = faultproxy.Fault{Kind: faultproxy.Refuse}
		case 6:
			f.store = faultproxy.Fault{Kind: faultproxy.Truncate, After: after}
		case 7:
			f.store = faultproxy.Fault{Kind: faultproxy.Flip, After: after}
		case 8:
			f.store = faultproxy.Fault{Kind: faultproxy.FlipReply, After: after}
		case 9:
			f.store, f.span = faultproxy.Fault{Kind: faultproxy.Refuse}, 0
		default:
			f.kind = "store restarted"
		}
	}
	return f
}

func (r faultRun) String() string {
	s := r.op
	for _, c := range []struct {
		is   bool
		text string
	}{{r.bucket, "bucket"}, {!r.bucket, "folder"}, {r.encrypted, "encrypted"}, {r.auto, "binary rows"}, {r.prior, "one is there"}, {r.mutate, "source changes"}} {
		if c.is {
			s += ", " + c.text
		}
	}
	return fmt.Sprintf("%s, -j%d: %v", s, r.jobs, r.faults)
}

// Outcomes of a run.
const (
	notReached = "over before the fault"
	gotOver    = "identical at once"
	resumed    = "identical after it was gone on with"
	anew       = "identical, begun anew"
	clear1     = "clear failure, then identical anew"
	aBug       = "BUG"
)

var outcomes = []string{notReached, gotOver, resumed, anew, clear1, aBug}

// faultSeeds are runs of all tests: two kills of a backup, a kill and a crash of the server under a restore, a backup that is gone on with. Seeds
// 53 and 159, which showed that a restore could not be resumed after its store was gone, wait half a minute; package restore has that as a test.
var faultSeeds = []uint64{9, 18, 38}

// Whatever goes wrong, a backup, a restore or a drill ends in proven identity or in a failure that says so, and leaves nothing behind.
//
// PGHAUL_FAULT_RUNS and PGHAUL_FAULT_SEED (see make faults) ask for so many runs of the seeds from that one on.
func TestFaults(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: a kernel that shows the environment of processes (Linux)")
	}
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil && os.Getenv(name) != "" {
			t.Fatalf("%s is not a number: %q", name, os.Getenv(name))
		}
		return n
	}
	seeds := slices.Clone(faultSeeds)
	workers := 1
	if runs := number("PGHAUL_FAULT_RUNS"); runs > 0 {
		seeds, workers = nil, 2
		for i := range runs {
			seeds = append(seeds, uint64(max(1, number("PGHAUL_FAULT_SEED"))+i))
		}
	}
	s := pgtest.Newest(t)
	if s.BinDir == "" {
		t.Skip("missing: programs of a PostgreSQL server that may be killed")
	}
	todo := make(chan uint64, len(seeds))
	for _, seed := range seeds {
		todo <- seed
	}
	close(todo)
	var mu sync.Mutex
	table := map[string]map[string]int{}
	t.Run("runs", func(t *testing.T) {
		for i := range workers {
			t.Run(fmt.Sprintf("worker %d", i+1), func(t *testing.T) {
				t.Parallel()
				w := newFaultWorker(t, s)
				for seed := range todo {
					t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
						r := drawRun(seed)
						if r.bucket && w.s3 == nil {
							storetest.StartS3(t) // says what is missing
						}
						outcome := aBug
						defer func() {
							if t.Failed() {
								outcome = aBug
							}
							t.Logf("%s -> %s", r, outcome)
							mu.Lock()
							defer mu.Unlock()
							row := r.op + "|" + r.faults[0].class()
							if table[row] == nil {
								table[row] = map[string]int{}
							}
							table[row][outcome]++
						}()
						outcome = w.run(t, r)
					})
				}
			})
		}
	})
	t.Log(faultTable(table))
}

// faultTable shows how many runs ended in which way, by operation and first fault.
func faultTable(table map[string]map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| operation | fault | %s |\n|---|---|%s\n", strings.Join(outcomes, " | "), strings.Repeat("---|", len(outcomes)))
	line := func(row string, counts map[string]int) {
		b.WriteString("| " + strings.Replace(row, "|", " | ", 1) + " |")
		for _, o := range outcomes {
			if n := counts[o]; n > 0 {
				fmt.Fprintf(&b, " %d", n)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	rows := []string{}
	total := map[string]int{}
	for row, counts := range table {
		rows = append(rows, row)
		for o, n := range counts {
			total[o] += n
		}
	}
	slices.Sort(rows)
	for _, row := range rows {
		line(row, table[row])
	}
	line("all|", total)
	return b.String()
}

// faultWorker has what runs share that follow each other.
type faultWorker struct {
	server *crashServer
	line   *line
	s3     *storetest.S3Server // nil: there is no program for it
	proxy  *faultproxy.Proxy

	dir       string // for the backups that are restored
	identity  string // file
	recipient string
	runs      int
	made      map[string]string // addresses of backups of the database golden
	totals    map[string][2]int64
}

// golden is a database of every kind of thing that is loaded in its own way; tables without a key show rows that come twice.
const golden = `
CREATE TABLE big (id bigint PRIMARY KEY, grp int NOT NULL, body text);
INSERT INTO big SELECT i, i % 50, repeat(md5(i::text), 6) FROM generate_series(1, 4000) i;
CREATE INDEX ON big (grp); CREATE INDEX ON big (md5(body));
CREATE TABLE nokey (a int, b text); INSERT INTO nokey SELECT i % 100, 'text ' || i % 7 FROM generate_series(1, 3000) i;
CREATE TABLE child (id serial PRIMARY KEY, big_id bigint REFERENCES big, note text);
INSERT INTO child (big_id, note) SELECT 1 + i % 4000, 'note ' || i FROM generate_series(1, 2000) i;
CREATE TABLE part (day date, v numeric) PARTITION BY RANGE (day);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
INSERT INTO part SELECT date '2026-01-01' + i % 59, i / 7.0 FROM generate_series(1, 1000) i;
CREATE INDEX ON part (day);
CREATE TABLE nothing (a int);
CREATE SEQUENCE seq START 7; SELECT nextval('seq');
CREATE VIEW v AS SELECT grp, count(*) FROM big GROUP BY grp;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM v;
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.note := upper(NEW.note); RETURN NEW; END';
CREATE TRIGGER tr BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION f();
SELECT lo_from_bytea(0, decode(repeat(md5(i::text), 500), 'hex')) FROM generate_series(1, 4) i;
ANALYZE;
`

func newFaultWorker(t *testing.T, s *pgtest.Server) *faultWorker {
	dir, err := os.MkdirTemp("/tmp", "pghaul-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &faultWorker{server: newCrashServer(t, s.BinDir), dir: dir, made: map[string]string{}, totals: map[string][2]int64{}}
	w.line = newLine(t, w.server.socket())
	if storetest.HaveS3() {
		w.s3 = storetest.StartS3(t)
		w.proxy = faultproxy.Start(t, w.s3.Endpoint, faultproxy.Never)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	w.identity, w.recipient = filepath.Join(w.dir, "identity"), id.Recipient().String()
	if err := os.WriteFile(w.identity, []byte(id.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"postgres", "CREATE DATABASE golden TEMPLATE template0"}, {"golden", golden}} {
		if _, err := w.server.exec(c[0], c[1]); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// underFault is one run.
type underFault struct {
	faultRun
	*faultWorker
	t     *testing.T
	dir   string // of the run, with the folders below
	mark  string // in the environment of each process
	named []string
	store string // address
	trace strings.Builder
}

// run does a run and returns its outcome; errors of the test are bugs.
func (w *faultWorker) run(t *testing.T, r faultRun) string {
	w.runs++
	dir, err := os.MkdirTemp("/tmp", "pghaul-fault-") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	u := &underFault{faultRun: r, faultWorker: w, t: t, dir: dir, mark: fmt.Sprintf("PGHAUL_FAULT_RUN=%d.%d.%p", os.Getpid(), r.seed, w)}
	t.Cleanup(func() {
		u.heal()
		for _, name := range u.named {
			w.server.exec("postgres", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		}
		for _, p := range marked(u.mark, dir) { // only ours, after a bug
			pid, _ := strconv.Atoi(strings.Fields(p)[0])
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
		if t.Failed() || os.Getenv("PGHAUL_FAULT_RUNS") == "1" {
			t.Log(u.trace.String())
		}
	})
	for _, name := range []string{"tmp", "cache", "store"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the drill's server may run as another user
		t.Fatal(err)
	}
	var outcome string
	switch r.op {
	case restoring:
		outcome = u.restore()
	case drilling:
		outcome = u.drill()
	default:
		outcome = u.backup()
	}
	u.nothingLeft()
	return outcome
}

// ended is what a command left.
type ended struct {
	result
	fired bool // the fault happened
}

// clearly reports whether a command that did not succeed said why, as far as it could.
func (e ended) clearly() bool {
	if strings.Contains(e.stderr, "goroutine ") || strings.Contains(e.stderr, "panic:") {
		return false
	}
	return e.code == -1 || e.code == 130 || e.code == 1 && strings.Contains(e.stderr+e.stdout, "pghaul") // -1: a signal
}

// pghaul runs the program without a fault.
func (u *underFault) pghaul(args ...string) ended { return u.under(nil, args...) }

// under runs the program, and the fault if there is one.
func (u *underFault) under(f *fault, args ...string) ended {
	u.t.Helper()
	c := exec.Command(binary, args...)
	c.Env = append(os.Environ(), u.mark, "TMPDIR="+filepath.Join(u.dir, "tmp"), "XDG_CACHE_HOME="+filepath.Join(u.dir, "cache"),
		"PGHAUL_IDENTITY="+u.identity, "PGHAUL_CONFIG=")
	if u.s3 != nil {
		c.Env = append(c.Env, "AWS_ACCESS_KEY_ID="+u.s3.Access, "AWS_SECRET_ACCESS_KEY="+u.s3.Secret, "AWS_SESSION_TOKEN=",
			"AWS_REGION="+u.s3.Region, "AWS_ENDPOINT_URL="+u.proxy.URL, "AWS_ENDPOINT_URL_S3=")
	}
	var out, talk bytes.Buffer
	var e ended
	started := make(chan struct{})
	var mu sync.Mutex // held while it happens
	var over bool
	var failed error
	happens := func() {
		<-started
		mu.Lock()
		defer mu.Unlock()
		if !e.fired && !over {
			e.fired = true
			failed = u.happen(f, c)
		}
	}
	c.Stdout, c.Stderr = &out, &talk
	if f != nil {
		if f.kind == "disk full" {
			e.fired = true // it is, from the beginning
		} else if f.by == "bytes" {
			u.line.arm(1+int64(f.at*float64(u.total(0))), happens)
		} else if f.by == "requests" {
			from := int(f.at * float64(u.total(1)))
			u.proxy.SetRule(func(r faultproxy.Request) faultproxy.Fault {
				if r.N == from {
					happens()
				}
				if f.kind == "store" && r.N >= from && (f.span == 0 || r.N < from+f.span) {
					return f.store
				}
				return faultproxy.Fault{}
			})
		} else {
			n := 0
			c.Stderr = &lines{Writer: &talk, each: func(s string) {
				if strings.Contains(s, `"progress"`) && strings.Contains(s, `"phase":"start"`) == (f.by == "lines of the start") {
					if n++; n == int(f.at) {
						happens()
					}
				}
			}}
		}
	}
	start := time.Now()
	if err := c.Start(); err != nil {
		u.t.Fatal(err)
	}
	close(started)
	done := make(chan struct{})
	go func() {
		c.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		c.Process.Signal(syscall.SIGQUIT) // prints what every goroutine does
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			c.Process.Kill()
			<-done
		}
		u.t.Errorf("pghaul %s hangs\n%s", strings.Join(args, " "), talk.String())
	}
	u.line.disarm()
	if u.proxy != nil {
		u.proxy.SetRule(faultproxy.Never)
	}
	mu.Lock() // a server is there again
	over = true
	mu.Unlock()
	if failed != nil {
		u.t.Fatalf("the fault %s could not be made: %v", f, failed)
	}
	e.result = result{out.String(), talk.String(), c.ProcessState.ExitCode()}
	fmt.Fprintf(&u.trace, "pghaul %s: exit status %d after %.1f s, fault %v\n%s%s\n", strings.Join(args, " "), e.code, time.Since(start).Seconds(), e.fired, e.stdout, e.stderr)
	if e.code == 0 && strings.Contains(e.stderr, "panic") || e.code != 0 && !e.clearly() {
		u.t.Errorf("no clear failure: exit status %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	return e
}

// happen does what goes wrong, while the command runs.
func (u *underFault) happen(f *fault, c *exec.Cmd) error {
	switch f.kind {
	case "SIGKILL":
		return c.Process.Kill()
	case "SIGTERM":
		return c.Process.Signal(syscall.SIGTERM)
	case "SIGKILL, keeper too":
		if err := c.Process.Kill(); err != nil {
			return err
		}
		for _, p := range marked(u.mark, u.dir) {
			if strings.Contains(p, "keep-snapshot") && !strings.Contains(p, " backup ") {
				pid, _ := strconv.Atoi(strings.Fields(p)[0])
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	case "one session ended", "all sessions ended":
		who := "datname = '" + u.named[0] + "' AND pid <> pg_backend_pid()"
		if f.kind == "one session ended" {
			who += " AND application_name NOT LIKE 'pghaul keeps%'"
		}
		pids, err := u.server.exec("postgres", "SELECT pid FROM pg_stat_activity WHERE "+who+" ORDER BY backend_start")
		if err != nil {
			return err
		}
		if f.kind == "one session ended" && len(pids) > 0 {
			pids = []string{pick(f.rng, pids...)}
		}
		for _, pid := range pids {
			if _, err := u.server.exec("postgres", "SELECT pg_terminate_backend("+pid+")"); err != nil {
				return err
			}
		}
	case "server restarted":
		return u.server.crash(context.Background())
	case "connections broken":
		u.line.cut()
	case "store restarted":
		return u.s3.Crash(context.Background())
	case "server of the drill ended":
		for _, p := range marked("no such mark", filepath.Join(u.dir, "tmp")) {
			if strings.Contains(p, "postgres") && !strings.Contains(p, "postgres: ") && !strings.Contains(p, "pghaul") {
				pid, _ := strconv.Atoi(strings.Fields(p)[0])
				syscall.Kill(pid, syscall.SIGQUIT)
			}
		}
	}
	return nil
}

// heal makes everything work again.
func (u *underFault) heal() {
	syscall.Unmount(filepath.Join(u.dir, "store"), 0)
}

// total is what a run without faults counts: bytes to and from the database (0), requests to the store (1).
func (u *underFault) total(what int) int64 { return u.totals[u.totalKey()][what] }

func (u *underFault) totalKey() string { return fmt.Sprintf("%s %t", u.op, u.bucket) }

// database creates a database of the run.
func (u *underFault) database(name, template string) string {
	u.t.Helper()
	u.runs++
	name = fmt.Sprintf("%s_%d", name, u.runs)
	u.named = append(u.named, name)
	if _, err := u.server.exec("postgres", "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy"); err != nil {
		u.t.Fatal(err)
	}
	return name
}

// newStore returns the address of an empty store, and the program's arguments for a backup there.
func (u *underFault) newStore(dir string) string {
	u.t.Helper()
	if u.bucket {
		return "s3://" + u.s3.NewBucket(u.t) + "/nightly"
	}
	return "file://" + dir
}

func (u *underFault) backupArgs(database, store string) []string {
	args := []string{"backup", "--json", "--to", store, "-j" + strconv.Itoa(u.jobs), "--piece-size=256kB", "-d", u.line.dsn(database)}
	if u.encrypted {
		args = append(args, "--recipient", u.recipient)
	}
	if u.auto {
		args = append(args, "--copy-format=auto")
	}
	return args
}

// counted runs a command that has to succeed and keeps what it counts.
func (u *underFault) counted(args ...string) {
	u.t.Helper()
	u.line.arm(0, nil)
	requests := int64(0)
	if u.proxy != nil {
		u.proxy.SetRule(func(faultproxy.Request) faultproxy.Fault {
			requests++
			return faultproxy.Fault{}
		})
	}
	e := u.pghaul(args...)
	if e.code != 0 {
		u.t.Fatalf("pghaul %s, without a fault: exit status %d\n%s", strings.Join(args, " "), e.code, e.stderr)
	}
	bytes := u.line.passed()
	if u.op != drilling && bytes == 0 || u.bucket && requests == 0 {
		u.t.Fatalf("pghaul %s: %d bytes, %d requests counted", strings.Join(args, " "), bytes, requests)
	}
	u.totals[u.totalKey()] = [2]int64{bytes, requests}
}

// prepared returns the address of a backup of golden.
func (u *underFault) prepared() string {
	u.t.Helper()
	key := fmt.Sprintf("%t %t %t", u.bucket, u.encrypted, u.auto)
	if u.made[key] == "" {
		store := u.newStore(filepath.Join(u.faultWorker.dir, strings.ReplaceAll(key, " ", "-")))
		if e := u.pghaul(u.backupArgs("golden", store)...); e.code != 0 {
			u.t.Fatalf("backup of golden: %s", e.stderr)
		}
		u.made[key] = store
	}
	return u.made[key]
}

// listed are the backups that the program lists.
type listed []struct {
	ID       string
	Complete bool
}

func (u *underFault) list() (l listed) {
	u.t.Helper()
	e := u.pghaul("list", "--json", u.store)
	if e.code != 0 && strings.Contains(e.stderr, "no such file") { // the folder was not made yet
		return nil
	}
	if err := json.Unmarshal([]byte(e.stdout), &l); e.code != 0 || err != nil {
		u.t.Fatalf("list: exit status %d, %v\n%s%s", e.code, err, e.stdout, e.stderr)
	}
	return l
}

// others returns the IDs of the complete ones and of all, but one.
func (l listed) others(prior string) (complete, all []string) {
	for _, b := range l {
		if b.ID != prior {
			all = append(all, b.ID)
			if b.Complete {
				complete = append(complete, b.ID)
			}
		}
	}
	return complete, all
}

// same runs a comparison.
func (u *underFault) same(a, b string, more ...string) bool {
	u.t.Helper()
	e := u.pghaul(append([]string{"compare", a, b}, more...)...)
	return e.code == 0 && strings.HasPrefix(e.stdout, "IDENTICAL")
}

func (u *underFault) mustSame(a, b string, more ...string) {
	u.t.Helper()
	if !u.same(a, b, more...) {
		u.t.Errorf("FALSE SUCCESS: %s and %s differ", a, b)
	}
}

func (u *underFault) backup() string {
	t := u.t
	source := u.database("source", "golden")
	folder := filepath.Join(u.dir, "store")
	if u.totals[u.totalKey()] == [2]int64{} {
		u.counted(u.backupArgs(source, u.newStore(filepath.Join(u.dir, "counted")))...)
	}
	if u.faults[0].kind == "disk full" {
		size := fmt.Sprintf("size=%dk", 16+int(u.faults[0].at*170))
		if u.prior {
			size = "size=64m"
		}
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, size); err != nil {
			t.Skipf("missing: permission to mount a small file system: %v", err)
		}
	}
	u.store = u.newStore(filepath.Join(folder, "b"))
	args := u.backupArgs(source, u.store)
	prior := ""
	if u.prior {
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(u.pghaul(args...).stdout), &made); err != nil {
			t.Fatal(err)
		}
		prior = made.ID
		if u.faults[0].kind == "disk full" {
			var st syscall.Statfs_t
			if err := syscall.Statfs(folder, &st); err != nil {
				t.Fatal(err)
			}
			used := int64(st.Blocks-st.Bfree) * st.Bsize >> 10
			if err := syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", used+16+int64(u.faults[0].at*170))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if u.op == keepBackup {
		args = append(args, "--keep-snapshot=10m")
	}

	e := u.under(&u.faults[0], args...)
	first := e
	var before []string // IDs when the source changed
	changed := false
	tries := 0
	for {
		complete, all := u.list().others(prior)
		if e.code == 0 && len(complete) != 1 {
			t.Errorf("FALSE SUCCESS: %d complete backups", len(complete))
		}
		if len(complete) > 0 {
			break
		}
		u.noLatest(prior)
		for _, name := range u.objects() {
			if id := idOf.FindString(name); !slices.Contains(all, id) && id != prior && !strings.Contains(name, ".partial") && !strings.HasPrefix(name, "upload ") {
				t.Errorf("%s is of no backup that is listed: %q", name, all)
			}
		}
		if tries++; tries > 5 {
			t.Errorf("after %d tries there is no backup", tries)
			return aBug
		}
		if u.faults[0].kind == "disk full" && tries == 1 {
			if err := syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
				t.Fatal(err)
			}
		}
		if u.mutate && !changed {
			changed, before = true, all
			if _, err := u.server.exec(source, "DELETE FROM big WHERE id % 97 = 3 AND id NOT IN (SELECT big_id FROM child); UPDATE nokey SET b = 'changed' WHERE a < 10; INSERT INTO nokey VALUES (-1, 'new')"); err != nil {
				t.Fatal(err)
			}
		}
		if tries < len(u.faults) && u.faults[tries].kind != "disk full" {
			e = u.under(&u.faults[tries], args...)
		} else {
			e = u.pghaul(args...)
		}
	}

	complete, _ := u.list().others(prior)
	id := complete[0]
	onWith := strings.Contains(e.stderr, "going on with backup")
	want := "golden"
	if changed && !(onWith && slices.Contains(before, id)) {
		want = source
	}
	u.mustSame(u.store, u.server.dsn(want), "--snapshot", id)
	if v := u.pghaul("verify", "--rows", "--quiet", "--snapshot", id, u.store); v.code != 0 {
		t.Errorf("FALSE SUCCESS: verify: exit status %d\n%s%s", v.code, v.stdout, v.stderr)
	}
	if p := u.pghaul("prune", u.store, "--keep-last=9", "--incomplete-after=1ns"); p.code != 0 {
		t.Errorf("prune: exit status %d\n%s", p.code, p.stderr)
	}
	for _, name := range u.objects() {
		if strings.Contains(name, "partial") || strings.Contains(name, "progress") || strings.Contains(name, "upload ") ||
			!strings.Contains(name, "/"+id+"/") && (prior == "" || !strings.Contains(name, "/"+prior+"/")) {
			t.Errorf("LEFT OVER in the store: %s", name)
		}
	}
	switch {
	case tries == 0 && !first.fired:
		return notReached
	case tries == 0:
		return gotOver
	case onWith:
		return resumed
	}
	return anew
}

// idOf finds the ID of a backup in the name of an object.
var idOf = regexp.MustCompile(`\b\d{8}T\d{6}Z(-\w+)?`)

// noLatest looks whether a backup that is not complete is taken for one.
func (u *underFault) noLatest(prior string) {
	u.t.Helper()
	e := u.pghaul("show", "--json", u.store)
	var shown struct{ ID string }
	if e.code == 0 {
		if err := json.Unmarshal([]byte(e.stdout), &shown); err != nil {
			u.t.Fatal(err)
		}
	}
	if shown.ID != prior {
		u.t.Errorf("FALSE SUCCESS: %q is shown as the latest backup, not %q", shown.ID, prior)
	}
}

// objects are the names of all that is in the store, with uploads that were begun.
func (u *underFault) objects() (names []string) {
	u.t.Helper()
	if !u.bucket {
		dir := strings.TrimPrefix(u.store, "file://")
		if _, err := os.Stat(dir); err != nil {
			return nil // it was not made yet
		}
		return filesIn(u.t, dir)
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(u.store, "s3://"), "/")
	c := bucketClient(u.t, u.s3)
	for o := range c.ListObjects(u.t.Context(), bucket, minio.ListObjectsOptions{Recursive: true}) {
		if o.Err != nil {
			u.t.Fatal(o.Err)
		}
		names = append(names, o.Key)
	}
	for o := range c.ListIncompleteUploads(u.t.Context(), bucket, "", true) {
		if o.Err != nil {
			u.t.Fatal(o.Err)
		}
		names = append(names, "upload "+o.Key)
	}
	return names
}

func (u *underFault) restore() string {
	t := u.t
	u.store = u.prepared()
	args := func(target string, more ...string) []string {
		return append([]string{"restore", "--json", "-j" + strconv.Itoa(u.jobs), "-d", u.line.dsn(target), u.store}, more...)
	}
	if u.totals[u.totalKey()] == [2]int64{} {
		u.counted(args(u.database("counted", "template0"))...)
		u.named = nil // dropped with the server
	}
	target := u.database("target", "template0")
	e := u.under(&u.faults[0], args(target)...)
	first := e
	tries := 0
	for e.code != 0 {
		if tries++; tries > 5 {
			break
		}
		said := e.stderr
		if tries < len(u.faults) {
			e = u.under(&u.faults[tries], args(target, "--resume")...)
		} else {
			e = u.pghaul(args(target, "--resume")...)
		}
		if strings.Contains(e.stderr, "no interrupted restore") || e.stderr == said && !e.fired {
			break
		}
	}
	golden := u.server.dsn("golden")
	switch {
	case e.code == 0:
		u.mustSame(golden, u.server.dsn(target))
	case u.same(golden, u.server.dsn(target)):
		// The process ended after its work.
	default:
		again := u.database("again", "template0")
		if e := u.pghaul(args(again)...); e.code != 0 {
			t.Errorf("restore without a fault: exit status %d\n%s", e.code, e.stderr)
		}
		u.mustSame(golden, u.server.dsn(again))
		return clear1
	}
	left, err := u.server.exec(target, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^pghaul'")
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("LEFT OVER in the target: schema %s", left)
	}
	switch {
	case tries == 0 && !first.fired:
		return notReached
	case tries == 0:
		return gotOver
	}
	return resumed
}

func (u *underFault) drill() string {
	u.store = u.prepared()
	args := []string{"drill", "--json", "-j" + strconv.Itoa(u.jobs), u.store}
	if u.totals[u.totalKey()] == [2]int64{} {
		u.counted(args...)
	}
	passed := func(e ended) bool {
		var report struct{ Passed bool }
		if err := json.Unmarshal([]byte(e.stdout), &report); err != nil && e.code == 0 {
			u.t.Errorf("report: %v\n%s", err, e.stdout)
		}
		if e.code == 0 && !report.Passed {
			u.t.Errorf("FALSE SUCCESS: not passed, exit status 0\n%s", e.stdout)
		}
		return e.code == 0
	}
	e := u.under(&u.faults[0], args...)
	switch {
	case passed(e) && !e.fired:
		return notReached
	case passed(e):
		return gotOver
	}
	for _, f := range u.faults[1:] {
		u.under(&f, args...)
	}
	if e = u.pghaul(args...); !passed(e) {
		u.t.Errorf("drill without a fault: exit status %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	return anew
}

// nothingLeft looks for processes, sessions and files of the run.
func (u *underFault) nothingLeft() {
	t := u.t
	t.Helper()
	var procs, sessions []string
	so := func(is func() bool) {
		tick := time.NewTicker(50 * time.Millisecond) // they end by themselves, at their time
		defer tick.Stop()
		deadline := time.After(20 * time.Second)
		for !is() {
			select {
			case <-deadline:
				return
			case <-tick.C:
			}
		}
	}
	so(func() bool { procs = marked(u.mark, u.dir); return len(procs) == 0 })
	for _, p := range procs {
		t.Errorf("LEFT OVER process: %s", p)
	}
	names := "''"
	for _, n := range u.named {
		names += ", '" + n + "'"
	}
	so(func() bool {
		var err error
		sessions, err = u.server.exec("postgres", "SELECT datname || ' ' || application_name || ': ' || query FROM pg_stat_activity WHERE datname IN ("+names+")")
		if err != nil {
			t.Fatal(err)
		}
		return len(sessions) == 0
	})
	for _, s := range sessions {
		t.Errorf("LEFT OVER session: %s", s)
	}
	for _, dir := range []string{"tmp", "cache"} {
		err := filepath.WalkDir(filepath.Join(u.dir, dir), func(name string, d os.DirEntry, err error) error {
			if err == nil && (dir == "tmp" && name != filepath.Join(u.dir, dir) || !d.IsDir()) {
				t.Errorf("LEFT OVER: %s", strings.TrimPrefix(name, u.dir))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
