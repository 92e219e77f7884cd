package fastzstd

import (
	"math/bits"
	"unsafe"
)

const (
	windowLog  = 19
	windowSize = 1 << windowLog
	blockSize  = 128 << 10 // the largest that the format allows

	hashLog  = 14
	minMatch = 4 // of a match at a repeated distance; others are found by the hash of six bytes
	// tail is how many bytes at the end of a block are never begun a match at, so that eight bytes can be read there.
	tail = 12
)

// sequence is literals, then bytes that are a copy of earlier ones.
type sequence struct {
	literals uint32 // how many
	match    uint32 // length of the copy
	offset   uint32 // 1 to 3: a repeated distance, as the format counts them; else the distance plus 3
}

// matcher finds repetitions in a buffer that slides over the stream.
type matcher struct {
	// table holds, for the hash of some bytes, the position where they were seen last: an index of
	// the buffer plus base.
	table [1 << hashLog]uint32
	base  uint32 // at least 1, so that 0 is no position

	repeated [2]uint32 // the distances used last; the third is never used
	seqs     []sequence
	literals []byte // of all sequences of the block, and those after the last
}

func (m *matcher) reset() {
	m.table = [1 << hashLog]uint32{}
	m.base = 1
	m.repeated = [2]uint32{1, 4} // as the format begins
}

// slide says that the buffer's first n bytes are gone.
func (m *matcher) slide(n int) {
	m.base += uint32(n)
	if m.base > 1<<31 {
		m.table = [1 << hashLog]uint32{}
		m.base = 1
	}
}

func load32(p unsafe.Pointer, i int) uint32 { return *(*uint32)(unsafe.Add(p, i)) }
func load64(p unsafe.Pointer, i int) uint64 { return *(*uint64)(unsafe.Add(p, i)) }

// hash hashes the low six bytes.
func hash(v uint64) uint64 { return ((v << 16) * 0xcf1bbcdcbfa563) >> (64 - hashLog) }

// find divides buf[start:end], a block, into sequences; buf[:start] are the bytes before it, at most
// windowSize of which are copied from.
func (m *matcher) find(buf []byte, start, end int) {
	m.seqs = m.seqs[:0]
	if cap(m.literals) < end-start+32 {
		m.literals = make([]byte, 0, blockSize+32)
	}
	lits := m.literals[:cap(m.literals)]
	nlits := 0
	p := unsafe.Pointer(unsafe.SliceData(buf))
	base := m.base
	anchor := start
	last := end - tail // the last place where a match may begin, with eight readable bytes behind its copy
	rep1, rep2 := int(m.repeated[0]), int(m.repeated[1])
	// A repeated distance that reaches before the buffer, or further than the window, is left alone in this block.
	kept1, kept2 := rep1, rep2
	if rep1 > start {
		rep1 = 0
	}
	if rep2 > start {
		rep2 = 0
	}

	ip := start
	if ip == 0 {
		ip = 1
	}
	for ip < last {
		step := 2
		next := ip + 128
		var at, match, length int
		v := load64(p, ip)
		h := hash(v)
		for {
			// Three places: a copy at the distance used last one byte on, then whatever has the same hash at the two places.
			candidate := int(m.table[h] - base)
			m.table[h] = uint32(ip) + base
			v1 := load64(p, ip+1)
			h1 := hash(v1)
			if rep1 > 0 && uint32(v>>16) == load32(p, ip+2-rep1) {
				at, match = ip+2, ip+2-rep1
				m.table[h1] = uint32(ip+1) + base
				if load32(p, at-1)&0xff == load32(p, match-1)&0xff && at-1 > anchor && match > 0 {
					at--
					match--
				}
				length = -1
				break
			}
			if uint(candidate) < uint(ip) && uint32(v) == load32(p, candidate) && ip-candidate < windowSize {
				at, match = ip, candidate
				m.table[h1] = uint32(ip+1) + base
				break
			}
			candidate = int(m.table[h1] - base)
			m.table[h1] = uint32(ip+1) + base
			if uint(candidate) < uint(ip+1) && uint32(v1) == load32(p, candidate) && ip+1-candidate < windowSize {
				at, match = ip+1, candidate
				break
			}
			if ip >= next {
				step++
				next += 128
			}
			ip += step
			if ip >= last {
				goto done
			}
			v = load64(p, ip)
			h = hash(v)
		}
		offset := uint32(1)
		if length == 0 {
			kept2, kept1 = kept1, at-match
			rep2, rep1 = rep1, at-match
			offset = uint32(at-match) + 3
			for at > anchor && match > 0 && *(*byte)(unsafe.Add(p, at-1)) == *(*byte)(unsafe.Add(p, match-1)) {
				at--
				match--
			}
		}
		length = extend(p, at+minMatch, match+minMatch, end) + minMatch
		n := at - anchor
		if n <= 16 { // whatever follows is overwritten
			*(*[16]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(lits)), nlits)) = *(*[16]byte)(unsafe.Add(p, anchor))
		} else {
			copy(lits[nlits:], buf[anchor:at])
		}
		nlits += n
		m.seqs = append(m.seqs, sequence{uint32(n), uint32(length), offset})
		ip = at + length
		anchor = ip
		if ip >= last {
			break
		}
		m.table[hash(load64(p, at+2))] = uint32(at+2) + base
		m.table[hash(load64(p, ip-2))] = uint32(ip-2) + base
		// With no literals between, the first repeated distance of the format is the one before the last.
		for rep2 > 0 && ip < last && load32(p, ip) == load32(p, ip-rep2) {
			length = extend(p, ip+minMatch, ip+minMatch-rep2, end) + minMatch
			rep1, rep2 = rep2, rep1
			kept1, kept2 = kept2, kept1
			m.table[hash(load64(p, ip))] = uint32(ip) + base
			m.seqs = append(m.seqs, sequence{0, uint32(length), 1})
			ip += length
			anchor = ip
		}
	}
done:
	m.repeated = [2]uint32{uint32(kept1), uint32(kept2)}
	nlits += copy(lits[nlits:], buf[anchor:end])
	m.literals = lits[:nlits]
}

// extend returns how many bytes from a on, up to end, are the same as from b on.
func extend(p unsafe.Pointer, a, b, end int) int {
	begin := a
	for a+8 <= end {
		if x := load64(p, a) ^ load64(p, b); x != 0 {
			return a - begin + bits.TrailingZeros64(x)>>3
		}
		a += 8
		b += 8
	}
	for a < end && *(*byte)(unsafe.Add(p, a)) == *(*byte)(unsafe.Add(p, b)) {
		a++
		b++
	}
	return a - begin
}
