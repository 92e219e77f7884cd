package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// roles looks which of those that the restore names are there, and whether objects can be given to them.
func (k *check) roles(ctx context.Context) error {
	names := k.Plan.Roles()
	if len(names)+len(k.Options.RoleMap) == 0 {
		return nil
	}
	there, err := k.set(ctx, "SELECT rolname FROM pg_catalog.pg_roles")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !there[name] {
			k.rep.MissingRoles = append(k.rep.MissingRoles, name)
		}
	}
	var mapped []string
	for _, to := range k.Options.RoleMap {
		if !there[to] && !slices.Contains(mapped, to) {
			mapped = append(mapped, to)
		}
	}
	slices.Sort(mapped)
	for _, to := range mapped {
		k.add(Blocker, KindRole, "Create it, or map to another.", "role %s, which another is mapped to, does not exist", to)
	}
	if missing := k.rep.MissingRoles; len(missing) > 0 {
		text := fmt.Sprintf("%s that the backup names %s not exist: %s", count(len(missing), "role"), map[bool]string{true: "does", false: "do"}[len(missing) == 1], strings.Join(missing, ", "))
		const wayOut = "Use --roles=create to create them, --roles=skip to do without, or --map-role=OLD=NEW."
		switch k.Roles {
		case CreateMode:
			can, err := k.c.Value(ctx, "SELECT rolsuper OR rolcreaterole FROM pg_catalog.pg_roles WHERE rolname = current_user")
			if err != nil {
				return err
			}
			if can == "t" {
				k.add(Fact, KindRole, "", "%s; created before the restore, without login and password", text)
			} else {
				k.add(Warning, KindRole, "Have them created, use --map-role=OLD=NEW, or --roles=skip if that is fine.",
					"%s; %s may not create roles, so what is granted to them or owned by them is left out", text, k.user)
			}
		case RequireMode:
			k.add(Blocker, KindRole, wayOut, "%s", text)
		case SkipMode:
			k.add(Fact, KindRole, "", "%s; what is granted to them or owned by them is left out", text)
		default:
			k.add(Warning, KindRole, wayOut, "%s; statements that name them will fail", text)
		}
	}
	if k.super || k.Options.NoOwner {
		return nil
	}
	what := "MEMBER"
	if k.c.Version() >= 160000 {
		what = "SET"
	}
	mine, err := k.set(ctx, "SELECT rolname FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(oid, '"+what+"')")
	if err != nil {
		return err
	}
	owners := make(map[string]bool)
	k.wanted(func(e *pgarchive.Entry) {
		if e.Owner != "" && e.DropStmt != "" && there[e.Owner] && !mine[e.Owner] {
			owners[e.Owner] = true
		}
	})
	for _, name := range names {
		if owners[name] {
			k.add(Warning, KindRole, "Grant "+name+" to "+k.user+", use --no-owner, or --map-role="+name+"="+k.user+".",
				"%s is not a member of role %s and cannot give objects to it", k.user, name)
		}
	}
	return nil
}

// RoleChanges says what CreateRoles did.
type RoleChanges struct {
	Created []string          // roles, sorted
	Notes   []string          // what of them is not as it was in the source
	Failed  map[string]string // roles that could not be created, with the reason
}

// privileged are attributes that not everybody who may create roles may give.
var privileged = []string{"SUPERUSER", "REPLICATION", "BYPASSRLS", "CREATEDB", "CREATEROLE"}

