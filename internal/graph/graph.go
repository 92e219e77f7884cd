package graph

import (
	"fmt"
	"strings"
)

// Graph is a directed graph. The zero value is an empty graph.
// It is not safe for concurrent use.
type Graph[K comparable] struct {
	keys  []K       // in order of Add
	index map[K]int // key to its place in keys
	next  [][]int   // successors of each key, one for each edge
	prev  [][]int   // predecessors of each key, one for each edge
}

// Add adds k. A key that is there already stays where it is.
func (g *Graph[K]) Add(k K) { g.node(k) }

// Edge says that to comes after from, and adds both.
// The same edge may be given more than once. An edge from a key to itself is a cycle.
func (g *Graph[K]) Edge(from, to K) {
	f, t := g.node(from), g.node(to)
	g.next[f] = append(g.next[f], t)
	g.prev[t] = append(g.prev[t], f)
}

// Len returns the number of keys.
func (g *Graph[K]) Len() int { return len(g.keys) }

// Has says whether k was added.
func (g *Graph[K]) Has(k K) bool { _, ok := g.index[k]; return ok }

// Keys returns the keys in the order in which they were added.
func (g *Graph[K]) Keys() []K { return append([]K(nil), g.keys...) }

// After returns the keys with an edge from k, in order of the edges, repeated edges included.
func (g *Graph[K]) After(k K) []K { return g.neighbours(k, g.next) }

// Before returns the keys with an edge to k, in order of the edges, repeated edges included.
func (g *Graph[K]) Before(k K) []K { return g.neighbours(k, g.prev) }

func (g *Graph[K]) neighbours(k K, edges [][]int) []K {
	i, ok := g.index[k]
	if !ok {
		return nil
	}
	out := make([]K, len(edges[i]))
	for n, j := range edges[i] {
		out[n] = g.keys[j]
	}
	return out
}

func (g *Graph[K]) node(k K) int {
	if i, ok := g.index[k]; ok {
		return i
	}
	if g.index == nil {
		g.index = make(map[K]int)
	}
	i := len(g.keys)
	g.index[k] = i
	g.keys = append(g.keys, k)
	g.next = append(g.next, nil)
	g.prev = append(g.prev, nil)
	return i
}

// Sorted returns every key after all keys it has an edge from. Of several keys
// that could come next it takes the one that before puts first; before may be nil,
// and must be a strict weak order. When there are cycles it returns the keys that
// do not wait for one, and a *CycleError.
func (g *Graph[K]) Sorted(before func(a, b K) bool) ([]K, error) {
	s := g.ReadySet(before)
	out := make([]K, 0, len(g.keys))
	for {
		k, ok := s.Ready()
		if !ok {
			break
		}
		out = append(out, k)
		s.Done(k)
	}
	if len(out) < len(g.keys) {
		return out, &CycleError[K]{Cycles: g.Cycles()}
	}
	return out, nil
}

// Cycles returns the groups of keys of which each can be reached from each other
// (strongly connected components of more than one key, and keys with an edge to
// themselves). Groups, and the keys of a group, stand in the order of adding.
func (g *Graph[K]) Cycles() [][]K {
	// Tarjan's algorithm with its own stack: chains of dependencies are longer than
	// what recursion should be trusted with.
	const unseen = -1
	n := len(g.keys)
	order := make([]int, n) // when a key was first seen
	low := make([]int, n)   // earliest key reachable from it on the stack
	group := make([]int, n) // component, by number; unseen while open
	for i := range order {
		order[i], group[i] = unseen, unseen
	}
	type frame struct{ node, edge int }
	var (
		stack  []int
		calls  []frame
		clock  int
		groups int
	)
	for root := range n {
		if order[root] != unseen {
			continue
		}
		calls = append(calls, frame{node: root})
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			if f.edge == 0 && order[f.node] == unseen {
				order[f.node], low[f.node] = clock, clock
				clock++
				stack = append(stack, f.node)
			}
			if f.edge < len(g.next[f.node]) {
				to := g.next[f.node][f.edge]
				f.edge++
				switch {
				case order[to] == unseen:
					calls = append(calls, frame{node: to})
				case group[to] == unseen: // still on the stack
					low[f.node] = min(low[f.node], order[to])
				}
				continue
			}
			done := f.node
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].node
				low[up] = min(low[up], low[done])
			}
			if low[done] == order[done] {
				for {
					top := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					group[top] = groups
					if top == done {
						break
					}
				}
				groups++
			}
		}
	}
	members := make(map[int][]K)
	var firsts []int
	for i, k := range g.keys { // order of adding
		c := group[i]
		if members[c] == nil {
			firsts = append(firsts, i)
		}
		members[c] = append(members[c], k)
	}
	var out [][]K
	for _, i := range firsts {
		m := members[group[i]]
		if len(m) > 1 || g.loops(i) {
			out = append(out, m)
		}
	}
	return out
}

// loops says whether key number i has an edge to itself.
func (g *Graph[K]) loops(i int) bool {
	for _, to := range g.next[i] {
		if to == i {
			return true
		}
	}
	return false
}

// CycleError says that keys wait for themselves.
type CycleError[K comparable] struct {
	Cycles [][]K
}

// Error names the keys of every cycle.
func (e *CycleError[K]) Error() string {
	var b strings.Builder
	b.WriteString("dependencies run in a circle: ")
	for i, c := range e.Cycles {
		if i > 0 {
			b.WriteString("; ")
		}
		for j, k := range c {
			if j > 0 {
				b.WriteString(", ")
			}
			fmt.Fprint(&b, k)
		}
	}
	return b.String()
}
