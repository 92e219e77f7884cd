// Package linediff says in which lines two texts differ. In come two texts, such as two definitions of
// one function; out goes the way from the one to the other as people know it from diff -u.
package linediff

import (
	"strings"
)

// Context is how many equal lines are shown around a change.
const Context = 3

// maxCells bounds the time and memory of the search for the shortest way. Longer texts are shown as one
// change after the lines in which their beginnings and ends agree.
const maxCells = 4 << 20

// Unified returns the lines of a and b, with "-" before those that only a has, "+" before those that only b has and a
// space before equal ones, of which Context are kept around each change; "@@" stands for the others.
// Equal texts give "".
func Unified(a, b string) string {
	if a == b {
		return ""
	}
	var out strings.Builder
	ops := edits(lines(a), lines(b))
	shown := -1 // the last line that was written
	for i := range ops {
		if !near(ops, i) {
			continue
		}
		if i > shown+1 {
			out.WriteString("@@\n")
		}
		shown = i
		out.WriteByte(ops[i].kind)
		out.WriteString(ops[i].line)
		out.WriteByte('\n')
	}
	if shown < len(ops)-1 {
		out.WriteString("@@\n")
	}
	return out.String()
}

// near reports whether line i is changed or at most Context lines away from one that is.
func near(ops []edit, i int) bool {
	for k := max(0, i-Context); k <= min(len(ops)-1, i+Context); k++ {
		if ops[k].kind != ' ' {
			return true
		}
	}
	return false
}

// edit is one line of the result.
type edit struct {
	kind byte // ' ', '-' or '+'
	line string
}

// lines cuts a text into lines. A missing newline at the end is made visible, or two texts could look equal.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	l := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if !strings.HasSuffix(s, "\n") {
		l[len(l)-1] += " (no newline at the end)"
	}
	return l
}

// edits finds a shortest way from a to b: what both begin and end with is equal, between them
// stands a longest common subsequence.
func edits(a, b []string) []edit {
	var out []edit
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		out = append(out, edit{' ', a[n]})
		n++
	}
	a, b = a[n:], b[n:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	end := a[len(a)-tail:]
	out = append(out, between(a[:len(a)-tail], b[:len(b)-tail])...)
	for _, l := range end {
		out = append(out, edit{' ', l})
	}
	return out
}

func between(a, b []string) []edit {
	var out []edit
	width := len(b) + 1
	if (len(a)+1)*width > maxCells {
		for _, l := range a {
			out = append(out, edit{'-', l})
		}
		for _, l := range b {
			out = append(out, edit{'+', l})
		}
		return out
	}
	// common[i*width+j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			at := i*width + j
			if a[i] == b[j] {
				common[at] = common[at+width+1] + 1
			} else {
				common[at] = max(common[at+width], common[at+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	return out
}
