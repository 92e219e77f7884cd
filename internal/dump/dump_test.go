package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// schema is a database with what a dump of data has to deal with.
const schema = `
CREATE TABLE events (id bigserial, old int, kind text NOT NULL DEFAULT 'x', twice bigint GENERATED ALWAYS AS (id * 2) STORED, body text, at timestamptz);
ALTER TABLE events DROP COLUMN old;
INSERT INTO events (kind, body, at)
  SELECT CASE i % 3 WHEN 0 THEN E'tab\tand\nnewline\\' ELSE 'k' || i END, repeat(md5(i::text), i % 40), timestamptz '2026-01-01' + i * interval '1 min'
  FROM generate_series(1, 6000) i;
ALTER TABLE events ADD PRIMARY KEY (id);
CREATE INDEX events_kind ON events (kind);
CREATE TABLE "Odd ""name""" ("Order" int PRIMARY KEY, event bigint REFERENCES events, data bytea, n numeric, f float8);
INSERT INTO "Odd ""name""" SELECT i, i, decode(md5(i::text), 'hex'), i / 3.0, i / 7.0::float8 FROM generate_series(1, 500) i;
CREATE TABLE nothing ();
INSERT INTO nothing SELECT FROM generate_series(1, 3);
CREATE TABLE empty (a int);
CREATE TABLE wide (id int PRIMARY KEY, body text);
ALTER TABLE wide ALTER body SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, repeat(chr(64 + i), 30000 * i) FROM generate_series(1, 20) i;
CREATE TABLE part (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (1000) TO (2000);
INSERT INTO part SELECT i, repeat('p', 100) FROM generate_series(0, 1999) i;
CREATE INDEX ON part (id);
CREATE MATERIALIZED VIEW totals AS SELECT kind, count(*) FROM events GROUP BY kind;
CREATE SEQUENCE counter START 10;
SELECT nextval('counter'), nextval('counter');
CREATE FUNCTION noisy() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'the trigger ran during the restore'; END$$;
CREATE TRIGGER noisy BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION noisy();
SELECT lo_from_bytea(0, decode(repeat('00ff10', 100), 'hex')), lo_from_bytea(0, ''), lo_from_bytea(0, decode(repeat('ab', 300000), 'hex')),
  lo_from_bytea(0, decode(repeat('cd', 262144), 'hex')), lo_from_bytea(0, decode(repeat('ef', 600000), 'hex')), lo_from_bytea(0, '\x01');
`

// smallPieces cuts the tables of schema.
const smallPieces = 128 << 10

func config(t testing.TB, db *pgtest.DB) *pg.Config {
	t.Helper()
	c, err := pg.ParseConfig(db.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustRun(t testing.TB, db *pgtest.DB, o Options, p Progress) *Result {
	t.Helper()
	if o.DumpVersion == "" {
		o.DumpVersion = "18.6"
	}
	r, err := Run(t.Context(), config(t, db), o, p)
	if err != nil {
		t.Fatalf("dump: %v", err)
	}
	return r
}

// contentsOf describes a database.
func contentsOf(t testing.TB, db *pgtest.DB) *manifest.Manifest {
	t.Helper()
	return contentsLike(t, db, new(manifest.Manifest))
}

// contentsLike describes a database, with the rows of each table in the form that they have in m.
func contentsLike(t testing.TB, db *pgtest.DB, m *manifest.Manifest) *manifest.Manifest {
	t.Helper()
	binary := func(schema, name string) bool {
		return slices.ContainsFunc(m.Tables, func(t manifest.Table) bool {
			return string(t.Namespace) == schema && string(t.Name) == name && t.CopyFormat == manifest.BinaryCopy
		})
	}
	m, err := Describe(t.Context(), config(t, db), Options{Jobs: 2, PieceBytes: -1, BinaryTables: binary}, nil)
	if err != nil {
		t.Fatalf("describe: %v", err)
	}
	return m
}

// script is the stock pg_dump's script of a database, with the rows of each table sorted: pieces that are loaded
// side by side leave them in another order.
func script(t testing.TB, db *pgtest.DB, args ...string) string {
	t.Helper()
	text := db.MustTool(t, "pg_dump", append(args, db.Name)...)
	var kept, rows []string
	inCopy := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, `\restrict `), strings.HasPrefix(line, `\unrestrict `):
		case inCopy && line == "\\.\n":
			slices.Sort(rows)
			kept = append(append(kept, rows...), line)
			inCopy, rows = false, nil
		case inCopy:
			rows = append(rows, line)
		default:
			kept = append(kept, line)
			inCopy = strings.HasPrefix(line, "COPY ") && strings.HasSuffix(line, " FROM stdin;\n")
		}
	}
	return strings.Join(kept, "")
}

