package dump

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
)

// CopyFormat says in which of COPY's forms rows are dumped.
type CopyFormat uint8

// The forms.
const (
	CopyText   CopyFormat = iota // every table as text
	CopyBinary                   // every table in the binary form; an error if a table cannot be
	CopyAuto                     // the binary form where it is safe, text elsewhere
)

var copyFormatNames = [...]string{CopyText: "text", CopyBinary: "binary", CopyAuto: "auto"}

// String returns "text", "binary" or "auto".
func (f CopyFormat) String() string {
	if int(f) < len(copyFormatNames) {
		return copyFormatNames[f]
	}
	return fmt.Sprintf("CopyFormat(%d)", uint8(f))
}

// ParseCopyFormat reads what String writes.
func ParseCopyFormat(s string) (CopyFormat, error) {
	i := slices.Index(copyFormatNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("invalid copy format \"%s\": it is text, binary or auto", s)
	}
	return CopyFormat(i), nil
}

// The binary form of a value is safe when the same major version of the server reads it as the same value whatever
// else is in the database: when it holds no OID that the source has given. The output of a
// type's send function says so:
//   - of the types of pg_catalog those named in safeTypes do; the reg types and aclitem do not, the types without a
//     send function cannot, money depends on a locale, and xml on the encoding;
//   - array_send writes the OID of the element type, so only arrays of built-in types are safe;
//   - range_send and multirange_send write bounds only, which for the built-in ranges are safe;
//   - enum_send writes the label;
//   - a domain is sent as what it stands on;
//   - record_send writes the OIDs of the columns' types;
//   - types of extensions are safe if they are known to be.
var safeTypes = words(`bool bytea char name int8 int2 int4 text oid json jsonb jsonpath point lseg path box polygon line circle
	cidr inet macaddr macaddr8 float4 float8 bpchar varchar date time timetz timestamp timestamptz interval bit varbit
	numeric uuid tsvector tsquery pg_lsn xid xid8 cid tid pg_snapshot txid_snapshot`)

// safeExtensionTypes are types of extensions, as extension.type.
var safeExtensionTypes = words(`vector.vector vector.halfvec vector.sparsevec citext.citext hstore.hstore ltree.ltree ltree.lquery ltree.ltxtquery`)

func words(s string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// firstNormalObjectID is the first OID that a database gives (access/transam.h); lower ones are the same in all
// databases of a major version.
const firstNormalObjectID = 16384

// valueType is what matters of a type for the form of its values.
type valueType struct {
	oid, elem, base uint32
	name, extension string
	typtype         byte
	builtin, sends  bool
}

// typeTable is the types that columns have, and those they are made of.
type typeTable map[uint32]*valueType

// safe says whether values of the type can be dumped in the binary form.
func (m typeTable) safe(oid uint32) bool {
	t := m[oid]
	switch {
	case t == nil || !t.sends:
		return false
	case t.typtype == 'e':
		return true
	case t.typtype == 'd':
		return m.safe(t.base)
	case t.typtype == 'r' || t.typtype == 'm':
		return t.builtin
	case t.typtype != 'b':
		return false
	case t.elem != 0:
		return t.builtin && m.safe(t.elem)
	case t.builtin:
		return safeTypes[t.name]
	}
	return safeExtensionTypes[t.extension+"."+t.name]
}

// readTypes reads what is to be known of the types of the tables' columns, in one query.
func readTypes(ctx context.Context, q catalog.Querier, tables []*catalog.Table) (typeTable, error) {
	seen := make(map[uint32]bool)
	var oids []string
	for _, t := range tables {
		for i := range t.Columns {
			if oid := t.Columns[i].TypeOID; !t.Columns[i].Dropped && !seen[oid] {
				seen[oid] = true
				oids = append(oids, strconv.FormatUint(uint64(oid), 10))
			}
		}
	}
	m := make(typeTable)
	if len(oids) == 0 {
		return m, nil
	}
	sql := `WITH RECURSIVE wanted (oid) AS (
  SELECT pg_catalog.unnest('{` + strings.Join(oids, ",") + `}'::pg_catalog.oid[])
  UNION
  SELECT CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END
  FROM wanted w JOIN pg_catalog.pg_type t ON t.oid = w.oid
  WHERE t.typtype = 'd' OR t.typelem <> 0 AND t.typlen = -1)
SELECT t.oid, CASE WHEN t.typlen = -1 AND t.typtype = 'b' THEN t.typelem ELSE 0 END, t.typbasetype, t.typname, e.extname, t.typtype,
  n.nspname = 'pg_catalog', t.typsend <> 0 AND t.typreceive <> 0
FROM wanted w JOIN pg_catalog.pg_type t ON t.oid = w.oid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.objid = t.oid AND d.deptype = 'e'
LEFT JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass`
	err := q.Query(ctx, sql, func(v [][]byte) error {
		if len(v) != 8 {
			return fmt.Errorf("%d columns, expected 8", len(v))
		}
		t := &valueType{name: string(v[3]), extension: string(v[4]), sends: string(v[7]) == "t"}
		for i, to := range []*uint32{&t.oid, &t.elem, &t.base} {
			n, err := strconv.ParseUint(string(v[i]), 10, 32)
			if err != nil {
				return fmt.Errorf("column %d: %w", i+1, err)
			}
			*to = uint32(n)
		}
		if len(v[5]) != 1 {
			return fmt.Errorf("type of type %q", v[5])
		}
		t.typtype = v[5][0]
		t.builtin = string(v[6]) == "t" && t.oid < firstNormalObjectID
		m[t.oid] = t
		return nil
	})
	if err != nil {
		return nil, &Error{Op: "read types of columns", Query: sql, Err: err}
	}
	return m, nil
}

// unsafeColumn is the first column that keeps the table from the binary form, "" if there is none.
func (m typeTable) unsafeColumn(t *catalog.Table) string {
	stored := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Dropped || c.Generated != 0 {
			continue
		}
		stored++
		if !m.safe(c.TypeOID) {
			return c.Name + " of type " + c.TypeName
		}
	}
	if stored == 0 {
		return "list, which is empty"
	}
	return ""
}

var errPlainBinary = errors.New("rows in COPY's binary form cannot stand in a script: choose a custom, directory or tar archive, or text")

// binaryTables chooses the tables that are dumped in the binary form.
func (d *dumper) binaryTables(ctx context.Context, tables []*catalog.Table) (map[*catalog.Table]bool, error) {
	o := &d.opts
	binary := make(map[*catalog.Table]bool)
	if o.BinaryTables != nil {
		for _, t := range tables {
			binary[t] = o.BinaryTables(t.Schema.Name, t.Name)
		}
		return binary, nil
	}
	if o.CopyFormat == CopyText || len(tables) == 0 {
		return nil, nil
	}
	types, err := readTypes(ctx, d.holder.conn, tables)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		bad := types.unsafeColumn(t)
		if bad != "" && o.CopyFormat == CopyBinary {
			return nil, fmt.Errorf("dump table %s.%s: the column %s has no binary form that another database is sure to read; use --copy-format=auto",
				t.Schema.Name, t.Name, bad)
		}
		binary[t] = bad == ""
	}
	return binary, nil
}

// binaryCopy makes COPY … FROM stdin and COPY … TO stdout statements of text those of the binary form.
func binaryCopy(sql string) string {
	const option = " WITH (FORMAT binary)"
	if s, ok := strings.CutSuffix(sql, ";\n"); ok {
		return s + option + ";\n"
	}
	return sql + option
}
