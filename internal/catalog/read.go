package catalog

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Info is what the caller knows of the server and the database.
type Info struct {
	Name          string // database name
	Version       int    // server_version_num: 180006
	VersionString string // "18.6 (Debian 18.6-3)"
	Encoding      string // client encoding of the dump, normally the database's
	StdStrings    bool   // standard_conforming_strings of the session
	User          string // the role that reads
	InRecovery    bool
}

// Locker takes ACCESS SHARE locks on the tables that will be dumped. It is called
// once, after the wanted relations are known and before anything else of them is read.
type Locker func(ctx context.Context, tables []*Table) error

// Read reads the database of the sessions, which must share one snapshot. The
// queries of the second round are spread over all of them. lock may be nil.
func Read(ctx context.Context, sessions []Querier, info Info, opts Options, lock Locker) (*Database, error) {
	r := &reader{
		db:       &Database{Info: info, Options: opts, byID: make(map[ID]Object)},
		sessions: sessions,
	}
	if err := r.read(ctx, lock); err != nil {
		return nil, err
	}
	return r.db, nil
}

// reader is the state of one Read. Each kind keeps what its fetch found in fields
// declared beside it (embedded structs below), until its link has put it into db.
type reader struct {
	db       *Database
	sessions []Querier
	err      error // the first thing that failed in a link without return value
	parts    []fetchPart

	generalRows
	relationRows
	otherRows
}

// stage is the reading of one kind of object. fetch runs its queries; it runs at
// the same time as the fetch of other kinds, so it writes only to its own fields of
// the reader. link turns the rows into objects; links run one after the other, in
// the order of the list.
type stage struct {
	name  string
	fetch func(ctx context.Context, q Querier) error
	link  func() error
}

// generalRows is what the stages of this file's package keep that belong to no single kind.
type generalRows struct {
	sel         selection
	schemaByOID map[uint32]*Schema
	members     map[ID]*Extension // the extension each member belongs to
	allRoles    []*Role
	comments    []commentRow
	labels      []labelRow
	initPrivs   []initPrivRow
	columnACLs  []columnACLRow
	depends     rowList[dependRow]
	unknown     []unknownRow
	check       selfCheck
}

// failf keeps an error for the end of the read.
func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) warnf(format string, args ...any) {
	r.db.Warnings = append(r.db.Warnings, Warning{Text: fmt.Sprintf(format, args...)})
}

func (r *reader) read(ctx context.Context, lock Locker) error {
	if err := r.selectByPatterns(ctx); err != nil {
		return err
	}
	for _, s := range r.firstStages() {
		if err := r.runOne(ctx, r.sessions[0], s); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	if lock != nil {
		if err := lock(ctx, r.lockTables()); err != nil {
			return err
		}
	}
	stages := r.stages()
	if err := r.fetchAll(ctx, stages); err != nil {
		return err
	}
	// before the links, which would stumble over what they do not know
	if err := r.checkUnknown(); err != nil {
		return err
	}
	for _, s := range stages {
		if s.link == nil {
			continue
		}
		if err := s.link(); err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
	}
	return r.finish()
}

func (r *reader) runOne(ctx context.Context, q Querier, s stage) error {
	if s.fetch != nil {
		if err := s.fetch(ctx, q); err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
	}
	if s.link != nil {
		if err := s.link(); err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
	}
	return nil
}

// fetchPart is a piece of the fetching of a stage, which may run at the same time as its other pieces.
type fetchPart struct {
	name  string
	fetch func(ctx context.Context, q Querier) error
}

// inParts adds a piece to the fetching of the second round.
func (r *reader) inParts(name string, fetch func(ctx context.Context, q Querier) error) {
	r.parts = append(r.parts, fetchPart{name, fetch})
}

// fetchAll runs the fetches of the stages over all sessions. Those in parts are the
// expensive ones, where the server must look at every relation: they go first, so that
// no session is left alone with one at the end.
func (r *reader) fetchAll(ctx context.Context, stages []stage) error {
	jobs := r.parts
	r.parts = nil
	for _, s := range stages {
		if s.fetch != nil {
			jobs = append(jobs, fetchPart{s.name, s.fetch})
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan fetchPart)
	g.Go(func() error {
		defer close(next)
		for _, j := range jobs {
			select {
			case next <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for _, q := range r.sessions {
		g.Go(func() error {
			for j := range next {
				if err := j.fetch(ctx, q); err != nil {
					return fmt.Errorf("read %s: %w", j.name, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// query runs sql and gives each row to scan, with the row's own error added.
func query(ctx context.Context, q Querier, sql string, scan func(r *row)) error {
	return q.Query(ctx, sql, func(values [][]byte) error {
		r := row{values: values}
		scan(&r)
		return r.done()
	})
}

// lockTables returns the tables that must not change or vanish while they are dumped. Others than ordinary and
// partitioned tables cannot be locked before PostgreSQL 14 and need no lock for their data (getTables in pg_dump.c).
func (r *reader) lockTables() []*Table {
	var out []*Table
	for _, t := range r.db.Tables {
		if (t.RelKind == 'r' || t.RelKind == 'p') && t.Dump&t.lockComponents() != 0 {
			out = append(out, t)
		}
	}
	return out
}

// lockComponents are the components for which the table must be locked: those that are read
// from the table itself or by functions that look at its present state (DUMP_COMPONENTS_REQUIRING_LOCK).
func (t *Table) lockComponents() Component {
	return Definition | Data | Statistics | Policies
}

// finish completes the database after all links: the roles referred to, and the boundaries.
func (r *reader) finish() error {
	if r.err != nil {
		return r.err
	}
	r.linkRoles()
	pre := &Boundary{Meta{Kind: KindPreDataBoundary, Name: "PRE-DATA BOUNDARY"}}
	post := &Boundary{Meta{Kind: KindPostDataBoundary, Name: "POST-DATA BOUNDARY"}}
	r.db.Add(pre)
	r.db.Add(post)
	r.db.PreDataBoundary, r.db.PostDataBoundary = pre, post
	return nil
}
