package pg

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Notice is a message of the server that is not an error.
type Notice = pgconn.Notice

// Prompt says when the user is asked for a password.
type Prompt uint8

// The values of Prompt.
const (
	PromptIfNeeded Prompt = iota // when the server wants one and none is known
	PromptNever                  // -w
	PromptAlways                 // -W: before the first attempt
)

// Overrides are what the command line says about a connection besides the database argument. Empty fields say nothing.
type Overrides struct {
	Host     string // -h, also a list
	Port     string // -p, also a list
	User     string // -U
	Password string

	// Database, if set, replaces whatever database the connection string names.
	Database string

	// ApplicationName is what the session is called when neither the connection string nor PGAPPNAME has a name.
	ApplicationName string

	Prompt Prompt

	// AskPassword asks the user. With nil nobody is asked.
	AskPassword func(prompt string) (string, error)

	// Warn takes lines such as the one about a password file that others can read; nil prints them to standard error.
	Warn func(line string)
}

// Host is one place to find the server.
type Host struct {
	Name string // host name, or the folder of a Unix socket; "@…" is an abstract socket
	Addr string // numeric address (hostaddr), "" to look the name up
	Port string // in digits

	// defaulted says that nobody named a host.
	defaulted bool
	password  string // from the password file
}

// isSocket says whether the host is a Unix socket.
func (h Host) isSocket() bool {
	return h.Addr == "" && (filepath.IsAbs(h.Name) || strings.HasPrefix(h.Name, "/") || strings.HasPrefix(h.Name, "@"))
}

// socketPath is the path of the socket, as libpq shows it.
func (h Host) socketPath() string { return h.Name + "/.s.PGSQL." + h.Port }

// Config says how to reach a server and what to be there. It comes from ParseConfig and is not changed afterwards;
// With… methods give changed copies. Copies share the password that a user typed in.
type Config struct {
	Hosts    []Host
	User     string
	Database string

	// OnNotice takes notices and warnings of the server. It is called while a statement runs and must
	// not use the connection. May be nil.
	OnNotice func(*Notice)

	s        settings
	ask      func(string) (string, error)
	prompt   Prompt
	secret   *secret
	passfile string
	env      environment

	// read from s
	sessionParameters map[string]string
	connectTimeout    time.Duration
	keepAlive         net.KeepAliveConfig
	tcpUserTimeout    time.Duration
	tls               *tlsOptions
}

// secret is a password typed in by the user, shared by the copies of a Config.
type secret struct {
	mu    sync.Mutex
	value string
	asked bool
}

// ParseConfig reads a connection string the way pg_dump's database argument is read: a plain name is a database;
// anything with "=" or starting with postgres:// or postgresql:// is a connection string, and what it says goes before o's host, port,
// user and password (ConnectDatabase in src/bin/pg_dump/connectdb.c). What neither says comes from the service, the
// environment and libpq's defaults. Errors never show a value of the string other than harmless ones.
func ParseConfig(connString string, o Overrides) (*Config, error) {
	warn := o.Warn
	if warn == nil {
		warn = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	return parseConfig(connString, o, environment{lookup: os.LookupEnv, home: homeDir, user: osUser, warn: warn})
}

func homeDir() string {
	if h := os.Getenv("HOME"); h != "" && runtime.GOOS != "windows" {
		return h
	}
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

func osUser() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("could not look up local user ID %d: %w", os.Geteuid(), err)
	}
	return u.Username, nil
}

