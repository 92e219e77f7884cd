package catalog

import (
	"context"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Schema is a row of pg_namespace.
type Schema struct {
	Meta
	Create   bool // CREATE SCHEMA is to be issued (not for public, which initdb makes)
	OwnerOID uint32
}

// rolePgDatabaseOwner is the OID of the predefined role pg_database_owner (pg_authid.dat).
const rolePgDatabaseOwner = 6171

// schemasStage reads all schemas, the system's too, so that every object finds its own.
func (r *reader) schemasStage() stage {
	const sql = `SELECT oid, nspname, nspowner, nspacl, pg_catalog.acldefault('n', nspowner)
FROM pg_catalog.pg_namespace`
	return stage{
		name: "schemas",
		fetch: func(ctx context.Context, q Querier) error {
			return query(ctx, q, sql, func(row *row) {
				s := &Schema{Meta: Meta{Kind: KindSchema, ID: ID{ClassNamespace, row.oid()}}}
				s.Name, s.OwnerOID = row.str(), row.oid()
				s.ACL = &ACL{Items: row.str(), Default: row.str()}
				r.db.Schemas = append(r.db.Schemas, s)
			})
		},
		link: func() error {
			r.schemaByOID = make(map[uint32]*Schema, len(r.db.Schemas))
			for _, s := range r.db.Schemas {
				r.db.Add(s)
				r.schemaByOID[s.ID.OID] = s
				s.Owner = r.roleName(s.OwnerOID)
				r.selectSchema(s)
				if s.ACL.Items != "" {
					s.Has |= ACLPart
				}
				if s.Name == "public" {
					// The initial privileges of public are taken to be what CREATE DATABASE gives since
					// PostgreSQL 15, for the present owner: that is what the schema has in an empty target
					// after its owner was set. pg_init_privs does not say so after the schema was dropped
					// and made again, or given to another owner (getNamespaces in pg_dump.c).
					s.ACL.PrivType = 'i'
					s.ACL.Init = textArray(
						sqltext.ACLItem{Grantee: s.Owner, Codes: "UC", Grantor: s.Owner}.String(),
						sqltext.ACLItem{Codes: "U", Grantor: s.Owner}.String())
					s.Has |= ACLPart
				}
			}
			return nil
		},
	}
}

// textArray writes a one-dimensional array of texts.
func textArray(elems ...string) string {
	quoted := make([]string, len(elems))
	for i, e := range elems {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

// selectSchema decides what of a schema, and of the objects in it, is dumped
// (selectDumpableNamespace in pg_dump.c).
func (r *reader) selectSchema(s *Schema) {
	s.selected = true
	s.Create = true
	set := func(c Component) { s.Dump, s.Contains = c, c }
	switch {
	case len(r.sel.tables) > 0:
		set(None)
	case len(r.sel.schemas) > 0:
		set(all(r.sel.schemas[s.ID.OID]))
	case s.Name == "pg_catalog":
		// the privileges of system objects, as far as they were changed since initdb
		set(ACLPart)
	case strings.HasPrefix(s.Name, "pg_") || s.Name == "information_schema":
		set(None)
	case s.Name == "public":
		// public exists in every new database: its definition is only its owner, when that
		// is not the default, and it counts as having a comment, so that a missing one is noticed.
		s.Create = false
		set(AllPart)
		if s.OwnerOID == rolePgDatabaseOwner {
			s.Dump &^= Definition
		}
		s.Has |= Comment
	default:
		set(AllPart)
	}
	if s.Contains != None && r.sel.notSchemas[s.ID.OID] {
		set(None)
	}
	// Belonging to an extension decides for the schema itself, not for what is in it.
	r.checkMember(&s.Meta)
}

// schema returns the schema with that OID. A missing one fails the read at its end.
func (r *reader) schema(oid uint32) *Schema {
	s := r.schemaByOID[oid]
	if s == nil {
		r.failf("schema with OID %d does not exist", oid)
		s = &Schema{Meta: Meta{Kind: KindSchema, ID: ID{ClassNamespace, oid}}}
	}
	return s
}
