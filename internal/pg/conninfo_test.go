package pg

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testEnv is an environment of its own, with a home folder.
func testEnv(t *testing.T, vars map[string]string) (environment, *[]string) {
	t.Helper()
	home := t.TempDir()
	var warnings []string
	return environment{
		lookup: func(k string) (string, bool) { v, ok := vars[k]; return strings.ReplaceAll(v, "$HOME", home), ok },
		home:   func() string { return home },
		user:   func() (string, error) { return "osuser", nil },
		warn:   func(line string) { warnings = append(warnings, line) },
	}, &warnings
}

func TestParseConnString(t *testing.T) {
	tests := []struct {
		in   string
		want settings
		err  string
	}{
		{in: "", want: settings{}},
		{in: "  ", want: settings{}},
		{in: "host=a port=1", want: settings{"host": "a", "port": "1"}},
		{in: "host = a  dbname = 'my db' ", want: settings{"host": "a", "dbname": "my db"}},
		{in: `dbname='it\'s a \\'`, want: settings{"dbname": `it's a \`}},
		{in: `dbname=a\ b\`, want: settings{"dbname": `a b`}},
		{in: "dbname=''", want: settings{"dbname": ""}},
		{in: "host=a host=b", want: settings{"host": "b"}},
		{in: "requiressl=1", want: settings{"sslmode": "require"}},
		{in: "requiressl=0", want: settings{"sslmode": "prefer"}},
		{in: "password=a=b", want: settings{"password": "a=b"}},
		{in: "host", err: `missing "=" after "host" in connection info string`},
		{in: "host a=b", err: `missing "=" after "host" in connection info string`},
		{in: "password=top secret", err: `missing "=" in connection info string`},
		{in: "pasword=x", err: `invalid connection option "pasword"`},
		{in: "dbname='x", err: `unterminated quoted string in connection info string`},
		{in: `dbname='x\'`, err: `unterminated quoted string in connection info string`},
		{in: "=x", err: `invalid connection option ""`},

		// URIs, most of them from src/interfaces/libpq/t/001_uri.pl
		{in: "postgresql://uri-user:secret@host:12345/db", want: settings{"user": "uri-user", "password": "secret", "dbname": "db", "host": "host", "port": "12345"}},
		{in: "postgresql://uri-user@host/db", want: settings{"user": "uri-user", "dbname": "db", "host": "host"}},
		{in: "postgresql://", want: settings{}},
		{in: "postgres://host:12345/", want: settings{"host": "host", "port": "12345"}},
		{in: "postgres://host?user=u&port=1", want: settings{"host": "host", "user": "u", "port": "1"}},
		{in: "postgresql://host/db?u%73er=someotheruser&port=12345", want: settings{"host": "host", "dbname": "db", "user": "someotheruser", "port": "12345"}},
		{in: "postgresql://ho%73t/d%62", want: settings{"host": "host", "dbname": "db"}},
		{in: "postgresql://[200z:db8::1234]/db", want: settings{"host": "200z:db8::1234", "dbname": "db"}},
		{in: "postgresql://[::1]:5433,b", want: settings{"host": "::1,b", "port": "5433,"}},
		{in: "postgresql://a:1,b:2,c/x", want: settings{"host": "a,b,c", "port": "1,2,", "dbname": "x"}},
		{in: "postgresql:///db?host=/path/to/socket/dir", want: settings{"dbname": "db", "host": "/path/to/socket/dir"}},
		{in: "postgres://%2Fvar%2Flib/db", want: settings{"dbname": "db", "host": "/var/lib"}},
		{in: "postgres://u:p%40ss@h", want: settings{"user": "u", "password": "p@ss", "host": "h"}},
		{in: "postgres://:p@h", want: settings{"password": "p", "host": "h"}},
		{in: "postgresql://host?ssl=true", want: settings{"host": "host", "sslmode": "require"}},
		{in: "postgresql://?", want: settings{}},
		{in: "postgresql://host/db%00", err: "forbidden value %00 in the dbname of the URI"},
		{in: "postgresql://host?zzz=1", err: `invalid URI query parameter: "zzz"`},
		{in: "postgresql://host?user", err: `missing key/value separator "=" in URI query parameter`},
		{in: "postgresql://host?user=a=b", err: `extra key/value separator "=" in URI query parameter: "user"`},
		{in: "postgresql://host/%", err: "invalid percent-encoded token in the dbname of the URI"},
		{in: "postgresql://host/%4", err: "invalid percent-encoded token in the dbname of the URI"},
		{in: "postgresql://host/%zz", err: "invalid percent-encoded token in the dbname of the URI"},
		{in: "postgresql://host/a b", err: "unexpected spaces found, use percent-encoded spaces (%20) instead in the dbname of the URI"},
		{in: "postgresql://[::1", err: `end of string reached when looking for matching "]" in IPv6 host address in URI`},
		{in: "postgresql://[]", err: "IPv6 host address may not be empty in URI"},
		{in: "postgresql://[::1]z", err: `unexpected character after an IPv6 host address in URI (expected ":" or "/")`},
	}
	for _, tt := range tests {
		got, err := parseConnString(tt.in)
		if text(err) != tt.err || err == nil && !maps.Equal(got, tt.want) {
			t.Errorf("%s\n got %v, %v\nwant %v, %s", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzParseConnString(f *testing.F) {
	f.Add("host=a dbname='b c' port=\\1")
	f.Add("postgres://u:SECRET@[::1]:5,h/d?sslmode=disable&x")
	f.Add("password=SECRET host")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseConnString(s)
		if err != nil {
			if i := strings.Index(s, "SECRET"); i > 0 && strings.Contains(s[:i], "password=") && strings.Contains(err.Error(), "SECRET") &&
				strings.Count(s, "SECRET") == 1 && !strings.ContainsAny(s[strings.Index(s, "password="):i], connSpace) {
				t.Fatalf("%q: the error shows the password: %v", s, err)
			}
			return
		}
		for k := range got {
			if !knownOption[k] {
				t.Fatalf("%q: unknown option %q came through", s, k)
			}
		}
	})
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name string
		arg  string
		o    Overrides
		vars map[string]string
		want string // String
		err  string
	}{
		{name: "nothing", want: "user=osuser dbname=osuser host=$SOCKET"},
		{name: "a name", arg: "app", want: "user=osuser dbname=app host=$SOCKET"},
		{name: "flags", arg: "app", o: Overrides{Host: "h", Port: "1", User: "u"}, want: "user=u dbname=app host=h port=1"},
		{name: "the string goes before flags", arg: "dbname=app port=2 user=v", o: Overrides{Host: "h", Port: "1", User: "u"}, want: "user=v dbname=app host=h port=2"},
		{name: "a URI goes before flags", arg: "postgres://v@g/app", o: Overrides{Host: "h", Port: "1", User: "u"}, want: "user=v dbname=app host=g port=1"},
		{name: "another database", arg: "postgres://v@g/app", o: Overrides{Database: "x=y"}, want: "user=v dbname='x=y' host=g"},
		{name: "environment", vars: map[string]string{"PGHOST": "e", "PGPORT": "9", "PGUSER": "eu", "PGDATABASE": "ed"}, want: "user=eu dbname=ed host=e port=9"},
		{name: "flags go before the environment", arg: "app", o: Overrides{Host: "h"}, vars: map[string]string{"PGHOST": "e", "PGPORT": "9", "PGUSER": "eu"}, want: "user=eu dbname=app host=h port=9"},
		{name: "an empty value shadows the environment", arg: "host=''", vars: map[string]string{"PGHOST": "e"}, want: "user=osuser dbname=osuser host=$SOCKET"},
		{name: "no password shown", arg: "host=h password=TOP", vars: map[string]string{"PGPASSWORD": "SECRET"}, want: "user=osuser dbname=osuser host=h"},
		{name: "several hosts, one port", arg: "host=a,b port=7", want: "user=osuser dbname=osuser host='a,b' port='7,7'"},
		{name: "several hosts and ports", arg: "host=a,b port=7,", want: "user=osuser dbname=osuser host='a,b' port='7,5432'"},
		{name: "too many ports", arg: "host=a port=7,8", err: "could not match 2 port numbers to 1 hosts"},
		{name: "hostaddr", arg: "host=a hostaddr=::1", want: "user=osuser dbname=osuser host=a hostaddr='::1'"},
		{name: "hostaddr alone", arg: "hostaddr=127.0.0.1", want: "user=osuser dbname=osuser host='' hostaddr=127.0.0.1"},
		{name: "hosts do not match hostaddr", arg: "host=a,b hostaddr=::1", err: "could not match 2 host names to 1 hostaddr values"},
		{name: "hostaddr is a name", arg: "hostaddr=localhost", err: `could not parse network address "localhost": Name or service not known`},
		{name: "port is a word", arg: "port=five", err: `invalid integer value "five" for connection option "port"`},
		{name: "port out of range", arg: "port=70000", err: `invalid port number: "70000"`},
		{name: "replication", arg: "replication=database", err: `connection option "replication": replication connections cannot be dumped or restored`},
		{name: "gssencmode=require", arg: "gssencmode=require", err: `connection option "gssencmode": this program has no GSSAPI encryption`},
		{name: "gssencmode=prefer", arg: "gssencmode=prefer host=h", want: "user=osuser dbname=osuser host=h"},
		{name: "gssencmode wrong", arg: "gssencmode=maybe", err: `invalid gssencmode value: "maybe"`},
		{name: "sslmode wrong", arg: "sslmode=on", err: `invalid sslmode value: "on"`},
		{name: "sslmode", arg: "host=h", vars: map[string]string{"PGSSLMODE": "require"}, want: "user=osuser dbname=osuser host=h sslmode=require"},
		{name: "PGREQUIRESSL", arg: "host=h", vars: map[string]string{"PGREQUIRESSL": "1"}, want: "user=osuser dbname=osuser host=h sslmode=require"},
		{name: "system roots", arg: "host=h sslrootcert=system", want: "user=osuser dbname=osuser host=h sslmode='verify-full' sslrootcert=system"},
		{name: "system roots, weak mode", arg: "sslrootcert=system sslmode=require", err: `weak sslmode "require" may not be used with sslrootcert=system (use "verify-full")`},
		{name: "direct, weak mode", arg: "sslnegotiation=direct", err: `weak sslmode "prefer" may not be used with sslnegotiation=direct (use "require", "verify-ca", or "verify-full")`},
		{name: "TLS version", arg: "ssl_min_protocol_version=SSLv3", err: `invalid "ssl_min_protocol_version" value: "SSLv3"`},
		{name: "TLS versions", arg: "ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=tlsv1.2", err: `invalid SSL protocol version range`},
		{name: "require_auth", arg: "require_auth=md5,!password", err: `negative require_auth method "password" cannot be mixed with non-negative methods`},
		{name: "require_auth twice", arg: "require_auth=md5,md5", err: `require_auth method "md5" is specified more than once`},
		{name: "require_auth unknown", arg: "require_auth=kerberos", err: `invalid require_auth value: "kerberos"`},
		{name: "target_session_attrs", arg: "target_session_attrs=master", err: `invalid target_session_attrs value: "master"`},
		{name: "load_balance_hosts", arg: "load_balance_hosts=yes", err: `invalid load_balance_hosts value: "yes"`},
		{name: "channel_binding", arg: "channel_binding=maybe", err: `invalid channel_binding value: "maybe"`},
		{name: "connect_timeout", arg: "connect_timeout=soon", err: `invalid integer value "soon" for connection option "connect_timeout"`},
		{name: "protocol", arg: "min_protocol_version=3.1", err: `invalid min_protocol_version value: "3.1"`},
		{name: "protocols", arg: "min_protocol_version=3.2 max_protocol_version=3.0", err: `"min_protocol_version" is greater than "max_protocol_version"`},
		{name: "an option nobody knows", arg: "pool_max_conns=3", err: `invalid connection option "pool_max_conns"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, _ := testEnv(t, tt.vars)
			c, err := parseConfig(tt.arg, tt.o, env)
			if text(err) != tt.err {
				t.Fatalf("error %v, want %s", err, tt.err)
			}
			if err != nil {
				return
			}
			got := strings.ReplaceAll(c.String(), " port=5432", "")
			got = strings.ReplaceAll(got, "host='"+defaultHost("5432")+"'", "host=$SOCKET")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				if s := fmt.Sprintf(format, c); strings.Contains(s, "TOP") || strings.Contains(s, "SECRET") {
					t.Errorf("%s shows the password: %s", format, s)
				}
			}
		})
	}
}

func TestSessionParameters(t *testing.T) {
	env, _ := testEnv(t, map[string]string{
		"PGTZ": "UTC", "PGDATESTYLE": "default", "PGGEQO": "off", "PGOPTIONS": "-c work_mem=1MB", "LANG": "de_DE.UTF-8",
	})
	c, err := parseConfig("client_encoding=auto", Overrides{ApplicationName: "pg_dump"}, env)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"timezone": "UTC", "geqo": "off", "options": "-c work_mem=1MB", "application_name": "pg_dump", "client_encoding": "UTF8",
	}
	if d := cmp.Diff(want, c.sessionParameters); d != "" {
		t.Error(d)
	}
}

func TestService(t *testing.T) {
	env, _ := testEnv(t, map[string]string{"PGSYSCONFDIR": "$HOME/etc", "PGPORT": "7"})
	home := env.home()
	write(t, filepath.Join(home, ".pg_service.conf"), 0o644, `# mine
[other]
host=wrong
[mine]
host=h
user=su
port=1
[bad]
nonsense
[unknown]
pool_max_conns=1
[nested]
service=mine
[last]
ldap://x
`)
	write(t, filepath.Join(home, "etc/pg_service.conf"), 0o644, "[system]\n  host=s  \n dbname=sd\n")
	tests := []struct{ arg, want, err string }{
		{arg: "service=mine", want: "user=su dbname=su host=h port=1"},
		{arg: "service=mine user=me port=2", want: "user=me dbname=me host=h port=2"},
		{arg: "service=system", want: "user=osuser dbname=sd host=s port=7"},
		{arg: "service=none", err: `definition of service "none" not found`},
		{arg: "service=bad", err: `syntax error in service file "$F", line 9`},
		{arg: "service=unknown", err: `syntax error in service file "$F", line 11`},
		{arg: "service=nested", err: `nested service specifications not supported in service file "$F", line 13`},
		{arg: "service=last", err: `service file "$F", line 15: looking up services in LDAP is not supported`},
	}
	for _, tt := range tests {
		c, err := parseConfig(tt.arg, Overrides{}, env)
		if want := strings.ReplaceAll(tt.err, "$F", filepath.Join(home, ".pg_service.conf")); text(err) != want {
			t.Errorf("%s: error %v, want %s", tt.arg, err, want)
		} else if err == nil && c.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.arg, c, tt.want)
		}
	}

	env, _ = testEnv(t, map[string]string{"PGSERVICE": "x", "PGSERVICEFILE": "/nowhere/file"})
	if _, err := parseConfig("", Overrides{}, env); text(err) != `service file "/nowhere/file" not found` {
		t.Errorf("missing service file: %v", err)
	}
}

func write(t *testing.T, path string, mode os.FileMode, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestPassfile(t *testing.T) {
	env, warnings := testEnv(t, nil)
	file := filepath.Join(env.home(), ".pgpass")
	write(t, file, 0o600, `# comment
h:5432:d:u:first
h\:x:5432:d:u:colon in host
*:*:d2:u:any\:thing\\
localhost:5432:sock:u:over the socket
/srv/sock:5432:sock:u:over its socket
b:6:d3:u:b's:rest is not part of it
`)
	tests := []struct {
		arg  string
		want []string
	}{
		{"host=h dbname=d user=u", []string{"first"}},
		{"host=h dbname=d user=w", []string{""}},
		{"host=h dbname=d user=u port=1", []string{""}},
		{"host=h:x dbname=d user=u", []string{"colon in host"}},
		{"host=what dbname=d2 user=u port=99", []string{`any:thing\`}},
		{"dbname=sock user=u", []string{"over the socket"}},
		{"dbname=sock user=u host=/tmp", []string{"over the socket"}},
		{"dbname=sock user=u host=/srv/sock", []string{"over its socket"}},
		{"dbname=sock user=u host=/other", []string{""}},
		{"host=a,b port=5,6 dbname=d3 user=u", []string{"", "b's"}},
		{"hostaddr=127.0.0.1 host=h dbname=d user=u", []string{"first"}},
	}
	for _, tt := range tests {
		c, err := parseConfig(tt.arg, Overrides{}, env)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range c.Hosts {
			got = append(got, h.password)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.arg, d)
		}
	}
	c, err := parseConfig("host=h dbname=zzz user=u", Overrides{}, env)
	if err != nil {
		t.Fatal(err)
	}
	if p, fromFile := c.WithDatabase("d").password(c.WithDatabase("d").Hosts[0]); p != "first" || !fromFile {
		t.Errorf("another database: %q, %v", p, fromFile)
	}

	if len(*warnings) > 0 {
		t.Errorf("warnings: %q", *warnings)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	c, err = parseConfig("host=h dbname=d user=u", Overrides{}, env)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("WARNING: password file %q has group or world access; permissions should be u=rw (0600) or less", file)
	if c.Hosts[0].password != "" || len(*warnings) != 1 || (*warnings)[0] != want {
		t.Errorf("a file others can read: password %q, warnings %q", c.Hosts[0].password, *warnings)
	}
	*warnings = nil
	if passfilePassword(env.home(), "h", "5432", "d", "u", env.warn); len(*warnings) != 1 || !strings.HasSuffix((*warnings)[0], "is not a plain file") {
		t.Errorf("a folder: %q", *warnings)
	}
}

func TestAskPassword(t *testing.T) {
	env, _ := testEnv(t, nil)
	asked := 0
	ask := func(prompt string) (string, error) {
		asked++
		if prompt != "Password: " {
			t.Errorf("prompt %q", prompt)
		}
		return "typed", nil
	}
	c, err := parseConfig("host=h", Overrides{AskPassword: ask}, env)
	if err != nil {
		t.Fatal(err)
	}
	other := c.WithDatabase("x")
	for _, c := range []*Config{c, other, c} {
		if ok, err := c.askPassword(); !ok || err != nil {
			t.Errorf("asked: %v, %v", ok, err)
		}
	}
	if p, _ := other.password(other.Hosts[0]); p != "typed" || asked != 1 {
		t.Errorf("password %q after %d questions", p, asked)
	}
	c, _ = parseConfig("host=h", Overrides{AskPassword: ask, Prompt: PromptNever}, env)
	if ok, err := c.askPassword(); ok || err != nil || asked != 1 {
		t.Errorf("-w: %v, %v", ok, err)
	}
	c, _ = parseConfig("host=h", Overrides{AskPassword: func(string) (string, error) { return "", errors.New("no terminal") }}, env)
	if _, err := c.askPassword(); text(err) != "read password: no terminal" {
		t.Errorf("failing prompt: %v", err)
	}
}
