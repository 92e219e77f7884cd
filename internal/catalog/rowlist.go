package catalog

import "iter"

// rowList keeps rows in the order they come, in chunks: none is moved when more come, and those that were seen can go.
// The zero value is empty.
type rowList[T any] struct{ chunks [][]T }

// add returns a new row at the end.
func (l *rowList[T]) add() *T {
	n := len(l.chunks)
	if n == 0 || len(l.chunks[n-1]) == cap(l.chunks[n-1]) {
		size := 16
		if n > 0 {
			size = min(2*cap(l.chunks[n-1]), 1024)
		}
		l.chunks = append(l.chunks, make([]T, 0, size))
		n++
	}
	last := &l.chunks[n-1]
	*last = (*last)[:len(*last)+1]
	return &(*last)[len(*last)-1]
}

func (l *rowList[T]) len() int {
	n := 0
	for _, c := range l.chunks {
		n += len(c)
	}
	return n
}

// all is each row.
func (l *rowList[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, c := range l.chunks {
			for i := range c {
				if !yield(&c[i]) {
					return
				}
			}
		}
	}
}

// drain is each row of the lists. A chunk is dropped when its rows were seen.
func drain[T any](lists []rowList[T]) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, l := range lists {
			for j, c := range l.chunks {
				for i := range c {
					if !yield(&c[i]) {
						return
					}
				}
				l.chunks[j] = nil
			}
		}
	}
}