// same fails unless the copy is the source for the stock pg_dump and for the digests.
func same(t *testing.T, source string, contents *manifest.Manifest, restored *pgtest.DB) {
	t.Helper()
	if b := script(t, restored); source != b {
		t.Errorf("pg_dump of source and copy differ:\n%s", firstDifference(source, b))
	}
	if d := manifest.Compare(withoutDatabase(contents), withoutDatabase(contentsLike(t, restored, contents))); len(d) > 0 {
		t.Errorf("manifests differ:\n%s", manifest.Report(d))
	}
}

// withoutDatabase leaves out the objects whose text has the database's name.
func withoutDatabase(m *manifest.Manifest) *manifest.Manifest {
	var kept []manifest.Object
	for _, o := range m.Objects {
		if !strings.HasPrefix(o.Desc, "DATABASE") && !strings.HasPrefix(string(o.Tag), "DATABASE ") {
			kept = append(kept, o)
		}
	}
	out := *m
	out.Objects = kept
	return &out
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n- %.300s\n+ %.300s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

func TestStockProgramsRestoreEveryFormat(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.NeedTool(t, "pg_restore")
		db := s.NewDatabase(t)
		db.Exec(t, schema)
		want := script(t, db)
		for _, c := range []struct {
			name    string
			format  pgarchive.Format
			method  codec.Method
			jobs    int
			restore []string // arguments of pg_restore; nil: psql
			copy    CopyFormat
			pipe    bool // write to, and restore from, what cannot seek
		}{
			{name: "directory gzip -j1", format: pgarchive.FormatDirectory, method: codec.Gzip, jobs: 1, restore: []string{"-j1"}},
			{name: "directory -j2", format: pgarchive.FormatDirectory, jobs: 2, restore: []string{"-j2"}},
			{name: "directory binary -j4", format: pgarchive.FormatDirectory, jobs: 3, restore: []string{"-j4"}, copy: CopyAuto},
			{name: "custom gzip -j1", format: pgarchive.FormatCustom, method: codec.Gzip, restore: []string{"-j1"}},
			{name: "custom -j3", format: pgarchive.FormatCustom, jobs: 2, restore: []string{"-j3"}},
			{name: "custom binary", format: pgarchive.FormatCustom, jobs: 3, restore: []string{}, copy: CopyAuto},
			{name: "custom pipe", format: pgarchive.FormatCustom, method: codec.Gzip, jobs: 3, restore: []string{}, pipe: true},
			{name: "tar", format: pgarchive.FormatTar, restore: []string{"-1"}},
			{name: "plain", format: pgarchive.FormatPlain},
		} {
			t.Run(c.name, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "archive")
				o := Options{Format: c.format, File: file, Jobs: c.jobs, PieceBytes: smallPieces, NoSync: true, CopyFormat: c.copy, ScriptManifest: true}
				o.Compression.Method = c.method
				if c.pipe {
					o.Archive = func(w pgarchive.WriterOptions) (pgarchive.Writer, error) {
						f, err := os.Create(file)
						if err != nil {
							return nil, err
						}
						t.Cleanup(func() { f.Close() })
						return pgarchive.NewCustomWriter(struct{ io.Writer }{f}, w)
					}
				}
				r := mustRun(t, db, o, nil)
				if pieces := r.Manifest.Totals.Pieces - r.Manifest.Totals.Tables; (pieces > 10) != (c.format != pgarchive.FormatPlain && s.Major >= 14) {
					t.Errorf("%d pieces more than tables", pieces)
				}
				restored := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
				if c.restore == nil {
					stop := "ON_ERROR_STOP=1"
					if s.Major < 17 { // which do not know transaction_timeout
						stop = "ON_ERROR_STOP=0"
					}
					restored.Psql(t, "-v", stop, "-f", file)
				} else {
					args := append([]string{"-d", restored.Name, "-e"}, c.restore...)
					var in io.Reader
					if c.pipe {
						archive, err := os.ReadFile(file)
						if err != nil {
							t.Fatal(err)
						}
						in = bytes.NewReader(archive)
					} else {
						args = append(args, file)
					}
					if _, stderr, err := restored.ToolInput(t, in, "pg_restore", args...); err != nil {
						t.Fatalf("pg_restore: %v\n%s", err, stderr)
					}
				}
				if c.format != pgarchive.FormatPlain {
					checkAttached(t, file, r)
				}
				same(t, want, r.Manifest, restored)
			})
		}
	})
}

