//go:build !amd64

package fastzstd

const portable = true

func findSequences(*search) { panic("not on this machine") }

func putGroups(*[256]uint64, *stream, *stream, int) { panic("not on this machine") }

func putSequences(*blockWriter, *stream, *sequence, *[4]uint8, *[3]uint64, int) {
	panic("not on this machine")
}
