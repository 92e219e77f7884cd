package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// cut writes the archive at file anew, with the data of one table in pieces, whose entries
// say "load via partition root" and are named by all that waits for the table. The pieces stand
// in the archive in a random order when shuffled.
func cut(t *testing.T, file, table string, pieces int, f pgarchive.Format) string {
	t.Helper()
	r := open(t, file, false)
	out := filepath.Join(t.TempDir(), "cut")
	w, err := pgarchive.Create(out, f, pgarchive.WriterOptions{Header: r.Header()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	next := pgarchive.ID(0)
	var whole *pgarchive.Entry
	for _, e := range r.Entries() {
		next = max(next, e.ID)
		if e.Desc == "TABLE DATA" && e.Tag == table {
			whole = e
		}
	}
	var parts []*pgarchive.Entry
	for range pieces {
		next++
		e := *whole
		e.ID = next
		e.Filename = ""
		e.Defn = "-- load via partition root " + whole.Namespace + "." + whole.Tag
		parts = append(parts, &e)
	}
	for _, e := range r.Entries() {
		if e == whole {
			for _, p := range parts {
				if err := w.Add(p); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		if e.Section == pgarchive.SectionPostData && slices.Contains(e.Dependencies, whole.Dependencies[0]) {
			for _, p := range parts {
				e.Dependencies = append(e.Dependencies, p.ID)
			}
		}
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	put := func(e *pgarchive.Entry, data []byte) {
		d, err := w.Data(e.ID)
		if err == nil {
			_, err = d.Write(data)
		}
		if err == nil {
			err = d.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	order := r.Entries()
	for _, e := range order {
		switch {
		case !e.HasData:
		case e.Desc == "BLOBS":
			from, err := r.LargeObjects(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			to, err := w.LargeObjects(e.ID)
			if err != nil {
				t.Fatal(err)
			}
			for {
				oid, in, err := from.Next()
				if err == io.EOF {
					break
				}
				lo, err := to.Create(oid)
				if err == nil {
					_, err = io.Copy(lo, in)
				}
				if err == nil {
					err = lo.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
		default:
			in, err := r.Data(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			if e != whole {
				put(e, data)
				continue
			}
			rows := slices.Collect(strings.Lines(strings.TrimSuffix(string(data), pgarchive.CopyEnd)))
			for i, p := range parts {
				put(p, []byte(strings.Join(rows[len(rows)*i/pieces:len(rows)*(i+1)/pieces], "")+pgarchive.CopyEnd))
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// A table that is cut into pieces arrives whole, whoever restores it.
func TestCutTable(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := newShop(t, s)
		want := text(t, src)
		whole := dump(t, src, "-Fc")
		for _, f := range []pgarchive.Format{pgarchive.FormatCustom, pgarchive.FormatDirectory} {
			file := cut(t, whole, "orders", 5, f)
			for _, w := range []way{{1, false}, {4, false}, {1, true}, {4, true}} {
				if w.piped && f == pgarchive.FormatDirectory {
					continue
				}
				t.Run(fmt.Sprint(f, w), func(t *testing.T) {
					db := s.NewDatabase(t)
					mustRun(t, open(t, file, w.piped), db, Options{Jobs: w.jobs})
					// Pieces that are loaded side by side lie in another order.
					same(t, sorted(want), sorted(text(t, db)))
				})
			}
		}
	})
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// sessions counts the sessions of restores in a database.
func sessions(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return db.QueryString(t, `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'pghaul restore test'`)
}

// gone fails the test if sessions stay.
func gone(t *testing.T, db *pgtest.DB) {
	t.Helper()
	// The server needs a moment to notice; the statement waits for it there.
	db.Exec(t, `do $$begin
		for i in 1..200 loop
			perform pg_stat_clear_snapshot();
			exit when not exists (select from pg_stat_activity where datname = current_database() and application_name = 'pghaul restore test');
			perform pg_sleep(0.05);
		end loop;
	end$$`)
	if n := sessions(t, db); n != "0" {
		t.Errorf("%s sessions stay", n)
	}
}

// atData calls f when the data of a table begin to flow.
func atData(table string, f func()) func(e *pgarchive.Entry) io.Writer {
	var once atomic.Bool
	return func(e *pgarchive.Entry) io.Writer {
		if e.Tag == table && once.CompareAndSwap(false, true) {
			f()
		}
		return nil
	}
}

func TestServerGoesAway(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	for _, w := range []way{{1, false}, {3, false}, {1, true}, {3, true}} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			db := s.NewDatabase(t)
			_, err := Run(t.Context(), open(t, file, w.piped), config(t, db), Options{Jobs: w.jobs, OnData: atData("orders", func() {
				db.Exec(t, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pghaul restore test'`)
			})}, nil)
			if err == nil || isEntryError(err) {
				t.Errorf("error %v", err)
			}
			t.Log(err)
			gone(t, db)
		})
	}
}

func TestCancel(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	src.Exec(t, `create function shop.slow(int) returns int immutable language sql as 'select $1 from pg_sleep(600)';
		create table shop.slow_table as select 1 as a;`)
	file := dump(t, src, "-Fc")
	for _, w := range []way{{1, false}, {3, false}, {1, true}, {3, true}} {
		t.Run(fmt.Sprint("during data ", w), func(t *testing.T) {
			db := s.NewDatabase(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := Run(ctx, open(t, file, w.piped), config(t, db), Options{Jobs: w.jobs, OnData: atData("orders", cancel)}, nil)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			gone(t, db)
		})
	}
	t.Run("during a statement", func(t *testing.T) {
		db := s.NewDatabase(t)
		mustRun(t, open(t, file, false), db, Options{NoData: true})
		// Every row waits.
		db.Exec(t, `create function wait() returns trigger language plpgsql as $$begin perform pg_sleep(600); return new; end$$;
			create trigger wait before insert on shop.slow_table for each row execute function wait()`)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begun := make(chan struct{})
		go func() {
			<-begun
			// once the server is in the trigger
			db.QueryString(t, `do $$begin loop
				perform pg_stat_clear_snapshot();
				exit when exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep' and query like 'COPY%');
				perform pg_sleep(0.02);
			end loop; end$$`)
			cancel()
		}()
		start := time.Now()
		_, err := Run(ctx, open(t, file, false), config(t, db), Options{DataOnly: true, Tables: []string{"slow_table"}, OnData: func(*pgarchive.Entry) io.Writer {
			close(begun)
			return nil
		}}, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("took %s", d)
		}
		gone(t, db)
	})
	t.Run("while the input stands still", func(t *testing.T) {
		db := s.NewDatabase(t)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in, out := io.Pipe()
		defer in.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			out.Write(whole[:len(whole)*2/3])
			cancel()
		}()
		r, err := pgarchive.NewReader(in, pgarchive.FormatUnknown)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Run(ctx, r, config(t, db), Options{Jobs: 2}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		gone(t, db)
	})
}

// An archive that is cut off anywhere, or has lost a file, is never restored with success.
func TestDamagedArchive(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	fails := func(t *testing.T, file string, w way) {
		t.Helper()
		db := s.NewDatabase(t)
		defer gone(t, db)
		var r pgarchive.Reader
		var err error
		if w.piped {
			f, ferr := os.Open(file)
			if ferr != nil {
				t.Fatal(ferr)
			}
			defer f.Close()
			r, err = pgarchive.NewReader(onlyReader{f}, pgarchive.FormatUnknown)
		} else {
			r, err = pgarchive.Open(file, pgarchive.FormatUnknown)
		}
		if err != nil {
			return // seen at once
		}
		defer r.Close()
		res, err := Run(t.Context(), r, config(t, db), Options{Jobs: w.jobs}, nil)
		if err == nil && res.Ignored == 0 {
			t.Error("restored with success")
		}
	}
	for _, format := range []string{"-Fc", "-Ft"} {
		whole, err := os.ReadFile(dump(t, src, format))
		if err != nil {
			t.Fatal(err)
		}
		end := len(whole)
		if format == "-Ft" {
			// The script and the padding at the end are not needed.
			end = strings.LastIndex(string(whole), "restore.sql") - 1
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range 3 {
			at := end/2 + rnd.IntN(end/2-100)
			file := filepath.Join(t.TempDir(), "short")
			os.WriteFile(file, whole[:at], 0o600)
			for _, w := range []way{{1, false}, {3, true}} {
				if i == 2 {
					w.jobs = 4 - w.jobs
				}
				t.Run(fmt.Sprintf("%s after %d of %d bytes %v", format, at, len(whole), w), func(t *testing.T) { fails(t, file, w) })
			}
		}
	}
	t.Run("directory", func(t *testing.T) {
		dir := dump(t, src, "-Fd", "-Z0")
		r := open(t, dir, false)
		for _, e := range r.Entries() {
			if e.Tag != "orders" || !e.HasData {
				continue
			}
			name := filepath.Join(dir, e.Filename)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(name, data[:len(data)/2], 0o600)
			fails(t, dir, way{1, false})
			line := strings.LastIndex(string(data[:len(data)/2]), "\n") + 1
			os.WriteFile(name, data[:line], 0o600) // whole rows
			fails(t, dir, way{3, false})
			os.Remove(name)
			fails(t, dir, way{3, false})
		}
	})
}

func TestMissingPermissions(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	s.EnsureRole(t, "restore_guest")
	db := s.NewDatabase(t)
	db.Exec(t, "alter role restore_guest login")
	c := config(t, db)
	c.User = "restore_guest"
	res, err := Run(t.Context(), open(t, file, false), c, Options{Jobs: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Ignored == 0 {
		t.Error("no errors")
	}
	for _, e := range res.Errors {
		if e.SQLState == "" || e.Entry == nil {
			t.Errorf("%+v", e)
		}
	}
	t.Run("the owner of the tables may not truncate", func(t *testing.T) {
		// Loading goes on where emptying is not allowed.
		db.Exec(t, `create schema shop; create type shop.state as enum ('open', 'done'); grant all on schema shop to restore_guest`)
		if _, err := Run(t.Context(), open(t, file, false), c, Options{Jobs: 2, NoOwner: true, NoPrivileges: true}, nil); err != nil {
			t.Fatal(err)
		}
		if n := db.QueryString(t, "select count(*) from shop.orders"); n != "6000" {
			t.Errorf("%s rows", n)
		}
	})
}

func TestNoDatabase(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	_, err := Run(t.Context(), open(t, file, false), config(t, s.Database(t, "restore_nowhere")), Options{}, nil)
	if err == nil || !strings.Contains(err.Error(), `database "restore_nowhere" does not exist`) {
		t.Errorf("error %v", err)
	}
	_, err = Run(t.Context(), open(t, file, true), config(t, src), Options{Jobs: 2, NoParallelStream: true}, nil)
	if err == nil || err.Error() != "parallel restore from standard input is not supported" {
		t.Errorf("error %v", err)
	}
}

// A statement that the server gives up for the sake of another is sent again.
func TestDeadlock(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	for _, w := range []way{{1, false}, {3, false}} {
		db := s.NewDatabase(t)
		db.Exec(t, `create sequence tries;
			create function unlucky() returns event_trigger language plpgsql as $$begin
				if nextval('public.tries') <= 2 then raise sqlstate '40P01' using message = 'deadlock detected'; end if; end$$;
			create event trigger unlucky on ddl_command_end when tag in ('CREATE INDEX', 'ALTER TABLE') execute function unlucky()`)
		res := mustRun(t, open(t, file, false), db, Options{Jobs: w.jobs, ExcludeSchemas: []string{"public"}})
		if res.Entries == 0 {
			t.Error("nothing restored")
		}
		if n := db.QueryString(t, "select count(*) from pg_index where indrelid::regclass::text like 'shop.%'"); n != "8" {
			t.Errorf("%s indexes", n)
		}
	}
}

// A table that this restore made is stored frozen, so that no vacuum has to do it later.
func TestFreeze(t *testing.T) {
	s := pgtest.Newest(t)
	s.Need(t, 14) // the visibility map of COPY FREEZE
	s.NeedExtension(t, "pg_visibility")
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	for _, w := range []way{{1, false}, {3, false}, {3, true}} {
		db := s.NewDatabase(t)
		mustRun(t, open(t, file, w.piped), db, Options{Jobs: w.jobs})
		db.Exec(t, "create extension pg_visibility")
		// Since 16 a table ends in pages that the server added in advance and are empty.
		if n := db.QueryString(t, "select count(*) > 0 and avg(all_frozen::int) > 0.5 from pg_visibility_map('shop.orders')"); n != "t" {
			t.Errorf("%v: not frozen", w)
		}
	}
}

func TestSingleTransactionRollsBack(t *testing.T) {
	s := pgtest.Newest(t)
	src := newShop(t, s)
	file := dump(t, src, "-Fc")
	db := s.NewDatabase(t)
	db.Exec(t, `create function public.watch() returns event_trigger language plpgsql as 'begin end'; create event trigger watch on ddl_command_start when tag in ('CREATE CAST') execute function public.watch()`)
	_, err := Run(t.Context(), open(t, file, false), config(t, db), Options{SingleTransaction: true}, nil)
	if pg.SQLState(err) != "42710" {
		t.Errorf("error %v", err)
	}
	if n := db.QueryString(t, "select count(*) from pg_namespace where nspname = 'shop'"); n != "0" {
		t.Error("something stayed")
	}
}
