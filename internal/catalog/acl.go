package catalog

import (
	"cmp"
	"context"
	"slices"
)

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
	num   int32
	acl   ColumnACL
}

// columnACLsStage reads the privileges of all columns that have any, now or since they were made (dumpTable in pg_dump.c).
func (r *reader) columnACLsStage() stage {
	s := stage{name: "column privileges", link: r.linkColumnACLs}
	r.inParts(s.name, r.fetchRareAttributes)
	return s
}

// fetchRareAttributes looks through the columns of everything once, for privileges and for the statistics targets of
// indexes' columns.
func (r *reader) fetchRareAttributes(ctx context.Context, q Querier) error {
	privileges := !r.db.Options.NoPrivileges
	r.indexStats = make(map[uint32][][2]int)
	// Before 11 indexes had no statistics targets, before 17 system columns have 0.
	where := `a.attnum > 0 AND a.attstattarget >= 0`
	if !r.atLeast(11) {
		where = `false`
	}
	if privileges {
		where += ` OR a.attacl IS NOT NULL`
	}
	var rows []columnACLRow
	err := query(ctx, q, `SELECT a.attrelid, a.attnum, a.attname, a.attacl, a.attstattarget, a.attisdropped FROM pg_catalog.pg_attribute a WHERE `+where, func(row *row) {
		table, num := row.oid(), int32(row.int())
		name := row.str()
		acl, hasACL := row.strNull()
		target, dropped := row.intOr(-1), row.bool()
		if target >= 0 && num > 0 {
			r.indexStats[table] = append(r.indexStats[table], [2]int{int(num), target})
		}
		if hasACL && privileges && !dropped {
			rows = append(rows, columnACLRow{table, num, ColumnACL{Column: name, ACL: ACL{Items: acl, Default: "{}"}}})
		}
	})
	for _, list := range r.indexStats {
		slices.SortFunc(list, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	}
	if err != nil || !privileges {
		return err
	}
	present := make(map[SubID]int, len(rows)) // in rows
	for i, c := range rows {
		present[SubID{ID{ClassRelation, c.table}, c.num}] = i
	}
	err = query(ctx, q, `SELECT a.attrelid, a.attnum, a.attname, p.privtype, p.initprivs
FROM pg_catalog.pg_init_privs p
JOIN pg_catalog.pg_attribute a ON a.attrelid = p.objoid AND a.attnum = p.objsubid
WHERE p.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND p.objsubid <> 0 AND NOT a.attisdropped`, func(row *row) {
		id := SubID{ID{ClassRelation, row.oid()}, int32(row.int())}
		name := row.str()
		i, ok := present[id]
		if !ok {
			i = len(rows)
			rows = append(rows, columnACLRow{id.OID, id.Sub, ColumnACL{Column: name, ACL: ACL{Default: "{}"}}})
		}
		rows[i].acl.ACL.PrivType, rows[i].acl.ACL.Init = row.char(), row.str()
	})
	slices.SortFunc(rows, func(a, b columnACLRow) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.num, b.num))
	})
	r.columnACLs = rows
	return err
}

func (r *reader) linkColumnACLs() error {
	if r.db.Options.NoPrivileges {
		return nil
	}
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
