package catalog

import "context"

type initPrivRow struct {
	id    SubID
	typ   byte
	privs string
}

// initPrivsStage reads the privileges that initdb and extensions' scripts gave, so that only what was changed since
// is dumped (getAdditionalACLs in pg_dump.c). Its link comes after all objects exist.
func (r *reader) initPrivsStage() stage {
	const sql = `SELECT classoid, objoid, objsubid, privtype, initprivs FROM pg_catalog.pg_init_privs`
	s := stage{name: "initial privileges"}
	if r.db.Options.NoPrivileges {
		return s
	}
	s.fetch = func(ctx context.Context, q Querier) error {
		return query(ctx, q, sql, func(row *row) {
			id := SubID{ID{row.oid(), row.oid()}, int32(row.int())}
			r.initPrivs = append(r.initPrivs, initPrivRow{id, row.char(), row.str()})
		})
	}
	s.link = func() error {
		for _, p := range r.initPrivs {
			r.linkInitPriv(p)
		}
		r.initPrivs = nil
		return nil
	}
	return s
}

func (r *reader) linkInitPriv(p initPrivRow) {
	o := r.db.Find(p.id.ID)
	if o == nil {
		return
	}
	m := o.Base()
	if p.id.Sub != 0 {
		if m.Kind == KindTable {
			m.Has |= ACLPart // the column's own row comes from columnACLsStage
		} else {
			r.warnf("unsupported pg_init_privs entry: %d %d %d", p.id.Class, p.id.OID, p.id.Sub)
		}
		return
	}
	if m.Kind == KindSchema && m.Name == "public" {
		return // see schemasStage
	}
	switch m.Kind {
	case KindSchema, KindType, KindFunc, KindAgg, KindTable, KindProcLang, KindFDW, KindForeignServer:
		a := m.privileges()
		a.PrivType, a.Init = p.typ, p.privs
	default:
		r.warnf("unsupported pg_init_privs entry: %d %d %d", p.id.Class, p.id.OID, p.id.Sub)
	}
}

type columnACLRow struct {
	table uint32
	acl   ColumnACL
}

// columnACLsStage reads the privileges of all columns that have any, now or since they were made (dumpTable in pg_dump.c).
func (r *reader) columnACLsStage() stage {
	const sql = `WITH initial AS (
	SELECT objoid, objsubid, privtype, initprivs FROM pg_catalog.pg_init_privs
	WHERE classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND objsubid <> 0
), of_interest AS (
	SELECT attrelid, attnum FROM pg_catalog.pg_attribute WHERE attacl IS NOT NULL
	UNION
	SELECT objoid, objsubid FROM initial
)
SELECT a.attrelid, a.attname, a.attacl, '{}', p.privtype, p.initprivs
FROM of_interest w
JOIN pg_catalog.pg_attribute a ON a.attrelid = w.attrelid AND a.attnum = w.attnum
LEFT JOIN initial p ON p.objoid = a.attrelid AND p.objsubid = a.attnum
WHERE NOT a.attisdropped
ORDER BY a.attrelid, a.attnum`
	s := stage{name: "column privileges"}
	if r.db.Options.NoPrivileges {
		return s
	}
	s.fetch = func(ctx context.Context, q Querier) error {
		return query(ctx, q, sql, func(row *row) {
			c := columnACLRow{table: row.oid()}
			c.acl = ColumnACL{Column: row.str(), ACL: row.acl()}
			r.columnACLs = append(r.columnACLs, c)
		})
	}
	s.link = func() error {
		r.db.ColumnACLs = make(map[uint32][]ColumnACL)
		for _, c := range r.columnACLs {
			if t := r.db.Table(c.table); t != nil { // of system columns too
				t.Has |= ACLPart
				r.db.ColumnACLs[c.table] = append(r.db.ColumnACLs[c.table], c.acl)
			}
		}
		r.columnACLs = nil
		return nil
	}
	return s
}
