package ddl

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// database renders CREATE DATABASE with comment, labels, privileges and properties (dumpDatabase in pg_dump.c). What can be
// altered later stands in DATABASE PROPERTIES, since CREATE DATABASE must be alone in its entry.
func (r *renderer) database(d *catalog.DatabaseDef) error {
	name := r.quote.Ident(d.Name)
	create, err := r.createDatabase(d)
	if err != nil {
		return err
	}
	id := r.addEntry(pgarchive.Entry{
		CatalogID: pgarchive.CatalogID{TableOID: d.ID.Class, OID: d.ID.OID},
		Tag:       d.Name,
		Desc:      "DATABASE",
		Section:   pgarchive.SectionPreData,
		Defn:      create,
		DropStmt:  "DROP DATABASE " + name + ";\n",
		Owner:     d.Owner,
	}).ID

	// Comment and labels are in shared catalogues, and wanted whatever parts of the database are.
	if d.Comment != "" && !r.opt.NoComments {
		r.commentEntry("DATABASE", name, "", d.Owner, d.Comment, id)
	}
	r.secLabelEntry(r.secLabelText("DATABASE "+name, d.Labels), "DATABASE "+name, "", d.Owner, id)
	if _, err := r.acl(id, 0, "DATABASE", name, "", "", "", d.Owner, d.ACL); err != nil {
		return err
	}
	r.databaseProperties(d, name)
	if r.opt.BinaryUpgrade {
		r.largeObjectFiles(d)
	}
	return nil
}

func (r *renderer) createDatabase(d *catalog.DatabaseDef) (string, error) {
	s := "CREATE DATABASE " + r.quote.Ident(d.Name) + " WITH TEMPLATE = template0"
	if r.opt.BinaryUpgrade {
		s += fmt.Sprintf(" OID = %d STRATEGY = FILE_COPY", d.ID.OID)
	}
	set := func(option, value string) {
		if value != "" {
			s += " " + option + " = " + r.literal(value)
		}
	}
	set("ENCODING", d.Encoding)
	localeOption := "ICU_LOCALE"
	switch d.LocaleProvider {
	case 'b':
		s += " LOCALE_PROVIDER = builtin"
		localeOption = "BUILTIN_LOCALE"
	case 'c':
		s += " LOCALE_PROVIDER = libc"
	case 'i':
		s += " LOCALE_PROVIDER = icu"
	default:
		return "", fmt.Errorf("unrecognized locale provider: %c", d.LocaleProvider)
	}
	if d.Collate == d.Ctype {
		set("LOCALE", d.Collate)
	} else {
		set("LC_COLLATE", d.Collate)
		set("LC_CTYPE", d.Ctype)
	}
	if d.Locale != nil {
		s += " " + localeOption + " = " + r.literal(*d.Locale)
	}
	if d.ICURules != nil {
		s += " ICU_RULES = " + r.literal(*d.ICURules)
	}
	if r.opt.BinaryUpgrade && d.CollationVersion != nil {
		s += " COLLATION_VERSION = " + r.literal(*d.CollationVersion) // else the target computes its own
	}
	if d.Tablespace != "" && d.Tablespace != "pg_default" && !r.opt.NoTablespaces {
		s += " TABLESPACE = " + r.quote.Ident(d.Tablespace)
	}
	return s + ";\n", nil
}

func (r *renderer) databaseProperties(d *catalog.DatabaseDef, name string) {
	var set, drop string
	if d.ConnLimit != -1 {
		set += fmt.Sprintf("ALTER DATABASE %s CONNECTION LIMIT = %d;\n", name, d.ConnLimit)
	}
	if d.Template {
		set += "ALTER DATABASE " + name + " IS_TEMPLATE = true;\n"
		// a template cannot be dropped, and ALTER DATABASE has no IF EXISTS
		drop = "UPDATE pg_catalog.pg_database SET datistemplate = false WHERE datname = " + r.literal(d.Name) + ";\n"
	}
	for _, item := range d.Config {
		set += sqltext.AlterConfig(r.quote, item, "DATABASE", d.Name, "", "")
	}
	for _, c := range d.RoleConfig {
		set += sqltext.AlterConfig(r.quote, c.Item, "ROLE", c.Role, "DATABASE", d.Name)
	}
	if r.opt.BinaryUpgrade {
		set += "\n-- For binary upgrade, set datfrozenxid and datminmxid.\n" +
			fmt.Sprintf("UPDATE pg_catalog.pg_database\nSET datfrozenxid = '%d', datminmxid = '%d'\nWHERE datname = %s;\n",
				d.FrozenXID, d.MinMXID, r.literal(d.Name))
	}
	if set == "" {
		return
	}
	r.addEntry(pgarchive.Entry{
		Tag:      d.Name,
		Desc:     "DATABASE PROPERTIES",
		Section:  pgarchive.SectionPreData,
		Defn:     set,
		DropStmt: drop,
		Owner:    d.Owner,
	})
}

// largeObjectFiles keeps the files of pg_largeobject, which comes from the old cluster as it is.
func (r *renderer) largeObjectFiles(d *catalog.DatabaseDef) {
	const table, index = 2613, 2683
	files := "\n-- For binary upgrade, preserve pg_largeobject and index relfilenodes\n"
	ages := "\n-- For binary upgrade, set pg_largeobject relfrozenxid and relminmxid\n"
	for _, f := range d.LargeObjectFiles {
		ages += fmt.Sprintf("UPDATE pg_catalog.pg_class\nSET relfrozenxid = '%d', relminmxid = '%d'\nWHERE oid = %d;\n",
			f.FrozenXID, f.MinMXID, f.OID)
		switch f.OID {
		case table:
			files += fmt.Sprintf("SELECT pg_catalog.binary_upgrade_set_next_heap_relfilenode('%d'::pg_catalog.oid);\n", f.FileNode)
		case index:
			files += fmt.Sprintf("SELECT pg_catalog.binary_upgrade_set_next_index_relfilenode('%d'::pg_catalog.oid);\n", f.FileNode)
		}
	}
	r.addEntry(pgarchive.Entry{
		Tag:     "pg_largeobject",
		Desc:    "pg_largeobject",
		Section: pgarchive.SectionPreData,
		Defn:    files + "TRUNCATE pg_catalog.pg_largeobject;\n" + ages,
	})
}
