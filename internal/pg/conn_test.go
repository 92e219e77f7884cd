package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// open connects to a fresh database of s.
func open(t *testing.T, s *pgtest.Server) *Conn {
	t.Helper()
	return dial(t, s.NewDatabase(t).DSN, Overrides{})
}

func dial(t *testing.T, dsn string, o Overrides) *Conn {
	t.Helper()
	c, err := ParseConfig(dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, c)
}

func connect(t *testing.T, c *Config) *Conn {
	t.Helper()
	conn, err := Connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func value(t *testing.T, c *Conn, sql string) string {
	t.Helper()
	v, err := c.Value(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func exec(t *testing.T, c *Conn, sql string) {
	t.Helper()
	if err := c.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestConn(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		c := open(t, s)
		if c.Version()/10000 != s.Major || value(t, c, "SHOW server_version_num") != fmt.Sprint(c.Version()) ||
			value(t, c, "SHOW server_version") != c.VersionString() {
			t.Errorf("version %d %q", c.Version(), c.VersionString())
		}
		if value(t, c, "SELECT pg_backend_pid()") != fmt.Sprint(c.BackendPID()) {
			t.Error("backend PID")
		}
		if c.Parameter("server_encoding") != "UTF8" {
			t.Errorf("server_encoding %q", c.Parameter("server_encoding"))
		}

		var got []string
		err := c.Query(t.Context(), "SELECT 1, NULL, 'x' UNION ALL SELECT 2, 'y', ''; SELECT 'second'", func(v [][]byte) error {
			got = append(got, fmt.Sprintf("%q", v))
			if len(v) > 1 && (v[1] == nil) != (string(v[0]) == "1") {
				t.Error("NULL is not nil")
			}
			return nil
		})
		if want := `["1" "" "x"] ["2" "y" ""] ["second"]`; err != nil || strings.Join(got, " ") != want {
			t.Errorf("rows %v, %v", got, err)
		}

		stop := errors.New("enough")
		n := 0
		err = c.Query(t.Context(), "SELECT generate_series(1, 100000)", func([][]byte) error {
			n++
			if e := c.Ping(t.Context()); !errors.Is(e, ErrBusy) {
				t.Errorf("a statement inside a statement: %v", e)
			}
			return stop
		})
		if !errors.Is(err, stop) || n != 1 {
			t.Errorf("callback error: %v after %d rows", err, n)
		}

		err = c.Exec(t.Context(), "SELECT 1; SELECT nope; SELECT 2")
		if SQLState(err) != "42703" || !IsUndefined(err) || IsConnectionLost(err) {
			t.Errorf("error: %v", err)
		}
		want := "ERROR:  column \"nope\" does not exist\nLINE 1: SELECT 1; SELECT nope; SELECT 2\n                         ^"
		if got := Message(err, "SELECT 1; SELECT nope; SELECT 2"); got != want {
			t.Errorf("message\n%s\nwant\n%s", got, want)
		}
		exec(t, c, "BEGIN")
		if c.TxStatus() != 'T' {
			t.Errorf("status %c", c.TxStatus())
		}
		_ = c.Exec(t.Context(), "SELECT 1/0")
		if c.TxStatus() != 'E' {
			t.Errorf("status %c", c.TxStatus())
		}
		exec(t, c, "ROLLBACK")
	})
}

func TestNotices(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		var got []string
		c, err := ParseConfig(s.NewDatabase(t).DSN, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		conn := connect(t, c.WithOnNotice(func(n *Notice) { got = append(got, n.Severity+" "+n.Message) }))
		exec(t, conn, "DO $$BEGIN RAISE NOTICE 'one'; END$$")
		exec(t, conn, `CREATE FUNCTION talk(i int) RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'row %', i; RETURN i; END$$`)
		rows, err := conn.CopyTo(t.Context(), "COPY (SELECT talk(i) FROM generate_series(1, 2) AS i) TO STDOUT", CopySinkFunc(func([]byte, []int) error { return nil }))
		if err != nil || rows != 2 {
			t.Errorf("%d rows, %v", rows, err)
		}
		if want := "NOTICE one,WARNING row 1,WARNING row 2"; strings.Join(got, ",") != want {
			t.Errorf("notices %q", got)
		}
	})
}

func TestCancel(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		c := open(t, s)
		watch := dial(t, s.DSN, Overrides{})
		running := func() bool {
			return value(t, watch, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'active' AND query LIKE '%%pg_sleep%%'", c.BackendPID())) == "1"
		}

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Exec(ctx, "SELECT pg_sleep(600)") }()
		for !running() {
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || SQLState(err) != "57014" {
			t.Errorf("cancelled by context: %v", err)
		}
		if value(t, c, "SELECT 'usable'") != "usable" {
			t.Error("not usable")
		}

		go func() { done <- c.Exec(t.Context(), "SELECT pg_sleep(600)") }()
		for !running() {
		}
		if err := c.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; !IsCanceled(err) || errors.Is(err, context.Canceled) {
			t.Errorf("cancelled by Cancel: %v", err)
		}
		if err := c.Exec(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
			t.Errorf("context done before: %v", err)
		}
	})
}

