package dsnpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/internal/scratch"
	"github.com/pghaul/pghaul/internal/sqltext"
)

const (
	// prefix begins the names of databases that are created.
	prefix = "pghaul_drill_"

	// The comments on what is created: on databases, on those that are kept, and,
	// followed by the name of the database they were created for, on roles.
	mark     = "throwaway database of pghaul, dropped at the end"
	keptMark = "throwaway database of pghaul, kept"
	roleMark = "created by pghaul for database "

	// stopLimit is how long dropping may take if the caller has no time left.
	stopLimit = 30 * time.Second
)

// heartbeat is the time between statements that show whether the server is there.
var heartbeat = 5 * time.Second

// Provider makes throwaway databases on a server.
type Provider struct {
	// Config leads to the server, to a database where this is decided, and to the
	// one that is used if none can be created. Required.
	Config *pg.Config

	// Report takes lines about what is not as usual, such as databases that
	// killed processes left behind. nil is nobody.
	Report func(line string)
}

var _ scratch.Provider = (*Provider)(nil)

// Start makes a database on the server, see scratch.Provider. Settings of the wish
// are not applied, nor is Tuned: the server is not ours.
func (p *Provider) Start(ctx context.Context, spec scratch.Spec) (*scratch.Server, error) {
	s, err := p.start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("make throwaway database: %w", err)
	}
	return s, nil
}

func (p *Provider) start(ctx context.Context, spec scratch.Spec) (_ *scratch.Server, err error) {
	i := &instance{
		report: p.Report, config: p.Config, done: make(chan struct{}), stopped: make(chan struct{}),
		name: prefix + strings.ToLower(rand.Text()[:12]),
	}
	if i.report == nil {
		i.report = func(string) {}
	}
	if i.admin, err = pg.Connect(ctx, p.Config); err != nil {
		return nil, err
	}
	i.config = i.admin.SameHost()
	defer func() {
		if err != nil {
			err = errors.Join(err, i.Stop(context.WithoutCancel(ctx), false))
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
		}
	}()
	where := place(i.config)
	if major := i.admin.Version() / 10000; major < spec.Major {
		return nil, fmt.Errorf("the server %s is PostgreSQL %d: PostgreSQL %d or newer is needed", where, major, spec.Major)
	} else if spec.Major != 0 && major > spec.Major {
		i.report(fmt.Sprintf("the server %s is PostgreSQL %d, the source %d: definitions may be written in another way", where, major, spec.Major))
	}
	if err := i.admin.Exec(ctx, "SET application_name = "+sqltext.EscapeLiteral(i.name)); err != nil {
		return nil, err
	}
	if err := i.listLeftovers(ctx); err != nil {
		return nil, err
	}
	if err := i.make(ctx, spec); err != nil {
		return nil, err
	}
	info := scratch.Info{
		DSN:           dsn(i.config, i.name),
		Version:       i.admin.Version(),
		VersionString: i.admin.VersionString(),
		Database:      i.name,
		Kept:          fmt.Sprintf("database %s on %s (remove: DROP DATABASE %s)", i.name, where, sqltext.Quoter{}.Ident(i.name)),
	}
	if i.given {
		info.Kept = fmt.Sprintf("what was restored into database %s on %s", i.name, where)
	}
	if info.Port, err = strconv.Atoi(i.config.Hosts[0].Port); err != nil {
		return nil, err
	}
	if info.TCP = info.DSN; strings.HasPrefix(i.config.Hosts[0].Name, "/") {
		info.TCP, info.SocketDir = "", i.config.Hosts[0].Name
	}
	err = scratch.CheckExtensions(spec.Extensions, where, func(sql string, add func(string)) error {
		return i.admin.Query(ctx, sql, func(row [][]byte) error { add(string(row[0])); return nil })
	})
	if err != nil {
		return nil, err
	}
	go i.watch()
	s := scratch.NewServer(info, i)
	i.unwatch = context.AfterFunc(ctx, func() { s.Stop(context.WithoutCancel(ctx)) })
	return s, nil
}

// place names a server in words.
func place(c *pg.Config) string {
	h := c.Hosts[0]
	name := h.Name
	if name == "" {
		name = h.Addr
	}
	return name + " port " + h.Port
}

