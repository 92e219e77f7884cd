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

// Locker takes ACCESS SHARE locks on the tables that will be dumped, in the first session. It is called once, after the
// wanted relations are known. Meanwhile the other sessions read rows of catalogues, which are those of the
// snapshot in any case; functions of the server, which look at a relation's present state, are called after it.
type Locker func(ctx context.Context, tables []*Table) error

// Opener gives another session, as soon as it is open. It may give nil, if there turns out to be none.
type Opener func(ctx context.Context) (Querier, error)

// Read reads the database of the session, and of more of them that see the same snapshot. The
// queries of the second round are spread over all of them; the first begins before the others are open. lock may be nil.
func Read(ctx context.Context, session Querier, more []Opener, info Info, opts Options, lock Locker) (*Database, error) {
	r := &reader{
		db:      &Database{Info: info, Options: opts},
		session: session,
		more:    more,
		locked:  make(chan struct{}),
	}
	if err := r.read(ctx, lock); err != nil {
		return nil, err
	}
	return r.db, nil
}

// reader is the state of one Read. Each kind keeps what its fetch found in fields
// declared beside it (embedded structs below), until its link has put it into db.
type reader struct {
	db      *Database
	session Querier
	more    []Opener
	locked  chan struct{} // closed when the tables are locked
	err     error         // the first thing that failed in a link without return value
	parts   []fetchPart

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
	sel           selection
	schemaByOID   map[uint32]*Schema
	members       map[ID]*Extension // the extension each member belongs to
	allRoles      []*Role
	comments      []commentRow
	labels        []labelRow
	initPrivs     []initPrivRow
	columnACLs    []columnACLRow
	depends       rowList[dependRow]
	dependClasses classes
	unknown       []unknownRow
	check         selfCheck
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
	stages, err := r.fetchAll(ctx, lock)
	if err != nil {
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
	plain bool // it waits for the locks itself, if it needs them
}

// inParts adds a piece to the fetching of the second round. It reads rows of catalogues as the snapshot has them, for which
// no lock is needed, and waits for the locks (awaitLock) before it asks for anything else.
func (r *reader) inParts(name string, fetch func(ctx context.Context, q Querier) error) {
	r.parts = append(r.parts, fetchPart{name, fetch, true})
}

// fetchAll runs the first round, and the fetches of the second, which are spread over all sessions. It returns the
// stages of the second. The first session does the first round and the locking, while the others read what needs
// neither. Those in parts are the expensive ones, where the server must look at every relation: they go first, so that
// no session is left alone with one at the end.
func (r *reader) fetchAll(ctx context.Context, lock Locker) (stages []stage, err error) {
	g, ctx := errgroup.WithContext(ctx)
	early := queue([]fetchPart{{r.dependsStage().name, r.fetchDepends, true}})
	var jobs <-chan fetchPart // once known is closed
	known := make(chan struct{})
	work := func(q Querier) error {
		for j := range early {
			if err := r.runPart(ctx, q, j); err != nil {
				return err
			}
		}
		if err := await(ctx, known); err != nil {
			return err
		}
		for j := range jobs {
			if err := r.runPart(ctx, q, j); err != nil {
				return err
			}
		}
		return nil
	}
	g.Go(func() error {
		for _, s := range r.firstStages() {
			if err := r.runOne(ctx, r.session, s); err != nil {
				return err
			}
		}
		if r.err != nil {
			return r.err
		}
		stages = r.stages()
		list := r.parts
		for _, s := range stages {
			if s.fetch != nil {
				list = append(list, fetchPart{s.name, s.fetch, false})
			}
		}
		r.parts = nil
		jobs = queue(list)
		close(known)
		if lock != nil {
			if err := lock(ctx, r.lockTables()); err != nil {
				return err
			}
		}
		close(r.locked)
		return work(r.session)
	})
	for _, open := range r.more {
		g.Go(func() error {
			q, err := open(ctx)
			if err != nil || q == nil {
				return err
			}
			return work(q)
		})
	}
	err = g.Wait()
	return stages, err
}

// queue is a closed channel that holds the list.
func queue(list []fetchPart) <-chan fetchPart {
	c := make(chan fetchPart, len(list))
	for _, j := range list {
		c <- j
	}
	close(c)
	return c
}

func (r *reader) runPart(ctx context.Context, q Querier, j fetchPart) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !j.plain {
		if err := r.awaitLock(ctx); err != nil {
			return err
		}
	}
	if err := j.fetch(ctx, q); err != nil {
		return fmt.Errorf("read %s: %w", j.name, err)
	}
	return nil
}

// query runs sql and gives each row to scan, with the row's own error added.
func query(ctx context.Context, q Querier, sql string, scan func(r *row)) error {
	r := new(row)
	return q.Query(ctx, sql, func(values [][]byte) error {
		r.values, r.next, r.err = values, 0, nil
		scan(r)
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
