package pg

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// target is one address of one host.
type target struct {
	host    Host
	network string // unix or tcp
	address string // for net.Dial
	ip      string // for messages, tcp only
}

// where names the target as libpq does (emitHostIdentityInfo in fe-connect.c).
func (t target) where() string {
	if t.network == "unix" {
		return fmt.Sprintf("connection to server on socket %q failed: ", t.host.socketPath())
	}
	shown := t.host.Name
	if shown == "" {
		shown = t.host.Addr
	}
	if t.ip != "" && t.ip != shown {
		return fmt.Sprintf("connection to server at %q (%s), port %s failed: ", shown, t.ip, t.host.Port)
	}
	return fmt.Sprintf("connection to server at %q, port %s failed: ", shown, t.host.Port)
}

// targets looks a host up.
func targets(ctx context.Context, h Host) ([]target, error) {
	if h.isSocket() {
		return []target{{host: h, network: "unix", address: h.socketPath()}}, nil
	}
	ips := []string{h.Addr}
	if h.Addr == "" {
		addrs, err := net.DefaultResolver.LookupHost(ctx, h.Name)
		if err != nil {
			return nil, fmt.Errorf("could not translate host name %q to address: %w", h.Name, lookupError(err))
		}
		ips = addrs
	}
	out := make([]target, len(ips))
	for i, ip := range ips {
		out[i] = target{host: h, network: "tcp", address: net.JoinHostPort(ip, h.Port), ip: ip}
	}
	return out, nil
}

func lookupError(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return errNameUnknown
	}
	return err
}

var errNameUnknown = errors.New("Name or service not known") //nolint:staticcheck // libpq's words

// encryption is one way to secure a connection.
type encryption uint8

const (
	plain encryption = iota
	encrypted
)

// encryptions lists the ways to try for a target, in order (init_allowed_encryption_methods).
func (c *Config) encryptions(t target) []encryption {
	if t.network == "unix" {
		return []encryption{plain}
	}
	switch c.tls.mode {
	case "disable":
		return []encryption{plain}
	case "allow":
		return []encryption{plain, encrypted}
	case "prefer":
		return []encryption{encrypted, plain}
	}
	return []encryption{encrypted}
}

// dialer opens sockets for one target. pgconn calls dial for the session, and again for each cancel request, which
// so goes to the same address with the same encryption.
type dialer struct {
	c   *Config
	t   target
	enc encryption
	use *certUse // of the latest handshake

	conn net.Conn // of the session
	err  error    // why there is none

	// refused says that the server does not do SSL and the mode lets us go on without.
	refused bool
}

func (d *dialer) dial(ctx context.Context) (net.Conn, error) {
	nd := net.Dialer{KeepAliveConfig: d.c.keepAlive}
	if !d.c.keepAlive.Enable {
		nd.KeepAlive = -1
	}
	if d.t.network == "tcp" && d.c.tcpUserTimeout > 0 {
		nd.Control = func(_, _ string, rc syscall.RawConn) error { return setUserTimeout(rc, d.c.tcpUserTimeout) }
	}
	conn, err := nd.DialContext(ctx, d.t.network, d.t.address)
	if err != nil {
		return nil, err
	}
	if err := d.secure(ctx, &conn); err != nil {
		conn.Close()
		return nil, err
	}
	return paced(conn), nil
}

// secure does what has to happen between connecting and the start-up message.
func (d *dialer) secure(ctx context.Context, conn *net.Conn) error {
	if want := d.c.s["requirepeer"]; want != "" && d.t.network == "unix" {
		if err := checkPeer(*conn, want); err != nil {
			return err
		}
	}
	if d.enc == plain {
		return nil
	}
	raw := *conn
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		stop()
		if ctx.Err() == nil {
			raw.SetDeadline(time.Time{})
		}
	}()

	tc, use, err := d.c.tls.config(d.t.host)
	if err != nil {
		return err
	}
	d.use = use
	if d.c.tls.negotiation != "direct" {
		ok, err := requestTLS(raw)
		switch {
		case err != nil:
			return err
		case !ok && d.c.tls.required():
			return errors.New("server does not support SSL, but SSL was required")
		case !ok:
			d.refused = true
			return nil
		}
	}
	secure := tls.Client(newReadAhead(paced(raw)), tc)
	if err := secure.HandshakeContext(ctx); err != nil {
		var name *serverNameError
		if errors.As(err, &name) {
			return name
		}
		return fmt.Errorf("SSL error: %w", err)
	}
	if d.c.tls.negotiation == "direct" && secure.ConnectionState().NegotiatedProtocol != "postgresql" {
		return errors.New("direct SSL connection was established without ALPN protocol negotiation extension")
	}
	*conn = secure
	return nil
}

