package fastzstd

// portable leaves the assembly alone. Both ways write the same bytes, which a test holds.
var portable = false

// findSequences does the work of find, where both repeated distances lie within the buffer.
//
//go:noescape
func findSequences(s *search)

// putGroups writes the codes of four times groups literals of both streams.
//
//go:noescape
func putGroups(codes *[256]uint64, a, b *stream, groups int)

// putSequences writes n sequences, from the last on, and leaves the states of lengths, offsets and matches in states.
//
//go:noescape
func putSequences(b *blockWriter, s *stream, seqs *sequence, codes *[4]uint8, states *[3]uint64, n int)
