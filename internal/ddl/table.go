package ddl

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// table renders a relation: its definition, and the privileges of it and of its columns
// (dumpTable in pg_dump.c).
func (r *renderer) table(t *catalog.Table) error {
	if r.opt.NoSchema {
		return nil
	}
	if t.Dump&catalog.Definition != 0 {
		var err error
		if t.RelKind == 'S' {
			err = r.sequence(t)
		} else {
			err = r.tableDefinition(t)
		}
		if err != nil {
			return err
		}
	}
	if t.Dump&catalog.ACLPart == 0 {
		return nil
	}
	kind := "TABLE"
	if t.RelKind == 'S' {
		kind = "SEQUENCE"
	}
	name, schema, dep := r.quote.Ident(t.Name), t.Schema.Name, pgarchive.ID(t.DumpID)
	tableACL, err := r.acl(dep, 0, kind, name, "", schema, "", t.Owner, t.ACL)
	if err != nil {
		return err
	}
	// Those of a column depend on those of the table, which must be set first.
	for _, c := range r.db.ColumnACLs[t.ID.OID] {
		if _, err := r.acl(dep, tableACL, "TABLE", name, r.quote.Ident(c.Column), schema, "", t.Owner, &c.ACL); err != nil {
			return err
		}
	}
	return nil
}

// tableKind is the word for a relation in CREATE and DROP.
func tableKind(t *catalog.Table) string {
	switch t.RelKind {
	case 'v':
		return "VIEW"
	case 'm':
		return "MATERIALIZED VIEW"
	case 'f':
		return "FOREIGN TABLE"
	case 'S':
		return "SEQUENCE"
	}
	return "TABLE"
}

// foreign is the word before TABLE in ALTER TABLE.
func foreign(t *catalog.Table) string {
	if t != nil && t.RelKind == 'f' {
		return "FOREIGN "
	}
	return ""
}

// tableDefinition renders all relations but sequences (dumpTableSchema).
func (r *renderer) tableDefinition(t *catalog.Table) error {
	name, kind := r.qualified(&t.Meta), tableKind(t)
	q := r.begin()
	r.upgradeRowType(q, t)
	var err error
	if t.RelKind == 'v' {
		err = r.createView(q, t, name)
	} else {
		err = r.createTable(q, t, name)
	}
	if err != nil {
		return err
	}
	if t.RelKind == 'r' || t.RelKind == 'p' || t.RelKind == 'm' {
		switch t.ReplIdent {
		case 'n':
			fmt.Fprintf(q, "\nALTER TABLE ONLY %s REPLICA IDENTITY NOTHING;\n", name)
		case 'f':
			fmt.Fprintf(q, "\nALTER TABLE ONLY %s REPLICA IDENTITY FULL;\n", name)
		}
	}
	if t.ForceRowSec {
		fmt.Fprintf(q, "\nALTER TABLE ONLY %s FORCE ROW LEVEL SECURITY;\n", name)
	}
	q.WriteString(r.upgradeMember(&t.Meta, kind, r.quote.Ident(t.Name), t.Schema.Name))

	e := pgarchive.Entry{
		Desc: kind, Section: pgarchive.SectionPreData, Defn: r.kept(q), DropStmt: r.join("DROP ", kind, " ", name, ";\n"),
		RelKind: t.RelKind,
	}
	if t.PostponedDef {
		e.Section = pgarchive.SectionPostData
	}
	switch t.RelKind {
	case 'r', 'm', 'p':
		e.Tablespace, e.TableAM = t.More().Tablespace, t.AccessMethod
	}
	r.add(&t.Meta, e)

	if t.Dump&catalog.Comment != 0 {
		r.tableComments(t, kind)
	}
	if t.Dump&catalog.SecLabel != 0 {
		r.tableSecLabels(t, kind)
	}
	r.notNullComments(t)
	for _, c := range t.Checks {
		if !c.Separate && c.IsLocal {
			r.constraintComment(c)
		}
	}
	return nil
}

