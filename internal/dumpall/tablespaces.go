package dumpall

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// userTablespaces is the condition for tablespaces that are not the server's own.
const userTablespaces = "spcname !~ '^pg_'"

func (c *cluster) dropTablespaces() error {
	return c.names("tablespaces", "Drop tablespaces",
		"SELECT spcname FROM pg_catalog.pg_tablespace WHERE "+userTablespaces+" ORDER BY 1",
		func(name string) { c.print("DROP TABLESPACE %s%s;\n", c.ifExists(), c.quote.Ident(name)) })
}

func (c *cluster) tablespaces() error {
	labels, err := c.sharedLabels("pg_tablespace")
	if err != nil {
		return err
	}
	sql := "SELECT oid, spcname, pg_catalog.pg_get_userbyid(spcowner), pg_catalog.pg_tablespace_location(oid), " +
		"spcacl, pg_catalog.acldefault('t', spcowner), pg_catalog.array_to_string(spcoptions, ', '), " +
		"pg_catalog.shobj_description(oid, 'pg_tablespace') " +
		"FROM pg_catalog.pg_tablespace WHERE " + userTablespaces + " ORDER BY 1"
	first := true
	err = c.query("tablespaces", sql, func(v []string, _ []bool) error {
		if first {
			c.heading("Tablespaces")
			first = false
		}
		if err := c.tablespace(v); err != nil {
			return err
		}
		c.labels("TABLESPACE", v[1], labels[v[0]])
		return nil
	})
	c.print("\n\n")
	return err
}

func (c *cluster) tablespace(v []string) error {
	name, owner, location, acl, acldefault, options, comment := c.quote.Ident(v[1]), v[2], v[3], v[4], v[5], v[6], v[7]
	if c.o.Database.BinaryUpgrade {
		c.print("\n-- For binary upgrade, must preserve pg_tablespace oid\n"+
			"SELECT pg_catalog.binary_upgrade_set_next_pg_tablespace_oid('%s'::pg_catalog.oid);\n", v[0])
	}
	if !strings.HasPrefix(location, "/") {
		location = "" // a tablespace within the data folder is created without a place
	}
	c.print("CREATE TABLESPACE %s OWNER %s LOCATION %s;\n", name, c.quote.Ident(owner), sqltext.EscapeLiteral(location))
	if options != "" {
		c.print("ALTER TABLESPACE %s SET (%s);\n", name, options)
	}
	if !c.o.Database.NoPrivileges {
		text, err := sqltext.BuildACL(c.quote, name, "", "", "TABLESPACE", acl, acldefault, owner, "", c.conn.Version())
		if err != nil {
			return fmt.Errorf("could not parse ACL list (%s) for tablespace \"%s\"", acl, v[1])
		}
		c.print("%s", text)
	}
	if comment != "" && !c.o.Database.NoComments {
		c.print("COMMENT ON TABLESPACE %s IS %s;\n", name, sqltext.EscapeLiteral(comment))
	}
	return nil
}
