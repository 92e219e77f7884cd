package platform

import (
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// The rules under which a report lists stubs.
const (
	RuleRole   = "platform-role-stubbed"
	RuleObject = "platform-object-stubbed"
)

// KindRole is the Kind of stubs that are made once on a server, before the database.
const KindRole = "ROLE"

// Stub is something of the platform that an archive refers to and does not hold.
type Stub struct {
	Kind string `json:"kind"` // ROLE, SCHEMA, EXTENSION, FUNCTION or TABLE
	Name string `json:"name"` // as a report shows it: auth.uid()
	Rule string `json:"rule"` // RuleRole or RuleObject
	SQL  string `json:"-"`    // statements that make it, to be run by a superuser; they do nothing where it is there

	schema, name string // of a TABLE
}

var quote sqltext.Quoter

// Stubs returns what a server of the given major version must be given before the archive of these entries restores on it:
// roles first, then objects in an order in which they can be made. What the archive holds itself is not among them.
func (p *Profile) Stubs(entries []*pgarchive.Entry, major int) []Stub {
	said := mentionsIn(entries)
	for _, e := range entries {
		if e.Desc == "DATABASE" { // its owner is made, its text speaks of the database's name
			continue
		}
		if e.Namespace != "" {
			said[e.Namespace] = true
		}
	}
	return append(p.roleStubs(said), p.objectStubs(entries, said, major)...)
}

// roleStubs returns the roles that are spoken of, and those they are members of or that are members of them.
func (p *Profile) roleStubs(said mentions) []Stub {
	wanted := make(map[string]bool)
	for _, r := range p.roles {
		if said.has(r.name) {
			wanted[r.name] = true
		}
	}
	for _, c := range p.claims {
		if c.Role != "" {
			wanted[c.Role] = true // they are probed
		}
	}
	for again := true; again; {
		again = false
		for _, r := range p.roles {
			for _, of := range r.in {
				if wanted[r.name] && !wanted[of] && p.role(of) != nil {
					wanted[of], again = true, true
				}
			}
		}
	}
	var out []Stub
	for _, r := range p.roles {
		if wanted[r.name] {
			out = append(out, Stub{Kind: KindRole, Name: r.name, Rule: RuleRole, SQL: r.sql()})
		}
	}
	return out
}

// sql makes the role if it is not there.
func (r *role) sql() string {
	missing := func(name string) string {
		return "NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = " + sqltext.EscapeLiteral(name) + ")"
	}
	var b strings.Builder
	b.WriteString("DO $stub$ BEGIN IF " + missing(r.name) + " THEN CREATE ROLE " + quote.Ident(r.name) + strings.TrimRight(" NOLOGIN "+r.options, " ") + ";")
	for _, of := range r.in { // some of PostgreSQL's own are not in every version
		b.WriteString(" IF NOT " + missing(of) + " THEN GRANT " + quote.Ident(of) + " TO " + quote.Ident(r.name) + "; END IF;")
	}
	b.WriteString(" END IF; END $stub$;\n")
	return b.String()
}

func (p *Profile) role(name string) *role {
	i := slices.IndexFunc(p.roles, func(r role) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return &p.roles[i]
}

// objectStubs returns the objects that are spoken of and not held, and the schemas they are in.
func (p *Profile) objectStubs(entries []*pgarchive.Entry, said mentions, major int) []Stub {
	type key struct{ kind, schema, name string }
	held := make(map[key]bool)
	for _, e := range entries {
		switch e.Desc {
		case "SCHEMA", "EXTENSION":
			held[key{e.Desc, "", e.Tag}] = true
		case "TABLE", "VIEW", "FOREIGN TABLE", "MATERIALIZED VIEW":
			held[key{"TABLE", e.Namespace, e.Tag}] = true
		case "FUNCTION":
			held[key{"FUNCTION", e.Namespace, e.Tag}] = true
		}
	}
	var wanted []*object
	schemas := make(map[string]bool)
	for i := range p.objects {
		o := &p.objects[i]
		if o.since > major || o.until != 0 && o.until < major || o.kind == "SCHEMA" || !o.spokenOf(said) {
			continue
		}
		k := key{o.kind, o.schema, o.name}
		switch o.kind {
		case "FUNCTION":
			k.name += "(" + o.args + ")"
		case "EXTENSION":
			k.schema = ""
		}
		if !held[k] {
			wanted = append(wanted, o)
			schemas[o.schema] = true
		}
	}
	var out []Stub
	for i := range p.objects {
		o := &p.objects[i]
		switch {
		case o.kind == "SCHEMA" && !held[key{"SCHEMA", "", o.name}] && (schemas[o.name] || schemaNeeded(entries, o.name)):
		case slices.Contains(wanted, o):
		default:
			continue
		}
		out = append(out, Stub{Kind: o.kind, Name: o.String(), Rule: RuleObject, SQL: o.create(), schema: o.schema, name: o.name})
	}
	return out
}

// schemaNeeded says whether entries are in a schema, give privileges in it, or put an extension into it.
func schemaNeeded(entries []*pgarchive.Entry, schema string) bool {
	name := quote.Ident(schema)
	for _, e := range entries {
		switch {
		case e.Namespace == schema,
			e.Desc == "EXTENSION" && strings.Contains(e.Defn, " WITH SCHEMA "+name+";"),
			(e.Desc == "ACL" || e.Desc == "COMMENT") && e.Tag == "SCHEMA "+schema,
			e.Desc == "DEFAULT ACL" && strings.Contains(e.Defn, " IN SCHEMA "+name+" "):
			return true
		}
	}
	return false
}

// spokenOf says whether the object's name, or one of the words that stand for it, is said.
func (o *object) spokenOf(said mentions) bool {
	if len(o.words) == 0 {
		return said.has(o.schema + "." + o.name)
	}
	return slices.ContainsFunc(o.words, func(w string) bool { return said.has(o.schema + "." + w) })
}

// create makes the object if it is not there: a server that is given may be the platform's.
func (o *object) create() string {
	missing := "pg_catalog.to_regnamespace"
	switch o.kind {
	case "TABLE":
		missing = "pg_catalog.to_regclass"
	case "FUNCTION":
		missing = "pg_catalog.to_regprocedure"
	}
	missing += "(" + sqltext.EscapeLiteral(o.String()) + ") IS NULL"
	if o.kind == "EXTENSION" {
		missing = "NOT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = " + sqltext.EscapeLiteral(o.name) + ")"
	}
	return "DO $missing$ BEGIN IF " + missing + " THEN EXECUTE $create$" + o.sql + "$create$; END IF; END $missing$;\n"
}