func TestTerminated(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		c := open(t, s)
		other := dial(t, s.DSN, Overrides{})
		exec(t, other, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", c.BackendPID()))
		err := c.Exec(t.Context(), "SELECT 1")
		if !IsConnectionLost(err) || !c.IsClosed() {
			t.Errorf("error %v, closed %v", err, c.IsClosed())
		}
		if err := c.Exec(t.Context(), "SELECT 1"); !IsConnectionLost(err) {
			t.Errorf("error of the next statement %v", err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func TestKeepAlive(t *testing.T) {
	s := pgtest.Newest(t)
	c := open(t, s)
	other := dial(t, s.DSN, Overrides{})
	tick := make(chan time.Time)
	stop := c.keepAlive(tick, func() {})
	tick <- time.Time{}
	tick <- time.Time{} // the first beat is over
	for range 100 {
		exec(t, c, "SELECT 1")
	}
	if err := c.Query(t.Context(), "SELECT 1", func([][]byte) error { tick <- time.Time{}; return nil }); err != nil {
		t.Errorf("a beat during a statement: %v", err)
	}
	exec(t, other, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", c.BackendPID()))
	lost := waitLost(c)
	select {
	case tick <- time.Time{}:
	case <-lost: // the beat before came late, after the statement
	}
	select {
	case tick <- time.Time{}:
		t.Error("the heart goes on without a server")
	case <-lost:
	}
	if err := stop(); !IsConnectionLost(err) {
		t.Errorf("lost session: %v", err)
	}

	stop = other.KeepAlive(time.Hour)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// waitLost closes its channel when the session is over.
func waitLost(c *Conn) <-chan struct{} { return c.pg.CleanupDone() }

func TestConnectErrors(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		base, err := ParseConfig(s.DSN, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		h := base.Hosts[0]
		empty := t.TempDir()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		closed := l.Addr().(*net.TCPAddr).Port
		l.Close()
		where := `connection to server on socket "` + h.Name + "/.s.PGSQL." + h.Port + `" failed: `
		if !h.isSocket() {
			where = "connection to server at "
		}

		tests := []struct {
			name, dsn string
			o         Overrides
			want      []string
		}{
			{name: "no such database", dsn: s.DSN, o: Overrides{Database: "qqq"}, want: []string{where, `failed: FATAL:  database "qqq" does not exist`}},
			{name: "no such role", dsn: base.String() + " user=nobody_at_all", want: []string{where, `failed: FATAL:  role "nobody_at_all" does not exist`}},
			{name: "no socket", dsn: "user=u host=" + empty + " port=1", want: []string{
				`connection to server on socket "` + empty + `/.s.PGSQL.1" failed: No such file or directory` + "\n\tIs the server running locally and accepting connections on that socket?"}},
			{name: "nobody listens", dsn: fmt.Sprintf("user=u host=127.0.0.1 port=%d", closed), want: []string{
				fmt.Sprintf("connection to server at \"127.0.0.1\", port %d failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?", closed)}},
			{name: "address beside the name", dsn: fmt.Sprintf("user=u host=somewhere hostaddr=127.0.0.1 port=%d", closed), want: []string{
				fmt.Sprintf("connection to server at \"somewhere\" (127.0.0.1), port %d failed: Connection refused", closed)}},
			{name: "two hosts", dsn: fmt.Sprintf("user=u host=127.0.0.1,%s port=%d", empty, closed), want: []string{"Connection refused", "No such file or directory"}},
			{name: "no such host", dsn: "user=u host=does-not-exist.invalid", want: []string{`could not translate host name "does-not-exist.invalid" to address: `}},
		}
		for _, tt := range tests {
			c, err := ParseConfig(tt.dsn, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Connect(t.Context(), c)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v\nwant %s", tt.name, err, want)
				}
			}
		}

		// the second host answers
		dsn := strings.Replace(base.String(), "host=", "host="+empty+",", 1)
		dsn = strings.Replace(strings.ReplaceAll(dsn, "'", ""), "port=", "port="+h.Port+",", 1)
		c := dial(t, dsn, Overrides{})
		if _, i := c.Host(); i != 1 || len(c.SameHost().Hosts) != 1 {
			t.Errorf("host %d", i)
		}
		if err := c.checkSession(t.Context(), "standby"); text(err) != "server is not in hot standby mode" {
			t.Errorf("standby wanted: %v", err)
		}
		if err := c.checkSession(t.Context(), "read-only"); text(err) != "session is not read-only" {
			t.Errorf("read-only wanted: %v", err)
		}
		for _, want := range []string{"any", "primary", "read-write", "prefer-standby"} {
			dial(t, s.DSN+attrs(s.DSN, want), Overrides{})
		}
	})
}

func attrs(dsn, want string) string {
	if !isURI(dsn) {
		return " target_session_attrs=" + want
	}
	if strings.Contains(dsn, "?") {
		return "&target_session_attrs=" + want
	}
	return "?target_session_attrs=" + want
}

// A server that speaks to nobody else tests what a real one does not do on demand.
func TestConnectFakeServer(t *testing.T) {
	authMessage := func(kind uint32, more string) []byte {
		return wire([]frame{{'R', append([]byte{0, 0, 0, byte(kind)}, more...)}})
	}
	tests := []struct {
		name     string
		options  string
		serve    func(c net.Conn)
		want     string
		password string
	}{
		{name: "wants a password, none is known", options: "sslmode=disable", want: "fe_sendauth: no password supplied", serve: func(c net.Conn) {
			startup(c)
			c.Write(authMessage(3, ""))
			if b, _ := io.ReadAll(c); len(b) > 0 {
				t.Errorf("answered %q", b)
			}
		}},
		{name: "wants SCRAM", options: "sslmode=disable", want: "fe_sendauth: no password supplied", serve: func(c net.Conn) {
			startup(c)
			m := authMessage(10, "SCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00\x00")
			for _, b := range m { // byte by byte
				c.Write([]byte{b})
			}
			if b, _ := io.ReadAll(c); len(b) > 0 {
				t.Errorf("answered %q", b)
			}
		}},
		{name: "hangs up", options: "sslmode=disable", want: "server closed the connection unexpectedly\n\tThis probably means", serve: func(c net.Conn) { startup(c) }},
		{name: "no SSL", options: "sslmode=require", want: "server does not support SSL, but SSL was required", serve: func(c net.Conn) {
			io.ReadFull(c, make([]byte, 8))
			c.Write([]byte("N"))
			io.ReadAll(c)
		}},
		{name: "an unauthenticated error", options: "sslmode=require", want: "server sent an error response during SSL exchange", serve: func(c net.Conn) {
			io.ReadFull(c, make([]byte, 8))
			c.Write([]byte("E\x00\x00\x00\x10SFATAL\x00Mhi\x00\x00"))
			io.ReadAll(c)
		}},
		{name: "wrong password from the file", options: "sslmode=disable", password: "tulip", want: "FATAL:  password authentication failed\npassword retrieved from file", serve: func(c net.Conn) {
			startup(c)
			c.Write(authMessage(3, ""))
			io.ReadFull(c, make([]byte, 1+4+6))
			c.Write(wire([]frame{{'E', []byte("SFATAL\x00VFATAL\x00C28P01\x00Mpassword authentication failed\x00\x00")}}))
		}},
		{name: "says nothing", options: "sslmode=disable connect_timeout=1", want: "timeout expired", serve: func(c net.Conn) { io.ReadAll(c) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			go func() {
				defer close(served)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				tt.serve(c)
			}()
			env, _ := testEnv(t, nil)
			if tt.password != "" {
				write(t, filepath.Join(env.home(), ".pgpass"), 0o600, "*:*:*:*:"+tt.password+"\n")
			}
			c, err := parseConfig(fmt.Sprintf("host=127.0.0.1 port=%d user=u %s", l.Addr().(*net.TCPAddr).Port, tt.options), Overrides{}, env)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Connect(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), "failed: "+tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "tulip") {
				t.Errorf("the error shows the password: %#v", err)
			}
			l.Close()
			<-served
		})
	}
}

// startup reads a start-up message.
func startup(c net.Conn) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err == nil {
		io.ReadFull(c, make([]byte, max(4, int(size[2])<<8|int(size[3]))-4))
	}
}

// What pgconn would read from the environment must not get in.
func TestEnvironmentStaysOut(t *testing.T) {
	s := pgtest.Newest(t)
	base, err := ParseConfig(s.DSN, Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"PGSSLMODE": "nonsense", "PGSERVICE": "nowhere", "PGOPTIONS": "-c nonsense=1", "PGAPPNAME": "wrong", "PGTARGETSESSIONATTRS": "standby",
		"PGREQUIREAUTH": "nonsense", "PGPASSFILE": "/nowhere", "PGCHANNELBINDING": "nonsense", "PGUSER": "nobody", "PGSSLCERTMODE": "",
	} {
		t.Setenv(k, v)
	}
	c := connect(t, base)
	if v := value(t, c, "SHOW application_name"); v == "wrong" {
		t.Error("PGAPPNAME got in")
	}
}

func TestApplicationName(t *testing.T) {
	s := pgtest.Newest(t)
	c := dial(t, s.DSN, Overrides{ApplicationName: "pg_dump"})
	if v := value(t, c, "SHOW application_name"); v != "pg_dump" {
		t.Errorf("application_name %q", v)
	}
}

func TestMessage(t *testing.T) {
	long := "SELECT " + strings.Repeat("x", 40) + ", " + strings.Repeat("y", 40)
	tests := []struct {
		err  error
		sql  string
		want string
	}{
		{errors.New("plain"), "", "plain"},
		{&ServerError{Severity: "ERROR", Message: "bad", Detail: "d", Hint: "h", Where: "w"}, "", "ERROR:  bad\nDETAIL:  d\nHINT:  h\nCONTEXT:  w"},
		{&ServerError{Severity: "ERROR", Message: "bad", Position: 8}, "", "ERROR:  bad at character 8"},
		{&ServerError{Severity: "ERROR", Message: "bad", Position: 8}, "SELECT x", "ERROR:  bad\nLINE 1: SELECT x\n               ^"},
		{&ServerError{Severity: "ERROR", Message: "bad", Position: 10}, "SELECT\n\té x", "ERROR:  bad\nLINE 2:  é x\n          ^"},
		{&ServerError{Severity: "ERROR", Message: "bad", Position: 50}, long,
			"ERROR:  bad\nLINE 1: SELECT xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, yyyyyyyyyyy...\n                                                         ^"},
		{&ServerError{Severity: "ERROR", Message: "bad", InternalPosition: 1, InternalQuery: "boo"}, "", "ERROR:  bad\nLINE 1: boo\n        ^\nQUERY:  boo"},
	}
	for _, tt := range tests {
		if got := Message(tt.err, tt.sql); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}

// A server that wants a password makes Connect ask for it and try again; a second question is not asked.
func TestConnectAsks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	given := make(chan string, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			startup(c)
			c.Write(wire([]frame{{'R', []byte{0, 0, 0, 3}}}))
			b, _ := io.ReadAll(io.LimitReader(c, 1+4+7))
			given <- string(b)
			if string(b) == "p\x00\x00\x00\x0bsesame\x00" {
				c.Write(wire([]frame{{'R', []byte{0, 0, 0, 0}}, {'S', []byte("server_version\x0017.2\x00")}, {'Z', []byte("I")}}))
				io.Copy(io.Discard, c)
			}
			c.Close()
		}
	}()
	for _, prompt := range []Prompt{PromptIfNeeded, PromptAlways, PromptNever} {
		env, _ := testEnv(t, nil)
		questions := 0
		c, err := parseConfig(fmt.Sprintf("host=127.0.0.1 port=%d user=u sslmode=disable", l.Addr().(*net.TCPAddr).Port), Overrides{
			Prompt:      prompt,
			AskPassword: func(string) (string, error) { questions++; return "sesame", nil },
		}, env)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			conn, err := Connect(t.Context(), c)
			if prompt == PromptNever {
				if !IsWrongPassword(err) || <-given != "" {
					t.Errorf("-w: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if conn.Version() != 170002 {
				t.Errorf("version %d", conn.Version())
			}
			conn.Close(t.Context())
		}
		want := 1
		if prompt == PromptNever {
			want = 0
		}
		if questions != want {
			t.Errorf("prompt %d: %d questions, want %d", prompt, questions, want)
		}
		for len(given) > 0 {
			<-given
		}
	}
}
