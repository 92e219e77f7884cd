package catalog

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// newestKnown is the highest server_version_num whose catalogues this package knows.
const newestKnown = 189999

// columns18 has a line for each catalogue of PostgreSQL 18: its name and those of its columns.
// It is the output of
//
//	SELECT c.relname || ' ' || string_agg(a.attname, ' ' ORDER BY a.attname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
//	WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 GROUP BY c.relname ORDER BY c.relname
//
//go:embed columns18.txt
var columns18 string

// selfCheck is what was found in the catalogues of a server that is newer than this package.
type selfCheck struct {
	newColumns  []string // "pg_class.relnew", in catalogues known
	newCatalogs []string // catalogues not known
	filled      []string // of these, those with objects of users
	rows        []checkRow
}

// checkRow is a row that must have become an object if the object on is to be dumped.
type checkRow struct {
	catalog string
	id      ID
	on      ID // the relation or type that it belongs to; OID 0: none
}

// selfCheckStage looks at the catalogues of a server that is newer than this package as a whole, for what unknownStage
// cannot see: catalogues and columns that 18 did not have, and rows that the queries made for 18 pass over. Objects in a
// new catalogue and rows without an object stop the dump; a new column, which may or may not matter, is a warning.
func (r *reader) selfCheckStage() stage {
	if r.db.Info.Version <= newestKnown {
		return stage{name: "self-check"}
	}
	return stage{"self-check", r.fetchSelfCheck, r.linkSelfCheck}
}

func (r *reader) fetchSelfCheck(ctx context.Context, q Querier) error {
	c := &r.check
	unknown, err := c.compareColumns(ctx, q)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		var parts []string
		for _, name := range unknown {
			parts = append(parts, fmt.Sprintf("SELECT %s WHERE EXISTS (SELECT 1 FROM pg_catalog.%s WHERE oid > %s)",
				sqltext.EscapeLiteral(name), sqltext.Quoter{}.Ident(name), lastSystemOID))
		}
		err := query(ctx, q, strings.Join(parts, "\nUNION ALL "), func(row *row) { c.filled = append(c.filled, row.str()) })
		if err != nil {
			return err
		}
	}
	return query(ctx, q, checkRows(), func(row *row) {
		c.rows = append(c.rows, checkRow{row.str(), ID{row.oid(), row.oid()}, ID{row.oid(), row.oid()}})
	})
}

// compareColumns reads which catalogues and columns there are. It returns the new catalogues whose
// rows have OIDs and may be read.
func (c *selfCheck) compareColumns(ctx context.Context, q Querier) (unknown []string, err error) {
	known := map[string][]string{}
	lines := bufio.NewScanner(strings.NewReader(columns18))
	for lines.Scan() {
		name, columns, _ := strings.Cut(lines.Text(), " ")
		known[name] = strings.Fields(columns)
	}
	const sql = `SELECT c.relname, a.attname, pg_catalog.has_table_privilege(c.oid, 'SELECT')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'pg_catalog'::pg_catalog.regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum`
	err = query(ctx, q, sql, func(row *row) {
		catalog, column, readable := row.str(), row.str(), row.bool()
		columns, ok := known[catalog]
		switch {
		case ok && !slices.Contains(columns, column):
			c.newColumns = append(c.newColumns, catalog+"."+column)
		case !ok:
			if !slices.Contains(c.newCatalogs, catalog) {
				c.newCatalogs = append(c.newCatalogs, catalog)
			}
			if column == "oid" && readable {
				unknown = append(unknown, catalog)
			}
		}
	})
	return unknown, err
}

// lastSystemOID is the highest OID that initdb gives (FirstNormalObjectId - 1 in transam.h).
const lastSystemOID = "16383"

