package catalog

import (
	"context"
	"math"
)

type dependRow struct {
	obj, ref           uint32
	objClass, refClass uint8 // in classes
	kind               byte  // deptype: n a i x S P
}

// classes numbers the catalogues whose rows become objects, and those of which something is found by an object's row, from 1.
type classes struct {
	oids  []uint32
	index map[uint32]uint8
}

func (c *classes) number(class uint32) uint8 {
	if n, ok := c.index[class]; ok || len(c.oids) == math.MaxUint8 {
		return n
	}
	if c.index == nil {
		c.index = make(map[uint32]uint8)
	}
	c.oids = append(c.oids, class)
	c.index[class] = uint8(len(c.oids))
	return uint8(len(c.oids))
}

func (c *classes) id(class uint8, oid uint32) ID {
	if class == 0 {
		return ID{}
	}
	return ID{c.oids[class-1], oid}
}

// dependsStage reads pg_depend and makes it dependencies between objects (getDependencies in pg_dump.c). The column a
// dependency is from or on does not matter here. Members of operator families are no objects: what they depend on,
// their family does, except on itself and on the operator class that owns them.
func (r *reader) dependsStage() stage {
	return stage{
		name: "dependencies",
		link: func() error {
			var from Object
			var fromID ID
			for d := range r.depends.all() {
				if id := r.dependClasses.id(d.objClass, d.obj); id != fromID {
					from, fromID = r.db.Find(id), id
				}
				if from == nil {
					continue // TOAST tables and the like are no objects
				}
				on := r.db.Find(r.dependClasses.id(d.refClass, d.ref))
				if on == nil {
					continue
				}
				m, ref := from.Base(), on.Base()
				if d.kind == 'x' {
					m.DependsOnExt = true
				}
				if d.kind == 'i' && m.Kind == KindTable && ref.Kind == KindType {
					// The relation of a composite type depends on the type, which is right for DROP;
					// to create them the order is the other one.
					ref.AddDep(m.DumpID)
				} else {
					m.AddDep(ref.DumpID)
				}
			}
			r.depends = rowList[dependRow]{}
			return nil
		},
	}
}

// fetchDepends is the fetch of that stage, which needs to know nothing of the database.
func (r *reader) fetchDepends(ctx context.Context, q Querier) error {
	families := make(map[ID]uint32) // of members of operator families
	err := query(ctx, q, `SELECT 'pg_catalog.pg_amop'::pg_catalog.regclass::pg_catalog.oid, oid, amopfamily FROM pg_catalog.pg_amop
UNION ALL SELECT 'pg_catalog.pg_amproc'::pg_catalog.regclass::pg_catalog.oid, oid, amprocfamily FROM pg_catalog.pg_amproc`, func(row *row) {
		id := ID{row.oid(), row.oid()}
		families[id] = row.oid()
	})
	if err != nil {
		return err
	}
	c := &r.dependClasses
	family := c.number(ClassOpfamily)
	var last dependRow
	var ofMembers []dependRow // those of families by their members, which come after all others
	err = query(ctx, q, `SELECT classid, objid, refclassid, refobjid, deptype
FROM pg_catalog.pg_depend WHERE deptype NOT IN ('p', 'e')`, func(row *row) {
		class, obj, refClass, ref := row.oid(), row.oid(), c.number(row.oid()), row.oid()
		d := dependRow{obj, ref, c.number(class), refClass, row.char()}
		if d == last { // they differ by the column
			return
		}
		*r.depends.add() = d
		last = d
		if class != ClassAmop && class != ClassAmproc || d.kind == 'i' {
			return
		}
		if of, ok := families[ID{class, obj}]; ok && (refClass != family || ref != of) {
			d.objClass, d.obj = family, of
			ofMembers = append(ofMembers, d)
		}
	})
	for _, d := range ofMembers {
		*r.depends.add() = d
	}
	return err
}