// dsn returns a connection string that leads to another database of the server,
// with the password that led to this one: a password file may have none for a
// name that nobody knew before.
func dsn(c *pg.Config, database string) string {
	u, err := url.Parse(c.URI())
	if err != nil { // it was made a moment ago
		panic(err)
	}
	u.Path = "/" + database
	return u.String()
}

// instance is one throwaway database.
type instance struct {
	config *pg.Config
	name   string
	given  bool          // the database was there before
	before map[item]bool // what was in it
	made   bool          // there is something to drop
	report func(string)

	use     sync.Mutex // of admin
	admin   *pg.Conn   // in the database of config
	unwatch func() bool

	stopped  chan struct{} // closed by Stop, for watch
	done     chan struct{} // closed when the server, as far as we are concerned, has ended
	doneOnce sync.Once

	mu       sync.Mutex
	stopping bool
	err      error
	roles    []string
}

// listLeftovers reports what processes that were killed left on the server.
func (i *instance) listLeftovers(ctx context.Context) error {
	err := i.admin.Query(ctx, "SELECT d.datname FROM pg_catalog.pg_database d "+
		"WHERE pg_catalog.shobj_description(d.oid, 'pg_database') = "+sqltext.EscapeLiteral(mark)+
		" AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.application_name = d.datname) ORDER BY 1",
		func(row [][]byte) error {
			i.report("a drill that was killed left a database on " + place(i.config) + "; remove it with DROP DATABASE " + sqltext.Quoter{}.Ident(string(row[0])))
			return nil
		})
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	err = i.admin.Query(ctx, "SELECT r.rolname FROM pg_catalog.pg_roles r, pg_catalog.shobj_description(r.oid, 'pg_authid') c "+
		"WHERE pg_catalog.starts_with(c, "+sqltext.EscapeLiteral(roleMark)+")"+
		" AND NOT EXISTS (SELECT FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.substr(c, "+strconv.Itoa(len(roleMark)+1)+"))"+
		" AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.application_name = pg_catalog.substr(c, "+strconv.Itoa(len(roleMark)+1)+")) ORDER BY 1",
		func(row [][]byte) error {
			i.report("a drill that was killed left a role on " + place(i.config) + "; remove it with DROP ROLE " + sqltext.Quoter{}.Ident(string(row[0])))
			return nil
		})
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	return nil
}

// make creates the database, or takes the given one.
func (i *instance) make(ctx context.Context, spec scratch.Spec) error {
	may := ""
	err := i.admin.Query(ctx, "SELECT rolcreatedb OR rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user", func(row [][]byte) error {
		may = string(row[0])
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask what the role may do: %w", err)
	}
	if may == "t" {
		err := i.admin.Exec(ctx, createDatabase(i.name, spec))
		if err == nil {
			i.made = true
			return i.admin.Exec(ctx, "COMMENT ON DATABASE "+sqltext.Quoter{}.Ident(i.name)+" IS "+sqltext.EscapeLiteral(mark))
		}
		const insufficientPrivilege = "42501"
		if pg.SQLState(err) != insufficientPrivilege {
			return fmt.Errorf("create database: %w", err)
		}
	}
	return i.takeGiven(ctx)
}

// createDatabase returns the statement that creates the database as wished.
func createDatabase(name string, spec scratch.Spec) string {
	var b strings.Builder
	encoding := spec.Encoding
	if encoding == "" {
		encoding = "UTF8"
	}
	fmt.Fprintf(&b, "CREATE DATABASE %s TEMPLATE template0 ENCODING %s", sqltext.Quoter{}.Ident(name), sqltext.EscapeLiteral(encoding))
	if spec.Locale != "" {
		fmt.Fprintf(&b, " LC_COLLATE %[1]s LC_CTYPE %[1]s", sqltext.EscapeLiteral(spec.Locale))
	}
	if spec.ICULocale != "" {
		fmt.Fprintf(&b, " LOCALE_PROVIDER icu ICU_LOCALE %s", sqltext.EscapeLiteral(spec.ICULocale))
	}
	return b.String()
}

// takeGiven takes the database that config leads to, if it is empty.
func (i *instance) takeGiven(ctx context.Context) error {
	where := i.config.Database
	objects, err := restore.UserObjects(ctx, i.admin, 3)
	if err != nil {
		return err
	}
	if len(objects) > 0 {
		return fmt.Errorf("role %s may not create databases, and database %s is not empty: it has %s; name an empty database or a role with CREATEDB",
			i.config.User, where, strings.Join(objects, ", "))
	}
	items, err := inventory(ctx, i.admin)
	if err != nil {
		return err
	}
	i.before = make(map[item]bool)
	for _, x := range items {
		i.before[x] = true
	}
	i.name, i.given, i.made = where, true, true
	i.report(fmt.Sprintf("role %s may not create databases: database %s, which is empty, is used, and emptied again at the end", i.config.User, where))
	return nil
}

// watch sends a statement now and then, so that the end of the server is noticed,
// and so that nothing between us takes the session for dead.
func (i *instance) watch() {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-i.stopped:
			return
		case <-tick.C:
		}
		i.use.Lock()
		err := i.admin.Ping(context.Background())
		i.use.Unlock()
		if err != nil {
			i.mu.Lock()
			if !i.stopping {
				i.err = fmt.Errorf("the server has ended the session: %w", err)
			}
			i.mu.Unlock()
			i.end()
			return
		}
	}
}

