package catalog

import (
	"context"
	"sort"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Role is a role that the database refers to, without its password.
type Role struct {
	Name                                 string
	Super, Inherit, CreateRole, CreateDB bool
	Login, Replication, BypassRLS        bool
	ConnLimit                            int    // -1: no limit
	ValidUntil                           string // empty: for ever
	Comment                              string
	Config                               []string // settings for all databases, "name=value"
	MemberOf                             []Membership
}

// Membership is one role's membership in another.
type Membership struct {
	Role    string // the group
	Grantor string // empty if it is gone
	Admin   bool
	// Inherit and Set are of PostgreSQL 16 and newer; before, Inherit is the member's own attribute and Set is true.
	Inherit, Set bool
}

// rolesStage reads the names of all roles.
func (r *reader) rolesStage() stage {
	const sql = `SELECT oid, rolname FROM pg_catalog.pg_roles`
	return stage{
		name: "roles",
		fetch: func(ctx context.Context, q Querier) error {
			r.db.Roles = make(map[uint32]string)
			return query(ctx, q, sql, func(row *row) {
				oid, name := row.oid(), row.str()
				r.db.Roles[oid] = name
			})
		},
	}
}

// roleName returns the name of a role. A missing one fails the read at its end.
func (r *reader) roleName(oid uint32) string {
	name, ok := r.db.Roles[oid]
	if !ok {
		r.failf("role with OID %d does not exist", oid)
	}
	return name
}

// roleDetailsStage reads the attributes and memberships of all roles; finish keeps those referred to.
func (r *reader) roleDetailsStage() stage {
	const attrs = `SELECT r.oid, r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
  r.rolreplication, r.rolbypassrls, r.rolconnlimit, r.rolvaliduntil,
  pg_catalog.shobj_description(r.oid, 'pg_authid'), s.setconfig
FROM pg_catalog.pg_roles r
LEFT JOIN pg_catalog.pg_db_role_setting s ON s.setrole = r.oid AND s.setdatabase = 0`
	return stage{
		name: "role attributes",
		fetch: func(ctx context.Context, q Querier) error {
			byOID := make(map[uint32]*Role)
			err := query(ctx, q, attrs, func(row *row) {
				oid := row.oid()
				byOID[oid] = &Role{
					Name: row.str(), Super: row.bool(), Inherit: row.bool(), CreateRole: row.bool(), CreateDB: row.bool(),
					Login: row.bool(), Replication: row.bool(), BypassRLS: row.bool(),
					ConnLimit: row.int(), ValidUntil: row.str(), Comment: row.str(), Config: row.strs(),
				}
			})
			if err != nil {
				return err
			}
			sql := `SELECT roleid, member, grantor, admin_option, inherit_option, set_option
FROM pg_catalog.pg_auth_members ORDER BY 1, 2, 3`
			if r.db.Info.Version < 160000 {
				sql = replaceAll(sql, "inherit_option, set_option", "NULL, true")
			}
			err = query(ctx, q, sql, func(row *row) {
				group, member, grantor := byOID[row.oid()], byOID[row.oid()], byOID[row.oid()]
				m := Membership{Admin: row.bool()}
				inherit, known := row.strNull()
				m.Inherit, m.Set = inherit == "t", row.bool()
				if group == nil || member == nil {
					return
				}
				if !known {
					m.Inherit = member.Inherit
				}
				m.Role = group.Name
				if grantor != nil {
					m.Grantor = grantor.Name
				}
				member.MemberOf = append(member.MemberOf, m)
			})
			for _, role := range byOID {
				r.allRoles = append(r.allRoles, role)
			}
			return err
		},
	}
}

// linkRoles puts the roles that own something to be dumped, or stand in its privileges, into
// RoleDetails, with their memberships among themselves.
func (r *reader) linkRoles() {
	used := make(map[string]bool)
	acl := func(text string) {
		items, err := sqltext.ParseArray(text)
		if err != nil {
			return // the rendering of this ACL reports it
		}
		for _, s := range items {
			if item, err := sqltext.ParseACLItem(s); err == nil {
				used[item.Grantee], used[item.Grantor] = true, true
			}
		}
	}
	for _, o := range r.db.Objects {
		m := o.Base()
		if m.Dump&m.Has == 0 {
			continue
		}
		used[m.Owner] = true
		if m.ACL != nil && m.ACL.Items != "" {
			acl(m.ACL.Items)
		}
		if d, ok := o.(*DefaultACL); ok {
			used[d.Role] = true
		}
		if t, ok := o.(*Table); ok {
			for _, c := range r.db.ColumnACLs[t.ID.OID] {
				acl(c.ACL.Items)
			}
		}
	}
	if d := r.db.Def; d != nil {
		used[d.Owner] = true
		if d.ACL != nil && d.ACL.Items != "" {
			acl(d.ACL.Items)
		}
		for _, c := range d.RoleConfig {
			used[c.Role] = true
		}
	}
	delete(used, "")
	for _, role := range r.allRoles {
		if !used[role.Name] {
			continue
		}
		kept := role.MemberOf[:0]
		for _, m := range role.MemberOf {
			if used[m.Role] {
				kept = append(kept, m)
			}
		}
		role.MemberOf = kept
		r.db.RoleDetails = append(r.db.RoleDetails, *role)
	}
	sort.Slice(r.db.RoleDetails, func(i, j int) bool { return r.db.RoleDetails[i].Name < r.db.RoleDetails[j].Name })
}
