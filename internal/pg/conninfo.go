package pg

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// option is one connection option of libpq with the places its default comes from.
type option struct {
	keyword, env, def string
}

// options are those of libpq 18 (PQconninfoOptions in fe-connect.c), less the three that only other
// programs of PostgreSQL use: they are in refused.
var options = []option{
	{"service", "PGSERVICE", ""},
	{"user", "PGUSER", ""},
	{"password", "PGPASSWORD", ""},
	{"passfile", "PGPASSFILE", ""},
	{"channel_binding", "PGCHANNELBINDING", "prefer"},
	{"connect_timeout", "PGCONNECT_TIMEOUT", ""},
	{"dbname", "PGDATABASE", ""},
	{"host", "PGHOST", ""},
	{"hostaddr", "PGHOSTADDR", ""},
	{"port", "PGPORT", "5432"},
	{"client_encoding", "PGCLIENTENCODING", ""},
	{"options", "PGOPTIONS", ""},
	{"application_name", "PGAPPNAME", ""},
	{"fallback_application_name", "", ""},
	{"keepalives", "", ""},
	{"keepalives_idle", "", ""},
	{"keepalives_interval", "", ""},
	{"keepalives_count", "", ""},
	{"tcp_user_timeout", "", ""},
	{"sslmode", "PGSSLMODE", "prefer"},
	{"sslnegotiation", "PGSSLNEGOTIATION", "postgres"},
	{"sslcompression", "PGSSLCOMPRESSION", "0"},
	{"sslcert", "PGSSLCERT", ""},
	{"sslkey", "PGSSLKEY", ""},
	{"sslcertmode", "PGSSLCERTMODE", ""},
	{"sslpassword", "", ""},
	{"sslrootcert", "PGSSLROOTCERT", ""},
	{"sslcrl", "PGSSLCRL", ""},
	{"sslcrldir", "PGSSLCRLDIR", ""},
	{"sslsni", "PGSSLSNI", "1"},
	{"requirepeer", "PGREQUIREPEER", ""},
	{"require_auth", "PGREQUIREAUTH", ""},
	{"min_protocol_version", "PGMINPROTOCOLVERSION", ""},
	{"max_protocol_version", "PGMAXPROTOCOLVERSION", ""},
	{"ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", "TLSv1.2"},
	{"ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", ""},
	{"gssencmode", "PGGSSENCMODE", "prefer"},
	{"krbsrvname", "PGKRBSRVNAME", "postgres"},
	{"gsslib", "PGGSSLIB", ""},
	{"gssdelegation", "PGGSSDELEGATION", "0"},
	{"replication", "", ""},
	{"target_session_attrs", "PGTARGETSESSIONATTRS", "any"},
	{"load_balance_hosts", "PGLOADBALANCEHOSTS", "disable"},
	{"scram_client_key", "", ""},
	{"scram_server_key", "", ""},
	{"oauth_issuer", "", ""},
	{"oauth_client_id", "", ""},
	{"oauth_client_secret", "", ""},
	{"oauth_scope", "", ""},
	{"sslkeylogfile", "", ""},
}

// refused are options whose value, unless it is one of those given, asks for something this client cannot do.
var refused = map[string]struct {
	harmless []string
	why      string
}{
	"replication":      {[]string{"", "0", "false", "off", "no"}, "replication connections cannot be dumped or restored"},
	"scram_client_key": {[]string{""}, "a SCRAM key instead of a password is for foreign servers only"},
	"scram_server_key": {[]string{""}, "a SCRAM key instead of a password is for foreign servers only"},
	"gssencmode":       {[]string{"disable", "prefer"}, "this program has no GSSAPI encryption"},
}

var knownOption = func() map[string]bool {
	m := make(map[string]bool, len(options))
	for _, o := range options {
		m[o.keyword] = true
	}
	return m
}()

// sessionEnv are variables that set a run-time parameter of the session (EnvironmentOptions in fe-connect.c).
var sessionEnv = []struct{ env, parameter string }{
	{"PGDATESTYLE", "datestyle"},
	{"PGTZ", "timezone"},
	{"PGGEQO", "geqo"},
}

// settings are connection options by keyword. A keyword that is absent was not given anywhere so far;
// one with an empty value was, and is not taken from the environment.
type settings map[string]string

// set stores a value under a keyword, which must be known. requiressl is the old name of two values of sslmode.
func (s settings) set(keyword, value string) error {
	if keyword == "requiressl" {
		keyword = "sslmode"
		if strings.HasPrefix(value, "1") {
			value = "require"
		} else {
			value = "prefer"
		}
	}
	if !knownOption[keyword] {
		return fmt.Errorf("invalid connection option %q", keyword)
	}
	if strings.IndexByte(value, 0) >= 0 {
		return fmt.Errorf("value of connection option %q contains a zero byte", keyword)
	}
	s[keyword] = value
	return nil
}

// isConnString says whether a database name is a connection string in disguise (recognized_connection_string).
func isConnString(s string) bool {
	return isURI(s) || strings.Contains(s, "=")
}

