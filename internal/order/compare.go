package order

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
)

// priority is the place of each kind in the first sort (dbObjectTypePriority in pg_dump_sort.c). It must agree with
// the sections: pre-data kinds before the pre-data boundary, data kinds between the two. Casts come before
// functions since views depend on casts' functions, not on the casts; triggers after all data;
// event triggers and refreshes of materialized views last.
var priority = func() (p [catalog.NumKinds]int) {
	for i, kinds := range [][]catalog.Kind{
		{catalog.KindSchema},
		{catalog.KindProcLang},
		{catalog.KindCollation},
		{catalog.KindTransform},
		{catalog.KindExtension},
		{catalog.KindType, catalog.KindShellType},
		{catalog.KindCast},
		{catalog.KindFunc},
		{catalog.KindAgg},
		{catalog.KindAccessMethod},
		{catalog.KindOperator},
		{catalog.KindOpfamily, catalog.KindOpclass},
		{catalog.KindConversion},
		{catalog.KindTSParser},
		{catalog.KindTSTemplate},
		{catalog.KindTSDict},
		{catalog.KindTSConfig},
		{catalog.KindFDW},
		{catalog.KindForeignServer},
		{catalog.KindTable},
		{catalog.KindTableAttach},
		{catalog.KindDummyType},
		{catalog.KindAttrDef},
		{}, // large objects written as up to PostgreSQL 16
		{catalog.KindPreDataBoundary},
		{catalog.KindTableData},
		{catalog.KindSequenceSet},
		{catalog.KindLargeObject},
		{catalog.KindLargeObjectData},
		{catalog.KindRelStats},
		{catalog.KindPostDataBoundary},
		{catalog.KindConstraint},
		{catalog.KindIndex},
		{catalog.KindIndexAttach},
		{catalog.KindStatsExt},
		{catalog.KindRule},
		{catalog.KindTrigger},
		{catalog.KindFKConstraint},
		{catalog.KindPolicy},
		{catalog.KindPublication},
		{catalog.KindPublicationRel},
		{catalog.KindPublicationSchema},
		{catalog.KindSubscription},
		{catalog.KindSubscriptionRel},
		{catalog.KindDefaultACL},
		{catalog.KindEventTrigger},
		{catalog.KindRefreshMatview},
	} {
		for _, k := range kinds {
			p[k] = i + 1
		}
	}
	return p
}()

type comparer struct {
	db                 *catalog.Database
	legacyLargeObjects bool
}

func (c comparer) priority(k catalog.Kind) int {
	if k == catalog.KindLargeObject && c.legacyLargeObjects {
		return priority[catalog.KindPreDataBoundary] - 1
	}
	return priority[k]
}

// compare orders objects by kind, schema and name, and where these are equal by the rest of the catalogue's
// natural key, so that the order does not depend on OIDs (DOTypeNameCompare in pg_dump_sort.c).
func (c comparer) compare(a, b catalog.Object) int {
	x, y := a.Base(), b.Base()
	if n := cmp.Compare(c.priority(x.Kind), c.priority(y.Kind)); n != 0 {
		return n
	}
	switch {
	case x.Schema != nil && y.Schema != nil:
		if n := strings.Compare(x.Schema.Name, y.Schema.Name); n != 0 {
			return n
		}
	case x.Schema != nil:
		return -1 // those outside schemas come last
	case y.Schema != nil:
		return 1
	}
	if n := strings.Compare(x.Name, y.Name); n != 0 {
		return n
	}
	if n := cmp.Compare(x.Kind, y.Kind); n != 0 {
		return n
	}
	if n := c.compareRest(a, b); n != 0 {
		return n
	}
	return cmp.Compare(x.ID.OID, y.ID.OID)
}

// sortKey is the beginning of what compare looks at. It decides nearly always, without a look at the objects.
type sortKey struct {
	name     uint64 // the first eight bytes
	priority uint32
	schema   uint32 // the place of its name; those outside schemas come last
	place    uint32 // in the list that is sorted
}

// sorted returns the objects in the order of compare; those that are equal stay in theirs.
func (c comparer) sorted(objects []catalog.Object) []catalog.Object {
	schemas := make(map[*catalog.Schema]uint32)
	names := make([]*catalog.Schema, 0, len(c.db.Schemas))
	for _, o := range objects {
		s := o.Base().Schema
		if _, ok := schemas[s]; !ok && s != nil {
			schemas[s] = 0
			names = append(names, s)
		}
	}
	slices.SortFunc(names, func(a, b *catalog.Schema) int { return strings.Compare(a.Name, b.Name) })
	last := uint32(0)
	for i, s := range names {
		if i == 0 || s.Name != names[i-1].Name {
			last++
		}
		schemas[s] = last
	}
	schemas[nil] = last + 1
	keys := make([]sortKey, len(objects))
	for i, o := range objects {
		m := o.Base()
		keys[i] = sortKey{priority: uint32(c.priority(m.Kind)), schema: schemas[m.Schema], place: uint32(i)}
		var start [8]byte
		copy(start[:], m.Name)
		keys[i].name = binary.BigEndian.Uint64(start[:])
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		switch {
		case a.priority != b.priority:
			return cmp.Compare(a.priority, b.priority)
		case a.schema != b.schema:
			return cmp.Compare(a.schema, b.schema)
		case a.name != b.name:
			return cmp.Compare(a.name, b.name)
		}
		if n := c.compare(objects[a.place], objects[b.place]); n != 0 {
			return n
		}
		return cmp.Compare(a.place, b.place)
	})
	out := make([]catalog.Object, len(objects))
	for i := range keys {
		out[i] = objects[keys[i].place]
	}
	return out
}

