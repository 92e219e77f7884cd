package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// otherRows is what the fetches of the kinds outside relations found, until their links have put it into the Database.
type otherRows struct {
	typeRows          []*Type
	funcRows          []*Func
	aggRows           []*Agg
	languageRows      []*Language
	operatorRows      []*Operator
	accessMethodRows  []*AccessMethod
	opclassRows       []*Opclass
	opfamilyRows      []*Opfamily
	tsParserRows      []*TSParser
	tsTemplateRows    []*TSTemplate
	tsDictRows        []*TSDict
	tsConfigRows      []*TSConfig
	fdwRows           []*FDW
	foreignServerRows []*ForeignServer
	collationRows     []*Collation
	conversionRows    []*Conversion
	castRows          []*Cast
	transformRows     []*Transform
	eventTriggerRows  []*EventTrigger
	publicationRows   []*Publication
	pubRelRows        []pubRelRow
	pubSchemaRows     []pubSchemaRow
	subscriptionRows  []*Subscription
	subRelRows        []subRelRow
	subsNotRead       bool // there are subscriptions, but the role may not read them
}

// atLeast says whether the server is of that major version or newer.
func (r *reader) atLeast(major int) bool { return r.db.Info.Version >= major*10000 }

// since returns expr on servers of that major version or newer, else other.
func (r *reader) since(major int, expr, other string) string {
	if r.atLeast(major) {
		return expr
	}
	return other
}

// objectMeta reads the columns that begin the rows of all kinds: OID, name, schema (0: the kind has none), owner (0: none).
func (r *reader) objectMeta(row *row, kind Kind, class uint32) Meta {
	m := Meta{Kind: kind, ID: ID{class, row.oid()}, Name: row.str(), Has: Definition}
	if nsp := row.oid(); nsp != 0 {
		s := r.schemaByOID[nsp]
		if s == nil {
			row.fail("schema with OID %d does not exist", nsp)
		}
		m.Schema = s
	}
	if owner := row.oid(); owner != 0 {
		name, ok := r.db.Roles[owner]
		if !ok {
			row.fail("role with OID %d does not exist", owner)
		}
		m.Owner = name
	}
	return m
}

// hasPrivileges is the condition that an object has privileges other than its kind's default ones, or once had: where there
// are very many objects, acldefault is worth asking for these only.
func hasPrivileges(acl, oid string) string {
	return acl + " IS NOT NULL OR " + oid + " IN (SELECT objoid FROM pg_catalog.pg_init_privs)"
}

// objectACL reads acl and acldefault into m. Initial privileges are added by a stage of their own.
func (m *Meta) objectACL(row *row) {
	items, ok := row.strNull()
	byDefault := row.str()
	if ok {
		m.Has |= ACLPart
	}
	if items != "" || byDefault != "" {
		m.ACL = &ACL{Items: items, Default: byDefault}
	}
}

// defined says whether m's definition will be rendered, so that its details are wanted.
func (r *reader) defined(m *Meta) bool {
	return !r.db.Options.NoSchema && m.Dump&(Definition|Comment) != 0
}

// rendered is like defined for objects whose details are wanted for any of their parts, privileges included.
func (r *reader) rendered(m *Meta) bool {
	return !r.db.Options.NoSchema && m.Dump&(m.Has|Definition|Comment|SecLabel) != 0
}

// pick returns the objects that want accepts, by OID.
func pick[T Object](list []T, want func(m *Meta) bool) map[uint32]T {
	out := make(map[uint32]T)
	for _, o := range list {
		if m := o.Base(); want(m) {
			out[m.ID.OID] = o
		}
	}
	return out
}

// details runs a query for the objects of set and gives each row to scan, with the object that the row's first
// column names. In sql, %OIDS% stands for the set as an oid array. An empty set asks nothing.
func details[T any](ctx context.Context, q Querier, set map[uint32]T, sql string, scan func(o T, row *row)) error {
	if len(set) == 0 {
		return nil
	}
	sql = strings.ReplaceAll(sql, "%OIDS%", oidArray(set))
	return query(ctx, q, sql, func(row *row) {
		oid := row.oid()
		o, ok := set[oid]
		if !ok {
			row.fail("OID %d was not asked for", oid)
			row.next = len(row.values)
			return
		}
		scan(o, row)
	})
}

// oidArray writes the keys of set as an oid[] literal, in ascending order.
func oidArray[T any](set map[uint32]T) string {
	return oidList(sortedKeys(set))
}

// strPtr reads a text that may be NULL, which gives nil.
func (r *row) strPtr() *string {
	s, ok := r.strNull()
	if !ok {
		return nil
	}
	return &s
}

// addAll enters the objects of one kind.
func addAll[T Object](db *Database, list []T) {
	for _, o := range list {
		db.Add(o)
	}
}

// optionsText is the SQL expression for a text[] of "name=value" options as they stand in OPTIONS (...).
func optionsText(column string) string {
	return `pg_catalog.array_to_string(ARRAY(
  SELECT pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value)
  FROM pg_catalog.pg_options_to_table(` + column + `) ORDER BY option_name), E',\n    ')`
}

func sortedKeys[T any](set map[uint32]T) []uint32 {
	return slices.Sorted(maps.Keys(set))
}
