package order

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
)

// repair breaks one loop, in which each object depends on the next and the last on the first
// (repairDependencyLoop in pg_dump_sort.c). The repairs are tried in a fixed order.
func (s *sorter) repair(loop []catalog.Object) {
	if s.repairs == nil { // made once, as loops may be as many as tables
		s.repairs = []func([]catalog.Object) bool{
			pair(s.typeAndFunction),
			pair(viewAndRule),
			s.viewAndRuleApart,
			s.matviewAcrossBoundary,
			s.functionAcrossBoundary,
			pair(tableAndCheck),
			s.tableAndCheckApart,
			pair(tableAndDefault),
			pair(indexAndPartition),
			s.tableAndDefaultApart,
			pair(domainAndConstraint),
			s.domainAndConstraintApart,
			tableAlone,
			s.tableDataCircle,
		}
	}
	for _, try := range s.repairs {
		if try(loop) {
			return
		}
	}
	var what []string
	for _, o := range loop {
		what = append(what, describe(s.db, o))
	}
	s.warn(catalog.Warning{Text: "could not resolve dependency loop among these items:", Details: what})
	forget(loop)
}

func (s *sorter) warn(w catalog.Warning) { s.db.Warnings = append(s.db.Warnings, w) }

// forget drops the first object's dependency on the second, or on itself.
func forget(loop []catalog.Object) {
	next := loop[0]
	if len(loop) > 1 {
		next = loop[1]
	}
	loop[0].Base().RemoveDep(next.Base().DumpID)
}

// pair makes a repair of two objects that are in a loop of their own one that takes them in either order.
func pair(try func(a, b catalog.Object) bool) func([]catalog.Object) bool {
	return func(loop []catalog.Object) bool {
		return len(loop) == 2 && (try(loop[0], loop[1]) || try(loop[1], loop[0]))
	}
}

// longLoop calls try for every two objects of a loop of more than two until it succeeds; j is the place of b.
func longLoop(loop []catalog.Object, try func(a, b catalog.Object, j int) bool) bool {
	if len(loop) <= 2 {
		return false
	}
	for _, a := range loop {
		for j, b := range loop {
			if try(a, b, j) {
				return true
			}
		}
	}
	return false
}

// typeAndFunction: a base type needs its I/O functions (a range its canonical function), which have it as argument or
// result. The function then depends on the shell type, which is dumped when the function is (repairTypeFuncLoop).
func (s *sorter) typeAndFunction(a, b catalog.Object) bool {
	t, ok := a.(*catalog.Type)
	if !ok || t.Kind != catalog.KindType || b.Base().Kind != catalog.KindFunc {
		return false
	}
	fn := b.Base()
	fn.RemoveDep(t.DumpID)
	if t.Shell != nil {
		fn.AddDep(t.Shell.DumpID)
		if fn.Dump != 0 {
			t.Shell.Dump = fn.Dump | catalog.Definition
		}
	}
	return true
}

// selectRuleOf says whether o is the ON SELECT rule of the view t.
func selectRuleOf(o catalog.Object, t *catalog.Table) (*catalog.Rule, bool) {
	r, ok := o.(*catalog.Rule)
	return r, ok && r.Type == '1' && r.Instead && r.Table == t
}

// viewAndRule: a view depends on its rule, and the rule on its view; alone, they are dumped as one (repairViewRuleLoop).
func viewAndRule(a, b catalog.Object) bool {
	t, ok := a.(*catalog.Table)
	if !ok || t.RelKind != 'v' && t.RelKind != 'm' {
		return false
	}
	r, ok := selectRuleOf(b, t)
	if ok {
		r.RemoveDep(t.DumpID)
	}
	return ok
}

// viewAndRuleApart: with others in the loop, the view is made with a dummy definition, and the rule dumped for itself
// replaces it. The rule depends on the view again, since the short loop was probably repaired before
// (repairViewRuleMultiLoop). Materialized views cannot be dumped so.
func (s *sorter) viewAndRuleApart(loop []catalog.Object) bool {
	return longLoop(loop, func(a, b catalog.Object, _ int) bool {
		t, ok := a.(*catalog.Table)
		if !ok || t.RelKind != 'v' {
			return false
		}
		r, ok := selectRuleOf(b, t)
		if !ok {
			return false
		}
		t.RemoveDep(r.DumpID)
		t.DummyView = true
		r.Separate = true
		r.AddDep(t.DumpID)
		r.AddDep(s.db.PostDataBoundary.DumpID)
		return true
	})
}