func parseConfig(connString string, o Overrides, e environment) (*Config, error) {
	s := settings{}
	for _, f := range []struct{ keyword, value string }{
		{"host", o.Host}, {"port", o.Port}, {"user", o.User}, {"password", o.Password},
		{"fallback_application_name", o.ApplicationName},
	} {
		if f.value != "" {
			if err := s.set(f.keyword, f.value); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case isConnString(connString):
		given, err := parseConnString(connString)
		if err != nil {
			return nil, err
		}
		maps.Copy(s, given)
	case connString != "":
		if err := s.set("dbname", connString); err != nil {
			return nil, err
		}
	}
	if o.Database != "" {
		if err := s.set("dbname", o.Database); err != nil {
			return nil, err
		}
	}
	if err := addDefaults(s, e); err != nil {
		return nil, err
	}
	c := &Config{s: s, ask: o.AskPassword, prompt: o.Prompt, secret: &secret{}, env: e}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// read works the settings into c (pqConnectOptions2).
func (c *Config) read() error {
	for keyword, r := range refused {
		if v := c.s[keyword]; !slices.Contains(r.harmless, v) {
			if keyword == "gssencmode" && v != "require" {
				return invalidValue(keyword, v)
			}
			return fmt.Errorf("connection option %q: %s", keyword, r.why)
		}
	}
	if err := c.readHosts(); err != nil {
		return err
	}
	c.User = c.s["user"]
	if c.User == "" {
		u, err := c.env.user()
		if err != nil {
			return err
		}
		c.User = u
	}
	c.Database = c.s["dbname"]
	if c.Database == "" {
		c.Database = c.User
	}
	c.passfile = c.s["passfile"]
	if c.passfile == "" {
		if home := c.env.home(); home != "" {
			c.passfile = filepath.Join(home, ".pgpass")
		}
	}
	c.readPasswords()

	for _, v := range []struct {
		keyword string
		allowed []string
	}{
		{"channel_binding", []string{"disable", "prefer", "require"}},
		{"target_session_attrs", []string{"any", "read-write", "read-only", "primary", "standby", "prefer-standby"}},
		{"load_balance_hosts", []string{"disable", "random"}},
		{"min_protocol_version", []string{"", "3.0", "3.2", "latest"}},
		{"max_protocol_version", []string{"", "3.0", "3.2", "latest"}},
	} {
		// an empty value of a setting with a default stands for the default
		if got := c.s[v.keyword]; got != "" && !slices.Contains(v.allowed, got) {
			return invalidValue(v.keyword, got)
		}
	}
	if err := checkRequireAuth(c.s["require_auth"]); err != nil {
		return err
	}
	lo, hi := c.s["min_protocol_version"], c.s["max_protocol_version"]
	if lo != "" && lo != "3.0" && hi == "3.0" {
		return errors.New(`"min_protocol_version" is greater than "max_protocol_version"`)
	}

	secs, err := c.seconds("connect_timeout", 0)
	if err != nil {
		return err
	}
	c.connectTimeout = max(secs, 0)
	if err := c.readKeepAlive(); err != nil {
		return err
	}
	if c.tls, err = readTLS(c.s, c.env); err != nil {
		return err
	}
	c.sessionParameters = c.readSession()
	return nil
}

func invalidValue(keyword, value string) error {
	return fmt.Errorf("invalid %s value: %q", keyword, value)
}

func (c *Config) readHosts() error {
	split := func(keyword string) []string {
		if c.s[keyword] == "" {
			return nil
		}
		return strings.Split(c.s[keyword], ",")
	}
	names, addrs, ports := split("host"), split("hostaddr"), split("port")
	n := max(1, len(names))
	if len(addrs) > 0 {
		n = len(addrs)
		if len(names) > 0 && len(names) != n {
			return fmt.Errorf("could not match %d host names to %d hostaddr values", len(names), n)
		}
	}
	if len(ports) > 1 && len(ports) != n {
		return fmt.Errorf("could not match %d port numbers to %d hosts", len(ports), n)
	}
	at := func(list []string, i int) string {
		if len(list) == 1 && len(list) < n {
			i = 0
		}
		if i < len(list) {
			return list[i]
		}
		return ""
	}
	c.Hosts = make([]Host, n)
	for i := range c.Hosts {
		h := Host{Addr: at(addrs, i), Port: at(ports, i)}
		if i < len(names) {
			h.Name = names[i]
		}
		if h.Port == "" {
			h.Port = "5432"
		}
		port, err := strconv.Atoi(strings.Trim(h.Port, connSpace))
		if err != nil {
			return fmt.Errorf("invalid integer value %q for connection option \"port\"", h.Port)
		}
		if port < 1 || port > 65535 {
			return fmt.Errorf("invalid port number: %q", h.Port)
		}
		h.Port = strconv.Itoa(port)
		if h.Addr != "" && net.ParseIP(h.Addr) == nil {
			if host, _, ok := strings.Cut(h.Addr, "%"); !ok || net.ParseIP(host) == nil { // with a zone
				return fmt.Errorf("could not parse network address %q: Name or service not known", h.Addr)
			}
		}
		if h.Name == "" && h.Addr == "" {
			h.Name, h.defaulted = defaultHost(h.Port), true
		}
		c.Hosts[i] = h
	}
	return nil
}

// socketDirs are where servers put their sockets: Debian's and others' packages, then PostgreSQL's own default.
var socketDirs = []string{"/var/run/postgresql", "/tmp"}

// defaultHost is where a server is looked for when nobody says where: the first of socketDirs with a socket for the port,
// else the first that exists, else localhost.
func defaultHost(port string) string {
	for _, d := range socketDirs {
		if _, err := os.Stat(Host{Name: d, Port: port}.socketPath()); err == nil {
			return d
		}
	}
	if runtime.GOOS != "windows" {
		for _, d := range socketDirs {
			if st, err := os.Stat(d); err == nil && st.IsDir() {
				return d
			}
		}
	}
	return "localhost"
}

// readPasswords looks each host up in the password file, unless there is a password already.
func (c *Config) readPasswords() {
	if c.s["password"] != "" {
		return
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		host := h.Name
		switch {
		case host == "":
			host = h.Addr
		case h.defaulted, slices.Contains(socketDirs, host):
			host = "localhost"
		}
		h.password = passfilePassword(c.passfile, host, h.Port, c.Database, c.User, c.env.warn)
	}
}

// password returns what to say to a host, and whether it came from the password file.
func (c *Config) password(h Host) (value string, fromFile bool) {
	c.secret.mu.Lock()
	defer c.secret.mu.Unlock()
	switch {
	case c.secret.value != "":
		return c.secret.value, false
	case c.s["password"] != "":
		return c.s["password"], false
	}
	return h.password, h.password != ""
}

// askPassword asks the user once for all copies of c. It returns false if there is nobody to ask or was asked before.
func (c *Config) askPassword() (bool, error) {
	if c.ask == nil || c.prompt == PromptNever {
		return false, nil
	}
	c.secret.mu.Lock()
	defer c.secret.mu.Unlock()
	if c.secret.asked {
		return c.secret.value != "", nil
	}
	c.secret.asked = true
	v, err := c.ask("Password: ")
	if err != nil {
		return false, fmt.Errorf("read password: %w", err)
	}
	c.secret.value = v
	return true, nil
}

func (c *Config) integer(keyword string, def int) (int, error) {
	v := strings.Trim(c.s[keyword], connSpace)
	if c.s[keyword] == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("invalid integer value %q for connection option %q", c.s[keyword], keyword)
	}
	return int(n), nil
}

func (c *Config) seconds(keyword string, def time.Duration) (time.Duration, error) {
	n, err := c.integer(keyword, int(def/time.Second))
	return time.Duration(n) * time.Second, err
}

// readKeepAlive reads the options of TCP. Without options keepalives are on, as in libpq; Go's own idle time (15 s, the system's
// is two hours) is kept, because a snapshot may be held open for hours over a connection that says nothing.
func (c *Config) readKeepAlive() error {
	on, err := c.integer("keepalives", 1)
	if err != nil {
		return err
	}
	idle, err := c.seconds("keepalives_idle", 0)
	if err != nil {
		return err
	}
	interval, err := c.seconds("keepalives_interval", 0)
	if err != nil {
		return err
	}
	count, err := c.integer("keepalives_count", 0)
	if err != nil {
		return err
	}
	ms, err := c.integer("tcp_user_timeout", 0)
	if err != nil {
		return err
	}
	c.keepAlive = net.KeepAliveConfig{Enable: on != 0, Idle: max(idle, 0), Interval: max(interval, 0), Count: max(count, 0)}
	c.tcpUserTimeout = time.Duration(max(ms, 0)) * time.Millisecond
	return nil
}

// readSession collects the run-time parameters of the start-up message (build_startup_packet in fe-protocol3.c).
func (c *Config) readSession() map[string]string {
	p := map[string]string{}
	if v := c.s["options"]; v != "" {
		p["options"] = v
	}
	if v := c.s["application_name"]; v != "" {
		p["application_name"] = v
	} else if v := c.s["fallback_application_name"]; v != "" {
		p["application_name"] = v
	}
	if v := c.s["client_encoding"]; v != "" {
		if v == "auto" {
			v = localeEncoding(c.env)
		}
		p["client_encoding"] = v
	}
	for _, v := range sessionEnv {
		if val := c.env.get(v.env); val != "" && !strings.EqualFold(val, "default") {
			p[v.parameter] = val
		}
	}
	return p
}

// localeEncoding is the encoding of the locale's texts: UTF8, or SQL_ASCII when it cannot be told.
func localeEncoding(e environment) string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := e.get(name)
		if v == "" {
			continue
		}
		_, charset, _ := strings.Cut(v, ".")
		charset, _, _ = strings.Cut(charset, "@")
		switch strings.ToLower(strings.ReplaceAll(charset, "-", "")) {
		case "utf8":
			return "UTF8"
		case "iso88591":
			return "LATIN1"
		case "iso885915":
			return "LATIN9"
		case "koi8r":
			return "KOI8R"
		case "eucjp":
			return "EUC_JP"
		}
		break
	}
	return "SQL_ASCII"
}

