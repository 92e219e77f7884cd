package restore

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/scratch/localpg"
	"github.com/pghaul/pghaul/pgarchive"
)

// childVariable holds the work of a process that a test starts to kill it.
const childVariable = "PGHAUL_RESTORE_TEST_CHILD"

// childWork is a restore that stops dead after a number of events.
type childWork struct {
	File, DSN string
	Jobs      int
	Fast      bool
	Events    int64 // as events counts them
	Step      int64 // how many more after each kill
}

// runChild is main of such a process. It writes a line when it has stopped.
func runChild(work string) int {
	var c childWork
	if err := json.Unmarshal([]byte(work), &c); err != nil {
		fmt.Println(err)
		return 2
	}
	target, err := pg.ParseConfig(c.DSN, pg.Overrides{})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	r, err := pgarchive.Open(c.File, pgarchive.FormatUnknown)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	e := &events{at: c.Events, then: func() {
		fmt.Println("stopped")
		select {}
	}}
	res, err := Run(context.Background(), r, target, c.options(r), e)
	if err != nil || res.Ignored > 0 {
		fmt.Println(err, res.Errors)
		return 1
	}
	return 0
}

func (c childWork) options(r pgarchive.Reader) Options {
	o := Options{Jobs: c.Jobs, Fast: c.Fast, Analyze: c.Fast, Ledger: true, Resume: true}
	if c.Fast {
		o.Sizes = large(r)
	}
	return o
}

// events counts what a restore tells its progress, and does something at one of these moments.
type events struct {
	n    atomic.Int64
	at   int64
	more int64 // if not 0, then is called again after so many more events, and so on
	then func()
}

func (e *events) event() {
	n := e.n.Add(1)
	if n == e.at || e.more > 0 && n > e.at && (n-e.at)%e.more == 0 {
		e.then()
	}
}

func (e *events) Plan(Totals)                         {}
func (e *events) EntryStarted(*pgarchive.Entry)       { e.event() }
func (e *events) EntryDone(*pgarchive.Entry, error)   { e.event() }
func (e *events) Data(*pgarchive.Entry, int64, int64) { e.event() }

// kill runs the work in a process, kills that when it has stopped, and says whether it came to its end instead.
func (c childWork) kill(t *testing.T) (finished bool) {
	t.Helper()
	work, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+string(work))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line == "stopped\n" {
		cmd.Process.Kill()
		cmd.Wait()
		return false
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the process failed by itself: %s: %s", err, line)
	}
	return true
}

// resumed checks that a database is what was dumped, and that nothing of the ledger stays.
func resumed(t *testing.T, want string, db *pgtest.DB) {
	t.Helper()
	same(t, sorted(want), sorted(text(t, db)))
	if n := db.QueryString(t, "select count(*) from pg_namespace where nspname = '"+LedgerSchema+"'"); n != "0" {
		t.Error("the ledger stays")
	}
}

// A restore that is killed again and again, each time a little later, ends in the same database as one that is not.
func TestResumeAfterKills(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	src.Exec(t, keyed)
	want := text(t, src)
	whole := dump(t, src, "-Fc")
	for name, c := range map[string]childWork{
		"one job":    {File: whole, Jobs: 1, Events: 9, Step: 5},
		"three jobs": {File: cut(t, whole, "b", 3, pgarchive.FormatDirectory), Jobs: 3, Fast: true, Events: 13, Step: 4},
		"pieces":     {File: cut(t, whole, "orders", 4, pgarchive.FormatCustom), Jobs: 2, Events: 31, Step: 9},
		"inserts":    {File: dump(t, src, "-Fc", "--inserts"), Jobs: 1, Events: 19, Step: 9},
	} {
		t.Run(name, func(t *testing.T) {
			db := s.NewDatabase(t)
			c.DSN = db.DSN
			kills := 0
			for ; !c.kill(t); c.Events += c.Step {
				kills++
			}
			t.Logf("killed %d times", kills)
			if kills < 4 {
				t.Errorf("killed %d times only", kills)
			}
			resumed(t, want, db)
			if c.Fast {
				if n := db.QueryString(t, "select count(*) from pg_constraint where contype = 'f' and not convalidated"); n != "1" {
					t.Errorf("%s keys are not validated, want the one that is not in the source", n)
				}
				if n := db.QueryString(t, "select count(*) from pg_stats where schemaname = 'public' and tablename in ('a', 'b', 'c')"); n != "8" {
					t.Errorf("statistics of %s columns, want 8", n)
				}
			}
		})
	}
}

