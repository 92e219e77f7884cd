package ddl

import (
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// fdw renders a foreign-data wrapper (dumpForeignDataWrapper in pg_dump.c).
func (r *renderer) fdw(f *catalog.FDW) error {
	if r.skip(&f.Meta) {
		return nil
	}
	const kind = "FOREIGN DATA WRAPPER"
	name := r.quote.Ident(f.Name)
	var b strings.Builder
	b.WriteString("CREATE " + kind + " " + name)
	if f.Handler != "-" {
		b.WriteString(" HANDLER " + f.Handler)
	}
	if f.Validator != "-" {
		b.WriteString(" VALIDATOR " + f.Validator)
	}
	b.WriteString(optionsClause(f.Options) + ";\n")
	b.WriteString(r.upgradeMember(&f.Meta, kind, name, ""))
	r.define(&f.Meta, pgarchive.Entry{
		Desc: kind, Section: pgarchive.SectionPreData, Defn: b.String(), DropStmt: "DROP " + kind + " " + name + ";\n",
	})
	r.commentOn(&f.Meta, kind, name)
	return r.privilegesOn(&f.Meta, kind, name)
}

// foreignServer renders a foreign server and its user mappings (dumpForeignServer).
func (r *renderer) foreignServer(s *catalog.ForeignServer) error {
	if r.skip(&s.Meta) {
		return nil
	}
	name := r.quote.Ident(s.Name)
	var b strings.Builder
	b.WriteString("CREATE SERVER " + name)
	if s.Type != "" {
		b.WriteString(" TYPE " + r.literal(s.Type))
	}
	if s.Version != "" {
		b.WriteString(" VERSION " + r.literal(s.Version))
	}
	b.WriteString(" FOREIGN DATA WRAPPER " + r.quote.Ident(s.FDW) + optionsClause(s.Options) + ";\n")
	b.WriteString(r.upgradeMember(&s.Meta, "SERVER", name, ""))
	r.define(&s.Meta, pgarchive.Entry{
		Desc: "SERVER", Section: pgarchive.SectionPreData, Defn: b.String(), DropStmt: "DROP SERVER " + name + ";\n",
	})
	r.commentOn(&s.Meta, "SERVER", name)
	if err := r.privilegesOn(&s.Meta, "FOREIGN SERVER", name); err != nil {
		return err
	}
	if want(&s.Meta, catalog.UserMap) {
		r.userMappings(s)
	}
	return nil
}

// userMappings adds an entry for each mapping (dumpUserMappings). They name no dependency, not even on the server.
func (r *renderer) userMappings(s *catalog.ForeignServer) {
	for _, u := range s.UserMappings {
		what := "USER MAPPING FOR " + r.quote.Ident(u.User) + " SERVER " + r.quote.Ident(s.Name)
		r.addEntry(pgarchive.Entry{
			Tag: "USER MAPPING " + u.User + " SERVER " + s.Name, Desc: "USER MAPPING",
			Section: pgarchive.SectionPreData, Owner: s.Owner,
			Defn: "CREATE " + what + optionsClause(u.Options) + ";\n", DropStmt: "DROP " + what + ";\n",
		})
	}
}