// createTable renders CREATE TABLE, CREATE FOREIGN TABLE or CREATE MATERIALIZED VIEW,
// and what of the columns has only ALTER TABLE.
func (r *renderer) createTable(q *bytes.Buffer, t *catalog.Table, name string) error {
	upgrade := r.opt.BinaryUpgrade
	r.upgradeClassOIDs(q, t.ID.OID)
	unlogged := ""
	if t.Persistence == 'u' && t.RelKind != 'p' { // PostgreSQL 18 refuses it for partitioned tables
		unlogged = "UNLOGGED "
	}
	fmt.Fprintf(q, "CREATE %s%s %s", unlogged, tableKind(t), name)
	if t.More().OfTypeOID != 0 && !upgrade {
		fmt.Fprintf(q, " OF %s", r.db.TypeName(t.More().OfTypeOID, catalog.ZeroIsError))
	}
	if t.RelKind != 'm' {
		r.tableElements(q, t)
		if len(t.Parents) > 0 && !t.IsPartition && !upgrade {
			q.WriteString("\nINHERITS (")
			for i, p := range t.Parents {
				if i > 0 {
					q.WriteString(", ")
				}
				q.WriteString(r.qualified(&p.Meta))
			}
			q.WriteByte(')')
		}
		if t.RelKind == 'p' {
			fmt.Fprintf(q, "\nPARTITION BY %s", t.More().PartKeyDef)
		}
		if t.RelKind == 'f' {
			fmt.Fprintf(q, "\nSERVER %s", r.quote.Ident(t.More().ServerName))
		}
	}
	if len(t.More().Options)+len(t.More().ToastOptions) > 0 {
		opts, err := r.reloptions(t.More().Options, "")
		if err != nil {
			return err
		}
		toast, err := r.reloptions(t.More().ToastOptions, "toast.")
		if err != nil {
			return err
		}
		if opts != "" && toast != "" {
			opts += ", "
		}
		fmt.Fprintf(q, "\nWITH (%s%s)", opts, toast)
	}
	if t.More().FTOptions != "" {
		fmt.Fprintf(q, "\nOPTIONS (\n    %s\n)", t.More().FTOptions)
	}
	if t.RelKind == 'm' {
		// Always without rows; they come by REFRESH.
		fmt.Fprintf(q, " AS\n%s\n  WITH NO DATA;\n", t.More().ViewDef)
		q.WriteString(r.dependsOnExtensions(&t.Meta, "MATERIALIZED VIEW", name))
	} else {
		q.WriteString(";\n")
	}
	if upgrade {
		r.upgradeTable(q, t, name)
	}
	r.columnProperties(q, t, name)
	return nil
}