// readAhead reads from a socket in larger blocks than crypto/tls, which reads about one record, that is 8 KiB of a server's, at a time.
type readAhead struct {
	net.Conn
	buf *bufio.Reader
}

func newReadAhead(conn net.Conn) readAhead {
	return readAhead{conn, bufio.NewReaderSize(conn, 128<<10)}
}

func (r readAhead) Read(p []byte) (int, error) { return r.buf.Read(p) }

// requestTLS asks the server to go on in TLS. It reads exactly one byte: more would be data that was not encrypted.
func requestTLS(conn net.Conn) (bool, error) {
	var msg [8]byte
	binary.BigEndian.PutUint32(msg[:4], 8)
	binary.BigEndian.PutUint32(msg[4:], 80877103)
	if _, err := conn.Write(msg[:]); err != nil {
		return false, fmt.Errorf("could not send SSL negotiation packet: %w", err)
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return false, serverGone(err)
	}
	switch answer[0] {
	case 'S':
		return true, nil
	case 'N':
		return false, nil
	case 'E':
		// whatever it says was not authenticated, so it is not shown (CVE-2024-10977)
		return false, errors.New("server sent an error response during SSL exchange")
	}
	return false, fmt.Errorf("received invalid response to SSL negotiation: %c", answer[0])
}

// checkPeer compares the owner of the process at the other end of a Unix socket with a user's name.
func checkPeer(conn net.Conn, want string) error {
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("requirepeer parameter is not supported on this platform")
	}
	uid, err := peerUID(uc)
	if err != nil {
		return fmt.Errorf("could not get peer credentials: %w", err)
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return fmt.Errorf("local user with ID %d does not exist", uid)
	}
	if u.Username != want {
		return fmt.Errorf("requirepeer specifies %q, but actual peer user name is %q", want, u.Username)
	}
	return nil
}

// errPasswordNeeded says that the server wants a password and none is known. It has libpq's words.
var errPasswordNeeded = errors.New("fe_sendauth: no password supplied")

// sessionReader sits between the socket and pgconn. It reads in large blocks, which helps big catalogue queries (pgconn's own
// buffer is 8 KiB), and before the session is up it stops a request for a password that is not known:
// pgconn would answer with an empty one, and servers count that as a failed attempt.
type sessionReader struct {
	*bufio.Reader
	noPassword bool
	head       []byte // the start of the current message until it is known to be harmless
	skip       int    // bytes of the body that still pass unseen
}

func newSessionReader(r io.Reader, havePassword bool) *sessionReader {
	return &sessionReader{Reader: bufio.NewReaderSize(r, 64<<10), noPassword: !havePassword}
}

func (r *sessionReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.noPassword && n > 0 && r.wantsPassword(p[:n]) {
		return 0, errPasswordNeeded
	}
	return n, err
}

// wantsPassword looks at the messages that come by for an authentication request that takes a password.
func (r *sessionReader) wantsPassword(b []byte) bool {
	for len(b) > 0 {
		if r.skip > 0 {
			k := min(r.skip, len(b))
			b, r.skip = b[k:], r.skip-k
			continue
		}
		r.head, b = append(r.head, b[0]), b[1:]
		if len(r.head) < 5 {
			continue
		}
		size := int(binary.BigEndian.Uint32(r.head[1:5]))
		switch kind := r.head[0]; {
		case kind != 'R', size < 8:
			if kind == 'E' || kind == 'Z' {
				r.noPassword = false // over
				return false
			}
			r.head, r.skip = r.head[:0], max(size-4, 0)
		case len(r.head) < 9:
		case size > 2000 || size > 8 && len(r.head) < 1+size && binary.BigEndian.Uint32(r.head[5:9]) == 10:
			if size > 2000 {
				r.noPassword = false
				return false
			}
		default:
			switch binary.BigEndian.Uint32(r.head[5:9]) {
			case 3, 5: // clear text, MD5
				return true
			case 10: // SASL: with OAuth only, a password would not help
				return containsSCRAM(r.head[9:])
			case 0: // let in
				r.noPassword = false
				return false
			}
			r.skip = max(1+size-len(r.head), 0)
			r.head = r.head[:0]
		}
	}
	return false
}

func containsSCRAM(mechanisms []byte) bool {
	return len(mechanisms) >= 5 && string(mechanisms[:5]) == "SCRAM" ||
		len(mechanisms) > 5 && containsSCRAM(mechanisms[1:])
}
