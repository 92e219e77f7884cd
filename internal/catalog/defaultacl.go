package catalog

import "context"

// DefaultACL is a row of pg_default_acl: ALTER DEFAULT PRIVILEGES. Its name is the object type.
type DefaultACL struct {
	Meta
	Role    string // for whose new objects
	ObjType byte   // r S f T n L
}

// defaultACLsStage reads the default privileges. Those for all schemas replace what an object type has without them, so
// they are dumped as a difference from that; those of one schema only add (getDefaultACLs in pg_dump.c).
func (r *reader) defaultACLsStage() stage {
	const sql = `SELECT oid, defaclrole, defaclnamespace, defaclobjtype, defaclacl,
  CASE WHEN defaclnamespace = 0
    THEN pg_catalog.acldefault(CASE defaclobjtype WHEN 'S' THEN 's'::pg_catalog."char" ELSE defaclobjtype END, defaclrole)
    ELSE '{}' END
FROM pg_catalog.pg_default_acl`
	type rowOf struct {
		acl          *DefaultACL
		role, schema uint32
	}
	var rows []rowOf
	return stage{
		name: "default privileges",
		fetch: func(ctx context.Context, q Querier) error {
			return query(ctx, q, sql, func(row *row) {
				d := rowOf{acl: &DefaultACL{Meta: Meta{Kind: KindDefaultACL, ID: ID{ClassDefaultACL, row.oid()}}}}
				d.role, d.schema, d.acl.ObjType = row.oid(), row.oid(), row.char()
				d.acl.ACL = &ACL{Items: row.str(), Default: row.str()}
				rows = append(rows, d)
			})
		},
		link: func() error {
			for _, d := range rows {
				r.db.Add(d.acl)
				d.acl.Name = string(d.acl.ObjType)
				d.acl.Role = r.roleName(d.role)
				if d.schema != 0 {
					d.acl.Schema = r.schema(d.schema)
				}
				d.acl.Has |= ACLPart
				r.selectDefaultACL(&d.acl.Meta)
			}
			return nil
		},
	}
}
