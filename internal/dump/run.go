package dump

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/order"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Result is what a dump has written.
type Result struct {
	Plan *Plan
	// Manifest says what is in the archive; nil when rows were written as INSERT
	// statements, which have no digest, and of a script unless Options.ScriptManifest.
	Manifest *manifest.Manifest
	// Totals are the manifest's, also where there is none for a script.
	Totals manifest.Totals

	// Snapshot is, while Options.Complete runs, the name by which other sessions import the dump's snapshot; "" if the server gives it none.
	Snapshot string
	sessions []*session
}

// Release ends the dump's transactions, for an Options.Complete that has much to do and needs the snapshot no more: as long as it
// is there the server cannot clean up. The first session stays, and with it what Prepare locked.
func (r *Result) Release(ctx context.Context) error {
	for i, s := range r.sessions {
		s.mu.Lock()
		var err error
		if i == 0 {
			err = s.conn.Exec(ctx, "COMMIT")
		} else {
			err = s.conn.Close(ctx)
		}
		s.mu.Unlock()
		if err != nil {
			return fmt.Errorf("end the dump's transactions: %w", err)
		}
	}
	return nil
}

// Run dumps the database of the configuration. progress may be nil. When it returns an error,
// or ctx is done before it returns, nothing stands under the archive's name, unless the error is that of Options.Complete.
func Run(ctx context.Context, config *pg.Config, opts Options, progress Progress) (*Result, error) {
	if progress == nil {
		progress = NoProgress{}
	}
	if opts.CopyFormat == CopyBinary || opts.CopyFormat == CopyAuto {
		switch {
		case opts.inserts():
			return nil, errors.New("rows in COPY's binary form and INSERT statements exclude each other")
		case opts.format() == pgarchive.FormatPlain:
			return nil, errPlainBinary
		}
	}
	if opts.format() != pgarchive.FormatPlain {
		opts.Create = true // they always describe the database itself, for a restore with --create
	}
	d := &dumper{
		config: config, opts: opts, progress: progress,
		quote: sqltext.Quoter{All: opts.QuoteAllIdentifiers},
	}
	defer d.close(ctx)
	r, err := d.run(ctx)
	if err != nil {
		err = d.explain(err)
		if d.writer != nil {
			err = errors.Join(err, d.writer.Abort())
		}
		d.cancel(ctx)
		return nil, err
	}
	return r, nil
}

// dumper is the state of one Run.
type dumper struct {
	config   *pg.Config
	opts     Options
	progress Progress
	quote    sqltext.Quoter

	holder   *session   // holds the snapshot and the locks
	opening  []*opening // the workers', until they are there
	workers  []*session // empty: the holder does everything
	sessions []*session // all
	snapshot string     // exported
	facts    serverFacts

	unlocked []*catalog.Table // whose locks were given back, see lockTables

	db     *catalog.Database
	writer pgarchive.Writer
}

func (d *dumper) run(ctx context.Context) (*Result, error) {
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	if d.facts.snapshot.InRecovery {
		d.opts.NoUnloggedTableData = true // their rows exist on the primary only
	}
	if err := d.create(); err != nil {
		return nil, err
	}
	db, entries, partial, err := d.readCatalog(ctx)
	if err != nil {
		return nil, err
	}
	d.db = db
	d.warn(db.Warnings)
	plan, err := d.plan(ctx, db, entries)
	if err != nil {
		return nil, err
	}
	items, err := d.resume(plan)
	if err != nil {
		return nil, err
	}
	d.progress.Planned(plan)
	for _, e := range plan.Entries {
		if err := d.writer.Add(e); err != nil {
			return nil, err
		}
	}
	if err := d.adopt(plan); err != nil {
		return nil, err
	}
	if err := d.writeData(ctx, items); err != nil {
		return nil, err
	}
	res := &Result{Plan: plan}
	switch {
	case d.opts.inserts():
	case d.opts.format() == pgarchive.FormatPlain && !d.opts.ScriptManifest:
		res.Totals = totals(plan)
	default:
		res.Manifest = d.manifest(db, plan, partial)
		res.Totals = res.Manifest.Totals
	}
	if err := d.finish(ctx, res.Manifest); err != nil {
		return nil, err
	}
	if d.opts.Complete == nil {
		return res, nil
	}
	if err := d.ping(ctx); err != nil { // its locks are gone too
		return nil, err
	}
	res.Snapshot, res.sessions = d.snapshot, d.sessions
	if res.Snapshot == "" {
		res.Snapshot, _ = d.holder.conn.ExportSnapshot(ctx) // not every server can
	}
	return res, d.opts.Complete(ctx, res)
}