func isURI(s string) bool {
	return strings.HasPrefix(s, "postgresql://") || strings.HasPrefix(s, "postgres://")
}

// parseConnString reads a URI or a string of keywords and values, without defaults.
func parseConnString(s string) (settings, error) {
	if isURI(s) {
		return parseURI(s)
	}
	return parseKeywords(s)
}

const connSpace = " \t\n\v\f\r"

// parseKeywords reads "keyword = value …": values end at a space unless in single quotes, a backslash takes the next
// byte as it is (conninfo_parse). No error text holds a value: it may be a password.
func parseKeywords(s string) (settings, error) {
	out := settings{}
	rest := strings.TrimLeft(s, connSpace)
	for rest != "" {
		i := strings.IndexAny(rest, "="+connSpace)
		if i < 0 {
			i = len(rest)
		}
		keyword := rest[:i]
		rest = strings.TrimLeft(rest[i:], connSpace)
		if !strings.HasPrefix(rest, "=") {
			if len(out) > 0 && !knownOption[keyword] {
				// most likely the tail of a value with a space in it, and then perhaps of a password
				return nil, errors.New(`missing "=" in connection info string`)
			}
			return nil, fmt.Errorf("missing %q after %q in connection info string", "=", keyword)
		}
		rest = strings.TrimLeft(rest[1:], connSpace)
		var value []byte
		quoted := strings.HasPrefix(rest, "'")
		i = 0
		if quoted {
			i = 1
		}
		closed := false
		for i < len(rest) && !closed {
			switch c := rest[i]; {
			case c == '\\':
				if i++; i < len(rest) {
					value = append(value, rest[i])
				}
			case quoted && c == '\'', !quoted && strings.IndexByte(connSpace, c) >= 0:
				closed = true
			default:
				value = append(value, c)
			}
			i++
		}
		if quoted && !closed {
			return nil, errors.New("unterminated quoted string in connection info string")
		}
		rest = strings.TrimLeft(rest[min(i, len(rest)):], connSpace)
		if err := out.set(keyword, string(value)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseURI reads postgresql://[user[:password]@][host][:port][,…][/dbname][?keyword=value&…]
// (conninfo_uri_parse_options). Error texts hold neither the URI nor values: either may show a password.
func parseURI(uri string) (settings, error) {
	out := settings{}
	_, rest, _ := strings.Cut(uri, "://")

	store := func(keyword, raw string) error {
		if raw == "" {
			return nil
		}
		v, err := decodeURI(raw)
		if err != nil {
			return fmt.Errorf("%w in the %s of the URI", err, keyword)
		}
		return out.set(keyword, v)
	}

	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		user, password, _ := strings.Cut(rest[:i], ":")
		rest = rest[i+1:]
		if err := store("user", user); err != nil {
			return nil, err
		}
		if err := store("password", password); err != nil {
			return nil, err
		}
	}

	var hosts, ports []string
	for {
		var host, port string
		if strings.HasPrefix(rest, "[") {
			end := strings.IndexByte(rest, ']')
			switch {
			case end < 0:
				return nil, errors.New(`end of string reached when looking for matching "]" in IPv6 host address in URI`)
			case end == 1:
				return nil, errors.New("IPv6 host address may not be empty in URI")
			}
			host, rest = rest[1:end], rest[end+1:]
			if rest != "" && strings.IndexByte(":/?,", rest[0]) < 0 {
				return nil, errors.New(`unexpected character after an IPv6 host address in URI (expected ":" or "/")`)
			}
		} else {
			i := endOf(rest, ":/?,")
			host, rest = rest[:i], rest[i:]
		}
		if strings.HasPrefix(rest, ":") {
			i := endOf(rest[1:], "/?,")
			port, rest = rest[1:1+i], rest[1+i:]
		}
		hosts, ports = append(hosts, host), append(ports, port)
		if !strings.HasPrefix(rest, ",") {
			break
		}
		rest = rest[1:]
	}
	if err := store("host", strings.Join(hosts, ",")); err != nil {
		return nil, err
	}
	if err := store("port", strings.Join(ports, ",")); err != nil {
		return nil, err
	}

	if strings.HasPrefix(rest, "/") {
		i := endOf(rest, "?")
		if err := store("dbname", rest[1:i]); err != nil {
			return nil, err
		}
		rest = rest[i:]
	}
	if rest == "" {
		return out, nil
	}
	for _, pair := range strings.Split(strings.TrimSuffix(rest[1:], "&"), "&") {
		if pair == "" && len(rest) == 1 {
			break // "?" and nothing after it
		}
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, errors.New(`missing key/value separator "=" in URI query parameter`)
		}
		if strings.Contains(v, "=") {
			return nil, fmt.Errorf(`extra key/value separator "=" in URI query parameter: %q`, k)
		}
		keyword, err := decodeURI(k)
		if err != nil {
			return nil, err
		}
		value, err := decodeURI(v)
		if err != nil {
			return nil, fmt.Errorf("%w in URI query parameter %q", err, keyword)
		}
		if keyword == "ssl" && value == "true" { // as JDBC writes it
			keyword, value = "sslmode", "require"
		}
		if !knownOption[keyword] && keyword != "requiressl" {
			return nil, fmt.Errorf("invalid URI query parameter: %q", keyword)
		}
		if err := out.set(keyword, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func endOf(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

// decodeURI replaces %xy and drops spaces around the text; spaces inside are an error (conninfo_uri_decode).
func decodeURI(s string) (string, error) {
	s = strings.Trim(s, " ")
	if strings.Contains(s, " ") {
		return "", errors.New("unexpected spaces found, use percent-encoded spaces (%20) instead")
	}
	if !strings.Contains(s, "%") {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errors.New("invalid percent-encoded token")
		}
		hi, ok1 := hexDigit(s[i+1])
		lo, ok2 := hexDigit(s[i+2])
		if !ok1 || !ok2 {
			return "", errors.New("invalid percent-encoded token")
		}
		if hi|lo == 0 {
			return "", errors.New("forbidden value %00")
		}
		b = append(b, hi<<4|lo)
		i += 2
	}
	return string(b), nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// environment is where defaults come from besides files; tests put in their own.
type environment struct {
	lookup func(string) (string, bool) // os.LookupEnv
	home   func() string               // the user's home folder, "" if unknown
	user   func() (string, error)      // the operating system's user name
	warn   func(string)                // takes a warning line
}

func (e environment) get(name string) string {
	v, _ := e.lookup(name)
	return v
}

// addDefaults fills in what the connection string did not say: from the service, then the environment,
// then libpq's built-in defaults (conninfo_add_defaults).
func addDefaults(s settings, e environment) error {
	if err := addService(s, e); err != nil {
		return err
	}
	sslmodeGiven := false
	for _, o := range options {
		if _, ok := s[o.keyword]; ok {
			sslmodeGiven = sslmodeGiven || o.keyword == "sslmode"
			continue
		}
		if o.env != "" {
			if v, ok := e.lookup(o.env); ok {
				s[o.keyword] = v
				sslmodeGiven = sslmodeGiven || o.keyword == "sslmode"
				continue
			}
		}
		if o.keyword == "sslmode" && strings.HasPrefix(e.get("PGREQUIRESSL"), "1") {
			s["sslmode"] = "require"
			sslmodeGiven = true
			continue
		}
		if o.def != "" {
			s[o.keyword] = o.def
		}
	}
	if !sslmodeGiven && s["sslrootcert"] == "system" {
		s["sslmode"] = "verify-full"
	}
	return nil
}

// systemServiceDirs are where distributions built libpq to look for pg_service.conf.
var systemServiceDirs = []string{"/etc/postgresql-common", "/etc/sysconfig/pgsql", "/usr/local/pgsql/etc", "/usr/local/etc/postgresql", "/etc"}

// addService looks up the service named in s or in PGSERVICE: in PGSERVICEFILE or else ~/.pg_service.conf,
// then in the system's file (parseServiceInfo).
func addService(s settings, e environment) error {
	service, ok := s["service"]
	if !ok {
		if service, ok = e.lookup("PGSERVICE"); !ok {
			return nil
		}
	}
	if file, ok := e.lookup("PGSERVICEFILE"); ok {
		found, err := readService(s, file, service)
		if found || err != nil {
			return err
		}
	} else if home := e.home(); home != "" {
		file := filepath.Join(home, ".pg_service.conf")
		if _, err := os.Stat(file); err == nil {
			found, err := readService(s, file, service)
			if found || err != nil {
				return err
			}
		}
	}
	dirs := systemServiceDirs
	if dir, ok := e.lookup("PGSYSCONFDIR"); ok {
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		file := filepath.Join(dir, "pg_service.conf")
		if _, err := os.Stat(file); err != nil {
			continue
		}
		found, err := readService(s, file, service)
		if found || err != nil {
			return err
		}
	}
	return fmt.Errorf("definition of service %q not found", service)
}

// readService takes the options of one section of a service file that s does not have yet (parseServiceFile).
func readService(s settings, file, service string) (found bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return false, fmt.Errorf("service file %q not found", file)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	given := make(map[string]bool, len(s))
	for k := range s {
		given[k] = true
	}
	for n := 1; sc.Scan(); n++ {
		line := strings.Trim(sc.Text(), connSpace)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			if found {
				return true, nil
			}
			found = strings.HasPrefix(line[1:], service+"]")
		case found:
			keyword, value, ok := strings.Cut(line, "=")
			if strings.HasPrefix(line, "ldap") {
				return true, fmt.Errorf("service file %q, line %d: looking up services in LDAP is not supported", file, n)
			}
			if keyword == "service" {
				return true, fmt.Errorf("nested service specifications not supported in service file %q, line %d", file, n)
			}
			if !ok || !knownOption[keyword] {
				return true, fmt.Errorf("syntax error in service file %q, line %d", file, n)
			}
			if _, have := s[keyword]; !have && !given[keyword] {
				s[keyword] = value
			}
		}
	}
	if err := sc.Err(); err != nil {
		return found, fmt.Errorf("read service file %q: %w", file, err)
	}
	return found, nil
}
