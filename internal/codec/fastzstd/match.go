package fastzstd

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	windowLog  = 21        // no distance is larger, since the buffer holds no more
	windowSize = 1 << 19   // at least as much as this of the stream is kept to copy from
	blockSize  = 128 << 10 // the largest that the format allows

	// first is the first position in the buffer, so that eight bytes before any can be read.
	first = 16
	// hashLog makes a table of 32 KB, for the processor's first cache. A larger one finds more short copies from far away, which
	// take as much room as the bytes themselves: events are 1.3 % smaller with 13 than with 14, C sources 3 % larger.
	hashLog    = 13
	multiplier = 0x9e3779b185eb0000 // hashes six bytes: the low half of the product has nothing of the two highest
	minMatch   = 4                  // of a copy that is found, though the hash is of more
	searchStep = 128                // after so many bytes without a match the steps grow by one
	// tail is how many bytes at the end of a block are never begun a match at, so that eight bytes can be read there.
	tail = 12
)

// sequence is literals, then bytes that are a copy of earlier ones.
type sequence struct {
	literals uint32 // how many
	match    uint32 // length of the copy
	offset   uint32 // 1 to 3: a repeated distance, as the format counts them; else the distance plus 3
}

// matcher finds repetitions in a buffer that slides over the stream. Positions are indexes of the buffer.
type matcher struct {
	// table holds, for the hash of some bytes, the position where they were seen last, or first. That one is a guess like any
	// other: nobody knows whether a position of the table is of the same bytes until he has looked.
	table [1 << hashLog]uint32

	repeated [2]uint32 // the distances used last; the third is never used
	seqs     []sequence
	literals []byte // of all sequences of the block, and those after the last
}

// literalsSlack is how many bytes behind the literals may be overwritten.
const literalsSlack = 64

func (m *matcher) reset() {
	for i := range m.table {
		m.table[i] = first
	}
	m.repeated = [2]uint32{1, 4} // as the format begins
	if m.literals == nil {
		m.literals = make([]byte, blockSize+literalsSlack)
		m.seqs = make([]sequence, blockSize/minMatch+1)
	}
}

// slide says that the buffer's first n bytes are gone.
func (m *matcher) slide(n int) {
	for i, p := range m.table {
		m.table[i] = uint32(max(int(p)-n, first))
	}
}

func load32(p unsafe.Pointer, i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, i))[:])
}

func load64(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}

func copy32(to, from unsafe.Pointer, i int) {
	*(*[32]byte)(unsafe.Add(to, i)) = *(*[32]byte)(unsafe.Add(from, i))
}

func hash(v uint64) uint64 { return (v * multiplier) >> (64 - hashLog) }

// search is what find hands to findSequences and gets back.
type search struct {
	buf, table unsafe.Pointer
	lits, seqs unsafe.Pointer // where the next ones go
	start      int            // of the block; then of the bytes after the last match
	last       int            // no match begins there or further on
	end        int            // of the block
	rep1, rep2 int            // distances
}

// find divides buf[start:end], a block, into sequences; buf[first:start] are the bytes before it. Behind end 64 bytes
// can be read.
func (m *matcher) find(buf []byte, start, end int) {
	// A repeated distance that reaches before the buffer is left alone in a block, which takes more care.
	if int(max(m.repeated[0], m.repeated[1])) > max(start-first, 4) || portable {
		m.findPortable(buf, start, end)
		return
	}
	lits, seqs := unsafe.SliceData(m.literals), unsafe.SliceData(m.seqs)
	s := search{
		buf: unsafe.Pointer(unsafe.SliceData(buf)), table: unsafe.Pointer(&m.table), lits: unsafe.Pointer(lits), seqs: unsafe.Pointer(seqs),
		start: start, last: end - tail, end: end, rep1: int(m.repeated[0]), rep2: int(m.repeated[1]),
	}
	findSequences(&s)
	m.repeated = [2]uint32{uint32(s.rep1), uint32(s.rep2)}
	m.seqs = m.seqs[:(uintptr(s.seqs)-uintptr(unsafe.Pointer(seqs)))/unsafe.Sizeof(sequence{})]
	m.finish(int(uintptr(s.lits)-uintptr(unsafe.Pointer(lits))), buf[s.start:end])
}

