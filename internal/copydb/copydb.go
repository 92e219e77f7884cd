// Package copydb copies a database into another, on the same server or a different one. In come two connections and
// options; out goes a filled database and a [Result]. A dump and a restore run at the same time, joined by a pipe
// in memory that both take for an archive: nothing is stored in between, several tables stream at once, and
// indexes of tables that are complete are built while others are still on their way.
package copydb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

// Options say what to copy and how. The zero value copies everything.
type Options struct {
	// Dump says what of the source is wanted. File, Format, Compression, Jobs, Archive and Less are set by Run.
	Dump dump.Options
	// Restore says what is done with it. Jobs is set by Run.
	Restore restore.Options

	Jobs int // connections that work on the target, and that read from the source, at the same time; 0: chosen by processors

	Force  bool // into a database that is not empty
	Verify bool // compare source and target in the end, every object and every row
	Text   bool // all rows as text; otherwise servers of the same major version exchange rows in binary form where that is safe
}

// Result says what was done.
type Result struct {
	Manifest    *manifest.Manifest // of what left the source
	Restore     *restore.Result
	Verified    bool // they were compared
	Differences []manifest.Difference

	binary map[[2]string]bool // tables whose rows came in binary form, by schema and name
}

// OK says whether everything arrived.
func (r *Result) OK() bool { return r.Restore.Ignored == 0 && len(r.Differences) == 0 }

// Progress follows both halves; nil fields are left out.
type Progress struct {
	Dump    dump.Progress
	Restore restore.Progress
	Phase   func(name string)
}

// Errors of the gates.
var (
	ErrSameDatabase = errors.New("source and target are the same database")
	ErrNotEmpty     = errors.New("the target database is not empty")
)

// pieceBytes is the size above which a table comes in pieces, which can be loaded side by side but not frozen.
const pieceBytes = 1 << 30

// Run copies the database source into the existing database target. An error says that the copy is not complete;
// without one, Result says whether every statement succeeded.
func Run(ctx context.Context, source, target *pg.Config, o Options, p Progress) (*Result, error) {
	if o.Jobs <= 0 {
		o.Jobs = min(max(runtime.NumCPU(), 2), 8)
	}
	phase := func(name string) {
		if p.Phase != nil {
			p.Phase(name)
		}
	}
	phase("looking at both databases")
	alike, err := check(ctx, source, target, o.Force)
	if err != nil {
		return nil, err
	}
	if alike && !o.Text {
		o.Dump.CopyFormat = dump.CopyAuto
	}
	phase("reading the catalogue")
	res, err := run(ctx, source, target, o, p)
	if err != nil {
		return nil, err
	}
	if o.Verify {
		phase("comparing")
		if err := res.verify(ctx, target, o); err != nil {
			return nil, err
		}
	}
	return res, nil
}