// checkRequireAuth checks a list of authentication methods.
func checkRequireAuth(list string) error {
	if list == "" {
		return nil
	}
	seen := map[string]bool{}
	for i, m := range strings.Split(list, ",") {
		name, negative := strings.CutPrefix(m, "!")
		if i > 0 && negative != strings.HasPrefix(list, "!") {
			if negative {
				return fmt.Errorf("negative require_auth method %q cannot be mixed with non-negative methods", name)
			}
			return fmt.Errorf("require_auth method %q cannot be mixed with negative methods", name)
		}
		if !slices.Contains([]string{"password", "md5", "gss", "sspi", "scram-sha-256", "oauth", "none"}, name) {
			return invalidValue("require_auth", name)
		}
		if seen[name] {
			return fmt.Errorf("require_auth method %q is specified more than once", m)
		}
		seen[name] = true
	}
	return nil
}

// clone copies c; the typed-in password stays shared.
func (c *Config) clone() *Config {
	d := *c
	d.s = maps.Clone(c.s)
	d.Hosts = slices.Clone(c.Hosts)
	return &d
}

// WithDatabase returns a copy of c for another database of the same server. The name is taken as it is, also
// if it looks like a connection string.
func (c *Config) WithDatabase(name string) *Config {
	d := c.clone()
	d.Database = name
	d.s["dbname"] = name
	d.readPasswords()
	return d
}

