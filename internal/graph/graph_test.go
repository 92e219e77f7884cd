package graph

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parse builds a graph from words: "a" adds a key, "a>b" an edge.
func parse(words string) *Graph[string] {
	g := new(Graph[string])
	for _, w := range strings.Fields(words) {
		if from, to, ok := strings.Cut(w, ">"); ok {
			g.Edge(from, to)
		} else {
			g.Add(w)
		}
	}
	return g
}

func TestSorted(t *testing.T) {
	alphabetical := func(a, b string) bool { return a < b }
	for _, tt := range []struct {
		name   string
		graph  string
		before func(a, b string) bool
		want   string
		cycles [][]string
	}{
		{name: "empty"},
		{name: "order of adding without edges", graph: "c a b", want: "c a b"},
		{name: "the comparison decides", graph: "c a b", before: alphabetical, want: "a b c"},
		{name: "edges win over the comparison", graph: "c>a b", before: alphabetical, want: "b c a"},
		{name: "diamond", graph: "top>left top>right left>bottom right>bottom", want: "top left right bottom"},
		{name: "the same edge twice", graph: "a>b a>b b>c", want: "a b c"},
		{name: "a long way round", graph: "z>a a>b c", before: alphabetical, want: "c z a b"},
		{name: "two in a circle", graph: "a>b b>a c", want: "c", cycles: [][]string{{"a", "b"}}},
		{name: "a key that waits for itself", graph: "a>a b", want: "b", cycles: [][]string{{"a"}}},
		{name: "what hangs on a circle waits with it", graph: "a>b b>a b>c d", want: "d", cycles: [][]string{{"a", "b"}}},
		{name: "two circles", graph: "x>y y>z z>x a>b b>a z>a", want: "", cycles: [][]string{{"x", "y", "z"}, {"a", "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := parse(tt.graph)
			got, err := g.Sorted(tt.before)
			if strings.Join(got, " ") != tt.want {
				t.Errorf("sorted %q, want %q", strings.Join(got, " "), tt.want)
			}
			var ce *CycleError[string]
			if errors.As(err, &ce) != (tt.cycles != nil) {
				t.Fatalf("error %v, want cycles %v", err, tt.cycles)
			}
			if ce != nil {
				if d := cmp.Diff(tt.cycles, ce.Cycles); d != "" {
					t.Errorf("cycles (-want +got):\n%s", d)
				}
			}
		})
	}
}

func TestCycleErrorNamesKeys(t *testing.T) {
	_, err := parse("a>b b>a c>c").Sorted(nil)
	if want := "dependencies run in a circle: a, b; c"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestReadySet(t *testing.T) {
	g := parse("t1>d1 t2>d2 d1>i1 d2>i2 d1>fk d2>fk")
	size := map[string]int{"d1": 1, "d2": 5}
	s := g.ReadySet(func(a, b string) bool { return size[a] > size[b] })
	take := func(want string) {
		t.Helper()
		k, _ := s.Ready()
		if k != want {
			t.Fatalf("took %q, want %q", k, want)
		}
	}
	take("t1")
	take("t2")
	take("")
	s.Done("t1")
	s.Done("t2")
	take("d2") // the larger first
	take("d1")
	s.Done("d1")
	take("i1")
	take("")
	if got := s.Blocked(); !slices.Equal(got, []string{"i2", "fk"}) {
		t.Errorf("blocked %v", got)
	}
	s.Done("d2")
	k, ok := s.Next(func(k string) bool { return k == "fk" })
	if !ok || k != "fk" {
		t.Errorf("took %q, want fk", k)
	}
	take("i2") // passed over, still there
	for _, k := range []string{"i1", "i2", "fk", "fk", "nobody"} {
		s.Done(k)
	}
	if s.Len() != 0 {
		t.Errorf("%d keys left", s.Len())
	}
}

func TestReadySetDoneWithoutTaking(t *testing.T) {
	s := parse("a>b c b>d").ReadySet(nil)
	s.Done("b") // while blocked
	s.Done("c") // while ready
	k, _ := s.Ready()
	if k != "d" {
		k2, _ := s.Ready()
		if k != "a" || k2 != "d" {
			t.Errorf("took %q and %q, want a and d", k, k2)
		}
	}
}

// draw makes a random graph of up to 30 keys.
func draw(t *rapid.T) *Graph[int] {
	g := new(Graph[int])
	n := rapid.IntRange(0, 30).Draw(t, "keys")
	for i := range n {
		g.Add(i)
	}
	if n > 0 {
		key := rapid.IntRange(0, n-1)
		for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
			g.Edge(key.Draw(t, "from"), key.Draw(t, "to"))
		}
	}
	return g
}

func TestSortedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		backwards := func(a, b int) bool { return a > b }
		got, err := g.Sorted(backwards)
		place := make(map[int]int)
		for i, k := range got {
			if _, twice := place[k]; twice {
				t.Fatalf("key %d comes twice", k)
			}
			place[k] = i
		}
		for _, k := range got {
			for _, p := range g.Before(k) {
				if at, ok := place[p]; !ok || at >= place[k] {
					t.Fatalf("%d comes before %d, which it waits for", k, p)
				}
			}
		}
		cycles := g.Cycles()
		if (err == nil) != (len(cycles) == 0) || (err == nil) != (len(got) == g.Len()) {
			t.Fatalf("%d of %d keys, %d cycles, error %v", len(got), g.Len(), len(cycles), err)
		}
		for _, c := range cycles {
			for _, k := range c {
				if _, ok := place[k]; ok {
					t.Fatalf("%d of a cycle was sorted", k)
				}
				if !reaches(g, k, k) {
					t.Fatalf("%d is not on a cycle", k)
				}
			}
		}
		again, _ := g.Sorted(backwards)
		if !slices.Equal(got, again) {
			t.Fatal("two sorts of one graph differ")
		}
	})
}