func run(ctx context.Context, source, target *pg.Config, o Options, p Progress) (*Result, error) {
	pipe := newPipe()
	res := &Result{}
	order := &order{pipe: pipe, o: &o}

	d := o.Dump
	d.Format, d.File, d.Jobs = pgarchive.FormatDirectory, "", max(o.Jobs, 2) // more than the one that holds the snapshot
	d.NoManifest = true
	if d.PieceBytes == 0 {
		d.PieceBytes = pieceBytes
	}
	d.Less = order.less
	d.Archive = func(w pgarchive.WriterOptions) (pgarchive.Writer, error) {
		pipe.header = w.Header
		pipe.header.Format = pgarchive.FormatCustom
		return writer{pipe}, nil
	}
	r := o.Restore
	r.Jobs = max(o.Jobs, 2)
	r.Fast = true

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		out, err := dump.Run(ctx, source, d, p.Dump)
		if err != nil {
			pipe.abandon(err)
			if errors.Is(err, errGone) {
				return nil // the other half says why
			}
			return fmt.Errorf("read the source: %w", err)
		}
		res.Manifest = out.Manifest
		res.binary = make(map[[2]string]bool)
		for _, i := range out.Plan.Items {
			if strings.Contains(i.Entry.CopyStmt, "FORMAT binary") {
				res.binary[[2]string{i.Entry.Namespace, i.Entry.Tag}] = true
			}
		}
		return nil
	})
	g.Go(func() error {
		select {
		case <-pipe.frozen:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-pipe.broken:
			return errGone
		default:
		}
		out, err := restore.Run(ctx, reader{pipe}, target, r, p.Restore)
		if err != nil {
			pipe.abandon(err)
			if errors.Is(err, errGone) {
				return nil
			}
			return fmt.Errorf("fill the target: %w", err)
		}
		res.Restore = out
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if res.Restore == nil || res.Manifest == nil {
		return nil, fmt.Errorf("copy database: %w", errGone)
	}
	return res, nil
}

// order makes the dump begin with those tables behind which there is most to do.
type order struct {
	pipe  *pipe
	o     *Options
	paths map[pgarchive.ID]float64
}

// less is called by the dump when its table of contents is complete, by one goroutine.
func (o *order) less(a, b *dump.Item) bool {
	if o.paths == nil {
		o.paths = make(map[pgarchive.ID]float64)
		if plan, err := restore.NewPlan(reader{o.pipe}, &o.o.Restore); err == nil {
			o.paths = plan.Paths()
		}
	}
	x, y := o.paths[a.Entry.ID], o.paths[b.Entry.ID]
	if x != y {
		return x > y
	}
	return a.Bytes > b.Bytes
}

// verify reads the target as a dump would and compares.
func (r *Result) verify(ctx context.Context, target *pg.Config, o Options) error {
	d := o.Dump
	d.Jobs, d.Settings = o.Jobs, r.Manifest.SessionSettings()
	d.Less, d.Archive, d.Snapshot = nil, nil, ""
	d.BinaryTables = func(schema, name string) bool { return r.binary[[2]string{schema, name}] }
	found, err := dump.Describe(ctx, target, d, nil)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	r.Verified = true
	for _, x := range manifest.Compare(r.Manifest, found) {
		if !o.expected(x) {
			r.Differences = append(r.Differences, x)
		}
	}
	return nil
}

// expected says whether a difference is what the options ask for.
func (o *Options) expected(x manifest.Difference) bool {
	switch {
	case x.Desc == "DATABASE" || x.Desc == "DATABASE PROPERTIES":
		return true // the target has its own
	case x.Desc == "SETTING" && x.Name == "lc_monetary":
		return true // the target server's
	case x.Field == "owner":
		return o.Restore.NoOwner
	case x.Field == "tablespace":
		return o.Restore.NoTablespaces
	case x.Desc == "ACL" || x.Desc == "DEFAULT ACL":
		return o.Restore.NoPrivileges || o.Restore.NoOwner
	}
	return false
}

// identity names a database of a server.
type identity struct{ system, database string }

// check refuses a copy of a database into itself, and into one that holds something. It says whether both servers are of
// the same major version.
func check(ctx context.Context, source, target *pg.Config, force bool) (alike bool, err error) {
	from, err := look(ctx, source)
	if err != nil {
		return false, fmt.Errorf("source: %w", err)
	}
	to, err := look(ctx, target)
	if err != nil {
		return false, fmt.Errorf("target: %w", err)
	}
	if from.id == to.id {
		return false, ErrSameDatabase
	}
	if to.objects != "" && !force {
		return false, fmt.Errorf("%w: it has %s", ErrNotEmpty, to.objects)
	}
	return from.version/10000 == to.version/10000, nil
}

// facts are what must be known of a database before anything is done.
type facts struct {
	id      identity
	version int
	objects string // some of those in it, in words
}

// identityQuery tells databases apart. The system identifier is made by initdb and shared by the servers of one
// replication; a copy into a standby fails by itself. Not all servers let everyone ask for it (pg_control_system); the time
// of the start and the OID do for those.
const (
	identityQuery = `SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()), oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()`
	otherwise     = `SELECT pg_catalog.pg_postmaster_start_time(), oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()`

	// User's objects have OIDs from FirstNormalObjectId (access/transam.h) on.
	objectsQuery = `SELECT kind || ' ' || name FROM (
  SELECT 'relation' AS kind, n.nspname || '.' || c.relname AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid >= 16384 AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'function', n.nspname || '.' || p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  WHERE p.oid >= 16384 AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'type', n.nspname || '.' || t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
  WHERE t.oid >= 16384 AND t.typrelid = 0 AND t.typelem = 0 AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.objid = t.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'schema', nspname FROM pg_catalog.pg_namespace n WHERE oid >= 16384 AND nspname !~ '^pg_' AND nspname <> 'public'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.objid = n.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'large object', oid::pg_catalog.text FROM pg_catalog.pg_largeobject_metadata
) AS found ORDER BY kind, name LIMIT 4`
)

// look asks who a database is and what is in it.
func look(ctx context.Context, c *pg.Config) (f facts, err error) {
	conn, err := pg.Connect(ctx, c)
	if err != nil {
		return f, err
	}
	defer conn.Close(ctx)
	f.version = conn.Version()
	row := func(v [][]byte) error {
		f.id = identity{string(v[0]), string(v[1])}
		return nil
	}
	if err := conn.Query(ctx, identityQuery, row); err != nil {
		if pg.SQLState(err) == "" {
			return f, err
		}
		if err := conn.Query(ctx, otherwise, row); err != nil {
			return f, err
		}
	}
	var names []string
	err = conn.Query(ctx, objectsQuery, func(v [][]byte) error {
		names = append(names, string(v[0]))
		return nil
	})
	if len(names) > 3 {
		names[3] = "and more"
	}
	f.objects = strings.Join(names, ", ")
	return f, err
}
