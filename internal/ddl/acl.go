package ddl

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// acl adds the ACL entry of an object when its privileges are not what a new object of its kind has, or what initdb or its
// extension's script gave it (dumpACL in pg_dump.c). To be called after comment and secLabel, when m.Dump&catalog.ACLPart is set.
//
// dep is the object's entry; altDep, if not 0, another that the privileges depend on. kind is the word after ON in GRANT
// (TABLE, FUNCTION, SCHEMA, ...). name and subname (a column, or "") are quoted, nspname is not. An empty tag is "kind name",
// or "COLUMN name.subname". The new entry's ID is returned, 0 if there is none.
func (r *renderer) acl(dep, altDep pgarchive.ID, kind, name, subname, nspname, tag, owner string, a *catalog.ACL) (pgarchive.ID, error) {
	if a == nil || r.opt.NoPrivileges || r.opt.NoSchema && kind != "LARGE OBJECT" {
		return 0, nil
	}
	text := ""
	if r.opt.BinaryUpgrade && a.PrivType == 'e' && a.Init != "" {
		// The extension's script will not run, so what it granted is granted here and recorded as such.
		s, err := sqltext.BuildACL(r.quote, name, subname, nspname, kind, a.Init, a.Default, owner, "", r.db.Info.Version)
		if err != nil {
			return 0, fmt.Errorf("could not parse initial ACL list (%s) or default (%s) for object %q (%s): %w", a.Init, a.Default, name, kind, err)
		}
		text = "SELECT pg_catalog.binary_upgrade_set_record_init_privs(true);\n" + s +
			"SELECT pg_catalog.binary_upgrade_set_record_init_privs(false);\n"
	}
	acls, base := a.Items, a.Default
	if a.Init != "" {
		base = a.Init
		if acls == "" {
			acls = a.Default
		}
	}
	s, err := sqltext.BuildACL(r.quote, name, subname, nspname, kind, acls, base, owner, "", r.db.Info.Version)
	if err != nil {
		return 0, fmt.Errorf("could not parse ACL list (%s) or default (%s) for object %q (%s): %w", acls, base, name, kind, err)
	}
	text += s
	if text == "" {
		return 0, nil
	}
	switch {
	case tag != "":
	case subname != "":
		tag = "COLUMN " + name + "." + subname
	default:
		tag = kind + " " + name
	}
	deps := []pgarchive.ID{dep}
	if altDep != 0 {
		deps = append(deps, altDep)
	}
	e := r.addEntry(pgarchive.Entry{
		Tag:          tag,
		Desc:         "ACL",
		Section:      pgarchive.SectionNone,
		Defn:         text,
		Namespace:    nspname,
		Owner:        owner,
		Dependencies: deps,
	})
	return e.ID, nil
}