// Tables cut by their keys, as those of old servers are, are whole.
func TestKeyRanges(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.NeedTool(t, "pg_restore")
		db := s.NewDatabase(t)
		db.Exec(t, `CREATE TABLE even (id int PRIMARY KEY, t text); INSERT INTO even SELECT i, repeat('x', 400) FROM generate_series(-3000, 3000) i;
CREATE TABLE "Odd one" ("a Key" bigint, b int, t text, PRIMARY KEY ("a Key", b));
INSERT INTO "Odd one" SELECT i::bigint * i * i, i, repeat('y', 400) FROM generate_series(-2000, 2000) i;
INSERT INTO "Odd one" VALUES (-9223372036854775808, 0, 'least'), (9223372036854775807, 0, 'most');
CREATE TABLE same (id smallint, n int, t text, PRIMARY KEY (id, n)); INSERT INTO same SELECT 5, i, repeat('z', 400) FROM generate_series(1, 3000) i;
CREATE TABLE keyless (t text); INSERT INTO keyless SELECT repeat('k', 400) FROM generate_series(1, 2000);
CREATE TABLE worded (id text PRIMARY KEY, t text); INSERT INTO worded SELECT i, repeat('w', 400) FROM generate_series(1, 2000) i;
ANALYZE even`)
		want := script(t, db)
		file := filepath.Join(t.TempDir(), "archive")
		o := Options{Format: pgarchive.FormatDirectory, File: file, Jobs: 2, PieceBytes: smallPieces, NoSync: true, cutByKeys: true}
		r := mustRun(t, db, o, nil)
		pieces := make(map[manifest.Name]int)
		for _, table := range r.Manifest.Tables {
			pieces[table.Name] = len(table.Pieces)
		}
		if pieces["even"] < 10 || pieces["Odd one"] < 10 || pieces["same"] != 1 || pieces["keyless"] != 1 || pieces["worded"] != 1 {
			t.Errorf("pieces %v", pieces)
		}
		checkAttached(t, file, r)
		restored := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
		if _, stderr, err := restored.ToolInput(t, nil, "pg_restore", "-d", restored.Name, "-e", "-j2", file); err != nil {
			t.Fatalf("pg_restore: %v\n%s", err, stderr)
		}
		same(t, want, r.Manifest, restored)
	})
}