// finish appends the last literals to the first n.
func (m *matcher) finish(n int, last []byte) {
	lits := m.literals[:cap(m.literals)]
	m.literals = lits[:n+copy(lits[n:], last)]
}

// findPortable is find without findSequences, with the same result.
func (m *matcher) findPortable(buf []byte, start, end int) {
	p := unsafe.Pointer(unsafe.SliceData(buf))
	t := &m.table
	lits := unsafe.Pointer(unsafe.SliceData(m.literals))
	nlits := 0
	seqs := m.seqs[:0]
	anchor := start
	last := end - tail
	ip := max(start, first+4) // the distances with which a stream begins lie within the buffer
	// rep1 and rep2 are distances to look at, kept1 and kept2 those that the reader has.
	kept1, kept2 := int(m.repeated[0]), int(m.repeated[1])
	rep1, rep2 := kept1, kept2
	if rep1 > ip-first {
		rep1 = 1
	}
	if rep2 > ip-first {
		rep2 = 1
	}
	for ip < last {
		step := 2
		limit := min(ip+searchStep, last)
		var at, match int
		for {
			// Three places: a copy at the distance used last two bytes on, then whatever has the same hash here and one byte on.
			v, v1 := load64(p, ip), load64(p, ip+1)
			h, h1 := hash(v), hash(v1)
			c := int(t[h])
			t[h] = uint32(ip)
			c1 := int(t[h1])
			t[h1] = uint32(ip + 1)
			if uint32(v>>16) == load32(p, ip+2-rep1) {
				at, match = ip+2, ip+2-rep1
				break
			}
			if uint32(v) == load32(p, c) {
				at, match = ip, c
				break
			}
			if uint32(v1) == load32(p, c1) {
				at, match = ip+1, c1
				break
			}
			ip += step
			if ip >= limit {
				if ip >= last {
					goto done
				}
				step++
				limit = min(ip+searchStep, last)
			}
		}
		// The search ends with a jump that the processor did not foresee. What follows has few of them: how far the match goes in
		// both directions is computed, not tried.
		ip = extend(p, at+minMatch, match+minMatch, end)
		n := bits.LeadingZeros64(load64(p, at-8)^load64(p, match-8)) >> 3
		n = min(n, at-anchor, match-first)
		at -= n
		match -= n
		if n == 8 {
			for at > anchor && match > first && *(*byte)(unsafe.Add(p, at-1)) == *(*byte)(unsafe.Add(p, match-1)) {
				at--
				match--
			}
		}
		n = at - anchor
		for i := 0; i == 0 || i < n; i += 32 {
			copy32(unsafe.Add(lits, nlits), unsafe.Add(p, anchor), i)
		}
		nlits += n
		// With no literals between, the first repeated distance of the format is the one before the last.
		offset, distance := uint32(1), at-match
		if distance != kept1 || n == 0 {
			kept2, kept1 = kept1, distance
			rep2, rep1 = rep1, distance
			offset = uint32(distance) + 3
		}
		seqs = append(seqs, sequence{uint32(n), uint32(ip - at), offset})
		anchor = ip
		if ip >= last {
			break
		}
		t[hash(load64(p, at+2))] = uint32(at + 2)
		t[hash(load64(p, ip-2))] = uint32(ip - 2)
		for ip < last && load32(p, ip) == load32(p, ip-rep2) && rep2 == kept2 {
			at = ip
			t[hash(load64(p, at))] = uint32(at)
			ip = extend(p, at+minMatch, at+minMatch-rep2, end)
			rep1, rep2 = rep2, rep1
			kept1, kept2 = kept2, kept1
			seqs = append(seqs, sequence{0, uint32(ip - at), 1})
			anchor = ip
		}
	}
done:
	m.repeated = [2]uint32{uint32(kept1), uint32(kept2)}
	m.seqs = seqs
	m.finish(nlits, buf[anchor:end])
}

// extend returns where the bytes from a on, up to end, stop to be the same as those from b on.
func extend(p unsafe.Pointer, a, b, end int) int {
	for a < end {
		if x := load64(p, a) ^ load64(p, b); x != 0 {
			a += bits.TrailingZeros64(x) >> 3
			break
		}
		a += 8
		b += 8
	}
	return min(a, end)
}