// WithOnNotice returns a copy of c with another OnNotice.
func (c *Config) WithOnNotice(f func(*Notice)) *Config {
	d := c.clone()
	d.OnNotice = f
	return d
}

// WithHost returns a copy of c that knows only one of its hosts, by its position in Hosts, so that all
// sessions of a dump meet the same server. See Conn.Host.
func (c *Config) WithHost(i int) *Config {
	d := c.clone()
	d.Hosts = []Host{c.Hosts[i]}
	return d
}

// hidden are the options that String does not show.
var hidden = []string{"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}

// String returns a connection string of keywords and values that leads to the same place, without passwords.
func (c *Config) String() string {
	s := maps.Clone(c.s)
	for _, k := range hidden {
		delete(s, k)
	}
	s["user"], s["dbname"] = c.User, c.Database
	var names, addrs, ports []string
	for _, h := range c.Hosts {
		names, addrs, ports = append(names, h.Name), append(addrs, h.Addr), append(ports, h.Port)
	}
	s["host"], s["hostaddr"], s["port"] = strings.Join(names, ","), strings.Join(addrs, ","), strings.Join(ports, ",")
	if strings.Trim(s["hostaddr"], ",") == "" {
		delete(s, "hostaddr")
	}
	var parts []string
	for _, o := range options {
		v, ok := s[o.keyword]
		if !ok || v == o.def && o.keyword != "host" || o.keyword == "service" {
			continue
		}
		parts = append(parts, o.keyword+"="+sqltext.ConnStringValue(v))
	}
	return strings.Join(parts, " ")
}

// LogValue is what a log shows of c; it is String.
func (c *Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Format keeps passwords out of %v, %+v and %#v.
func (c *Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
