package graph

// ReadySet hands out the keys of a graph, each once, and none before all keys it
// has an edge from are done. It belongs to one goroutine: the one that gives work
// to others and hears from them what is done.
type ReadySet[K comparable] struct {
	g       *Graph[K]
	before  func(a, b K) bool
	waiting []int   // edges into each key whose origin is not done
	state   []state // of each key
	heap    []int   // keys that are ready, first one on top
	aside   []int   // scratch of Next
	left    int     // keys not done
}

type state uint8

const (
	blocked state = iota
	ready
	taken
	done
)

// ReadySet starts with the keys that have no edge to them ready and nothing done.
// Ready keys come out in the order of before (nil: the order of adding).
// The graph must not change while the set is in use.
func (g *Graph[K]) ReadySet(before func(a, b K) bool) *ReadySet[K] {
	s := &ReadySet[K]{
		g:       g,
		before:  before,
		waiting: make([]int, len(g.keys)),
		state:   make([]state, len(g.keys)),
		left:    len(g.keys),
	}
	for i := range g.keys {
		s.waiting[i] = len(g.prev[i])
		if s.waiting[i] == 0 {
			s.push(i)
		}
	}
	return s
}

// Ready takes the first ready key. It returns false when none is ready now.
func (s *ReadySet[K]) Ready() (K, bool) { return s.Next(nil) }

// Next takes the first ready key that accept agrees to; the others stay ready.
// A nil accept agrees to all.
func (s *ReadySet[K]) Next(accept func(K) bool) (k K, ok bool) {
	s.aside = s.aside[:0]
	for len(s.heap) > 0 {
		i := s.pop()
		if accept == nil || accept(s.g.keys[i]) {
			s.state[i] = taken
			k, ok = s.g.keys[i], true
			break
		}
		s.aside = append(s.aside, i)
	}
	for _, i := range s.aside {
		s.push(i)
	}
	return k, ok
}

// Take takes k if it is ready, and says whether it was.
func (s *ReadySet[K]) Take(k K) bool {
	i, ok := s.g.index[k]
	if !ok || s.state[i] != ready {
		return false
	}
	s.remove(i)
	s.state[i] = taken
	return true
}

// Done says that k is finished, which may make others ready. A key need not have
// been taken: the caller may have dealt with it in another way, and then it will not be
// handed out. Saying it twice, or of a key not in the graph, does nothing.
func (s *ReadySet[K]) Done(k K) {
	i, ok := s.g.index[k]
	if !ok || s.state[i] == done {
		return
	}
	if s.state[i] == ready {
		s.remove(i)
	}
	s.state[i] = done
	s.left--
	for _, j := range s.g.next[i] {
		s.waiting[j]--
		if s.waiting[j] == 0 && s.state[j] == blocked {
			s.push(j)
		}
	}
}

// Len returns the number of keys that are not done.
func (s *ReadySet[K]) Len() int { return s.left }

// Waiting returns how many keys are ready to be taken.
func (s *ReadySet[K]) Waiting() int { return len(s.heap) }

// Blocked returns the keys that are neither done, nor taken, nor ready, in order of adding.
// When nothing is ready and nothing taken, these wait for a cycle.
func (s *ReadySet[K]) Blocked() []K {
	var out []K
	for i, st := range s.state {
		if st == blocked {
			out = append(out, s.g.keys[i])
		}
	}
	return out
}

// first says whether key number a comes out before key number b.
func (s *ReadySet[K]) first(a, b int) bool {
	if s.before != nil {
		switch {
		case s.before(s.g.keys[a], s.g.keys[b]):
			return true
		case s.before(s.g.keys[b], s.g.keys[a]):
			return false
		}
	}
	return a < b
}

func (s *ReadySet[K]) push(i int) {
	s.state[i] = ready
	s.heap = append(s.heap, i)
	s.up(len(s.heap) - 1)
}

func (s *ReadySet[K]) pop() int {
	top := s.heap[0]
	s.removeAt(0)
	return top
}

func (s *ReadySet[K]) remove(i int) {
	for at, j := range s.heap {
		if j == i {
			s.removeAt(at)
			return
		}
	}
}

func (s *ReadySet[K]) removeAt(at int) {
	last := len(s.heap) - 1
	s.heap[at] = s.heap[last]
	s.heap = s.heap[:last]
	if at < last {
		s.down(at)
		s.up(at)
	}
}

func (s *ReadySet[K]) up(at int) {
	for at > 0 {
		parent := (at - 1) / 2
		if !s.first(s.heap[at], s.heap[parent]) {
			return
		}
		s.heap[at], s.heap[parent] = s.heap[parent], s.heap[at]
		at = parent
	}
}

func (s *ReadySet[K]) down(at int) {
	for {
		child := 2*at + 1
		if child >= len(s.heap) {
			return
		}
		if child+1 < len(s.heap) && s.first(s.heap[child+1], s.heap[child]) {
			child++
		}
		if !s.first(s.heap[child], s.heap[at]) {
			return
		}
		s.heap[at], s.heap[child] = s.heap[child], s.heap[at]
		at = child
	}
}
