package order

import (
	"errors"

	"github.com/pghaul/pghaul/internal/catalog"
)

// breakLoops finds loops among the objects that could not be sorted and repairs as many as have no member in
// common; the rest may have been repaired along with them, or waits for the next round
// (findDependencyLoops in pg_dump_sort.c).
func (s *sorter) breakLoops(stuck []catalog.Object) error {
	n := len(s.db.Objects)
	f := loopFinder{
		db:      s.db,
		done:    make([]bool, n+1),
		failed:  make([]catalog.DumpID, n+1),
		onTrail: make([]bool, n+1),
	}
	fixed := false
	for _, o := range stuck {
		f.start = o.Base().DumpID
		f.trail = f.trail[:0]
		if f.search(o) {
			s.repair(f.trail)
			fixed = true
			for _, member := range f.trail {
				f.done[member.Base().DumpID] = true
				f.onTrail[member.Base().DumpID] = false
			}
		}
		// an object in no loop need not be looked at again either
		f.done[f.start] = true
	}
	if !fixed {
		return errors.New("could not identify dependency loop")
	}
	return nil
}

// loopFinder searches a way from an object over its dependencies back to itself.
type loopFinder struct {
	db      *catalog.Database
	start   catalog.DumpID
	trail   []catalog.Object // the way so far; the loop, when one was found
	onTrail []bool
	done    []bool           // objects of loops already repaired, and objects in no loop
	failed  []catalog.DumpID // the start to which no way leads from the object
}

// search says whether a way leads from o back to the start, shorter ways first (findLoop).
func (f *loopFinder) search(o catalog.Object) bool {
	m := o.Base()
	if f.done[m.DumpID] || f.failed[m.DumpID] == f.start || f.onTrail[m.DumpID] {
		return false
	}
	f.trail = append(f.trail, o)
	f.onTrail[m.DumpID] = true
	for _, d := range m.Deps {
		if d == f.start {
			return true
		}
	}
	for _, d := range m.Deps {
		if next := f.db.ByDumpID(d); next != nil && f.search(next) {
			return true
		}
	}
	f.failed[m.DumpID] = f.start
	f.trail = f.trail[:len(f.trail)-1]
	f.onTrail[m.DumpID] = false
	return false
}