// create opens the archive, before the work, so that a bad destination is seen at once.
func (d *dumper) create() (err error) {
	if old := d.opts.OldCompression; old != nil && d.holder.conn.Version() < 160000 {
		d.opts.Compression = *old
	}
	o := pgarchive.WriterOptions{
		Header: pgarchive.Header{
			Format: d.opts.format(), Compression: d.opts.Compression, Created: time.Now(),
			Database: d.facts.database, ServerVersion: d.holder.conn.VersionString(), DumpVersion: d.opts.DumpVersion,
		},
		Sync:   !d.opts.NoSync,
		Script: d.opts.Script,
	}
	if d.opts.Archive != nil {
		d.writer, err = d.opts.Archive(o)
	} else {
		d.writer, err = pgarchive.Create(d.opts.File, d.opts.format(), o)
	}
	return err
}

// tidy collects garbage after a step that leaves much behind, where the next one keeps what it makes. With 280,000 objects
// it takes 60 ms each time, and the process would be a quarter larger without.
func tidy(db *catalog.Database) {
	const many = 50_000
	if len(db.Objects) > many {
		runtime.GC()
	}
}

// readCatalog reads, orders and renders the objects, and leaves out the entries that are not wanted.
func (d *dumper) readCatalog(ctx context.Context) (db *catalog.Database, entries []*pgarchive.Entry, partial bool, err error) {
	var workers []catalog.Opener
	for _, o := range d.opening {
		workers = append(workers, o.wait)
	}
	info := catalog.Info{
		Name: d.facts.database, Version: d.holder.conn.Version(), VersionString: d.holder.conn.VersionString(),
		Encoding: d.facts.encoding, StdStrings: d.facts.stdStrings, User: d.facts.user, InRecovery: d.facts.snapshot.InRecovery,
	}
	if d.opts.format() != pgarchive.FormatPlain && info.Version < 170000 {
		d.opts.LegacyLargeObjects = true // the pg_restore of these versions knows no groups of large objects
	}
	db, err = catalog.Read(ctx, d.holder.conn, workers, info, d.opts.Options, d.lockTables)
	if err != nil {
		return nil, nil, false, err
	}
	if full := d.gather(); full != nil {
		d.progress.Message(false, fmt.Sprintf("using %d connections beside the first: %v", len(d.workers), full))
	}
	if err := d.checkUnlocked(ctx); err != nil {
		return nil, nil, false, err
	}
	tidy(db)
	ordered, err := order.Sort(db)
	if err != nil {
		return nil, nil, false, err
	}
	if entries, err = ddl.Entries(db, ordered); err != nil {
		return nil, nil, false, err
	}
	tidy(db)
	sel := pgarchive.NewSelection()
	if d.opts.Script != nil {
		sel = d.opts.Script.Selection
	}
	if d.opts.format() != pgarchive.FormatPlain {
		sel.CreateDB = true
	}
	entries, partial, err = wantedEntries(entries, sel)
	return db, entries, partial, err
}

func (d *dumper) plan(ctx context.Context, db *catalog.Database, entries []*pgarchive.Entry) (*Plan, error) {
	if err := checkSequences(db, entries); err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for _, e := range entries {
		if e.Desc != "TABLE DATA" {
			continue
		}
		if data, ok := db.ByDumpID(catalog.DumpID(e.ID)).(*catalog.TableData); ok && data.Table != nil {
			tables = append(tables, data.Table)
		}
	}
	if err := d.checkStorage(ctx, tables); err != nil {
		return nil, err
	}
	p := &planner{db: db, opts: &d.opts, quote: d.quote, lastID: pgarchive.ID(len(db.Objects))}
	var err error
	if p.sizes, p.blockSize, err = readSizes(ctx, d.holder.conn, tables); err != nil {
		return nil, err
	}
	p.readKeys = func(t *catalog.Table, column string, n int64) ([]int64, error) {
		return readKeys(ctx, d.holder.conn, d.quote, t, column, n)
	}
	if p.binary, err = d.binaryTables(ctx, tables); err != nil {
		return nil, err
	}
	plan, err := p.plan(entries)
	if err == nil {
		plan.checkpoint = sync.OnceValue(func() Checkpoint { return d.checkpoint(plan, p) })
	}
	return plan, err
}

// finish attaches the manifest and completes the archive.
func (d *dumper) finish(ctx context.Context, m *manifest.Manifest) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if m != nil && !d.opts.NoManifest && d.opts.format() != pgarchive.FormatPlain {
		b, err := m.Encode()
		if err != nil {
			return err
		}
		if err := d.writer.Attach(manifest.AttachmentName, b); err != nil {
			return err
		}
	}
	if err := d.writer.Close(); err != nil {
		return fmt.Errorf("complete archive: %w", err)
	}
	return nil
}

// patience is how long the end of a session may take.
const patience = 5 * time.Second

// cancel stops what the server still does for the sessions.
func (d *dumper) cancel(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	for _, o := range d.opening {
		o.stop()
	}
	d.gather()
	for _, s := range d.sessions {
		s.conn.Cancel(ctx) // whether it arrives or not, the connection is closed next
	}
}

func (d *dumper) close(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	for _, s := range d.sessions {
		s.conn.Close(ctx)
	}
}
