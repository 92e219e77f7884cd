package dumpall

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// userRoles is the condition for roles that are not the server's own.
const userRoles = "rolname !~ '^pg_'"

func (c *cluster) dropRoles() error {
	return c.names("roles", "Drop roles",
		"SELECT rolname FROM "+c.roles+" WHERE "+userRoles+" ORDER BY 1",
		func(name string) { c.print("DROP ROLE %s%s;\n", c.ifExists(), c.quote.Ident(name)) })
}

// roleAttributes are the boolean attributes of a role in the order of the statement.
var roleAttributes = []struct{ column, word string }{
	{"rolsuper", "SUPERUSER"}, {"rolinherit", "INHERIT"}, {"rolcreaterole", "CREATEROLE"},
	{"rolcreatedb", "CREATEDB"}, {"rolcanlogin", "LOGIN"}, {"rolreplication", "REPLICATION"},
	{"rolbypassrls", "BYPASSRLS"},
}

// createRoles writes the roles. Each is created and then altered, so that one that exists
// already gets its attributes all the same.
func (c *cluster) createRoles() error {
	labels, err := c.sharedLabels("pg_authid")
	if err != nil {
		return err
	}
	var columns strings.Builder
	for _, a := range roleAttributes {
		columns.WriteString(a.column + ", ")
	}
	sql := "SELECT oid, rolname, " + columns.String() + "rolconnlimit, rolpassword, rolvaliduntil, " +
		"pg_catalog.shobj_description(oid, 'pg_authid'), rolname = current_user " +
		"FROM " + c.roles + " WHERE " + userRoles + " ORDER BY 2"
	var names []string
	err = c.query("roles", sql, func(v []string, has []bool) error {
		if names == nil {
			c.heading("Roles")
		}
		names = append(names, v[1])
		c.createRole(v, has)
		c.labels("ROLE", v[1], labels[v[0]])
		return nil
	})
	if err != nil {
		return err
	}
	if names != nil {
		c.print("\n--\n-- User Configurations\n--\n")
	}
	if err := c.roleSettings(names); err != nil {
		return err
	}
	c.print("\n\n")
	return nil
}

func (c *cluster) createRole(v []string, has []bool) {
	name := c.quote.Ident(v[1])
	rest := v[2+len(roleAttributes):]
	hasRest := has[2+len(roleAttributes):]
	const connLimit, password, validUntil, comment, isCurrent = 0, 1, 2, 3, 4
	upgrade := c.o.Database.BinaryUpgrade
	if upgrade {
		c.print("\n-- For binary upgrade, must preserve pg_authid.oid\n"+
			"SELECT pg_catalog.binary_upgrade_set_next_pg_authid_oid('%s'::pg_catalog.oid);\n\n", v[0])
	}
	if !upgrade || rest[isCurrent] == "f" { // an upgrade has made its own role already
		c.print("CREATE ROLE %s;\n", name)
	}
	c.print("ALTER ROLE %s WITH", name)
	for i, a := range roleAttributes {
		no := "NO"
		if v[2+i] == "t" {
			no = ""
		}
		c.print(" %s%s", no, a.word)
	}
	if rest[connLimit] != "-1" {
		c.print(" CONNECTION LIMIT %s", rest[connLimit])
	}
	if hasRest[password] && !c.o.NoRolePasswords {
		c.print(" PASSWORD %s", sqltext.EscapeLiteral(rest[password]))
	}
	if hasRest[validUntil] {
		c.print(" VALID UNTIL '%s'", rest[validUntil])
	}
	c.print(";\n")
	if hasRest[comment] && !c.o.Database.NoComments {
		c.print("COMMENT ON ROLE %s IS %s;\n", name, sqltext.EscapeLiteral(rest[comment]))
	}
}

