package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/restore"
	"github.com/pghaul/pghaul/pgarchive"
)

// Level says how much a finding matters.
type Level string

// The levels.
const (
	Blocker Level = "blocker" // the restore will fail, or must not be
	Warning Level = "warning" // a part of it may fail or come out otherwise
	Fact    Level = "fact"
)

// Kinds of findings.
const (
	KindSource     = "source"     // the target is the database the backup came from
	KindNonempty   = "nonempty"   // the target has objects
	KindVersion    = "version"    // of the server
	KindExtension  = "extension"  // available or not
	KindRole       = "role"       // there or not
	KindPrivilege  = "privilege"  // of the connected role
	KindEncoding   = "encoding"   // of the database
	KindLocale     = "locale"     // collations, and the database's
	KindTablespace = "tablespace" // there or not
	KindMethod     = "access method"
	KindSetting    = "setting" // of the server or the role
	KindDisk       = "disk"
	KindMemory     = "shared memory"
)

// Finding is one thing that was found out.
type Finding struct {
	Level  Level  `json:"level"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`              // what is the case
	WayOut string `json:"way_out,omitempty"` // what can be done about it
}

// Gate says whether the finding is about the choice of the target.
func (f Finding) Gate() bool { return f.Kind == KindSource || f.Kind == KindNonempty }

// Report is all that was found out, in the order of the checks.
type Report struct {
	Findings []Finding `json:"findings"`

	// MissingRoles are those the restore names and the target lacks, sorted.
	MissingRoles []string `json:"missing_roles"`
}

// Of returns the findings of a level.
func (r *Report) Of(l Level) []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if f.Level == l {
			out = append(out, f)
		}
	}
	return out
}

// Write returns the report as text, the worst first.
func (r *Report) Write() string {
	var b strings.Builder
	for _, l := range []Level{Blocker, Warning, Fact} {
		for _, f := range r.Of(l) {
			fmt.Fprintf(&b, "; %s: %s: %s\n", l, f.Kind, f.Text)
			if f.WayOut != "" {
				fmt.Fprintf(&b, ";   %s\n", f.WayOut)
			}
		}
	}
	return b.String()
}

// RoleMode says what is to become of roles that the target lacks.
type RoleMode string

// The modes. The empty one leaves them to the server, whose errors are counted as pg_restore does.
const (
	CreateMode  RoleMode = "create"  // make them, without login and password
	RequireMode RoleMode = "require" // do not begin
	SkipMode    RoleMode = "skip"    // leave out the statements that name them
)

// Backup is what is to be restored, and how.
type Backup struct {
	Plan     *restore.Plan
	Header   pgarchive.Header
	Options  *restore.Options
	Manifest *manifest.Manifest // nil: not known

	Roles        RoleMode
	IntoSource   bool // the database the backup came from is meant
	IntoNonempty bool // the database is meant although it has objects
	IntoOlder    bool // the older server is meant
}

// check gathers findings about one backup and target.
type check struct {
	Backup
	c     *pg.Conn
	host  pg.Host
	super bool
	user  string
	rep   *Report
}

// Check looks at the target. An error says that it could not be looked at.
func Check(ctx context.Context, c *pg.Conn, b Backup) (*Report, error) {
	k := &check{Backup: b, c: c, rep: &Report{Findings: []Finding{}, MissingRoles: []string{}}}
	k.host, _ = c.Host()
	err := c.Query(ctx, "SELECT current_user, rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user", func(v [][]byte) error {
		k.user, k.super = string(v[0]), string(v[1]) == "t"
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look at the target: %w", err)
	}
	for _, step := range []func(context.Context) error{
		k.source, k.nonempty, k.version, k.writable, k.extensions, k.roles, k.privileges, k.encoding, k.locale, k.tablespaces, k.methods,
		k.settings, k.room,
	} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("look at the target: %w", err)
		}
	}
	return k.rep, nil
}

func (k *check) add(l Level, kind, wayOut, format string, args ...any) {
	k.rep.Findings = append(k.rep.Findings, Finding{l, kind, fmt.Sprintf(format, args...), wayOut})
}

// wanted calls f for the entries that are restored.
func (k *check) wanted(f func(*pgarchive.Entry)) {
	for _, it := range k.Plan.Wanted() {
		f(it.Entry)
	}
}

// list reads the first column of a query.
func (k *check) list(ctx context.Context, sql string) ([]string, error) {
	var out []string
	err := k.c.Query(ctx, sql, func(v [][]byte) error {
		out = append(out, string(v[0]))
		return nil
	})
	return out, err
}

// set reads the first column of a query as a set.
func (k *check) set(ctx context.Context, sql string) (map[string]bool, error) {
	l, err := k.list(ctx, sql)
	out := make(map[string]bool, len(l))
	for _, s := range l {
		out[s] = true
	}
	return out, err
}

// Local says whether a server is on this machine, as far as its address tells.
func Local(h pg.Host) bool {
	return strings.HasPrefix(h.Name, "/") || strings.HasPrefix(h.Name, "@") || h.Name == "localhost" || h.Name == "127.0.0.1" || h.Name == "::1"
}
