package catalog

import "context"

// FDW is a row of pg_foreign_data_wrapper.
type FDW struct {
	Meta
	Handler, Validator string // regproc, "-" for none
	Options            string // as it stands in OPTIONS (...), empty if none
}

// ForeignServer is a row of pg_foreign_server.
type ForeignServer struct {
	Meta
	FDW           string // name of its wrapper
	Type, Version string
	Options       string
	UserMappings  []UserMapping // in the order of the user names
}

// UserMapping is a row of pg_user_mappings.
type UserMapping struct {
	User    string // role, or "public"
	Options string // empty also when the reading role may not see them
}

func (r *reader) fdwsStage() stage {
	return stage{"foreign-data wrappers", r.fetchFDWs, func() error { addAll(r.db, r.fdwRows); return nil }}
}

func (r *reader) fetchFDWs(ctx context.Context, q Querier) error {
	sql := `
SELECT oid, fdwname, 0, fdwowner, fdwacl, pg_catalog.acldefault('F', fdwowner),
  fdwhandler::pg_catalog.regproc, fdwvalidator::pg_catalog.regproc, ` + optionsText("fdwoptions") + `
FROM pg_catalog.pg_foreign_data_wrapper ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		f := &FDW{Meta: r.objectMeta(row, KindFDW, ClassFDW)}
		f.objectACL(row)
		f.Handler, f.Validator, f.Options = row.str(), row.str(), row.str()
		r.selectObject(&f.Meta)
		r.fdwRows = append(r.fdwRows, f)
	})
}

func (r *reader) foreignServersStage() stage {
	return stage{"foreign servers", r.fetchForeignServers, func() error { addAll(r.db, r.foreignServerRows); return nil }}
}

func (r *reader) fetchForeignServers(ctx context.Context, q Querier) error {
	list := `
SELECT s.oid, s.srvname, 0, s.srvowner, s.srvacl, pg_catalog.acldefault('S', s.srvowner),
  f.fdwname, s.srvtype, s.srvversion, ` + optionsText("s.srvoptions") + `
FROM pg_catalog.pg_foreign_server s LEFT JOIN pg_catalog.pg_foreign_data_wrapper f ON f.oid = s.srvfdw
ORDER BY s.oid`
	err := query(ctx, q, list, func(row *row) {
		s := &ForeignServer{Meta: r.objectMeta(row, KindForeignServer, ClassForeignServer)}
		s.objectACL(row)
		s.Has |= UserMap
		s.FDW, s.Type, s.Version, s.Options = row.str(), row.str(), row.str(), row.str()
		r.selectObject(&s.Meta)
		r.foreignServerRows = append(r.foreignServerRows, s)
	})
	if err != nil {
		return err
	}

	// the view is open to everybody; options that the role may not see are NULL in it
	sql := `
SELECT u.srvid, u.usename, ` + optionsText("u.umoptions") + `
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_user_mappings u ON u.srvid = w.oid
ORDER BY u.srvid, u.usename`
	wanted := func(m *Meta) bool { return !r.db.Options.NoSchema && m.Dump&UserMap != 0 }
	return details(ctx, q, pick(r.foreignServerRows, wanted), sql, func(s *ForeignServer, row *row) {
		s.UserMappings = append(s.UserMappings, UserMapping{User: row.str(), Options: row.str()})
	})
}
