package pg

import (
	"net/url"
	"slices"
	"strings"
)

// Environ returns base, a list of NAME=value, changed so that a program built on libpq connects as c does: what
// base says of connections is gone, and the password, if c has one, is there. It is for the environment of a
// process, not for logs.
func (c *Config) Environ(base []string) []string {
	out := slices.DeleteFunc(slices.Clone(base), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "PGSERVICEFILE" || name == "PGSYSCONFDIR" ||
			slices.ContainsFunc(options, func(o option) bool { return o.env == name && name != "" })
	})
	s := c.connectionSettings()
	for _, o := range options {
		if v := s[o.keyword]; v != "" && v != o.def && o.env != "" || v != "" && slices.Contains(always, o.keyword) {
			out = append(out, o.env+"="+v)
		}
	}
	return out
}

// always are the options that are named even if they have libpq's defaults.
var always = []string{"host", "port", "user", "dbname"}

// URI returns the connection URI of c, password included. It is for the environment of a process, not for logs.
func (c *Config) URI() string {
	s := c.connectionSettings()
	u := url.URL{Scheme: "postgresql", User: url.User(s["user"]), Path: "/" + s["dbname"]}
	if s["password"] != "" {
		u.User = url.UserPassword(s["user"], s["password"])
	}
	q := url.Values{}
	host := c.Hosts[0]
	if len(c.Hosts) == 1 && !host.isSocket() && !strings.Contains(s["host"], ":") {
		u.Host = s["host"] + ":" + s["port"]
		if s["host"] == "" {
			u.Host = s["hostaddr"] + ":" + s["port"]
		}
		delete(s, "host")
		delete(s, "port")
	}
	for _, o := range options {
		v := s[o.keyword]
		if v != "" && (v != o.def || slices.Contains(always, o.keyword)) && !slices.Contains([]string{"user", "password", "dbname", "service"}, o.keyword) {
			q.Set(o.keyword, v)
		}
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq does not read a plus as a space
	return u.String()
}

// connectionSettings are the settings with what stands in fields of c put in.
func (c *Config) connectionSettings() map[string]string {
	s := make(map[string]string, len(c.s))
	for k, v := range c.s {
		if k != "service" && k != "passfile" {
			s[k] = v
		}
	}
	var names, addrs, ports []string
	for _, h := range c.Hosts {
		names, addrs, ports = append(names, h.Name), append(addrs, h.Addr), append(ports, h.Port)
	}
	s["user"], s["dbname"] = c.User, c.Database
	s["host"], s["hostaddr"], s["port"] = strings.Join(names, ","), strings.Trim(strings.Join(addrs, ","), ","), strings.Join(ports, ",")
	if s["password"] == "" {
		if p, _ := c.password(c.Hosts[0]); p != "" {
			s["password"] = p
		}
	}
	return s
}