// roleSettings writes ALTER ROLE ... SET, in the order of the names.
func (c *cluster) roleSettings(names []string) error {
	settings := make(map[string][]string)
	sql := "SELECT r.rolname, s.item FROM pg_catalog.pg_db_role_setting d " +
		"JOIN " + c.roles + " r ON r.oid = d.setrole, " +
		"LATERAL pg_catalog.unnest(d.setconfig) WITH ORDINALITY AS s(item, n) " +
		"WHERE d.setdatabase = 0 ORDER BY r.rolname, s.n"
	err := c.query("settings of roles", sql, func(v []string, _ []bool) error {
		settings[v[0]] = append(settings[v[0]], v[1])
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if len(settings[name]) == 0 {
			continue
		}
		c.print("\n--\n-- User Config \"%s\"\n--\n\n", sqltext.SanitizeLine(name, true))
		for _, item := range settings[name] {
			c.print("%s", sqltext.AlterConfig(c.quote, item, "ROLE", name, "", ""))
		}
	}
	return nil
}

// membership is a row of pg_auth_members.
type membership struct {
	role, member, grantor          string
	hasRole, hasMember, hasGrantor bool
	roleOID, memberOID, grantorOID string
	admin, inherit, set            bool
	done                           bool
}

// bootstrapSuperuser is the OID of the role that initdb makes.
const bootstrapSuperuser = "10"

// memberships writes GRANT role TO member. Since 16 the grantor counts, and must have got ADMIN
// OPTION by an earlier statement, unless it is the role that initdb made.
func (c *cluster) memberships() error {
	grantors := c.conn.Version() >= 160000
	options := "NULL, NULL"
	if grantors {
		options = "a.inherit_option, a.set_option"
	}
	sql := "SELECT ur.rolname, um.rolname, ug.rolname, a.roleid, a.member, a.grantor, a.admin_option, " + options +
		" FROM pg_catalog.pg_auth_members a" +
		" LEFT JOIN " + c.roles + " ur ON ur.oid = a.roleid" +
		" LEFT JOIN " + c.roles + " um ON um.oid = a.member" +
		" LEFT JOIN " + c.roles + " ug ON ug.oid = a.grantor" +
		" WHERE NOT (ur.rolname ~ '^pg_' AND um.rolname ~ '^pg_') ORDER BY 1, 2, 3"
	var all []*membership
	err := c.query("memberships of roles", sql, func(v []string, has []bool) error {
		all = append(all, &membership{
			role: v[0], member: v[1], grantor: v[2], hasRole: has[0], hasMember: has[1], hasGrantor: has[2],
			roleOID: v[3], memberOID: v[4], grantorOID: v[5],
			admin: v[6] == "t", inherit: v[7] == "t", set: v[8] == "t" || !grantors,
		})
		return nil
	})
	if err != nil {
		return err
	}
	if len(all) > 0 {
		c.heading("Role memberships")
	}
	for start := 0; start < len(all); {
		if !all[start].hasRole { // they sort last
			c.warn("ignoring role grant for missing role with OID %s", all[start].roleOID)
			break
		}
		end := start
		for end < len(all) && all[end].hasRole && all[end].role == all[start].role {
			end++
		}
		if err := c.grantRole(all[start:end], grantors); err != nil {
			return err
		}
		start = end
	}
	c.print("\n\n")
	return nil
}

// grantRole writes the grants of one role, in passes, until each had its grantor.
func (c *cluster) grantRole(grants []*membership, grantors bool) error {
	admins := make(map[string]bool)
	for left := len(grants); left > 0; {
		before := left
		for _, g := range grants {
			if g.done {
				continue
			}
			if !g.hasMember {
				c.warn("ignoring role grant to missing role with OID %s", g.memberOID)
				g.done = true
				left--
				continue
			}
			named := grantors && g.hasGrantor
			if grantors && !g.hasGrantor {
				c.warn("grant of role \"%s\" to \"%s\" has invalid grantor OID %s: it will be dumped without GRANTED BY", g.role, g.member, g.grantorOID)
			}
			if named && g.grantorOID != bootstrapSuperuser && !admins[g.grantor] {
				continue
			}
			g.done = true
			left--
			if g.admin {
				admins[g.member] = true
			}
			c.print("%s", g.statement(c.quote, grantors, named))
		}
		if left == before {
			return fmt.Errorf("could not find a legal dump ordering for memberships in role \"%s\"", grants[0].role)
		}
	}
	return nil
}

func (g *membership) statement(q sqltext.Quoter, options, grantor bool) string {
	var with []string
	if g.admin {
		with = append(with, "ADMIN OPTION")
	}
	if options {
		if g.inherit {
			with = append(with, "INHERIT TRUE")
		} else {
			with = append(with, "INHERIT FALSE")
		}
	}
	if !g.set {
		with = append(with, "SET FALSE")
	}
	s := "GRANT " + q.Ident(g.role) + " TO " + q.Ident(g.member)
	if len(with) > 0 {
		s += " WITH " + strings.Join(with, ", ")
	}
	if grantor {
		s += " GRANTED BY " + q.Ident(g.grantor)
	}
	return s + ";\n"
}

// parameterPrivileges writes GRANT ... ON PARAMETER, which 15 brought.
func (c *cluster) parameterPrivileges() error {
	sql := "SELECT parname, pg_catalog.pg_get_userbyid(" + bootstrapSuperuser + "), paracl, " +
		"pg_catalog.acldefault('p', " + bootstrapSuperuser + ") FROM pg_catalog.pg_parameter_acl ORDER BY 1"
	first := true
	err := c.query("privileges on parameters", sql, func(v []string, _ []bool) error {
		if first {
			c.heading("Role privileges on configuration parameters")
			first = false
		}
		text, err := sqltext.BuildACL(c.quote, c.quote.Ident(v[0]), "", "", "PARAMETER", v[2], v[3], v[1], "", c.conn.Version())
		if err != nil {
			return fmt.Errorf("could not parse ACL list (%s) for parameter \"%s\"", v[2], v[0])
		}
		c.print("%s", text)
		return nil
	})
	c.print("\n\n")
	return err
}

// label is a security label of a shared object.
type label struct{ provider, text string }

// sharedLabels reads the security labels of the objects of a shared catalogue, by OID.
func (c *cluster) sharedLabels(catalogue string) (map[string][]label, error) {
	labels := make(map[string][]label)
	if c.o.Database.NoSecurityLabels {
		return labels, nil
	}
	sql := "SELECT objoid, provider, label FROM pg_catalog.pg_shseclabel WHERE classoid = 'pg_catalog." + catalogue +
		"'::pg_catalog.regclass ORDER BY objoid, provider"
	err := c.query("security labels", sql, func(v []string, _ []bool) error {
		labels[v[0]] = append(labels[v[0]], label{v[1], v[2]})
		return nil
	})
	return labels, err
}

func (c *cluster) labels(kind, name string, labels []label) {
	for _, l := range labels {
		c.print("SECURITY LABEL FOR %s ON %s %s IS %s;\n", c.quote.Ident(l.provider), kind, c.quote.Ident(name), sqltext.EscapeLiteral(l.text))
	}
}
