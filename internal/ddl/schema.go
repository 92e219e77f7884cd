package ddl

import (
	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// schema renders CREATE SCHEMA (dumpNamespace in pg_dump.c). The schema public is there in every new
// database: its entry only carries its owner.
func (r *renderer) schema(s *catalog.Schema) error {
	if r.opt.NoSchema {
		return nil
	}
	name := r.quote.Ident(s.Name)
	create := "CREATE SCHEMA " + name + ";\n"
	drop := "DROP SCHEMA " + name + ";\n"
	if !s.Create {
		create = "-- *not* creating schema, since initdb creates it\n"
		drop = "-- *not* dropping schema, since initdb creates it\n"
	}
	create += r.upgradeMember(&s.Meta, "SCHEMA", name, "")
	if s.Dump&catalog.Definition != 0 {
		r.add(&s.Meta, pgarchive.Entry{
			Desc:     "SCHEMA",
			Section:  pgarchive.SectionPreData,
			Defn:     create,
			DropStmt: drop,
		})
	}
	id := pgarchive.ID(s.DumpID)
	if s.Dump&catalog.Comment != 0 {
		// With quoted names pg_dump does not recognize it, and writes its comment.
		if !s.Create && name == "public" {
			r.commentOver("standard public schema", "SCHEMA", name, "", s.Owner, mainID(&s.Meta), id)
		} else {
			r.comment("SCHEMA", name, "", s.Owner, mainID(&s.Meta), id)
		}
	}
	if s.Dump&catalog.SecLabel != 0 {
		r.secLabel("SCHEMA", name, "", s.Owner, mainID(&s.Meta), id)
	}
	if s.Dump&catalog.ACLPart != 0 {
		if _, err := r.acl(id, 0, "SCHEMA", name, "", "", "", s.Owner, s.ACL); err != nil {
			return err
		}
	}
	return nil
}
