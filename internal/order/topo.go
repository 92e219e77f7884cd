package order

import (
	"fmt"
	"math/bits"

	"github.com/pghaul/pghaul/internal/catalog"
)

// topological returns objects in an order in which each comes after its dependencies, and else as they are
// given as far as possible (TopoSort in pg_dump_sort.c): from the end backwards, always the last of those
// that nothing unplaced depends on. If loops prevent that, stuck are the objects in loops or needed by
// loops, in the order of their dump IDs.
func (s *sorter) topological(objects []catalog.Object) (ordered, stuck []catalog.Object, err error) {
	n := len(s.db.Objects)
	needed := zeroed(&s.needed, n+1) // how many unplaced objects depend on the object with this dump ID
	place := zeroed(&s.place, n+1)   // index in objects by dump ID
	// The dependencies of all objects, one list after the other in the order of objects: these are hundreds of thousands,
	// and each step to one of them elsewhere in memory would cost more than all else.
	deps := s.deps[:0]
	end := zeroed(&s.end, len(objects)) // of each object's list
	for i, o := range objects {
		m := o.Base()
		if m.DumpID < 1 || int(m.DumpID) > n {
			return nil, nil, fmt.Errorf("sort objects: invalid dump ID %d", m.DumpID)
		}
		place[m.DumpID] = int32(i)
		for _, d := range m.Deps {
			if d < 1 || int(d) > n {
				return nil, nil, fmt.Errorf("sort objects: %s %s: invalid dependency %d", m.Kind, m.Name, d)
			}
			needed[d]++
		}
		deps = append(deps, m.Deps...)
		end[i] = int32(len(deps))
	}
	ready := newPlaceSet(len(objects))
	for id := 1; id <= n; id++ {
		if needed[id] == 0 {
			ready.add(int(place[id]))
		}
	}
	s.deps = deps
	order := zeroed(&s.order, len(objects)) // indexes in objects
	left := len(objects)
	for i := ready.takeLast(); i >= 0; i = ready.takeLast() {
		left--
		order[left] = int32(i)
		begin := int32(0)
		if i > 0 {
			begin = end[i-1]
		}
		for _, d := range deps[begin:end[i]] {
			if needed[d]--; needed[d] == 0 {
				ready.add(int(place[d]))
			}
		}
	}
	if left == 0 {
		ordered = make([]catalog.Object, len(objects))
		for i, at := range order {
			ordered[i] = objects[at]
		}
		return ordered, nil, nil
	}
	for id := 1; id <= n; id++ {
		if needed[id] != 0 {
			stuck = append(stuck, objects[place[id]])
		}
	}
	return nil, stuck, nil
}

// topoRoom is the memory of topological, which is called for each round of repairs.
type topoRoom struct {
	needed, place, end, order []int32
	deps                      []catalog.DumpID
}

// zeroed returns the room as n zeros.
func zeroed(room *[]int32, n int) []int32 {
	if cap(*room) < n {
		*room = make([]int32, n)
	}
	*room = (*room)[:n]
	clear(*room)
	return *room
}

// placeSet is a set of small numbers that gives its largest. A bit of a word says that the word of that number one level
// below is not empty; the first level has the numbers themselves.
type placeSet [][]uint64

func newPlaceSet(n int) placeSet {
	var s placeSet
	for {
		n = (n + 63) / 64
		s = append(s, make([]uint64, n))
		if n <= 1 {
			return s
		}
	}
}

func (s placeSet) add(i int) {
	for _, level := range s {
		level[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

// takeLast removes the largest number and returns it, -1 if there is none.
func (s placeSet) takeLast() int {
	top := len(s) - 1
	if len(s[top]) == 0 || s[top][0] == 0 {
		return -1
	}
	i := 0
	for k := top; k >= 0; k-- {
		i = 64*i + bits.Len64(s[k][i]) - 1
	}
	for k, rest := 0, i; k <= top; k++ {
		level := s[k]
		level[rest/64] &^= 1 << (rest % 64)
		if level[rest/64] != 0 {
			break
		}
		rest /= 64
	}
	return i
}
