package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/scratch"
)

// line measures contenders that are there.
func (s *suite) line(ctx context.Context, name string, contenders ...*Contender) (Line, error) {
	var list []Contender
	for _, c := range contenders {
		if c != nil {
			list = append(list, *c)
		}
	}
	return measure(ctx, name, list, &s.o, &s.meter)
}

// path is a file of a contender's own.
func (s *suite) path(name string) string { return filepath.Join(s.dir, name) }

func ptr(c Contender, ok ...bool) *Contender {
	if len(ok) > 0 && !ok[0] {
		return nil
	}
	return &c
}

// dumpOurs and dumpPeer dump a database with these options.
func (s *suite) dumpOurs(db string, options ...string) *Contender {
	out := s.path("ours.dump")
	return ptr(writing(s.ours(append(append([]string{"dump"}, options...), "-f", out, db)...), out))
}

func (s *suite) dumpPeer(db string, options ...string) *Contender {
	out := s.path("peer.dump")
	c, ok := s.peer("pg_dump", append(append([]string(nil), options...), "-f", out, db)...)
	return ptr(writing(c, out), ok)
}

func (s *suite) jobs() string { return "-j" + strconv.Itoa(s.o.Jobs) }

func (s *suite) dumps(ctx context.Context) ([]Line, error) {
	db, err := s.main(ctx, s.o.Scale)
	if err != nil {
		return nil, err
	}
	var lines []Line
	add := func(name string, contenders ...*Contender) error {
		l, err := s.line(ctx, name, contenders...)
		lines = append(lines, l)
		return err
	}
	if err := add("by default", s.dumpPeer(db, "-Fc"), s.dumpOurs(db, "-Fc")); err != nil {
		return nil, err
	}
	if err := add("gzip at pg_dump's level", s.dumpPeer(db, "-Fc"), s.dumpOurs(db, "-Fc", "-Zgzip")); err != nil {
		return nil, err
	}
	one, all := s.copyNowhere(db, 1), s.copyNowhere(db, max(2, s.o.Jobs))
	if err := add("zstd:1", s.dumpPeer(db, "-Fc", "-Zzstd:1"), s.dumpPeer(db, "-Fd", s.jobs(), "-Zzstd:1"),
		s.dumpOurs(db, "-Fc", "-Zzstd:1"), s.dumpOurs(db, "-Fc", "-Zzstd:1", "--copy-format=auto"), one, all); err != nil {
		return nil, err
	}
	// The last contender shows the difference in our processor time that compression makes: nothing larger is written in its place.
	plain, err := s.line(ctx, "no compression", s.dumpPeer(db, "-Fc", "-Z0"), s.dumpOurs(db, "-Fc", "-Z0"),
		ptr(s.ours("dump", "-Fc", "-Z0", "-f", os.DevNull, db)))
	if err != nil {
		return nil, err
	}
	z := &lines[len(lines)-1]
	compression := 0.0
	for i := range z.Results {
		if r := &z.Results[i]; r.ours() && compression == 0 {
			compression = max(0, r.Median.CPU-lastOurs(&plain).Median.CPU)
		}
	}
	if nowhere := z.median(one); nowhere > 0 {
		z.Limits = []Limit{{Seconds: (nowhere + compression) / float64(s.cores()), Note: fmt.Sprintf(
			"%.2f s for %s, and %.2f s of our compression, over %d processors", nowhere, one.Name, compression, s.cores())}}
	}
	z.limitByReading(all)
	return append(lines, plain), nil
}

// cores is how many processors the jobs can use.
func (s *suite) cores() int { return max(1, min(s.o.Jobs, runtime.NumCPU())) }

func lastOurs(l *Line) *Result {
	for i := len(l.Results) - 1; i >= 0; i-- {
		if l.Results[i].ours() {
			return &l.Results[i]
		}
	}
	return new(Result)
}

// copyNowhere is COPY of every table in so many sessions, the rows thrown away: what the server alone needs to say everything once. As in a dump
// the sessions are new, since a server process that meets a page of the shared buffers for the first time has work with it, and large tables are cut.
func (s *suite) copyNowhere(db string, sessions int) *Contender {
	name := "COPY to nowhere, one session"
	if sessions > 1 {
		name = fmt.Sprintf("COPY to nowhere, %d sessions", sessions)
	}
	return &Contender{Name: name, Bound: true, Run: func(ctx context.Context) (Sample, error) {
		before, begun := s.meter.cpu(), time.Now()
		err := s.readAll(ctx, db, sessions)
		return Sample{Seconds: time.Since(begun).Seconds(), ServerCPU: s.meter.cpu() - before}, err
	}}
}