// tableElements renders the parenthesized list of columns and constraints.
func (r *renderer) tableElements(q *bytes.Buffer, t *catalog.Table) {
	upgrade := r.opt.BinaryUpgrade
	n := 0
	next := func() {
		if n == 0 {
			q.WriteString(" (")
		} else {
			q.WriteByte(',')
		}
		q.WriteString("\n    ")
		n++
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if !t.PrintsColumn(r.opt, i) {
			// A column that is inherited, but with a not-null constraint of its own.
			if !c.Dropped && c.NotNull && c.NotNullIsLocal {
				next()
				if c.More().NotNullName != "" {
					fmt.Fprintf(q, "CONSTRAINT %s ", bareName(c.More().NotNullName))
				}
				fmt.Fprintf(q, "NOT NULL %s", r.quote.Ident(c.Name))
				if c.NotNullNoInherit {
					q.WriteString(" NO INHERIT")
				}
			}
			continue
		}
		printDefault := c.Default != nil && c.Default.Dump != 0 && !c.Default.Separate
		printNotNull := c.NotNull && (c.NotNullIsLocal || upgrade || t.IsPartition)
		if t.More().OfTypeOID != 0 && !printDefault && !printNotNull && !upgrade {
			continue // the type says it all
		}
		next()
		q.WriteString(r.quote.Ident(c.Name))
		if c.Dropped {
			q.WriteString(" INTEGER /* dummy */") // its type is gone; binary upgrade drops it later
			continue
		}
		if upgrade || t.More().OfTypeOID == 0 {
			q.WriteByte(' ')
			q.WriteString(c.TypeName)
		}
		if printDefault {
			switch c.Generated {
			case 's':
				fmt.Fprintf(q, " GENERATED ALWAYS AS (%s) STORED", c.Default.Expr)
			case 'v':
				fmt.Fprintf(q, " GENERATED ALWAYS AS (%s)", c.Default.Expr)
			default:
				fmt.Fprintf(q, " DEFAULT %s", c.Default.Expr)
			}
		}
		if printNotNull {
			if c.More().NotNullName != "" {
				fmt.Fprintf(q, " CONSTRAINT %s", r.quote.Ident(c.More().NotNullName))
			}
			q.WriteString(" NOT NULL")
			if c.NotNullNoInherit {
				q.WriteString(" NO INHERIT")
			}
		}
		q.WriteString(r.collateClause(c.Collation))
	}
	// Partitions repeat inherited constraints, for ATTACH PARTITION expects them.
	for _, c := range t.Checks {
		if c.Separate || !c.IsLocal && !t.IsPartition {
			continue
		}
		next()
		fmt.Fprintf(q, "CONSTRAINT %s %s", r.quote.Ident(c.Name), c.Def)
	}
	switch {
	case n > 0:
		q.WriteString("\n)")
	case t.More().OfTypeOID == 0 || upgrade:
		q.WriteString(" (\n)")
	}
}

// bareName is the name of a not-null constraint that stands by itself in CREATE TABLE. pg_dump 18 never quotes
// it there, not even for --quote-all-identifiers; here it is quoted where it must be.
func bareName(name string) string {
	return sqltext.Quoter{}.Ident(name)
}

func (r *renderer) reloptions(opts []string, prefix string) (string, error) {
	if len(opts) == 0 {
		return "", nil
	}
	return sqltext.Reloptions(opts, prefix, r.quote, r.db.Info.StdStrings)
}

var (
	storageNames     = map[byte]string{'p': "PLAIN", 'e': "EXTERNAL", 'x': "EXTENDED", 'm': "MAIN"}
	compressionNames = map[byte]string{'p': "pglz", 'l': "lz4"}
)

// columnProperties renders what of the columns is set by ALTER TABLE.
func (r *renderer) columnProperties(q *bytes.Buffer, t *catalog.Table, name string) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Dropped {
			continue
		}
		alter := func(format string, args ...any) {
			fmt.Fprintf(q, "ALTER %sTABLE ONLY %s ALTER COLUMN %s "+format+";\n",
				append([]any{foreign(t), name, r.quote.Ident(c.Name)}, args...)...)
		}
		if c.StatsTarget >= 0 {
			alter("SET STATISTICS %d", c.StatsTarget)
		}
		if s := storageNames[c.Storage]; c.Storage != c.TypeStorage && s != "" {
			alter("SET STORAGE %s", s)
		}
		if s := compressionNames[c.Compression]; s != "" && !r.opt.NoToastCompression {
			alter("SET COMPRESSION %s", s)
		}
		if len(c.More().Options) > 0 {
			alter("SET (%s)", strings.Join(c.More().Options, ", "))
		}
		if t.RelKind == 'f' && c.More().FDWOptions != "" {
			alter("OPTIONS (\n    %s\n)", c.More().FDWOptions)
		}
	}
}

