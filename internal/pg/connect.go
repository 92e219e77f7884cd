package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"
)

// ConnectError says why no connection could be made: one error for each attempt.
type ConnectError struct {
	Attempts []error
}

// Error has one attempt after the other on lines of their own, as libpq writes them.
func (e *ConnectError) Error() string {
	lines := make([]string, len(e.Attempts))
	for i, a := range e.Attempts {
		lines[i] = a.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As the server's errors, the last attempt's first.
func (e *ConnectError) Unwrap() []error {
	out := slices.Clone(e.Attempts)
	slices.Reverse(out)
	return out
}

// attemptError is the failure of one attempt.
type attemptError struct {
	t        target
	err      error
	passfile string // the password came from this file
}

func (e *attemptError) Error() string {
	text := e.t.where() + e.reason()
	if e.passfile != "" && SQLState(e.err) == "28P01" {
		text += fmt.Sprintf("\npassword retrieved from file %q", e.passfile)
	}
	return text
}

func (e *attemptError) Unwrap() error { return e.err }

func (e *attemptError) reason() string {
	var pe *ServerError
	var op *net.OpError
	switch {
	case errors.As(e.err, &pe):
		return Message(pe, "")
	case errors.Is(e.err, context.DeadlineExceeded) || errors.Is(e.err, os.ErrDeadlineExceeded):
		return "timeout expired"
	case errors.As(e.err, &op) && op.Op == "dial":
		text := systemError(op.Err)
		switch {
		case e.t.network == "unix" && (errors.Is(op, syscall.ENOENT) || errors.Is(op, syscall.ECONNREFUSED)):
			text += "\n\tIs the server running locally and accepting connections on that socket?"
		case errors.Is(op, syscall.ECONNREFUSED) || errors.Is(op, syscall.ETIMEDOUT):
			text += "\n\tIs the server running on that host and accepting TCP/IP connections?"
		}
		return text
	case errors.Is(e.err, errPasswordNeeded):
		return errPasswordNeeded.Error()
	case errors.Is(e.err, io.EOF), errors.Is(e.err, io.ErrUnexpectedEOF), errors.Is(e.err, syscall.ECONNRESET), errors.Is(e.err, syscall.EPIPE):
		return serverGone(e.err).Error()
	}
	return e.err.Error()
}

// cause takes off what pgconn puts around an error: a ConnectError, which holds the configuration and in it the
// password, then the attempt with address and user, which stand in our own text. "step: cause" is left.
func cause(err error) error {
	var ce *pgconn.ConnectError
	if !errors.As(err, &ce) {
		return err
	}
	inner := errors.Unwrap(ce)
	if j, ok := inner.(interface{ Unwrap() []error }); ok && len(j.Unwrap()) == 1 {
		inner = j.Unwrap()[0]
	}
	if next := errors.Unwrap(inner); next != nil {
		return next
	}
	return inner
}

// Connect opens a session: it tries the hosts in order, each with all its addresses and ways to encrypt, until one answers
// and is of the wanted kind (PQconnectPoll). It asks for a password when the server wants one and the Config says how.
// The error is a *ConnectError, or says that a password could not be read.
func Connect(ctx context.Context, c *Config) (*Conn, error) {
	if c.prompt == PromptAlways {
		if _, err := c.askPassword(); err != nil {
			return nil, err
		}
	}
	conn, err := c.connect(ctx)
	if err != nil && errors.Is(err, errPasswordNeeded) {
		asked, aerr := c.askPassword()
		if aerr != nil {
			return nil, aerr
		}
		if asked {
			conn, err = c.connect(ctx)
		}
	}
	return conn, err
}

// connect goes over the hosts; for target_session_attrs=prefer-standby twice, taking any server the second time.
func (c *Config) connect(ctx context.Context) (*Conn, error) {
	hosts := slices.Clone(c.Hosts)
	index := make([]int, len(hosts))
	for i := range index {
		index[i] = i
	}
	if c.s["load_balance_hosts"] == "random" {
		rand.Shuffle(len(index), func(i, j int) { index[i], index[j] = index[j], index[i] })
	}
	wants := []string{c.s["target_session_attrs"]}
	if wants[0] == "prefer-standby" {
		wants = []string{"standby", "any"}
	}
	failed := &ConnectError{}
	for _, want := range wants {
		for _, i := range index {
			conn, stop := c.connectHost(ctx, hosts[i], want, failed)
			if conn != nil {
				conn.hostIndex = i
				return conn, nil
			}
			if stop || ctx.Err() != nil {
				return nil, failed
			}
		}
	}
	return nil, failed
}

// connectHost tries one host. stop says that there is no use in trying others.
func (c *Config) connectHost(ctx context.Context, h Host, want string, failed *ConnectError) (conn *Conn, stop bool) {
	ts, err := targets(ctx, h)
	if err != nil {
		failed.Attempts = append(failed.Attempts, err)
		return nil, false
	}
	if c.s["load_balance_hosts"] == "random" {
		rand.Shuffle(len(ts), func(i, j int) { ts[i], ts[j] = ts[j], ts[i] })
	}
	for _, t := range ts {
		for _, enc := range c.encryptions(t) {
			conn, refused, err := c.attempt(ctx, t, enc)
			if err == nil {
				if err = conn.checkSession(ctx, want); err == nil {
					return conn, false
				}
				conn.Close(ctx)
				failed.Attempts = append(failed.Attempts, &attemptError{t: t, err: err})
				return nil, false // the next host, not the next address
			}
			_, fromFile := c.password(h)
			ae := &attemptError{t: t, err: err}
			if fromFile {
				ae.passfile = c.passfile
			}
			failed.Attempts = append(failed.Attempts, ae)
			switch {
			case ctx.Err() != nil || errors.Is(err, errPasswordNeeded):
				return nil, true
			case SQLState(err) == "57P03": // cannot connect now
				return nil, false
			case refused:
				return nil, SQLState(err) != "" // without encryption already
			case isDialError(err):
			case SQLState(err) != "" && enc == c.encryptions(t)[len(c.encryptions(t))-1]:
				return nil, true
			default:
				continue // the next encryption
			}
			break
		}
	}
	return nil, false
}

func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// baseConfig is a pgconn.Config that nothing of the environment got into: pgconn insists on making it itself, and would
// read PG… variables and files for whatever the string does not name.
var baseConfig = sync.OnceValues(func() (*pgconn.Config, error) {
	s := "host=/ port=5432 user=none database=none password=none sslmode=disable sslcertmode=allow sslnegotiation=postgres " +
		"connect_timeout=0 target_session_attrs=any min_protocol_version=3.0 max_protocol_version=3.0 channel_binding=prefer require_auth=''"
	if os.Getenv("PGSERVICE") != "" {
		// the only way to keep it from looking up that service is to show it another
		f, err := os.CreateTemp("", "pghaul-service-")
		if err != nil {
			return nil, fmt.Errorf("prepare connection: %w", err)
		}
		defer os.Remove(f.Name())
		_, err = f.WriteString("[none]\n")
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, fmt.Errorf("prepare connection: %w", err)
		}
		s += " service=none servicefile='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(f.Name()) + "'"
	}
	return pgconn.ParseConfig(s)
})

// attempt makes one session. refused says that encryption was tried and the server declined, so that the attempt was
// in fact one without.
func (c *Config) attempt(ctx context.Context, t target, enc encryption) (_ *Conn, refused bool, _ error) {
	base, err := baseConfig()
	if err != nil {
		return nil, false, err
	}
	d := &dialer{c: c, t: t, enc: enc}
	password, _ := c.password(t.host)
	conn := &Conn{config: c, host: t.host, parameters: map[string]changed{}}

	pc := base.Copy()
	pc.User, pc.Database, pc.Password = c.User, c.Database, password
	pc.RuntimeParams = c.sessionParameters
	pc.Port = 5432
	pc.Host = t.ip
	if t.network == "unix" {
		pc.Host = "/" // any absolute path: dial knows better
	}
	if n, err := strconv.ParseUint(t.host.Port, 10, 16); err == nil {
		pc.Port = uint16(n)
	}
	pc.ChannelBinding = orDefault(c.s["channel_binding"], "prefer")
	pc.RequireAuth = c.s["require_auth"]
	pc.MinProtocolVersion = orDefault(c.s["min_protocol_version"], "3.0")
	pc.MaxProtocolVersion = c.s["max_protocol_version"]
	if pc.MaxProtocolVersion == "" {
		pc.MaxProtocolVersion = "3.0"
		if pc.MinProtocolVersion != "3.0" {
			pc.MaxProtocolVersion = "latest"
		}
	}
	pc.KerberosSrvName = c.s["krbsrvname"]
	pc.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	pc.DialFunc = func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
		conn, err = d.dial(ctx)
		if d.conn == nil {
			d.err = err // not of a later cancel request
			d.conn = conn
		}
		return conn, err
	}
	pc.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		conn.reader = newSessionReader(r, password != "")
		return pgproto3.NewFrontend(conn.reader, w)
	}
	pc.BuildContextWatcherHandler = func(p *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: p, DeadlineDelay: cancelGrace}
	}
	pc.OnNotice = func(_ *pgconn.PgConn, n *Notice) {
		if c.OnNotice != nil {
			c.OnNotice(n)
		}
	}

	if c.connectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.connectTimeout)
		defer cancel()
	}
	p, err := pgconn.ConnectConfig(ctx, pc)
	if err != nil {
		switch e := ctx.Err(); {
		case e != nil && SQLState(err) == "":
			return nil, d.refused, e
		case d.err != nil:
			return nil, d.refused, d.err
		}
		return nil, d.refused, cause(err)
	}
	conn.reader.noPassword = false
	conn.pg = p
	if c.tls.certMode == "require" {
		if err := d.use.check(); err != nil {
			conn.Close(ctx)
			return nil, d.refused, err
		}
	}
	if err := conn.readVersion(); err != nil {
		conn.Close(ctx)
		return nil, d.refused, err
	}
	return conn, d.refused, nil
}

