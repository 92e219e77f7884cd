package catalog

import "context"

// DatabaseDef is what is needed to create the database itself.
type DatabaseDef struct {
	ID               ID
	Name             string
	Owner            string
	Encoding         string
	LocaleProvider   byte // c i b
	Collate, Ctype   string
	Locale           *string // of ICU and builtin
	ICURules         *string
	CollationVersion *string
	Tablespace       string
	Template         bool
	ConnLimit        int
	ACL              *ACL
	Comment          string
	Labels           []SecLabelText
	Config           []string // settings of the database, "name=value"
	RoleConfig       []RoleConfig
	FrozenXID        uint32
	MinMXID          uint32

	// Of pg_largeobject and its index, for binary upgrade.
	LargeObjectFiles []CatalogFile
}

// RoleConfig is a setting of a role in this database.
type RoleConfig struct{ Role, Item string }

// CatalogFile is where a system relation is stored and how old its rows may be.
type CatalogFile struct{ OID, FrozenXID, MinMXID, FileNode uint32 }

// databaseStage reads the row of pg_database and the settings that belong to the database (dumpDatabase in pg_dump.c).
func (r *reader) databaseStage() stage {
	v := r.db.Info.Version
	locale := "'c', NULL, NULL, NULL"
	switch {
	case v >= 170000:
		locale = "datlocprovider, datlocale, daticurules, datcollversion"
	case v >= 160000:
		locale = "datlocprovider, daticulocale, daticurules, datcollversion"
	case v >= 150000:
		locale = "datlocprovider, daticulocale, NULL, datcollversion"
	}
	main := `SELECT oid, datname, datdba, pg_catalog.pg_encoding_to_char(encoding), datcollate, datctype,
  ` + locale + `,
  (SELECT spcname FROM pg_catalog.pg_tablespace t WHERE t.oid = dattablespace),
  datistemplate, datconnlimit, datacl, pg_catalog.acldefault('d', datdba),
  pg_catalog.shobj_description(oid, 'pg_database'), datfrozenxid, datminmxid
FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()`
	const labels = `SELECT provider, label FROM pg_catalog.pg_shseclabel
WHERE classoid = 'pg_catalog.pg_database'::pg_catalog.regclass
  AND objoid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())`
	const config = `SELECT r.rolname, pg_catalog.unnest(s.setconfig)
FROM pg_catalog.pg_db_role_setting s LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.setrole
WHERE s.setdatabase = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
  AND (s.setrole = 0 OR r.oid IS NOT NULL)`
	files := `SELECT oid, relfrozenxid, relminmxid, relfilenode FROM pg_catalog.pg_class WHERE oid IN (2613, 2683)`

	s := stage{name: "database"}
	if !r.db.Options.Create {
		return s
	}
	d := &DatabaseDef{}
	var owner uint32
	s.fetch = func(ctx context.Context, q Querier) error {
		err := query(ctx, q, main, func(row *row) {
			null := func() *string {
				if s, ok := row.strNull(); ok {
					return &s
				}
				return nil
			}
			d.ID, d.Name, owner = ID{ClassDatabase, row.oid()}, row.str(), row.oid()
			d.Encoding, d.Collate, d.Ctype = row.str(), row.str(), row.str()
			d.LocaleProvider, d.Locale, d.ICURules, d.CollationVersion = row.char(), null(), null(), null()
			d.Tablespace, d.Template, d.ConnLimit = row.str(), row.bool(), row.int()
			d.ACL = &ACL{Items: row.str(), Default: row.str()}
			d.Comment = row.str()
			d.FrozenXID, d.MinMXID = row.oid(), row.oid()
		})
		if err != nil {
			return err
		}
		if !r.db.Options.NoSecurityLabels {
			err = query(ctx, q, labels, func(row *row) { d.Labels = append(d.Labels, SecLabelText{row.str(), row.str()}) })
			if err != nil {
				return err
			}
		}
		err = query(ctx, q, config, func(row *row) {
			role, isRole := row.strNull()
			item := row.str()
			if isRole {
				d.RoleConfig = append(d.RoleConfig, RoleConfig{role, item})
			} else {
				d.Config = append(d.Config, item)
			}
		})
		if err != nil || !r.db.Options.BinaryUpgrade {
			return err
		}
		return query(ctx, q, files, func(row *row) {
			d.LargeObjectFiles = append(d.LargeObjectFiles, CatalogFile{row.oid(), row.oid(), row.oid(), row.oid()})
		})
	}
	s.link = func() error {
		d.Owner = r.roleName(owner)
		r.db.Def = d
		return nil
	}
	return s
}
