package order

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
)

// topological returns objects in an order in which each comes after its dependencies, and else as they are
// given as far as possible (TopoSort in pg_dump_sort.c): from the end backwards, always the last of those
// that nothing unplaced depends on. If loops prevent that, stuck are the objects in loops or needed by
// loops, in the order of their dump IDs.
func (s *sorter) topological(objects []catalog.Object) (ordered, stuck []catalog.Object, err error) {
	n := len(s.db.Objects)
	needed := make([]int32, n+1) // how many unplaced objects depend on the object with this dump ID
	place := make([]int32, n+1)  // index in objects by dump ID
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
	}
	ready := make(maxHeap, 0, len(objects))
	for i := len(objects) - 1; i >= 0; i-- {
		if needed[objects[i].Base().DumpID] == 0 {
			ready = append(ready, int32(i)) // descending, which is a heap already
		}
	}
	ordered = make([]catalog.Object, len(objects))
	left := len(objects)
	for len(ready) > 0 {
		o := objects[ready.pop()]
		left--
		ordered[left] = o
		for _, d := range o.Base().Deps {
			if needed[d]--; needed[d] == 0 {
				ready.push(place[d])
			}
		}
	}
	if left == 0 {
		return ordered, nil, nil
	}
	for id := 1; id <= n; id++ {
		if needed[id] != 0 {
			stuck = append(stuck, objects[place[id]])
		}
	}
	return nil, stuck, nil
}

// maxHeap is a binary heap with its largest element at the root.
type maxHeap []int32

func (h *maxHeap) push(v int32) {
	*h = append(*h, v)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if a[up] >= a[i] {
			break
		}
		a[up], a[i] = a[i], a[up]
		i = up
	}
}

func (h *maxHeap) pop() int32 {
	a := *h
	top, last := a[0], len(a)-1
	a[0] = a[last]
	a = a[:last]
	for i := 0; ; {
		big := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(a) && a[c] > a[big] {
				big = c
			}
		}
		if big == i {
			break
		}
		a[i], a[big] = a[big], a[i]
		i = big
	}
	*h = a
	return top
}
