package ddl

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
)

// In a binary upgrade the files of the old cluster are taken over by the new one, so the
// schema must be made with the same OIDs and file nodes, the same places of columns, dropped
// ones included, and the same inheritance bits. The statements here see to that; elsewhere
// they are nothing (the binary_upgrade parts of pg_dump.c).

// upgradeRowType keeps the OIDs of a relation's row type.
func (r *renderer) upgradeRowType(q *bytes.Buffer, t *catalog.Table) {
	if t.TypeOID != 0 {
		r.upgradeTypeOIDs(q, t.TypeOID, false, nil)
	}
}

// upgradeClassOIDs keeps the OIDs and file nodes of a relation, of its TOAST table and of that one's index. Naming
// a TOAST table makes the new server create one, even where the columns that are left would not need it.
func (r *renderer) upgradeClassOIDs(q *bytes.Buffer, class uint32) {
	if !r.opt.BinaryUpgrade {
		return
	}
	q.WriteString("\n-- For binary upgrade, must preserve pg_class oids and relfilenodes\n")
	set := func(what string, oid uint32) {
		fmt.Fprintf(q, "SELECT pg_catalog.binary_upgrade_set_next_%s('%d'::pg_catalog.oid);\n", what, oid)
	}
	c := r.db.UpgradeClasses[class]
	switch c.RelKind {
	case 'i', 'I':
		set("index_pg_class_oid", class)
		set("index_relfilenode", c.FileNode)
	default:
		set("heap_pg_class_oid", class)
		// Before 12 partitioned tables had files and TOAST tables, which are not to be kept.
		if c.FileNode != 0 && c.RelKind != 'p' {
			set("heap_relfilenode", c.FileNode)
		}
		if c.ToastOID != 0 && c.RelKind != 'p' {
			set("toast_pg_class_oid", c.ToastOID)
			set("toast_relfilenode", c.ToastFileNode)
			set("index_pg_class_oid", c.ToastIndexOID)
			set("index_relfilenode", c.ToastIndexNode)
		}
	}
	q.WriteByte('\n')
}

// upgradeTable writes what makes a table that was just created equal to the old one down to its files.
func (r *renderer) upgradeTable(q *bytes.Buffer, t *catalog.Table, name string) {
	lit := r.literal(name) + "::pg_catalog.regclass"
	for i := range t.Columns {
		if c := &t.Columns[i]; c.More().MissingVal != "" {
			fmt.Fprintf(q, "\n-- set missing value.\nSELECT pg_catalog.binary_upgrade_set_missing_value(%s,%s,%s);\n\n",
				lit, r.literal(c.Name), r.literal(c.More().MissingVal))
		}
	}
	if t.RelKind == 'r' || t.RelKind == 'f' || t.RelKind == 'p' {
		r.upgradeColumns(q, t, name, lit)
	}
	if t.RelKind == 'r' || t.RelKind == 'm' {
		fmt.Fprintf(q, "\n-- For binary upgrade, set heap's relfrozenxid and relminmxid\nUPDATE pg_catalog.pg_class\n"+
			"SET relfrozenxid = '%d', relminmxid = '%d'\nWHERE oid = %s;\n", t.More().FrozenXID, t.More().MinMXID, lit)
		if t.More().ToastOID != 0 {
			fmt.Fprintf(q, "\n-- For binary upgrade, set toast's relfrozenxid and relminmxid\nUPDATE pg_catalog.pg_class\n"+
				"SET relfrozenxid = '%d', relminmxid = '%d'\nWHERE oid = '%d';\n", t.More().ToastFrozenXID, t.More().ToastMinMXID, t.More().ToastOID)
		}
	}
	if t.RelKind == 'm' && t.Populated {
		fmt.Fprintf(q, "\n-- For binary upgrade, mark materialized view as populated\nUPDATE pg_catalog.pg_class\n"+
			"SET relispopulated = 't'\nWHERE oid = %s;\n", lit)
	}
}