// checkAttached reads the manifest back and holds it against the data in the archive.
func checkAttached(t *testing.T, file string, r *Result) {
	t.Helper()
	a, err := pgarchive.Open(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := a.Attachment(manifest.AttachmentName)
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := manifest.Compare(r.Manifest, m); len(d) > 0 || m.Root != r.Manifest.Root {
		t.Errorf("attached manifest differs:\n%s", manifest.Report(d))
	}
	if d := manifest.Inventory(a.Entries()); len(d) != len(m.Objects) {
		t.Errorf("%d objects in the archive, %d in the manifest", len(d), len(m.Objects))
	}
	checkDigests(t, a, m)
}

// recorder is a Progress with hooks.
type recorder struct {
	NoProgress
	planned  func(*Plan)
	copied   func(*Item, int64)
	warned   func(string)
	said     func(string) // what is no warning
	failed   atomic.Int64
	messages struct {
		sync.Mutex
		warnings []string
	}
}

func (r *recorder) Planned(p *Plan) {
	if r.planned != nil {
		r.planned(p)
	}
}

func (r *recorder) Copied(i *Item, _, bytes int64) {
	if r.copied != nil {
		r.copied(i, bytes)
	}
}

func (r *recorder) Finished(_ *Item, err error) {
	if err != nil {
		r.failed.Add(1)
	}
}

func (r *recorder) Message(warning bool, text string) {
	if warning && r.warned != nil {
		r.warned(text)
	}
	if !warning && r.said != nil {
		r.said(text)
	}
	if warning {
		r.messages.Lock()
		r.messages.warnings = append(r.messages.warnings, text)
		r.messages.Unlock()
	}
}

func TestOneSnapshot(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, `CREATE TABLE a (n int); INSERT INTO a SELECT generate_series(1, 100); CREATE TABLE b (n int); CREATE SEQUENCE s`)
		for _, jobs := range []int{1, 2} {
			p := &recorder{planned: func(*Plan) {
				db.Exec(t, `INSERT INTO a SELECT generate_series(1, 50); INSERT INTO b VALUES (1); DELETE FROM a WHERE n < 10`)
			}}
			before := db.QueryString(t, "SELECT (SELECT count(*) FROM a) || ' ' || (SELECT count(*) FROM b)")
			m := mustRun(t, db, Options{Format: pgarchive.FormatDirectory, File: filepath.Join(t.TempDir(), "d"), Jobs: jobs}, p).Manifest
			if got := fmt.Sprint(m.Tables[0].Rows, m.Tables[1].Rows); got != before {
				t.Errorf("%d jobs: rows %s, at the snapshot there were %s", jobs, got, before)
			}
		}
	})
}

// bigTable has rows that do not fit in the buffers between server and client.
const bigTable = `CREATE TABLE big (id int, body text); INSERT INTO big SELECT i, repeat(md5(i::text), 30) FROM generate_series(1, 30000) i`

