package order

import (
	"errors"

	"github.com/pghaul/pghaul/internal/catalog"
)

// Sort returns the objects of db in a safe order. It adds the dependencies on the section boundaries and changes
// objects where it has to break a loop (a view's DummyView, a constraint's Separate and the like); warnings about loops
// go to db.Warnings. It is to be called once for a database.
func Sort(db *catalog.Database) ([]catalog.Object, error) {
	if db.PreDataBoundary == nil || db.PostDataBoundary == nil {
		return nil, errors.New("sort objects: the database has no section boundaries")
	}
	s := &sorter{db: db}
	s.addBoundaries()
	c := comparer{db: db, legacyLargeObjects: db.Options.LegacyLargeObjects}
	objects := c.sorted(db.Objects)
	for {
		ordered, stuck, err := s.topological(objects)
		if err != nil {
			return nil, err
		}
		if len(stuck) == 0 {
			return ordered, nil
		}
		if err := s.breakLoops(stuck); err != nil {
			return nil, err
		}
	}
}

type sorter struct {
	db      *catalog.Database
	repairs []func(loop []catalog.Object) bool // see repair
	topoRoom
}

// addBoundaries ties every object to the section boundaries (addBoundaryDependencies in pg_dump.c).
func (s *sorter) addBoundaries() {
	pre, post := s.db.PreDataBoundary, s.db.PostDataBoundary
	var preDeps, postDeps []catalog.DumpID
	for _, o := range s.db.Objects {
		m := o.Base()
		switch s.section(o) {
		case preData:
			preDeps = append(preDeps, m.DumpID)
		case data:
			m.AddDep(pre.DumpID)
			postDeps = append(postDeps, m.DumpID)
		case postData:
			m.AddDep(post.DumpID)
		}
	}
	post.AddDep(pre.DumpID)
	pre.Deps = append(pre.Deps, preDeps...)
	post.Deps = append(post.Deps, postDeps...)
}

type section uint8

const (
	anywhere section = iota
	preData
	data
	postData
)

// section is the section an object's entry will be in; anywhere for those that have no entry of their own.
func (s *sorter) section(o catalog.Object) section {
	separate := func(yes bool) section {
		if yes {
			return postData
		}
		return anywhere
	}
	switch m := o.Base(); m.Kind {
	case catalog.KindPreDataBoundary, catalog.KindPostDataBoundary:
		return anywhere
	case catalog.KindTableData, catalog.KindSequenceSet, catalog.KindLargeObjectData:
		return data
	case catalog.KindLargeObject:
		if s.db.Options.LegacyLargeObjects {
			return preData
		}
		return data
	case catalog.KindRelStats:
		if r, ok := o.(*catalog.RelStats); ok && r.PostData {
			return postData
		}
		return data
	case catalog.KindRule:
		r, ok := o.(*catalog.Rule)
		return separate(ok && r.Separate)
	case catalog.KindConstraint, catalog.KindFKConstraint:
		c, ok := o.(*catalog.Constraint)
		return separate(ok && c.Separate)
	case catalog.KindIndex, catalog.KindIndexAttach, catalog.KindStatsExt, catalog.KindRefreshMatview,
		catalog.KindTrigger, catalog.KindEventTrigger, catalog.KindDefaultACL, catalog.KindPolicy,
		catalog.KindPublication, catalog.KindPublicationRel, catalog.KindPublicationSchema,
		catalog.KindSubscription, catalog.KindSubscriptionRel:
		return postData
	default:
		return preData
	}
}