// checkRows is the query for all rows that become objects: catalogue, row, and what they belong to.
func checkRows() string {
	const ordinary = "c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'"
	var parts []string
	add := func(catalog, from, on, where string) {
		parts = append(parts, "SELECT '"+catalog+"', 'pg_catalog."+catalog+"'::pg_catalog.regclass::pg_catalog.oid, x.oid, "+on+
			" FROM "+from+" WHERE x.oid > "+lastSystemOID+where)
	}
	const none = "0::pg_catalog.oid, 0::pg_catalog.oid"
	for _, catalog := range []string{
		"pg_extension", "pg_operator", "pg_opclass", "pg_opfamily", "pg_collation", "pg_conversion", "pg_language",
		"pg_ts_parser", "pg_ts_dict", "pg_ts_template", "pg_ts_config", "pg_foreign_data_wrapper", "pg_foreign_server",
		"pg_transform", "pg_am", "pg_event_trigger", "pg_default_acl",
	} {
		add(catalog, "pg_catalog."+catalog+" x", none, "")
	}
	// The cast of a range to its multirange comes with the range.
	add("pg_cast", "pg_catalog.pg_cast x", none, ` AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_range r
  WHERE r.rngtypid = x.castsource AND r.rngmultitypid = x.casttarget)`)
	add("pg_namespace", "pg_catalog.pg_namespace x", none, " AND x.nspname !~ '^pg_(temp|toast_temp)_'")
	add("pg_proc", "pg_catalog.pg_proc x", none, ` AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
  WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = x.oid AND d.deptype = 'i')`)
	add("pg_class", "pg_catalog.pg_class x", none, " AND x.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c') AND x.relpersistence <> 't'")
	add("pg_type", "pg_catalog.pg_type x LEFT JOIN pg_catalog.pg_class c ON c.oid = x.typrelid", none,
		" AND (c.oid IS NULL OR c.relkind = 'c')")
	const relation = "'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, "
	add("pg_attrdef", "pg_catalog.pg_attrdef x JOIN pg_catalog.pg_class c ON c.oid = x.adrelid", relation+"c.oid", " AND "+ordinary)
	add("pg_trigger", "pg_catalog.pg_trigger x", relation+"x.tgrelid", " AND NOT x.tgisinternal AND x.tgparentid = 0")
	add("pg_rewrite", "pg_catalog.pg_rewrite x", relation+"x.ev_class", "")
	add("pg_policy", "pg_catalog.pg_policy x", relation+"x.polrelid", "")
	add("pg_statistic_ext", "pg_catalog.pg_statistic_ext x", relation+"x.stxrelid", "")
	add("pg_class", "pg_catalog.pg_class x JOIN pg_catalog.pg_index i ON i.indexrelid = x.oid JOIN pg_catalog.pg_class c ON c.oid = i.indrelid",
		relation+"c.oid", " AND i.indisvalid AND "+ordinary)
	add("pg_constraint", "pg_catalog.pg_constraint x", relation+"x.conrelid",
		" AND x.conrelid <> 0 AND x.conparentid = 0 AND x.conislocal AND x.contype IN ('c', 'f', 'p', 'u', 'x')")
	add("pg_constraint", "pg_catalog.pg_constraint x", "'pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid, x.contypid",
		" AND x.contypid <> 0 AND x.contype = 'c'")
	return strings.Join(parts, "\nUNION ALL ")
}

func (r *reader) linkSelfCheck() error {
	c := &r.check
	if len(c.filled) > 0 {
		return fmt.Errorf("catalog %s of this server has objects, and this version does not know what they are", strings.Join(c.filled, ", "))
	}
	for _, row := range c.rows {
		if row.on.OID != 0 {
			on := r.db.Find(row.on)
			if on == nil || on.Base().Dump&Definition == 0 {
				continue // what belongs to it was not asked for
			}
		}
		if r.db.Find(row.id) == nil {
			return fmt.Errorf("object %d of catalog %s was passed over by the queries for version 18", row.id.OID, row.catalog)
		}
	}
	if len(c.newColumns)+len(c.newCatalogs) > 0 {
		w := Warning{Text: "the catalogs of this server say more than those of version 18: what is kept there is not dumped"}
		for _, name := range slices.Concat(c.newCatalogs, c.newColumns) {
			w.Details = append(w.Details, "not read: "+name)
		}
		r.db.Warnings = append(r.db.Warnings, w)
	}
	r.check = selfCheck{}
	return nil
}