// after is the object behind place j of the loop.
func after(loop []catalog.Object, j int) catalog.Object { return loop[(j+1)%len(loop)] }

// matviewAcrossBoundary: a materialized view that depends on an index (by GROUP BY of a primary key) cannot be in the
// pre-data section. The boundary's dependency goes, perhaps in several rounds, as the next in the loop may be the view's row type
// (repairMatViewBoundaryMultiLoop). Its statistics follow into the post-data section.
func (s *sorter) matviewAcrossBoundary(loop []catalog.Object) bool {
	return longLoop(loop, func(a, b catalog.Object, j int) bool {
		boundary := catalog.KindPreDataBoundary
		switch a := a.(type) {
		case *catalog.Table:
			if a.RelKind != 'm' {
				return false
			}
		case *catalog.RelStats:
			if a.RelKind != 'm' {
				return false
			}
			boundary = catalog.KindPostDataBoundary
		default:
			return false
		}
		if b.Base().Kind != boundary {
			return false
		}
		next := after(loop, j)
		b.Base().RemoveDep(next.Base().DumpID)
		switch next := next.(type) {
		case *catalog.Table:
			if next.RelKind == 'm' {
				next.PostponedDef = true
			}
		case *catalog.RelStats:
			if next.RelKind == 'm' {
				next.PostData = true
			}
		}
		return true
	})
}

// functionAcrossBoundary: the same for a function whose body depends on an index (repairFunctionBoundaryMultiLoop).
func (s *sorter) functionAcrossBoundary(loop []catalog.Object) bool {
	return longLoop(loop, func(a, b catalog.Object, j int) bool {
		if a.Base().Kind != catalog.KindFunc || b.Base().Kind != catalog.KindPreDataBoundary {
			return false
		}
		next := after(loop, j)
		b.Base().RemoveDep(next.Base().DumpID)
		if f, ok := next.(*catalog.Func); ok {
			f.PostponedDef = true
		}
		return true
	})
}

// checkOf says whether o is a CHECK constraint of the table a.
func checkOf(a, o catalog.Object) (*catalog.Table, *catalog.Constraint, bool) {
	t, ok := a.(*catalog.Table)
	if !ok {
		return nil, nil, false
	}
	c, ok := o.(*catalog.Constraint)
	return t, c, ok && c.Kind == catalog.KindConstraint && c.Type == 'c' && c.Table == t
}

// tableAndCheck: a table depends on its CHECK constraints and they on it; alone, they are dumped as one
// (repairTableConstraintLoop).
func tableAndCheck(a, b catalog.Object) bool {
	t, c, ok := checkOf(a, b)
	if ok {
		c.RemoveDep(t.DumpID)
	}
	return ok
}

// tableAndCheckApart dumps the constraint for itself (repairTableConstraintMultiLoop).
func (s *sorter) tableAndCheckApart(loop []catalog.Object) bool {
	return longLoop(loop, func(a, b catalog.Object, _ int) bool {
		t, c, ok := checkOf(a, b)
		if ok {
			s.separate(&t.Meta, c)
		}
		return ok
	})
}

// separate makes a constraint of a table or domain an object after it.
func (s *sorter) separate(of *catalog.Meta, c *catalog.Constraint) {
	of.RemoveDep(c.DumpID)
	c.Separate = true
	c.AddDep(of.DumpID)
	c.AddDep(s.db.PostDataBoundary.DumpID)
}

func defaultOf(a, o catalog.Object) (*catalog.Table, *catalog.AttrDef, bool) {
	t, ok := a.(*catalog.Table)
	if !ok {
		return nil, nil, false
	}
	d, ok := o.(*catalog.AttrDef)
	return t, d, ok && d.Table == t
}

// tableAndDefault: as tableAndCheck (repairTableAttrDefLoop).
func tableAndDefault(a, b catalog.Object) bool {
	t, d, ok := defaultOf(a, b)
	if ok {
		d.RemoveDep(t.DumpID)
	}
	return ok
}

// tableAndDefaultApart: as tableAndCheckApart, but a default stays in the pre-data section (repairTableAttrDefMultiLoop).
func (s *sorter) tableAndDefaultApart(loop []catalog.Object) bool {
	return longLoop(loop, func(a, b catalog.Object, _ int) bool {
		t, d, ok := defaultOf(a, b)
		if ok {
			t.RemoveDep(d.DumpID)
			d.Separate = true
			d.AddDep(t.DumpID)
		}
		return ok
	})
}