// Sessions that the server ends are replaced, wherever that happens.
func TestReconnect(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	src.Exec(t, keyed)
	want := text(t, src)
	file := cut(t, dump(t, src, "-Fc"), "b", 3, pgarchive.FormatDirectory)
	for _, c := range []childWork{{Jobs: 1}, {Jobs: 3, Fast: true}} {
		t.Run(strconv.Itoa(c.Jobs), func(t *testing.T) {
			db := s.NewDatabase(t)
			r := open(t, file, false)
			var n atomic.Int64
			e := &events{at: 10, more: 31}
			e.then = func() {
				if n.Add(1) <= maxLosses { // a slow worker may lose its connection each time over the same work
					db.Exec(t, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pghaul restore test'")
				}
			}
			res, err := Run(t.Context(), r, config(t, db), c.options(r), e)
			if err != nil || res.Ignored > 0 {
				t.Fatal(err, res.Errors)
			}
			if n.Load() < 4 {
				t.Errorf("sessions were ended %d times only", n.Load())
			}
			resumed(t, want, db)
		})
	}
	t.Run("a stream cannot be read again", func(t *testing.T) {
		db := s.NewDatabase(t)
		whole := dump(t, src, "-Fc")
		o := Options{Ledger: true, OnData: atData("orders", func() {
			db.Exec(t, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pghaul restore test'")
		})}
		_, err := Run(t.Context(), open(t, whole, true), config(t, db), o, nil)
		if !pg.IsConnectionLost(err) {
			t.Fatalf("error %v", err)
		}
		res := mustRun(t, open(t, whole, true), db, Options{Ledger: true, Resume: true, Jobs: 2})
		if res.Resumed == 0 {
			t.Error("nothing was resumed")
		}
		resumed(t, want, db)
	})
}

// A server that crashes and comes back is waited for.
func TestServerCrash(t *testing.T) {
	s := pgtest.Newest(t)
	s.NeedTool(t, "pg_dump")
	if s.Own() == nil {
		pgtest.Missing(t, "a server of our own to crash")
	}
	src := s.NewDatabase(t)
	src.Exec(t, keyed)
	file := dump(t, src, "-Fc")
	own, err := new(localpg.Provider).Start(t.Context(), scratch.Spec{Major: s.Major, Settings: map[string]string{"restart_after_crash": "on"}})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Stop(context.Background())
	target, err := pg.ParseConfig(own.Info.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	crash := func() {
		c, err := pg.Connect(context.Background(), target)
		if err != nil {
			t.Error(err)
			return
		}
		syscall.Kill(int(c.BackendPID()), syscall.SIGKILL)
		c.Ping(context.Background()) // until it is over
	}
	r := open(t, file, false)
	o := childWork{Jobs: 2, Fast: true}.options(r)
	var once atomic.Bool
	o.OnData = func(e *pgarchive.Entry) io.Writer {
		if e.Tag == "c" && once.CompareAndSwap(false, true) {
			crash()
		}
		return nil
	}
	res, err := Run(t.Context(), r, target, o, nil)
	if err != nil || res.Ignored > 0 {
		t.Fatal(err, res.Errors)
	}
	c, err := pg.Connect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if n, err := c.Value(t.Context(), "select (select count(*) from a) + (select count(*) from b) + (select count(*) from c)"); n != "11000" {
		t.Errorf("%s rows, want 11000: %v", n, err)
	}
}

// What failed before the interruption is neither done again nor forgotten.
func TestResumeKeepsFailures(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	for _, jobs := range []int{1, 3} {
		var texts []string
		var failures []int
		for _, broken := range []bool{false, true} {
			db := s.NewDatabase(t)
			db.Exec(t, `create schema shop; create table shop.customers (id int primary key, name text, note text); insert into shop.customers values (7)`)
			o := Options{Jobs: jobs, Ledger: true}
			ctx, cancel := context.WithCancel(t.Context())
			var e Progress
			if broken {
				e = &events{at: 90, then: cancel}
			}
			res, err := Run(ctx, open(t, file, false), config(t, db), o, e)
			cancel()
			if broken {
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("error %v", err)
				}
				first := len(res.Errors)
				if first == 0 {
					t.Fatal("no errors before the interruption")
				}
				o.Resume = true
				if res, err = Run(t.Context(), open(t, file, false), config(t, db), o, nil); res.Resumed == 0 {
					t.Error("nothing resumed")
				}
			}
			if err != nil || res.Ignored == 0 {
				t.Fatalf("error %v, %d ignored", err, res.Ignored)
			}
			texts = append(texts, sorted(text(t, db)))
			failures = append(failures, res.Ignored)
		}
		same(t, texts[0], texts[1])
		if failures[0] != failures[1] {
			t.Errorf("%d failures, without an interruption %d", failures[1], failures[0])
		}
	}
}

// silent is an archive in a store that answers no more once so many data were read.
type silent struct {
	pgarchive.Reader
	left atomic.Int64
}

type noAnswer struct{}

func (noAnswer) Error() string     { return "tried 8 times: no answer" }
func (noAnswer) Unwrap() error     { return io.ErrUnexpectedEOF } // as if the target's connection were lost
func (noAnswer) Unreachable() bool { return true }

func (s *silent) Data(ctx context.Context, id pgarchive.ID) (io.ReadCloser, error) {
	if s.left.Add(-1) < 0 {
		return nil, fmt.Errorf("get x: %w", noAnswer{})
	}
	return s.Reader.Data(ctx, id)
}

// A store that is gone ends the restore, which goes on when it is there again; it does not cost every entry that is left.
func TestStoreGoesAway(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	want := text(t, src)
	file := dump(t, src, "-Fc")
	for _, jobs := range []int{1, 3} {
		db := s.NewDatabase(t)
		r := &silent{Reader: open(t, file, false)}
		r.left.Store(2)
		o := Options{Jobs: jobs, Fast: jobs > 1, Ledger: true}
		var log messages
		o.Log = log.log
		res, err := Run(t.Context(), r, config(t, db), o, nil)
		if strings.Contains(log.String(), "connecting again") {
			t.Errorf("the target's connection was replaced:\n%s", &log)
		}
		if !errors.As(err, new(noAnswer)) || !res.Resumable || len(res.Errors) > jobs {
			t.Fatalf("error %v, resumable %t, errors %v", err, res.Resumable, res.Errors)
		}
		o.Resume = true
		if res := mustRun(t, open(t, file, false), db, o); res.Resumed == 0 {
			t.Error("nothing resumed")
		}
		resumed(t, want, db)
	}
}

// The ledger is refused where it does not fit.
func TestResumeRefused(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	other := dump(t, src, "-Fc", "--exclude-schema=public")
	db := s.NewDatabase(t)
	interrupt := func(o Options) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.OnData = atData("orders", cancel)
		if _, err := Run(ctx, open(t, file, false), config(t, db), o, nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
	}
	interrupt(Options{Ledger: true, NoOwner: true})
	for _, tt := range []struct {
		file string
		o    Options
		want string
	}{
		{file, Options{NoOwner: true}, "was interrupted"},
		{other, Options{Resume: true, NoOwner: true}, "of another archive"},
		{file, Options{Resume: true}, "other options: --no-owner, now none"},
		{file, Options{Resume: true, NoOwner: true, NoComments: true}, "another selection"},
	} {
		tt.o.Ledger = true
		_, err := Run(t.Context(), open(t, tt.file, false), config(t, db), tt.o, nil)
		var le *LedgerError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), tt.want) || le.WayOut == "" {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
	mustRun(t, open(t, file, false), db, Options{Ledger: true, Resume: true, NoOwner: true, Jobs: 2})
	_, err := Run(t.Context(), open(t, file, false), config(t, db), Options{Ledger: true, Resume: true, NoOwner: true}, nil)
	if err == nil || !strings.Contains(err.Error(), "no interrupted restore") {
		t.Errorf("error %v", err)
	}

	t.Run("without the right", func(t *testing.T) {
		s.EnsureRole(t, "restore_guest")
		db := s.NewDatabase(t)
		db.Exec(t, "alter role restore_guest login; create schema shop; grant all on schema shop to restore_guest; create type shop.state as enum ('open', 'done')")
		c := config(t, db)
		c.User = "restore_guest"
		m := new(messages)
		if _, err := Run(t.Context(), open(t, file, false), c, Options{Ledger: true, NoOwner: true, NoPrivileges: true, Log: m.log}, nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.String(), "cannot be resumed") || db.QueryString(t, "select count(*) from shop.orders") != "6000" {
			t.Errorf("messages %s", m)
		}
	})
}

// A database that the restore creates is found again; drops are not done twice.
func TestResumeCreateAndClean(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	want := text(t, src)
	file := dump(t, src, "-Fc")
	base := s.NewDatabase(t)
	t.Run("clean", func(t *testing.T) {
		db := s.NewDatabase(t)
		mustRun(t, open(t, file, false), db, Options{Jobs: 2})
		for at, o := int64(0), (Options{Ledger: true, Clean: true}); ; at += 60 {
			ctx, cancel := context.WithCancel(t.Context())
			if at == 0 {
				o.Log = func(_ Level, m string) {
					if m == "creating TABLE \"shop.orders\"" { // after the drops
						cancel()
					}
				}
			}
			_, err := Run(ctx, open(t, file, false), config(t, db), o, &events{at: at, then: cancel})
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			o.Resume, o.Log = true, nil
		}
		resumed(t, want, db)
	})
	t.Run("create", func(t *testing.T) {
		name := src.Name
		file2 := dump(t, src, "-Fc", "-C")
		s.DropDatabase(t, name)
		o := Options{Ledger: true, Create: true}
		times := 0
		for at := int64(1); ; at += 40 {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Run(ctx, open(t, file2, false), config(t, base), o, &events{at: at, then: cancel})
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			o.Resume = true
			times++
		}
		if times < 3 {
			t.Errorf("interrupted %d times only", times)
		}
		resumed(t, want, s.Database(t, name))
	})
}

// Statements that refuse to be in a transaction are found done.
func TestOutsideTransaction(t *testing.T) {
	s := pgtest.Newest(t)
	src := s.NewDatabase(t)
	src.Exec(t, `create table t (a int); create index i on t (a); create index j on t (a); insert into t values (1)`)
	file := dump(t, src, "-Fc")
	concurrently := func() pgarchive.Reader {
		r := open(t, file, false)
		for _, e := range r.Entries() {
			e.Defn = strings.Replace(e.Defn, "CREATE INDEX", "CREATE INDEX CONCURRENTLY", 1)
		}
		return r
	}
	db := s.NewDatabase(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Ledger: true, Log: func(_ Level, m string) {
		if strings.HasPrefix(m, "creating INDEX") {
			cancel()
		}
	}}
	if _, err := Run(ctx, concurrently(), config(t, db), o, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	// As if it had been killed after the statement.
	id := 0
	for _, e := range concurrently().Entries() {
		if e.Tag == "i" {
			id = int(e.ID)
		}
	}
	db.Exec(t, fmt.Sprintf("create index i on t (a); insert into %s.done values ('entry', %d, 'begun', 0)", LedgerSchema, id))
	mustRun(t, concurrently(), db, Options{Ledger: true, Resume: true})
	resumed(t, text(t, src), db)
}

// Event triggers that the archive brings do not see the ledger go.
func TestLedgerGoesQuietly(t *testing.T) {
	s := pgtest.Newest(t)
	src := s.NewDatabase(t)
	src.Exec(t, `create table gone (what text); create function note() returns event_trigger language plpgsql as $$begin
		insert into public.gone select object_identity from pg_event_trigger_dropped_objects(); end$$;
		create event trigger note on sql_drop execute function note()`)
	file := dump(t, src, "-Fc")
	for _, jobs := range []int{1, 2} {
		db := s.NewDatabase(t)
		mustRun(t, open(t, file, false), db, Options{Ledger: true, Jobs: jobs})
		resumed(t, text(t, src), db)
	}
}

// Two restores do not work on one database at the same time.
func TestOneAtATime(t *testing.T) {
	defer func(before string) { lockPatience = before }(lockPatience)
	lockPatience = "10ms"
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	db := s.NewDatabase(t)
	holder := config(t, db)
	c, err := pg.Connect(t.Context(), holder)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.Exec(t.Context(), lockShared); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), open(t, file, false), config(t, db), Options{Ledger: true}, nil)
	var le *LedgerError
	if !errors.As(err, &le) || !strings.Contains(err.Error(), fmt.Sprint(c.BackendPID())) {
		t.Errorf("error %v", err)
	}
}
