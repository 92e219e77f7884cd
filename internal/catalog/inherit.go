package catalog

import (
	"context"
	"fmt"
)

type inheritRow struct{ child, parent uint32 }

// TableAttach is the ALTER TABLE ... ATTACH PARTITION of a partition.
type TableAttach struct {
	Meta
	Parent, Partition *Table
}

func (r *reader) fetchInherits(ctx context.Context, q Querier) error {
	return query(ctx, q, `SELECT inhrelid, inhparent FROM pg_catalog.pg_inherits ORDER BY inhrelid, inhseqno`,
		func(v *row) {
			r.inherits = append(r.inherits, inheritRow{v.oid(), v.oid()})
		})
}

// linkParents links children to their parents. The direct parents of what is dumped
// become interesting: their columns tell which of the child's are inherited.
func (r *reader) linkParents() error {
	for _, in := range r.inherits {
		child := r.db.Table(in.child)
		if child == nil {
			if r.indexParents == nil {
				r.indexParents = make(map[uint32]uint32)
			}
			r.indexParents[in.child] = in.parent // or so it is, for there is no such relation
			continue
		}
		parent := r.db.Table(in.parent)
		if parent == nil {
			return fmt.Errorf("failed sanity check, parent OID %d of table %q (OID %d) not found",
				in.parent, child.Name, in.child)
		}
		child.Parents = append(child.Parents, parent)
	}
	r.inherits = nil
	for _, t := range r.db.Tables {
		if t.Dump == None {
			continue
		}
		for _, p := range t.Parents {
			p.Interesting = true
		}
	}
	return nil
}

// inheritanceStage makes the objects that attach partitions to their parents.
func (r *reader) inheritanceStage() stage {
	return stage{name: "inheritance", link: func() error {
		for _, t := range r.db.Tables {
			if t.Dump&Definition == 0 || !t.IsPartition {
				continue
			}
			if len(t.Parents) != 1 {
				return fmt.Errorf("invalid number of parents %d for table %q", len(t.Parents), t.Name)
			}
			a := &TableAttach{Meta: newTableMeta(KindTableAttach, ID{}, t.Name, t), Parent: t.Parents[0], Partition: t}
			r.db.Add(a)
			// pg_depend knows nothing of this object: it needs both tables to exist.
			a.AddDep(t.DumpID)
			a.AddDep(a.Parent.DumpID)
		}
		return nil
	}}
}

// linkInheritedColumns marks what columns of a child have from its parents, after
// flagInhAttrs of PostgreSQL's common.c: not-null constraints that come with the
// parent's; a default that the child does without although a parent has one, which
// must be said as DEFAULT NULL; and generation expressions equal to all parents',
// which need not be said.
//
// Tables are visited in OID order, so a parent may come after its child: nothing
// that a child's decision reads may be changed in between.
func (r *reader) linkInheritedColumns() {
	o := &r.db.Options
	v18 := r.db.Info.Version >= 180000
	byName := make(map[*Table]map[string]int)
	columns := func(t *Table) map[string]int {
		m, ok := byName[t]
		if !ok {
			m = make(map[string]int, len(t.Columns))
			for i := range t.Columns {
				m[t.Columns[i].Name] = i
			}
			byName[t] = m
		}
		return m
	}
	for _, t := range r.db.Tables {
		if t.RelKind == 'S' || t.RelKind == 'v' || t.RelKind == 'm' || t.Dump == None || len(t.Parents) == 0 {
			continue
		}
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Dropped {
				continue
			}
			foundNotNull, foundDefault, sameGenerated, otherGenerated := false, false, false, false
			allInvalid := true
			for _, p := range t.Parents {
				at, ok := columns(p)[c.Name]
				if !ok {
					continue
				}
				pc := &p.Columns[at]
				if pc.NotNull && !v18 {
					foundNotNull = true
				}
				if pc.NotNull && v18 && !pc.NotNullInvalid {
					allInvalid = false
				}
				if pc.Generated == 0 {
					if pc.Default != nil && pc.Default.Expr != "NULL" {
						foundDefault = true
					}
				} else if pc.Default != nil && c.Default != nil && pc.Default.Expr == c.Default.Expr {
					sameGenerated = true
				} else {
					otherGenerated = true
				}
			}
			if foundNotNull {
				c.NotNullIsLocal = false
			}
			if v18 && allInvalid {
				c.NotNullIsLocal = true
			}
			if foundDefault && c.Default == nil {
				d := &AttrDef{Meta: newTableMeta(KindAttrDef, ID{}, t.Name, t), Table: t, Column: i + 1, Expr: "NULL"}
				r.db.Add(d)
				d.Dump = t.Dump
				if !t.PrintsColumn(o, i) {
					d.Separate = true
					d.AddDep(t.DumpID)
				}
				c.Default = d
			}
			if sameGenerated && !otherGenerated && !t.IsPartition && !o.BinaryUpgrade {
				c.Default.Dump = None
			}
		}
	}
}