// check holds sslcertmode=require.
func (u *certUse) check() error {
	if u == nil || !u.requested {
		return errors.New("server did not request an SSL certificate")
	}
	if !u.sent {
		return errors.New("server accepted connection without a valid SSL certificate")
	}
	return nil
}

func orDefault(v, def string) string {
	if v == "" {
		return def
	}
	return v
}

// checkSession says whether the server is of the wanted kind (target_session_attrs).
func (c *Conn) checkSession(ctx context.Context, want string) error {
	if want == "" || want == "any" {
		return nil
	}
	readOnly, standby := c.Parameter("default_transaction_read_only"), c.Parameter("in_hot_standby")
	if readOnly == "" || standby == "" { // reported since 14
		var err error
		if standby, err = c.value(ctx, "SELECT pg_catalog.pg_is_in_recovery()"); err != nil {
			return err
		}
		if readOnly, err = c.value(ctx, "SHOW transaction_read_only"); err != nil {
			return err
		}
	}
	isStandby := standby == "on" || standby == "t"
	isReadOnly := readOnly == "on" || isStandby
	switch {
	case want == "read-write" && isReadOnly:
		return errors.New("session is read-only")
	case want == "read-only" && !isReadOnly:
		return errors.New("session is not read-only")
	case want == "primary" && isStandby:
		return errors.New("server is in hot standby mode")
	case want == "standby" && !isStandby:
		return errors.New("server is not in hot standby mode")
	}
	return nil
}