func (s *suite) readAll(ctx context.Context, db string, sessions int) error {
	conn, err := connect(ctx, s.server, db)
	if err != nil {
		return err
	}
	var statements []string
	err = conn.Query(ctx, copyStatements, func(v [][]byte) error {
		statements = append(statements, string(v[0]))
		return nil
	})
	conn.Close(ctx)
	if err != nil {
		return err
	}
	queue := make(chan string, len(statements))
	for _, sql := range statements {
		queue <- sql
	}
	close(queue)
	g, ctx := errgroup.WithContext(ctx)
	for range sessions {
		g.Go(func() error {
			conn, err := connect(ctx, s.server, db)
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			for sql := range queue {
				if _, err := conn.CopyTo(ctx, sql, nowhere{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// copyStatements are COPY of all tables, the largest first, of those of more than 64 MB in pieces.
const copyStatements = `SELECT CASE WHEN pages <= per THEN pg_catalog.format('COPY %s TO STDOUT', oid::pg_catalog.regclass)
  ELSE pg_catalog.format('COPY (SELECT * FROM ONLY %s WHERE ctid >= ''(%s,0)'' AND ctid < ''(%s,0)'') TO STDOUT', oid::pg_catalog.regclass, page, page + per) END
FROM (SELECT c.oid, pg_catalog.pg_relation_size(c.oid) / b.size AS pages, (64 << 20) / b.size AS per
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace, (SELECT pg_catalog.current_setting('block_size')::int8 AS size) b
  WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')) t, pg_catalog.generate_series(0, pages, per) page
ORDER BY pages DESC, oid, page`

// median is the median time of a result, 0 if there is none.
func (l *Line) median(c *Contender) float64 {
	for i := range l.Results {
		if l.Results[i].Name == c.Name {
			return l.Results[i].Median.Seconds
		}
	}
	return 0
}

// limitByReading gives a line the limit that reading alone sets.
func (l *Line) limitByReading(reading *Contender) {
	if seconds := l.median(reading); seconds > 0 {
		l.Limits = append(l.Limits, Limit{Seconds: seconds, Note: fmt.Sprintf("the server's part alone, %s", reading.Name)})
	}
}

type nowhere struct{}

func (nowhere) Rows([]byte, []int) error { return nil }

func (s *suite) formats(ctx context.Context) ([]Line, error) {
	db, err := s.main(ctx, s.o.Scale)
	if err != nil {
		return nil, err
	}
	var lines []Line
	for _, options := range [][]string{
		{"-Fp"}, {"-Ft"}, {"-Fc", "-Z0"}, {"-Fc", "-Zlz4"}, {"-Fc", "-Zzstd:1"}, {"-Fc", "-Zzstd:3"}, {"-Fc", "-Zgzip:1"}, {"-Fc", "-Zgzip:6"},
		{"-Fd", s.jobs(), "-Z0"}, {"-Fd", s.jobs(), "-Zlz4"}, {"-Fd", s.jobs(), "-Zzstd:1"}, {"-Fd", s.jobs(), "-Zzstd:3"}, {"-Fd", s.jobs(), "-Zgzip:6"},
	} {
		l, err := s.line(ctx, display(options), s.dumpPeer(db, options...), s.dumpOurs(db, options...))
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func (s *suite) single(ctx context.Context) ([]Line, error) {
	db, err := s.database(ctx, "single", singleTable, "@scale@", strconv.FormatFloat(s.o.Scale, 'f', -1, 64))
	if err != nil {
		return nil, err
	}
	reading := s.copyNowhere(db, max(2, s.o.Jobs))
	l, err := s.line(ctx, "folder, "+s.jobs()+", zstd:1", s.dumpPeer(db, "-Fd", s.jobs(), "-Zzstd:1"), s.dumpOurs(db, "-Fd", s.jobs(), "-Zzstd:1"), reading)
	l.limitByReading(reading)
	return []Line{l}, err
}

// archives makes the archives that restores read, unless they are there: ours in text and auto form, and pg_dump's, "" if it is
// not on this machine.
func (s *suite) archives(ctx context.Context, db string) (text, auto, stock string, err error) {
	text, auto = s.path("text.dump"), s.path("auto.dump")
	c, ok := s.peer("pg_dump", "-Fc", "-Zzstd:1", "-f", s.path("stock.dump"), db)
	if ok {
		stock = s.path("stock.dump")
	}
	if s.archived == db {
		return text, auto, stock, nil
	}
	s.o.progress("making the archives")
	s.archived = ""
	for _, path := range []string{text, auto, stock} {
		if err := os.RemoveAll(path); path != "" && err != nil {
			return "", "", "", err
		}
	}
	for path, options := range map[string][]string{text: nil, auto: {"--copy-format=auto"}} {
		ours := s.ours(append(append([]string{"dump", "-Fc", "-Zzstd:1", s.jobs()}, options...), "-f", path, db)...)
		if _, err := runCommand(ctx, ours.Command()); err != nil {
			return "", "", "", fmt.Errorf("dump: %w", err)
		}
	}
	if ok {
		if _, err := runCommand(ctx, c.Command()); err != nil {
			return "", "", "", fmt.Errorf("dump by pg_dump: %w", err)
		}
	}
	s.archived = db
	return text, auto, stock, nil
}

const target = "bench_target"

func (s *suite) restores(ctx context.Context) ([]Line, error) {
	db, err := s.main(ctx, s.o.Scale)
	if err != nil {
		return nil, err
	}
	text, auto, stock, err := s.archives(ctx, db)
	if err != nil {
		return nil, err
	}
	peer := func(jobs int) *Contender {
		if stock == "" {
			return nil
		}
		c, ok := s.peer("pg_restore", "-j"+strconv.Itoa(jobs), "-d", target, stock)
		return ptr(s.fresh(c, s.server, target), ok)
	}
	ours := func(what, archive string) *Contender {
		c := s.fresh(s.ours("restore", s.jobs(), "-d", target, archive), s.server, target)
		c.Name += ", " + what
		return &c
	}
	l, err := s.line(ctx, "all of it", peer(1), peer(s.o.Jobs), peer(2*s.o.Jobs), s.clone(db), ours("text archive", text), ours("auto archive", auto))
	if err != nil {
		return nil, err
	}
	s.limitByServer(&l, peer(s.o.Jobs))
	return []Line{l}, nil
}

// limitByServer gives a line the limits that no schedule can be better than: the server's processor time over the processors, for the steps
// as this peer (nil: none) has them done, and for those of each of ours.
func (s *suite) limitByServer(l *Line, peer *Contender) {
	for _, r := range l.Results {
		if r.Median.ServerCPU == 0 || !r.ours() && (peer == nil || peer.Name != r.Name) {
			continue
		}
		limit := Limit{
			Seconds: r.Median.ServerCPU / float64(s.cores()),
			Note:    fmt.Sprintf("%.1f processor seconds of the server for %s, over %d processors", r.Median.ServerCPU, r.Name, s.cores()),
		}
		if r.ours() {
			limit.Of = r.Name
		}
		l.Limits = append(l.Limits, limit)
	}
}

// clone is pgcopydb, which goes from database to database.
func (s *suite) clone(db string) *Contender {
	dir := s.path("pgcopydb")
	c, ok := s.peer("pgcopydb", "clone", "--table-jobs", strconv.Itoa(s.o.Jobs), "--index-jobs", strconv.Itoa(s.o.Jobs), "--dir", dir,
		"--source", s.dsn(db), "--target", s.dsn(target))
	command := c.Command
	c.Command = func() *exec.Cmd {
		cmd := command()
		for _, p := range s.peers { // it runs pg_dump, which must be as new as the server
			if p.Program == "pg_dump" {
				cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(p.Path)+string(os.PathListSeparator)+os.Getenv("PATH"))
				break
			}
		}
		return cmd
	}
	c = s.fresh(c, s.server, target)
	prepare := c.Prepare
	c.Prepare = func(ctx context.Context) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return prepare(ctx)
	}
	return ptr(c, ok)
}

func (s *suite) steps(ctx context.Context) ([]Line, error) {
	db, err := s.main(ctx, s.o.Scale)
	if err != nil {
		return nil, err
	}
	text, _, stock, err := s.archives(ctx, db)
	if err != nil {
		return nil, err
	}
	var lines []Line
	for i, section := range []string{"pre-data", "data", "post-data"} {
		// what comes before is restored anew, so that each run starts alike
		ready := func(c Contender) Contender {
			c = s.fresh(c, s.server, target)
			empty := c.Prepare
			c.Prepare = func(ctx context.Context) error {
				if err := empty(ctx); err != nil {
					return err
				}
				for _, before := range []string{"pre-data", "data", "post-data"}[:i] {
					if _, err := runCommand(ctx, s.command(s.server, s.o.Program, "restore", "--quiet", s.jobs(), "--section="+before, "-d", target, text)); err != nil {
						return err
					}
				}
				return nil
			}
			return c
		}
		var peer *Contender
		if c, ok := s.peer("pg_restore", s.jobs(), "--section="+section, "-d", target, stock); ok && stock != "" {
			peer = ptr(ready(c))
		}
		l, err := s.line(ctx, section, peer, ptr(ready(s.ours("restore", s.jobs(), "--section="+section, "-d", target, text))))
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// settings restores on a server as it comes.
func (s *suite) settings(ctx context.Context) ([]Line, error) {
	db, err := s.main(ctx, s.o.Scale)
	if err != nil {
		return nil, err
	}
	text, _, stock, err := s.archives(ctx, db)
	if err != nil {
		return nil, err
	}
	plain, err := s.o.Provider.Start(ctx, scratch.Spec{Major: s.server.Major(), Jobs: s.o.Jobs})
	if err != nil {
		return nil, err
	}
	defer plain.Stop(ctx)
	meter, err := meterOf(plain)
	if err != nil {
		return nil, err
	}
	var list []Contender
	if stock != "" {
		for _, p := range s.peers {
			if p.Program == "pg_restore" {
				c := Contender{Name: p.Name() + " " + s.jobs()}
				c.Command = func() *exec.Cmd { return s.command(plain, p.Path, s.jobs(), "-d", target, stock) }
				list = append(list, s.fresh(c, plain, target))
				break
			}
		}
	}
	c := Contender{Name: "pghaul restore " + s.jobs()}
	c.Command = func() *exec.Cmd {
		return s.command(plain, s.o.Program, "restore", "--quiet", s.jobs(), "-d", target, text)
	}
	list = append(list, s.fresh(c, plain, target))
	l, err := measure(ctx, "default settings", list, &s.o, &meter)
	return []Line{l}, err
}

func (s *suite) copies(ctx context.Context) ([]Line, error) {
	db, err := s.main(ctx, s.o.Scale)
	if err != nil {
		return nil, err
	}
	ours := s.fresh(s.ours("copy", s.jobs(), s.dsn(db), s.dsn(target)), s.server, target)
	l, err := s.line(ctx, "all of it", s.clone(db), &ours)
	if err == nil {
		s.limitByServer(&l, s.clone(db))
	}
	return []Line{l}, err
}

func (s *suite) many(ctx context.Context) ([]Line, error) {
	db, err := s.database(ctx, "many", manyTables, "@tables@", strconv.Itoa(s.o.Tables))
	if err != nil {
		return nil, err
	}
	var list []*Contender
	for _, p := range s.peers { // each version: they differ in how they read the catalogue
		if p.Program == "pg_dump" {
			out := s.path("peer.sql")
			c := Contender{Name: p.Name() + " -s", Output: out}
			c.Command = func() *exec.Cmd { return s.command(s.server, p.Path, "-s", "-f", out, db) }
			list = append(list, &c)
		}
	}
	out := s.path("ours.sql")
	list = append(list, ptr(writing(s.ours("dump", "-s", "-f", out, db), out)))
	l, err := s.line(ctx, fmt.Sprintf("%d tables, %d indexes", s.o.Tables, 6*s.o.Tables), list...)
	return []Line{l}, err
}

func (s *suite) growth(ctx context.Context) ([]Line, error) {
	var lines []Line
	for _, part := range []float64{0.1, 0.3, 1} {
		scale := part * s.o.Scale
		db, err := s.main(ctx, scale)
		if err != nil {
			return nil, err
		}
		l, err := s.line(ctx, fmt.Sprintf("dump, zstd:1, scale %g", scale), s.dumpPeer(db, "-Fc", "-Zzstd:1"), s.dumpOurs(db, "-Fc", "-Zzstd:1"))
		if err != nil {
			return nil, err
		}
		text, _, stock, err := s.archives(ctx, db)
		if err != nil {
			return nil, err
		}
		var peer *Contender
		if c, ok := s.peer("pg_restore", s.jobs(), "-d", target, stock); ok && stock != "" {
			peer = ptr(s.fresh(c, s.server, target))
		}
		r, err := s.line(ctx, fmt.Sprintf("restore, scale %g", scale), peer, ptr(s.fresh(s.ours("restore", s.jobs(), "-d", target, text), s.server, target)))
		if err != nil {
			return nil, err
		}
		lines = append(lines, l, r)
	}
	return lines, nil
}