// compareRest compares two objects of the same kind, schema and name.
func (c comparer) compareRest(a, b catalog.Object) int {
	switch x := a.(type) {
	case *catalog.Func:
		if y, ok := b.(*catalog.Func); ok {
			return c.compareFuncs(x, y)
		}
	case *catalog.Agg:
		if y, ok := b.(*catalog.Agg); ok {
			return c.compareFuncs(&x.Func, &y.Func)
		}
	case *catalog.Operator:
		if y, ok := b.(*catalog.Operator); ok {
			return cmp.Or(
				cmp.Compare(y.OprKind, x.OprKind), // prefix, postfix, infix
				c.compareTypes(x.Left, y.Left),
				c.compareTypes(x.Right, y.Right))
		}
	case *catalog.Opclass:
		if y, ok := b.(*catalog.Opclass); ok {
			return strings.Compare(x.AMName, y.AMName)
		}
	case *catalog.Opfamily:
		if y, ok := b.(*catalog.Opfamily); ok {
			return strings.Compare(x.AMName, y.AMName)
		}
	case *catalog.Collation:
		if y, ok := b.(*catalog.Collation); ok {
			return cmp.Compare(x.Encoding, y.Encoding)
		}
	case *catalog.AttrDef:
		if y, ok := b.(*catalog.AttrDef); ok {
			return cmp.Compare(x.Column, y.Column)
		}
	case *catalog.Policy:
		if y, ok := b.(*catalog.Policy); ok {
			return strings.Compare(x.Table.Name, y.Table.Name)
		}
	case *catalog.Rule:
		if y, ok := b.(*catalog.Rule); ok {
			return strings.Compare(x.Table.Name, y.Table.Name)
		}
	case *catalog.Trigger:
		if y, ok := b.(*catalog.Trigger); ok {
			return strings.Compare(x.Table.Name, y.Table.Name)
		}
	case *catalog.Constraint:
		if y, ok := b.(*catalog.Constraint); ok {
			return compareConstraints(x, y)
		}
	case *catalog.DefaultACL:
		if y, ok := b.(*catalog.DefaultACL); ok {
			return strings.Compare(x.Role, y.Role)
		}
	case *catalog.PublicationRel:
		if y, ok := b.(*catalog.PublicationRel); ok {
			return strings.Compare(x.Publication.Name, y.Publication.Name)
		}
	case *catalog.PublicationSchema:
		if y, ok := b.(*catalog.PublicationSchema); ok {
			return strings.Compare(x.Publication.Name, y.Publication.Name)
		}
	case *catalog.SubscriptionRel:
		if y, ok := b.(*catalog.SubscriptionRel); ok {
			return strings.Compare(x.Subscription.Name, y.Subscription.Name)
		}
	}
	return 0
}

func (c comparer) compareFuncs(x, y *catalog.Func) int {
	if n := cmp.Compare(len(x.ArgTypes), len(y.ArgTypes)); n != 0 {
		return n
	}
	for i := range x.ArgTypes {
		if n := c.compareTypes(x.ArgTypes[i], y.ArgTypes[i]); n != 0 {
			return n
		}
	}
	return 0
}

// compareTypes compares types by schema and name. One that is missing from the catalogue is equal to any.
func (c comparer) compareTypes(x, y uint32) int {
	if x == y {
		return 0
	}
	a, b := c.db.Type(x), c.db.Type(y)
	if a == nil || b == nil {
		return 0
	}
	if a.Schema != nil && b.Schema != nil {
		if n := strings.Compare(a.Schema.Name, b.Schema.Name); n != 0 {
			return n
		}
	}
	return strings.Compare(a.Name, b.Name)
}

// compareConstraints puts those of domains first, as domains come before tables.
func compareConstraints(x, y *catalog.Constraint) int {
	switch {
	case x.Domain != nil && y.Domain != nil:
		return strings.Compare(x.Domain.Name, y.Domain.Name)
	case x.Domain != nil:
		return -1
	case y.Domain != nil:
		return 1
	case x.Table != nil && y.Table != nil:
		return strings.Compare(x.Table.Name, y.Table.Name)
	}
	return 0
}