// indexAndPartition: an index of a partitioned table and the index of a partition attached to it (repairIndexLoop).
func indexAndPartition(a, b catalog.Object) bool {
	part, ok := a.(*catalog.Index)
	parent, ok2 := b.(*catalog.Index)
	if !ok || !ok2 || part.ParentOID == 0 || part.ParentOID != parent.ID.OID {
		return false
	}
	// pg_dump takes the dependency from the partition's index, not from the other
	part.RemoveDep(parent.DumpID)
	return true
}

func constraintOfDomain(a, o catalog.Object) (*catalog.Type, *catalog.Constraint, bool) {
	t, ok := a.(*catalog.Type)
	if !ok || t.Kind != catalog.KindType {
		return nil, nil, false
	}
	c, ok := o.(*catalog.Constraint)
	return t, c, ok && c.Kind == catalog.KindConstraint && (c.Type == 'c' || c.Type == 'n') && c.Domain == t
}

// domainAndConstraint: as tableAndCheck (repairDomainConstraintLoop).
func domainAndConstraint(a, b catalog.Object) bool {
	t, c, ok := constraintOfDomain(a, b)
	if ok {
		c.RemoveDep(t.DumpID)
	}
	return ok
}

// domainAndConstraintApart: as tableAndCheckApart (repairDomainConstraintMultiLoop).
func (s *sorter) domainAndConstraintApart(loop []catalog.Object) bool {
	return longLoop(loop, func(a, b catalog.Object, _ int) bool {
		t, c, ok := constraintOfDomain(a, b)
		if ok {
			s.separate(&t.Meta, c)
		}
		return ok
	})
}

// tableAlone: a column that depends on another column, or on the whole table, looks like a table that
// depends on itself.
func tableAlone(loop []catalog.Object) bool {
	m := loop[0].Base()
	if len(loop) != 1 || m.Kind != catalog.KindTable {
		return false
	}
	m.RemoveDep(m.DumpID)
	return true
}

// tableDataCircle: foreign keys that go in a circle leave no order in which rows can be loaded, if the keys exist already.
func (s *sorter) tableDataCircle(loop []catalog.Object) bool {
	var names []string
	for _, o := range loop {
		if o.Base().Kind != catalog.KindTableData {
			return false
		}
		names = append(names, o.Base().Name)
	}
	text := "there are circular foreign-key constraints among these tables:"
	if len(loop) == 1 {
		text = "there are circular foreign-key constraints on this table:"
	}
	s.warn(catalog.Warning{Text: text, Details: names, Hints: []string{
		"You might not be able to restore the dump without using --disable-triggers or temporarily dropping the constraints.",
		"Consider using a full dump instead of a --data-only dump to avoid this problem.",
	}})
	forget(loop)
	return true
}

// describe names an object in the warning about a loop (describeDumpableObject).
func describe(db *catalog.Database, o catalog.Object) string {
	m := o.Base()
	id := fmt.Sprintf("(ID %d OID %d)", m.DumpID, m.ID.OID)
	switch o := o.(type) {
	case *catalog.Boundary, *catalog.TableAttach, *catalog.IndexAttach:
		id = fmt.Sprintf("(ID %d)", m.DumpID)
		if _, ok := o.(*catalog.Boundary); ok {
			return m.Kind.String() + "  " + id
		}
	case *catalog.AttrDef:
		if o.Column >= 1 && o.Column <= len(o.Table.Columns) {
			return fmt.Sprintf("%s %s.%s  %s", m.Kind, o.Table.Name, o.Table.Columns[o.Column-1].Name, id)
		}
	case *catalog.Cast:
		return fmt.Sprintf("CAST %d to %d  %s", o.Source, o.Target, id)
	case *catalog.LargeObject:
		if m.Kind == catalog.KindLargeObjectData {
			return fmt.Sprintf("LARGE OBJECT DATA  (ID %d)", m.DumpID)
		}
		return "LARGE OBJECT  " + id
	}
	switch m.Kind {
	case catalog.KindPolicy, catalog.KindPublication, catalog.KindPublicationRel, catalog.KindPublicationSchema,
		catalog.KindSubscription, catalog.KindSubscriptionRel:
		return m.Kind.String() + " " + id
	}
	return fmt.Sprintf("%s %s  %s", m.Kind, m.Name, id)
}
