// Package spelling guesses what was meant by a word that is not known. In come the word and those that are known; out go
// the nearest of these, for a message.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// Near returns those of the known words that differ from the word in at most so many letters, whatever their case, the nearest
// first, at most five.
func Near(word string, known []string, letters int) []string {
	type candidate struct {
		word string
		far  int
	}
	var near []candidate
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d <= letters {
			near = append(near, candidate{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, c := range near[:min(len(near), 5)] {
		out = append(out, c.word)
	}
	return out
}

// distance is how many letters must be added, removed or replaced to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diagonal
			if a[i] != b[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