// upgradeColumns drops the dropped columns, and sets what is inherited, after all
// columns were created as the table's own.
func (r *renderer) upgradeColumns(q *bytes.Buffer, t *catalog.Table, name, lit string) {
	var dropped, drops, inherited []string
	for i := range t.Columns {
		switch c := &t.Columns[i]; {
		case c.Dropped:
			dropped = append(dropped, fmt.Sprintf("(%s, %d, '%c')", r.literal(c.Name), c.Len, c.Align))
			drops = append(drops, fmt.Sprintf("ALTER %sTABLE ONLY %s DROP COLUMN %s;\n", foreign(t), name, r.quote.Ident(c.Name)))
		case !c.IsLocal:
			inherited = append(inherited, r.literal(c.Name))
		}
	}
	if len(dropped) > 0 {
		fmt.Fprintf(q, "\n-- For binary upgrade, recreate dropped columns.\nUPDATE pg_catalog.pg_attribute\n"+
			"SET attlen = v.dlen, attalign = v.dalign, attbyval = false\nFROM (VALUES %s) v(dname, dlen, dalign)\n"+
			"WHERE attrelid = %s\n  AND attname = v.dname;\n%s", strings.Join(dropped, ",\n             "), lit, strings.Join(drops, ""))
	}
	if len(inherited) > 0 {
		fmt.Fprintf(q, "\n-- For binary upgrade, recreate inherited columns.\nUPDATE pg_catalog.pg_attribute\nSET attislocal = false\n"+
			"WHERE attrelid = %s\n  AND attname IN (%s);\n", lit, strings.Join(inherited, ", "))
	}

	// Inherited not-null constraints: by name, or by column where the old server had no names.
	var named, numbered []string
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case !c.NotNull || c.NotNullIsLocal:
		case c.More().NotNullName != "":
			named = append(named, r.literal(c.More().NotNullName))
		default:
			numbered = append(numbered, fmt.Sprintf("'{%d}'", i+1))
		}
	}
	notNull := func(column string, values []string) {
		if len(values) > 0 {
			fmt.Fprintf(q, "UPDATE pg_catalog.pg_constraint\nSET conislocal = false\nWHERE contype = 'n' AND conrelid = %s AND\n%s IN (%s);\n",
				lit, column, strings.Join(values, ", "))
		}
	}
	notNull("conname", named)
	notNull("conkey", numbered)

	var checks []string
	for _, c := range t.Checks {
		if c.Separate || c.IsLocal || t.IsPartition {
			continue
		}
		if checks == nil {
			q.WriteString("\n-- For binary upgrade, set up inherited constraints.\n")
		}
		fmt.Fprintf(q, "ALTER %sTABLE ONLY %s ADD CONSTRAINT %s %s;\n", foreign(t), name, r.quote.Ident(c.Name), c.Def)
		checks = append(checks, r.literal(c.Name))
	}
	if checks != nil {
		fmt.Fprintf(q, "UPDATE pg_catalog.pg_constraint\nSET conislocal = false\nWHERE contype = 'c' AND conrelid = %s\n  AND conname IN (%s);\n",
			lit, strings.Join(checks, ", "))
	}
	if len(t.Parents) > 0 && !t.IsPartition {
		q.WriteString("\n-- For binary upgrade, set up inheritance this way.\n")
		for _, p := range t.Parents {
			fmt.Fprintf(q, "ALTER %sTABLE ONLY %s INHERIT %s;\n", foreign(t), name, r.qualified(&p.Meta))
		}
	}
	if t.More().OfTypeOID != 0 {
		fmt.Fprintf(q, "\n-- For binary upgrade, set up typed tables this way.\nALTER TABLE ONLY %s OF %s;\n",
			name, r.db.TypeName(t.More().OfTypeOID, catalog.ZeroIsError))
	}
}
