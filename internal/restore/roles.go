package restore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Skipped is a statement that a restore leaves out because a role is not there.
type Skipped struct {
	Entry     *pgarchive.Entry
	Statement string // what is left out
	Role      string
	Reason    string
}

func (s Skipped) String() string {
	return fmt.Sprintf("%s: skipped \"%s\": %s", s.Entry, s.Statement, s.Reason)
}

// ownerless are the kinds of entries that belong to another object and have its owner.
var ownerless = map[string]bool{
	"CAST": true, "CHECK CONSTRAINT": true, "CONSTRAINT": true, "DATABASE PROPERTIES": true, "DEFAULT": true, "FK CONSTRAINT": true,
	"INDEX": true, "RULE": true, "TRIGGER": true, "ROW SECURITY": true, "POLICY": true, "USER MAPPING": true,
}

// setsOwner says whether the restore of an entry gives an object to a role.
func setsOwner(e *pgarchive.Entry) bool {
	return e.Owner != "" && e.DropStmt != "" && !ownerless[e.Desc]
}

// namesRoles are the kinds of entries whose statements name roles, in places that places knows.
var namesRoles = map[string]bool{
	"ACL": true, "DEFAULT ACL": true, "POLICY": true, "USER MAPPING": true, "DATABASE PROPERTIES": true,
}

// places returns the tokens of a statement that name roles. ok is false if the statement is none that an entry of such a kind has.
func places(t []sqltext.Token) (at []int, ok bool) {
	is := func(i int, word string) bool { return i < len(t) && t[i].Depth == 0 && t[i].Is(word) }
	find := func(from int, words ...string) int {
		for i := from; i < len(t); i++ {
			for _, w := range words {
				if is(i, w) {
					return i
				}
			}
		}
		return -1
	}
	list := func(i int) bool { // roles separated by commas from i on
		for {
			if i >= len(t) || t[i].Name == "" {
				return false
			}
			if t[i].Quoted || !is(i, "PUBLIC") && !is(i, "CURRENT_USER") && !is(i, "CURRENT_ROLE") && !is(i, "SESSION_USER") {
				at = append(at, i)
			}
			if i++; i >= len(t) || t[i].Text != "," {
				return true
			}
			i++
		}
	}
	switch {
	case (is(0, "CREATE") || is(0, "DROP")) && is(1, "USER") && is(2, "MAPPING"):
		i := find(3, "FOR")
		return at, i >= 0 && list(i+1)
	case is(0, "GRANT"), is(0, "REVOKE"):
		on := find(1, "ON")
		if on < 0 {
			return nil, false
		}
		to := find(on, "TO", "FROM")
		return at, to >= 0 && list(to+1)
	case is(0, "ALTER") && is(1, "DEFAULT") && is(2, "PRIVILEGES"):
		if is(3, "FOR") && is(4, "ROLE") && !list(5) {
			return nil, false
		}
		verb := find(3, "GRANT", "REVOKE")
		if verb < 0 {
			return nil, false
		}
		on := find(verb, "ON")
		if on < 0 {
			return nil, false
		}
		to := find(on, "TO", "FROM")
		return at, to >= 0 && list(to+1)
	case is(0, "SET") && is(1, "SESSION") && is(2, "AUTHORIZATION"):
		if is(3, "DEFAULT") {
			return nil, true
		}
		return at, list(3)
	case is(0, "RESET"), is(0, "DROP"), is(0, "ALTER") && is(1, "DATABASE"), is(0, "UPDATE"), is(0, "SELECT"):
		return nil, true
	case is(0, "CREATE") && is(1, "POLICY"):
		end := find(3, "USING", "WITH")
		to := find(3, "TO")
		if to < 0 || end >= 0 && to > end {
			return nil, true // to everybody
		}
		return at, list(to + 1)
	case is(0, "ALTER") && is(1, "ROLE"):
		if is(2, "ALL") {
			return nil, true
		}
		return at, list(2)
	}
	return nil, false
}

// Roles returns the names of the roles that the wanted entries of a plan name, after mapping, sorted.
func (p *Plan) Roles() []string {
	roles := make(map[string]bool)
	for _, it := range p.Items {
		if it.Want&wantAny == 0 {
			continue
		}
		e := it.Entry
		if setsOwner(e) && !p.script.NoOwner {
			roles[e.Owner] = true
		}
		if !namesRoles[e.Desc] {
			continue
		}
		for _, stmt := range sqltext.Statements(sqltext.Scan(e.Defn)) {
			at, _ := places(stmt)
			for _, i := range at {
				roles[stmt[i].Name] = true
			}
		}
	}
	for name := range roles {
		if strings.HasPrefix(name, "pg_") {
			delete(roles, name)
		}
	}
	return slices.Sorted(maps.Keys(roles))
}

// Skipped are the statements that are left out because of Options.SkipRoles.
func (p *Plan) Skipped() []Skipped {
	var out []Skipped
	for _, s := range p.skipped {
		if it := p.byID[s.Entry.ID]; it != nil && (it.Want&wantAny != 0 || it.Entry.Defn == "") {
			out = append(out, s)
		}
	}
	return out
}

