package linediff

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"all new", "", "a\nb\n", "+a\n+b\n"},
		{"one line changed", "a\nb\nc\n", "a\nx\nc\n", " a\n-b\n+x\n c\n"},
		{"far away lines are left out", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n", "@@\n 6\n 7\n 8\n-9\n+x\n"},
		{"two places", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "-a\n+A\n 1\n 2\n 3\n@@\n 5\n 6\n 7\n-b\n+B\n"},
		{"a newline at the end", "a", "a\n", "-a (no newline at the end)\n+a\n"},
		{"rest left out", "x\n1\n2\n3\n4\n", "y\n1\n2\n3\n4\n", "-x\n+y\n 1\n 2\n 3\n@@\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Unified(c.a, c.b); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// What is kept and taken away is a, what is kept and added is b, also for texts that are too long for the search.
func TestEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) (l []string) {
		for range n {
			l = append(l, string(rune('a'+r.IntN(4))))
		}
		return l
	}
	for i := range 200 {
		a, b := text(r.IntN(12)), text(r.IntN(12))
		if i == 0 {
			a, b = text(3000), text(3000)
		}
		var left, right []string
		for _, e := range edits(a, b) {
			if e.kind != '+' {
				left = append(left, e.line)
			}
			if e.kind != '-' {
				right = append(right, e.line)
			}
		}
		if strings.Join(left, "") != strings.Join(a, "") || strings.Join(right, "") != strings.Join(b, "") {
			t.Fatalf("%v and %v became %v and %v", a, b, left, right)
		}
	}
}