func TestLostWorkerIsReplaced(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, bigTable)
		db.Exec(t, `SELECT lo_from_bytea(0, decode(repeat('ef', 3000000), 'hex')), lo_from_bytea(0, '\x02')`)
		want := contentsOf(t, db)
		var once sync.Map
		p := &recorder{copied: func(i *Item, n int64) {
			if _, done := once.LoadOrStore(i.Table == nil, true); !done {
				db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
					AND query LIKE `+map[bool]string{true: `'%lo_get%'`, false: `'COPY%big%'`}[i.Table == nil])
			}
		}}
		file := filepath.Join(t.TempDir(), "d")
		r := mustRun(t, db, Options{Format: pgarchive.FormatDirectory, File: file, Jobs: 2, PieceBytes: -1}, p)
		if n := p.failed.Load(); n != 2 {
			t.Errorf("%d items were tried again, expected 2; warnings: %q", n, p.messages.warnings)
		}
		if d := manifest.Compare(want, r.Manifest); len(d) > 0 {
			t.Error(manifest.Report(d))
		}
		checkAttached(t, file, r)

		// So it is in a file that can be written again.
		once.Clear()
		file = filepath.Join(t.TempDir(), "c")
		r = mustRun(t, db, Options{Format: pgarchive.FormatCustom, File: file, Jobs: 2, PieceBytes: -1}, p)
		if n := p.failed.Load(); n != 4 {
			t.Errorf("custom format: %d items were tried again, expected 2", n-2)
		}
		if d := manifest.Compare(want, r.Manifest); len(d) > 0 {
			t.Error(manifest.Report(d))
		}
		checkAttached(t, file, r)

		// Another format cannot take back what it has written.
		once.Clear()
		file = filepath.Join(t.TempDir(), "t")
		_, err := Run(t.Context(), config(t, db), Options{Format: pgarchive.FormatTar, File: file, Jobs: 2}, p)
		if err == nil || !strings.Contains(err.Error(), "public.big") {
			t.Errorf("tar format: error %v", err)
		}
		mustNotExist(t, file)
	})
}

func mustNotExist(t *testing.T, file string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*"))
	if err != nil {
		t.Fatal(err)
	}
	if left = append(left, hidden...); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func TestLostHolderEndsTheDump(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, bigTable)
	var once sync.Once
	p := &recorder{copied: func(*Item, int64) {
		once.Do(func() {
			db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		})
	}}
	file := filepath.Join(t.TempDir(), "d")
	_, err := Run(t.Context(), config(t, db), Options{Format: pgarchive.FormatDirectory, File: file, Jobs: 2}, p)
	if err == nil || !strings.Contains(err.Error(), ErrSnapshotLost.Error()) {
		t.Errorf("error %v", err)
	}
	mustNotExist(t, file)
}

// TestHeartbeat loses the holder only, while a worker is busy and would notice nothing.
func TestHeartbeat(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, bigTable)
	lost := make(chan struct{})
	var once sync.Once
	p := &recorder{
		copied: func(*Item, int64) {
			once.Do(func() {
				db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
					AND query NOT LIKE 'COPY%' AND backend_xmin IS NOT NULL`)
				<-lost
			})
		},
		warned: func(string) { close(lost) },
	}
	file := filepath.Join(t.TempDir(), "d")
	_, err := Run(t.Context(), config(t, db), Options{Format: pgarchive.FormatDirectory, File: file, Jobs: 2, PieceBytes: -1, Heartbeat: time.Millisecond}, p)
	if !errors.Is(err, ErrSnapshotLost) {
		t.Errorf("error %v", err)
	}
	mustNotExist(t, file)
}

func TestCancelLeavesNothing(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, bigTable)
		for _, format := range []pgarchive.Format{pgarchive.FormatDirectory, pgarchive.FormatCustom, pgarchive.FormatTar, pgarchive.FormatPlain} {
			for _, jobs := range []int{1, 2} {
				ctx, cancel := context.WithCancel(t.Context())
				file := filepath.Join(t.TempDir(), "archive")
				_, err := Run(ctx, config(t, db), Options{Format: format, File: file, Jobs: jobs}, &recorder{copied: func(*Item, int64) { cancel() }})
				if err == nil || ctx.Err() == nil {
					t.Errorf("%s, %d jobs: error %v", format, jobs, err)
				}
				mustNotExist(t, file)
				// No session of the dump holds its lock any more.
				db.Exec(t, `SET lock_timeout = '20s'; BEGIN; LOCK TABLE big IN ACCESS EXCLUSIVE MODE; COMMIT`)
			}
		}
	})
}

// fullDisk fails after some bytes, as a disk without space.
type fullDisk struct{ room int }

var errFull = fmt.Errorf("no space left on device")

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestFullDisk(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, bigTable)
	for _, jobs := range []int{1, 2} {
		_, err := Run(t.Context(), config(t, db), Options{
			Format: pgarchive.FormatCustom, Jobs: jobs,
			Archive: func(o pgarchive.WriterOptions) (pgarchive.Writer, error) {
				return pgarchive.NewCustomWriter(&fullDisk{room: 1 << 20}, o)
			},
		}, nil)
		if err == nil || !strings.Contains(err.Error(), errFull.Error()) || !strings.Contains(err.Error(), "big") {
			t.Errorf("%d jobs: error %v", jobs, err)
		}
	}
}