// mapRoles gives entries the roles of the target: mapped ones other names, missing ones none. Entries that change are copies.
func (o *Options) mapRoles(entries []*pgarchive.Entry) (out []*pgarchive.Entry, skipped []Skipped, err error) {
	if len(o.RoleMap) == 0 && len(o.SkipRoles) == 0 {
		return entries, nil, nil
	}
	m := roleMapper{o: o, gone: make(map[pgarchive.ID]bool)}
	for _, e := range entries {
		c := *e
		if e.Owner != "" {
			m.owner(e, &c)
		}
		if namesRoles[e.Desc] {
			if c.Defn, err = m.text(e, e.Defn, true); err == nil {
				c.DropStmt, err = m.text(e, e.DropStmt, false)
			}
			if err != nil {
				return nil, nil, err
			}
			m.gone[e.ID] = e.Defn != "" && c.Defn == "" && e.Desc != "ACL" && e.Desc != "DEFAULT ACL"
		}
		if e.Desc == "COMMENT" && slices.ContainsFunc(e.Dependencies, func(id pgarchive.ID) bool { return m.gone[id] }) {
			c.Defn = ""
		}
		out = append(out, &c)
	}
	return out, m.skipped, nil
}

type roleMapper struct {
	o       *Options
	skipped []Skipped
	gone    map[pgarchive.ID]bool // entries of which nothing is left
}

func (m *roleMapper) owner(e, c *pgarchive.Entry) {
	if to, ok := m.o.RoleMap[e.Owner]; ok {
		c.Owner = to
	}
	if why, ok := m.o.SkipRoles[c.Owner]; ok {
		if setsOwner(e) && !m.o.NoOwner {
			m.skipped = append(m.skipped, Skipped{e, "OWNER TO " + sqltext.Quoter{}.Ident(c.Owner), c.Owner, why})
		}
		c.Owner = ""
	}
}

// text rewrites the statements of an entry. note says that what is left out is to be reported.
func (m *roleMapper) text(e *pgarchive.Entry, sql string, note bool) (string, error) {
	if sql == "" {
		return sql, nil
	}
	var b strings.Builder
	done := 0         // of sql
	without := ""     // reason why statements are left out, up to RESET SESSION AUTHORIZATION
	withoutRole := "" // the role they were to be done as
	keep := func(to int) { b.WriteString(sql[done:to]); done = to }
	for _, stmt := range sqltext.Statements(sqltext.Scan(sql)) {
		end := stmt[len(stmt)-1].End
		for end < len(sql) && sql[end] == '\n' {
			end++
		}
		at, ok := places(stmt)
		if !ok {
			return "", fmt.Errorf("entry %s: cannot find the roles in its statement to map or skip them: %s", e, strings.TrimSpace(sql[stmt[0].Start:end]))
		}
		role, why := withoutRole, without
		var cut []int // of at: left out of a policy's list
		for _, i := range at {
			name := stmt[i].Name
			if to, ok := m.o.RoleMap[name]; ok {
				name = to
			}
			if reason, missing := m.o.SkipRoles[name]; missing && why == "" {
				role, why = name, reason
				cut = append(cut, i)
			} else if missing {
				cut = append(cut, i)
			}
		}
		switch {
		case stmt[0].Is("SET"):
			without, withoutRole = why, role
			if why != "" {
				keep(stmt[0].Start)
				done = end
				continue
			}
		case stmt[0].Is("RESET") && without != "":
			without, withoutRole = "", ""
			keep(stmt[0].Start)
			done = end
			continue
		case why != "" && stmt[1].Is("POLICY") && len(cut) < len(at):
			// The policy stays for the others.
			if note {
				m.skipped = append(m.skipped, Skipped{e, "TO " + sqltext.Quoter{}.Ident(role), role, why})
			}
			keep(stmt[at[0]].Start)
			var names []string
			for _, i := range at {
				if !slices.Contains(cut, i) {
					names = append(names, m.name(stmt[i]))
				}
			}
			b.WriteString(strings.Join(names, ", "))
			done = stmt[at[len(at)-1]].End
			keep(end)
			continue
		case why != "":
			if note {
				m.skipped = append(m.skipped, Skipped{e, strings.TrimSuffix(strings.TrimSpace(sql[stmt[0].Start:end]), ";"), role, why})
			}
			keep(stmt[0].Start)
			done = end
			continue
		}
		for _, i := range at {
			if _, ok := m.o.RoleMap[stmt[i].Name]; ok {
				keep(stmt[i].Start)
				b.WriteString(m.name(stmt[i]))
				done = stmt[i].End
			}
		}
		keep(end)
	}
	keep(len(sql))
	return b.String(), nil
}

// name writes the role of a token as it is to be called.
func (m *roleMapper) name(t sqltext.Token) string {
	if to, ok := m.o.RoleMap[t.Name]; ok {
		return sqltext.Quoter{}.Ident(to)
	}
	return t.Text
}
