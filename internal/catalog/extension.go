package catalog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Extension is a row of pg_extension.
type Extension struct {
	Meta
	Namespace     string
	Relocatable   bool
	Version       string
	Config        []uint32 // OIDs of configuration tables
	Conditions    []string // their WHERE clauses, empty for all rows
	ConfigText    string   // Config and Conditions as the catalogue has them
	ConditionText string
}

// extensionsStage reads the extensions and the membership of every object, so that
// checkMember can be asked about objects as they are made (getExtensions and
// getExtensionMembership in pg_dump.c).
func (r *reader) extensionsStage() stage {
	const exts = `SELECT x.oid, x.extname, n.nspname, x.extrelocatable, x.extversion, x.extconfig, x.extcondition
FROM pg_catalog.pg_extension x JOIN pg_catalog.pg_namespace n ON n.oid = x.extnamespace`
	const members = `SELECT classid, objid, refobjid FROM pg_catalog.pg_depend
WHERE refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND deptype = 'e' ORDER BY 3`
	type member struct {
		id  ID
		ext uint32
	}
	var found []member
	return stage{
		name: "extensions",
		fetch: func(ctx context.Context, q Querier) error {
			err := query(ctx, q, exts, func(row *row) {
				e := &Extension{Meta: Meta{Kind: KindExtension, ID: ID{ClassExtension, row.oid()}}}
				e.Name, e.Namespace, e.Relocatable, e.Version = row.str(), row.str(), row.bool(), row.str()
				e.ConfigText, e.ConditionText = row.str(), row.str()
				r.db.Extensions = append(r.db.Extensions, e)
			})
			if err != nil || len(r.db.Extensions) == 0 {
				return err
			}
			return query(ctx, q, members, func(row *row) {
				found = append(found, member{ID{row.oid(), row.oid()}, row.oid()})
			})
		},
		link: func() error {
			byOID := make(map[uint32]*Extension)
			for _, e := range r.db.Extensions {
				r.db.Add(e)
				byOID[e.ID.OID] = e
				r.selectExtension(e)
				if err := e.parseConfig(); err != nil {
					return fmt.Errorf("extension %s: %w", e.Name, err)
				}
			}
			r.members = make(map[ID]*Extension, len(found))
			for _, m := range found {
				e := byOID[m.ext]
				if e == nil {
					r.warnf("could not find referenced extension %d", m.ext)
					continue
				}
				r.members[m.id] = e
			}
			return nil
		},
	}
}

// parseConfig takes apart the arrays of configuration tables and conditions.
func (e *Extension) parseConfig() error {
	if e.ConfigText == "" && e.ConditionText == "" {
		return nil
	}
	row := row{values: [][]byte{[]byte(e.ConfigText), []byte(e.ConditionText)}}
	oids, conds := row.strs(), row.strs()
	if row.err != nil {
		return row.err
	}
	if len(oids) != len(conds) {
		return fmt.Errorf("mismatched number of configurations and conditions for extension")
	}
	for _, s := range oids {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return fmt.Errorf("bad oid %q in extconfig", s)
		}
		e.Config = append(e.Config, uint32(n))
	}
	e.Conditions = conds
	return nil
}

// selectExtension decides whether an extension is dumped (selectDumpableExtension in pg_dump.c).
// Of those that initdb made only changed privileges are.
func (r *reader) selectExtension(e *Extension) {
	e.selected = true
	set := func(c Component) { e.Dump, e.Contains = c, c }
	if e.ID.OID <= lastBuiltinOID {
		set(ACLPart)
		return
	}
	if len(r.sel.extensions) > 0 {
		set(all(r.sel.extensions[e.ID.OID]))
	} else {
		set(all(r.everything()))
	}
	if r.sel.notExtensions[e.ID.OID] {
		set(None)
	}
}

// checkMember says whether m belongs to an extension. If so, m depends on the extension, and
// what of m is dumped follows from it (checkExtensionMembership in pg_dump.c). It must be
// called for every object that may belong to one; the select functions do.
func (r *reader) checkMember(m *Meta) bool {
	e := r.members[m.ID]
	if e == nil {
		return false
	}
	m.Extension = e
	m.AddDep(e.DumpID)
	if r.db.Options.BinaryUpgrade {
		m.Dump = e.Dump
	} else {
		// changed privileges; what the extension's script granted is known from pg_init_privs
		m.Dump = e.Contains & ACLPart
	}
	return true
}

// extensionConfigStage makes data objects for the configuration tables of extensions, whose rows are
// dumped although the tables are not, and orders them by their foreign keys, which exist
// before the rows are loaded (processExtensionTables in pg_dump.c).
func (r *reader) extensionConfigStage() stage {
	const sql = `SELECT DISTINCT c.conrelid, c.confrelid
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_depend d ON d.objid = c.confrelid
WHERE c.contype = 'f' AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
  AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
ORDER BY 1, 2`
	var keys [][2]uint32
	return stage{
		name: "extension configuration tables",
		fetch: func(ctx context.Context, q Querier) error {
			if !slices.ContainsFunc(r.db.Extensions, func(e *Extension) bool { return len(e.Config) > 0 }) {
				return nil
			}
			return query(ctx, q, sql, func(row *row) { keys = append(keys, [2]uint32{row.oid(), row.oid()}) })
		},
		link: func() error {
			for _, e := range r.db.Extensions {
				r.configTables(e)
			}
			for _, k := range keys {
				t, ref := r.db.Table(k[0]), r.db.Table(k[1])
				if t != nil && ref != nil && t.DataObj != nil && ref.DataObj != nil {
					t.DataObj.AddDep(ref.DataObj.DumpID)
				}
			}
			return nil
		},
	}
}

// configTables makes the data objects of an extension's configuration tables.
func (r *reader) configTables(e *Extension) {
	for i, oid := range e.Config {
		t := r.db.Table(oid)
		if t == nil || !r.wantsConfigRows(e, t) {
			continue
		}
		r.makeTableData(t)
		if t.DataObj != nil && e.Conditions[i] != "" {
			t.DataObj.Filter = e.Conditions[i]
		}
	}
}

// wantsConfigRows says whether the rows of a configuration table of e are dumped. It can be asked once the
// tables are known.
func (r *reader) wantsConfigRows(e *Extension, t *Table) bool {
	if len(r.sel.extensions) > 0 && !r.sel.extensions[e.ID.OID] || r.sel.notExtensions[e.ID.OID] {
		return false
	}
	wanted := e.Dump&Definition != 0 || r.sel.tables[t.ID.OID] || t.Schema.Dump&Data != 0
	return wanted && !r.sel.notTables[t.ID.OID] && !r.sel.notSchemas[t.Schema.ID.OID]
}

// isConfigTable says whether t is a configuration table, or sequence, whose rows are dumped.
func (r *reader) isConfigTable(t *Table) bool {
	for _, e := range r.db.Extensions {
		for _, oid := range e.Config {
			if oid == t.ID.OID && r.wantsConfigRows(e, t) {
				return true
			}
		}
	}
	return false
}