func (i *instance) end() { i.doneOnce.Do(func() { close(i.done) }) }

// Done implements scratch.Instance.
func (i *instance) Done() <-chan struct{} { return i.done }

// Err implements scratch.Instance.
func (i *instance) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

// CreatedRole implements scratch.RoleRemover. The role gets a comment, by which it
// is known if we have no chance to drop it; that it has none is no harm.
func (i *instance) CreatedRole(name string) {
	i.mu.Lock()
	i.roles = append(i.roles, name)
	i.mu.Unlock()
	i.use.Lock()
	defer i.use.Unlock()
	i.admin.Exec(context.Background(), "COMMENT ON ROLE "+sqltext.Quoter{}.Ident(name)+" IS "+sqltext.EscapeLiteral(roleMark+i.name))
}

// Stop implements scratch.Instance.
func (i *instance) Stop(ctx context.Context, keep bool) error {
	if i.unwatch != nil {
		i.unwatch()
	}
	i.mu.Lock()
	i.stopping = true
	roles := i.roles
	i.mu.Unlock()
	close(i.stopped)
	defer i.end()
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
	}
	i.use.Lock()
	defer i.use.Unlock()
	defer i.admin.Close(ctx)
	if !i.made {
		return nil
	}
	if i.admin.IsClosed() || i.admin.Ping(ctx) != nil {
		c, err := pg.Connect(ctx, i.config)
		if err != nil {
			return fmt.Errorf("drop database %s: %w", i.name, err)
		}
		defer c.Close(ctx)
		i.admin = c
	}
	name := sqltext.Quoter{}.Ident(i.name)
	switch {
	case keep && i.given:
		return nil
	case keep:
		return i.admin.Exec(ctx, "COMMENT ON DATABASE "+name+" IS "+sqltext.EscapeLiteral(keptMark))
	case i.given:
		if err := i.empty(ctx, roles); err != nil {
			return err
		}
	default:
		if err := i.drop(ctx, name); err != nil {
			return fmt.Errorf("drop database %s: %w", i.name, err)
		}
	}
	var errs []error
	for _, r := range roles {
		if err := i.admin.Exec(ctx, "DROP ROLE IF EXISTS "+sqltext.Quoter{}.Ident(r)); err != nil {
			errs = append(errs, fmt.Errorf("drop role %s, which was created for the copy: %w", r, err))
		}
	}
	return errors.Join(errs...)
}

// drop drops the database with all its sessions.
func (i *instance) drop(ctx context.Context, name string) error {
	if i.admin.Version() >= 130000 {
		return i.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	}
	err := i.admin.Query(ctx, "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE datname = "+sqltext.EscapeLiteral(i.name), func([][]byte) error { return nil })
	if err != nil {
		return err
	}
	return i.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name)
}