func TestMissingPermissionNamesTheObject(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		role := "dump_" + strconv.Itoa(os.Getpid())
		s.EnsureRole(t, role)
		for _, c := range []struct{ name, sql, want string }{
			{"table", "CREATE TABLE secret (a int)", "secret"},
			{"sequence", "CREATE SEQUENCE hidden", "hidden"},
			{"row security", "CREATE TABLE rows (a int); GRANT SELECT ON rows TO PUBLIC; ALTER TABLE rows ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON rows USING (a > 1)", "rows"},
			{"large object", "SELECT lo_create(4711)", "4711"},
		} {
			db := s.NewDatabase(t, pgtest.Options{Suffix: c.name})
			db.Exec(t, c.sql)
			for _, jobs := range []int{1, 2} {
				file := filepath.Join(t.TempDir(), "d")
				_, err := Run(t.Context(), config(t, db), Options{Format: pgarchive.FormatDirectory, File: file, Role: role, Jobs: jobs}, nil)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s, %d jobs: error %v", c.name, jobs, err)
				}
				mustNotExist(t, file)
			}
		}
	})
}

func TestRowSecurityOnRequest(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		role := "dump_" + strconv.Itoa(os.Getpid())
		s.EnsureRole(t, role)
		db := s.NewDatabase(t)
		db.Exec(t, "CREATE TABLE r (a int); INSERT INTO r VALUES (1), (2), (3); GRANT SELECT ON r TO PUBLIC; ALTER TABLE r ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON r USING (a > 1)")
		m := mustRun(t, db, Options{Options: catalog.Options{EnableRowSecurity: true}, Format: pgarchive.FormatCustom, File: filepath.Join(t.TempDir(), "c"), Role: role}, nil).Manifest
		if m.Tables[0].Rows != 2 || m.Complete {
			t.Errorf("%d rows, complete %v", m.Tables[0].Rows, m.Complete)
		}
	})
}

func TestLockTimeoutAndConflicts(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		db := s.NewDatabase(t)
		db.Exec(t, "CREATE TABLE held (a int)")
		other := db.Conn(t)
		exec := func(sql string) {
			t.Helper()
			if _, err := other.Exec(context.Background(), sql).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
		exec("BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE")
		o := Options{Options: catalog.Options{LockWaitTimeout: "50ms"}, Format: pgarchive.FormatCustom, File: filepath.Join(t.TempDir(), "c")}
		_, err := Run(t.Context(), config(t, db), o, nil)
		if pg.SQLState(err) != "57014" {
			t.Errorf("error %v", err)
		}
		exec("ROLLBACK")

		// Somebody waits for a stronger lock between the dump's lock and its workers'.
		waiting := make(chan error, 1)
		p := &recorder{planned: func(*Plan) {
			go func() {
				_, err := other.Exec(context.Background(), "LOCK TABLE held IN ACCESS EXCLUSIVE MODE").ReadAll()
				waiting <- err
			}()
			for db.QueryString(t, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = "+strconv.Itoa(int(other.PID()))) == "0" {
			}
		}}
		exec("BEGIN")
		_, err = Run(t.Context(), config(t, db), Options{Format: pgarchive.FormatDirectory, File: filepath.Join(t.TempDir(), "d"), Jobs: 2}, p)
		if err != nil { // pg_dump gives up here; the session that has the lock can read the table
			t.Errorf("error %v", err)
		}
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	})
}

// TestSettingsOfTheManifest describes a copy on a server with other defaults.
func TestSettingsOfTheManifest(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		const table = `CREATE TABLE t (at timestamptz, b bytea, d date, i interval);
			INSERT INTO t VALUES ('2026-03-01 12:00:00Z', '\x00ff', '2026-03-01', '1 day 2 hours')`
		source := s.NewDatabase(t)
		source.Exec(t, table)
		source.Exec(t, `DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = ''Europe/Berlin''', current_database());
			EXECUTE format('ALTER DATABASE %I SET bytea_output = escape', current_database());
			EXECUTE format('ALTER DATABASE %I SET DateStyle = ''German, DMY''', current_database()); END$$`)
		other := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
		other.Exec(t, table)
		a := contentsOf(t, source)
		b, err := Describe(t.Context(), config(t, other), Options{Settings: a.SessionSettings()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := manifest.Compare(withoutDatabase(a), withoutDatabase(b)); len(d) > 0 {
			t.Error(manifest.Report(d))
		}
		if d := manifest.Compare(withoutDatabase(a), withoutDatabase(contentsOf(t, other))); len(d) == 0 {
			t.Error("the settings make no difference")
		}
	})
}