// CreateRoles makes roles, none of which can log in, with the attributes, settings and memberships that they have in globals, the text that
// pg_dumpall --globals-only writes ("" if there is none), as far as the connected role may. A role that is there is not changed, but may become
// a member of one that is made. Who is no superuser becomes a member of each, so as to give objects to it.
func CreateRoles(ctx context.Context, c *pg.Conn, names []string, globals string) (*RoleChanges, error) {
	out := &RoleChanges{Failed: make(map[string]string)}
	var quote sqltext.Quoter
	exec := func(sql string) (refused string, err error) {
		err = c.Exec(ctx, sql)
		if pg.SQLState(err) != "" && !pg.IsConnectionLost(err) && ctx.Err() == nil {
			return pg.Message(err, ""), nil
		}
		if err != nil {
			err = fmt.Errorf("create roles: %w", err)
		}
		return "", err
	}
	super, err := c.Value(ctx, "SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user")
	if err != nil {
		return out, fmt.Errorf("create roles: %w", err)
	}
	made := make(map[string]bool)
	for _, name := range names {
		why, err := exec("CREATE ROLE " + quote.Ident(name) + " NOLOGIN")
		if err != nil {
			return out, err
		}
		if why != "" {
			out.Failed[name] = "role " + name + " is missing and could not be created: " + why
			continue
		}
		made[name] = true
		out.Created = append(out.Created, name)
		if super != "t" {
			grant := "GRANT " + quote.Ident(name) + " TO CURRENT_USER"
			if c.Version() >= 160000 {
				grant += " WITH INHERIT TRUE, SET TRUE"
			}
			if why, err = exec(grant); err != nil {
				return out, err
			} else if why != "" {
				out.Notes = append(out.Notes, "objects cannot be given to role "+name+": "+why)
			}
		}
	}
	there := make(map[string]bool)
	err = c.Query(ctx, "SELECT rolname FROM pg_catalog.pg_roles", func(v [][]byte) error {
		there[string(v[0])] = true
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("create roles: %w", err)
	}
	for _, t := range sqltext.Statements(sqltext.Scan(globals)) {
		text := globals[t[0].Start:t[len(t)-1].End]
		switch {
		case len(t) > 4 && t[0].Is("ALTER") && t[1].Is("ROLE") && made[t[2].Name] && t[3].Is("WITH"):
			if err := attributes(t, exec, out); err != nil {
				return out, err
			}
		case len(t) > 4 && (t[0].Is("ALTER") && t[1].Is("ROLE") && made[t[2].Name] && t[3].Is("SET") || t[0].Is("COMMENT") && t[2].Is("ROLE") && made[t[3].Name]):
			why, err := exec(text)
			if err != nil {
				return out, err
			}
			if why != "" {
				out.Notes = append(out.Notes, fmt.Sprintf("not done: %s: %s", text, why))
			}
		case len(t) > 4 && t[0].Is("GRANT") && t[2].Is("TO") && (made[t[1].Name] || made[t[3].Name]) && there[t[1].Name] && there[t[3].Name]:
			// Who granted it matters less than that it is granted.
			end := len(t) - 1
			for i := 4; i < len(t); i++ {
				if t[i].Is("GRANTED") {
					end = i
				}
			}
			why, err := exec(membership(globals, t[:end], c.Version()))
			if err != nil {
				return out, err
			}
			if why != "" {
				out.Notes = append(out.Notes, fmt.Sprintf("role %s did not become a member of %s: %s", t[3].Name, t[1].Name, why))
			}
		}
	}
	return out, nil
}

// membership writes a GRANT of a role for a server: options other than ADMIN came with version 16.
func membership(text string, t []sqltext.Token, version int) string {
	if version >= 160000 {
		return text[t[0].Start:t[len(t)-1].End]
	}
	sql := text[t[0].Start:t[3].End]
	for _, x := range t[4:] {
		if x.Is("ADMIN") {
			sql += " WITH ADMIN OPTION"
		}
	}
	return sql
}

// attributes gives a role what ALTER ROLE … WITH says, but the right to log in and a password, and without what is refused.
func attributes(t []sqltext.Token, exec func(string) (string, error), out *RoleChanges) error {
	role := "ALTER ROLE " + sqltext.Quoter{}.Ident(t[2].Name) + " WITH"
	var plain, special []string
	for i := 4; i < len(t)-1; i++ {
		switch x := t[i]; {
		case x.Is("LOGIN"), x.Is("NOLOGIN"):
		case x.Is("PASSWORD"):
			i++
		case x.Is("CONNECTION") && i+2 < len(t):
			plain = append(plain, "CONNECTION LIMIT "+t[i+2].Text)
			i += 2
			if t[i].Text == "-" {
				i++
				plain[len(plain)-1] += t[i].Text
			}
		case x.Is("VALID") && i+2 < len(t):
			plain = append(plain, "VALID UNTIL "+t[i+2].Text)
			i += 2
		case slices.ContainsFunc(privileged, x.Is):
			special = append(special, strings.ToUpper(x.Text))
		case x.Is("INHERIT"), x.Is("NOINHERIT"):
			plain = append(plain, strings.ToUpper(x.Text))
		}
	}
	for _, list := range append([][]string{plain}, each(special)...) {
		if len(list) == 0 {
			continue
		}
		why, err := exec(role + " " + strings.Join(list, " "))
		if err != nil {
			return err
		}
		if why != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("role %s has not got %s: %s", t[2].Name, strings.Join(list, " "), why))
		}
	}
	return nil
}

func each(list []string) [][]string {
	var out [][]string
	for _, s := range list {
		out = append(out, []string{s})
	}
	return out
}
