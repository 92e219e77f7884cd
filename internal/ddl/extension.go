package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// extension renders CREATE EXTENSION (dumpExtension in pg_dump.c). No version is given, so that the target takes its
// default, and an extension that is there already is accepted.
func (r *renderer) extension(e *catalog.Extension) error {
	if r.opt.NoSchema {
		return nil
	}
	name := r.quote.Ident(e.Name)
	create := "CREATE EXTENSION IF NOT EXISTS " + name + " WITH SCHEMA " + r.quote.Ident(e.Namespace) + ";\n"
	if r.opt.BinaryUpgrade {
		create = r.emptyExtension(e)
	}
	if e.Dump&catalog.Definition != 0 {
		r.add(&e.Meta, pgarchive.Entry{
			Desc:     "EXTENSION",
			Section:  pgarchive.SectionPreData,
			Defn:     create,
			DropStmt: "DROP EXTENSION " + name + ";\n",
		})
	}
	id := pgarchive.ID(e.DumpID)
	if e.Dump&catalog.Comment != 0 {
		r.comment("EXTENSION", name, "", "", mainID(&e.Meta), id)
	}
	if e.Dump&catalog.SecLabel != 0 {
		r.secLabel("EXTENSION", name, "", "", mainID(&e.Meta), id)
	}
	return nil
}

// emptyExtension makes the extension without its objects, which binary upgrade creates and adds one by one.
func (r *renderer) emptyExtension(e *catalog.Extension) string {
	orNull := func(array string) string {
		if len(array) > 2 {
			return r.literal(array)
		}
		return "NULL"
	}
	var needs []string
	for _, d := range e.Deps {
		if o, ok := r.db.ByDumpID(d).(*catalog.Extension); ok {
			needs = append(needs, r.literal(o.Name))
		}
	}
	return "-- For binary upgrade, create an empty extension and insert objects into it\n" +
		"DROP EXTENSION IF EXISTS " + r.quote.Ident(e.Name) + ";\n" +
		fmt.Sprintf("SELECT pg_catalog.binary_upgrade_create_empty_extension(%s, %s, %t, %s, %s, %s, ARRAY[%s]::pg_catalog.text[]);\n",
			r.literal(e.Name), r.literal(e.Namespace), e.Relocatable, r.literal(e.Version),
			orNull(e.ConfigText), orNull(e.ConditionText), strings.Join(needs, ","))
}

// upgradeMember returns what puts an object back into its extension, to stand at the end of the object's definition: empty
// unless in binary upgrade and a member (binary_upgrade_extension_member in pg_dump.c). objtype and name are as in
// ALTER EXTENSION ... ADD objtype [nspname.]name, name already quoted.
func (r *renderer) upgradeMember(m *catalog.Meta, objtype, name, nspname string) string {
	if !r.opt.BinaryUpgrade || m.Extension == nil {
		return ""
	}
	if nspname != "" {
		name = r.quote.Ident(nspname) + "." + name
	}
	return "\n-- For binary upgrade, handle extension membership the hard way\n" +
		"ALTER EXTENSION " + r.quote.Ident(m.Extension.Name) + " ADD " + objtype + " " + name + ";\n"
}