// tableComments adds the comments of a relation and its columns (dumpTableComment). To be called when
// t.Dump&catalog.Comment is set; kind is the word after COMMENT ON.
func (r *renderer) tableComments(t *catalog.Table, kind string) {
	if !r.wantComments(kind) {
		return
	}
	name, qualified := r.quote.Ident(t.Name), r.qualified(&t.Meta)
	for i := 0; i <= len(t.Columns); i++ {
		text, ok := r.db.Comments[catalog.SubID{ID: t.ID, Sub: int32(i)}]
		if !ok {
			continue
		}
		tag, target := kind+" "+name, kind+" "+qualified
		if i > 0 {
			col := "." + r.quote.Ident(t.Columns[i-1].Name)
			tag, target = "COLUMN "+name+col, "COLUMN "+qualified+col
		}
		r.tableText(t, "COMMENT", tag, "COMMENT ON "+target+" IS "+r.literal(text)+";\n")
	}
}

// tableSecLabels adds the security labels of a relation and its columns in one entry (dumpTableSecLabel).
func (r *renderer) tableSecLabels(t *catalog.Table, kind string) {
	if r.opt.NoSecurityLabels || !r.wantTexts(kind) {
		return
	}
	qualified := r.qualified(&t.Meta)
	text := ""
	for i := 0; i <= len(t.Columns); i++ {
		target := kind + " " + qualified
		if i > 0 {
			target = "COLUMN " + qualified + "." + r.quote.Ident(t.Columns[i-1].Name)
		}
		text += r.secLabelText(target, r.db.Labels[catalog.SubID{ID: t.ID, Sub: int32(i)}])
	}
	if text != "" {
		r.tableText(t, "SECURITY LABEL", kind+" "+r.quote.Ident(t.Name), text)
	}
}

// notNullComments adds the comments of not-null constraints that are part of the table's definition.
func (r *renderer) notNullComments(t *catalog.Table) {
	if !r.wantComments("CONSTRAINT") {
		return
	}
	name, qualified := r.quote.Ident(t.Name), r.qualified(&t.Meta)
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.NotNull || c.More().NotNullComment == "" {
			continue
		}
		con := r.quote.Ident(c.More().NotNullName)
		r.tableText(t, "COMMENT", "CONSTRAINT "+con+" ON "+name,
			"COMMENT ON CONSTRAINT "+con+" ON "+qualified+" IS "+r.literal(c.More().NotNullComment)+";\n")
	}
}

// tableText adds an entry that goes with the table's.
func (r *renderer) tableText(t *catalog.Table, desc, tag, defn string) {
	r.addEntry(pgarchive.Entry{
		Tag: tag, Desc: desc, Section: pgarchive.SectionNone, Defn: defn,
		Namespace: t.Schema.Name, Owner: t.Owner, Dependencies: []pgarchive.ID{pgarchive.ID(t.DumpID)},
	})
}

// columnName is the name of a column by its number, also of a system column.
func columnName(t *catalog.Table, num int) (string, error) {
	if num > 0 && num <= len(t.Columns) {
		return t.Columns[num-1].Name, nil
	}
	switch num {
	case -1:
		return "ctid", nil
	case -2:
		return "xmin", nil
	case -3:
		return "cmin", nil
	case -4:
		return "xmax", nil
	case -5:
		return "cmax", nil
	case -6:
		return "tableoid", nil
	}
	return "", fmt.Errorf("invalid column number %d for table %q", num, t.Name)
}

// dependsOnExtensions renders ALTER keyword name DEPENDS ON EXTENSION for the extensions that the
// object is marked with.
func (r *renderer) dependsOnExtensions(m *catalog.Meta, keyword, name string) string {
	if !m.DependsOnExt {
		return ""
	}
	text := ""
	for _, d := range m.Deps {
		if e, ok := r.db.ByDumpID(d).(*catalog.Extension); ok && e != m.Extension {
			text += fmt.Sprintf("\nALTER %s %s DEPENDS ON EXTENSION %s;", keyword, name, r.quote.Ident(e.Name))
		}
	}
	return text
}