// TestInserts compares our INSERT statements with those of the stock pg_dump.
func TestInserts(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.NeedTool(t, "pg_dump")
		db := s.NewDatabase(t)
		db.Exec(t, `
			CREATE DOMAIN cents AS numeric CHECK (value > 0);
			CREATE DOMAIN price AS cents;
			CREATE TABLE all_kinds (id int GENERATED ALWAYS AS IDENTITY, b bool, f float8, n numeric, v bit(3), t text, c price, a int[], j jsonb,
				g int GENERATED ALWAYS AS (1) STORED, gone int, o oid, x bytea);
			ALTER TABLE all_kinds DROP COLUMN gone;
			INSERT INTO all_kinds (b, f, n, v, t, c, a, j, o, x) SELECT i % 2 = 0, i / 3.0, CASE WHEN i = 4 THEN 'NaN'::numeric ELSE i END, b'101', E'it''s \\ \n', i, ARRAY[i, i], '{"a": 1}', i, '\x00ff'
				FROM generate_series(1, 7) i;
			INSERT INTO all_kinds (f) VALUES ('Infinity');
			CREATE TABLE "No columns" ();
			INSERT INTO "No columns" SELECT FROM generate_series(1, 3);
			CREATE TABLE part (id int, t text) PARTITION BY RANGE (id);
			CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
			INSERT INTO part SELECT i, 'row ' || i FROM generate_series(1, 250) i`)
		for _, c := range []struct {
			args []string
			o    catalog.Options
		}{
			{[]string{"--inserts"}, catalog.Options{Inserts: true}},
			{[]string{"--column-inserts"}, catalog.Options{ColumnInserts: true}},
			{[]string{"--rows-per-insert=3", "--on-conflict-do-nothing"}, catalog.Options{RowsPerInsert: 3, OnConflictDoNothing: true}},
			{[]string{"--inserts", "--load-via-partition-root", "--quote-all-identifiers"}, catalog.Options{Inserts: true, LoadViaPartitionRoot: true, QuoteAllIdentifiers: true}},
		} {
			want := inserts(script(t, db, append(c.args, "-a")...))
			file := filepath.Join(t.TempDir(), "script")
			c.o.NoSchema = true
			r := mustRun(t, db, Options{Options: c.o, File: file}, nil)
			if r.Manifest != nil {
				t.Errorf("%v: there is a manifest", c.args)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := inserts(string(text)); got != want || strings.Count(want, "\n") < 250 {
				t.Errorf("%v: %s", c.args, firstDifference(want, got))
			}
		}
	})
}

// inserts keeps what of a script belongs to INSERT statements.
func inserts(text string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(text) {
		if in = in && line != "\n" || strings.HasPrefix(line, "INSERT"); in {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestMemoryIsBounded dumps a value that is much longer than all buffers together.
func TestMemoryIsBounded(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	const size = 64 << 20
	db.Exec(t, `CREATE TABLE huge (t text); ALTER TABLE huge ALTER t SET STORAGE EXTERNAL; INSERT INTO huge SELECT repeat('0123456789', `+strconv.Itoa(size/10)+`)`)
	db.Exec(t, `SELECT lo_from_bytea(0, convert_to(t, 'UTF8')) FROM huge`)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak, calls := uint64(0), 0
	p := &recorder{copied: func(*Item, int64) {
		if calls++; calls%16 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
	}}
	m := mustRun(t, db, Options{Format: pgarchive.FormatCustom, File: filepath.Join(t.TempDir(), "c"), NoSync: true}, p).Manifest
	if m.Tables[0].Bytes != size/10*10+1 || m.LargeObjects.Bytes != size/10*10 {
		t.Errorf("%d bytes in the table, %d in large objects", m.Tables[0].Bytes, m.LargeObjects.Bytes)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}