// reaches says whether a path of at least one edge leads from a to b.
func reaches(g *Graph[int], a, b int) bool {
	seen := make(map[int]bool)
	todo := g.After(a)
	for len(todo) > 0 {
		k := todo[0]
		todo = todo[1:]
		if k == b {
			return true
		}
		if !seen[k] {
			seen[k] = true
			todo = append(todo, g.After(k)...)
		}
	}
	return false
}

// A scheduler with any number of jobs at once, finishing in any order, does every
// key of a graph without cycles exactly once and never too early.
func TestReadySetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := new(Graph[int])
		n := rapid.IntRange(1, 30).Draw(t, "keys")
		for i := range n {
			g.Add(i)
		}
		for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if a != b {
				g.Edge(min(a, b), max(a, b))
			}
		}
		s := g.ReadySet(nil)
		workers := rapid.IntRange(1, 4).Draw(t, "workers")
		finished := make(map[int]bool)
		var running []int
		for len(finished) < n {
			for len(running) < workers {
				k, ok := s.Ready()
				if !ok {
					break
				}
				for _, p := range g.Before(k) {
					if !finished[p] {
						t.Fatalf("%d was ready before %d was done", k, p)
					}
				}
				running = append(running, k)
			}
			if len(running) == 0 {
				t.Fatalf("nothing to do with %d of %d done", len(finished), n)
			}
			i := rapid.IntRange(0, len(running)-1).Draw(t, "finishes")
			k := running[i]
			running = slices.Delete(running, i, i+1)
			if finished[k] {
				t.Fatalf("%d was done twice", k)
			}
			finished[k] = true
			s.Done(k)
		}
	})
}

func BenchmarkReadySet(b *testing.B) {
	g := new(Graph[int])
	const n = 100_000
	for i := range n {
		g.Add(i)
		if i > 10 {
			g.Edge(i-10, i)
			g.Edge(i/2, i)
		}
	}
	for b.Loop() {
		if _, err := g.Sorted(func(a, b int) bool { return a > b }); err != nil {
			b.Fatal(err)
		}
	}
}
