package fastzstd

import "math/bits"

// The finite state entropy coding of the format: RFC 8878, sections 4.1 and 3.1.1.3.2.

const (
	maxTableLog = 9
	maxSymbols  = 64 // a power of two above the sizes of the alphabets
)

// fseTable codes the symbols of one of the three alphabets.
type fseTable struct {
	log    uint8
	states [1 << maxTableLog]uint16 // by rank, see change
	change [maxSymbols]symbolChange
	counts []int16  // normalized: they add up to 1<<log; -1 is less than one
	place  []uint8  // while states is built: the symbol of each state
	next   []uint16 // and the rank of each symbol's next state
}

// symbolChange is what coding a symbol does to the state.
type symbolChange struct {
	bits uint32 // what, added to a state, has the number of bits to write in its high half
	rank int32  // what, added to the state without these bits, is the place of the next one in states
}

// setCounts makes the table of symbols 0 to len(counts)-1.
func (t *fseTable) setCounts(counts []int16, log uint8) {
	t.log, t.counts = log, append(t.counts[:0], counts...)
	size := 1 << log
	t.place, t.next = grown(t.place, size), grown(t.next, len(counts)+1)

	// Spread the symbols over the states.
	high := size - 1
	t.next[0] = 0
	for s, n := range counts {
		t.next[s+1] = t.next[s]
		switch {
		case n == -1:
			t.next[s+1]++
			t.place[high] = uint8(s)
			high--
		case n > 0:
			t.next[s+1] += uint16(n)
		}
	}
	pos, step := 0, size>>1+size>>3+3
	for s, n := range counts {
		for range int(n) { // not for -1
			t.place[pos] = uint8(s)
			for pos = (pos + step) & (size - 1); pos > high; pos = (pos + step) & (size - 1) {
			}
		}
	}
	// The states of a symbol, in ascending order, are those it can be coded to.
	for i, s := range t.place {
		t.states[t.next[s]] = uint16(size + i)
		t.next[s]++
	}
	total := int32(0)
	for s, n := range counts {
		switch n {
		case 0:
			t.change[s] = symbolChange{bits: uint32(log+1)<<16 - uint32(size)}
		case -1, 1:
			t.change[s] = symbolChange{bits: uint32(log)<<16 - uint32(size), rank: total - 1}
			total++
		default:
			most := uint32(log) - uint32(bits.Len32(uint32(n-1))-1)
			t.change[s] = symbolChange{bits: most<<16 - uint32(n)<<most, rank: total - int32(n)}
			total += int32(n)
		}
	}
}

// setSingle makes a table that writes no bits, for an alphabet of which one symbol occurs.
func (t *fseTable) setSingle() {
	t.log = 0
	t.states[0] = 0
	t.change = [maxSymbols]symbolChange{}
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// begin returns the state in which coding begins (with the last symbol).
func (t *fseTable) begin(symbol uint8) uint64 {
	c := t.change[symbol]
	n := (c.bits + 1<<15) >> 16
	v := n<<16 - c.bits
	return uint64(t.states[int32(v>>n)+c.rank])
}

// normalize makes counts of symbols, whose sum is total, into ones that add up to 1<<log, and
// returns them and the log, which is at most maxLog. There are two symbols or more, and log is large enough for them.
func normalize(out []int16, counts []uint32, total uint32, maxLog uint8) ([]int16, uint8) {
	used := 0
	for _, n := range counts {
		if n > 0 {
			used++
		}
	}
	// as fine as the data are many, but room for all symbols
	log := min(int(maxLog), bits.Len32(total-1)-2)
	log = max(log, 5, bits.Len32(uint32(len(counts)-1))+1)
	log = min(log, int(maxLog))
	size := 1 << log

	out = grown(out, len(counts))
	left := size
	largest := 0
	for s, n := range counts {
		out[s] = 0
		if n == 0 {
			continue
		}
		share := int((uint64(n)<<log + uint64(total)/2) / uint64(total))
		switch {
		case share < 1 && uint64(n)<<log*2 < uint64(total):
			out[s] = -1
			share = 1
		case share < 1:
			out[s] = 1
			share = 1
		default:
			out[s] = int16(share)
		}
		left -= share
		if counts[s] > counts[largest] {
			largest = s
		}
	}
	// What is left over or missing goes to the commonest; if that is too much for it, to all in turn.
	for left < 0 {
		if int(out[largest])+left > int(out[largest])/2 {
			break
		}
		taken := false
		for s := range out {
			if left < 0 && out[s] > 1 {
				out[s]--
				left++
				taken = true
			}
		}
		if !taken {
			break
		}
	}
	out[largest] += int16(left)
	return out, uint8(log)
}

// appendCounts appends the description of the table (RFC 8878, section 4.1.1).
func (t *fseTable) appendCounts(b []byte) []byte {
	size := 1 << t.log
	var acc uint64
	var n uint
	put := func(v uint64, width uint) {
		acc |= v << n
		for n += width; n >= 8; n -= 8 {
			b = append(b, byte(acc))
			acc >>= 8
		}
	}
	put(uint64(t.log-5), 4)
	remaining, threshold, width := size+1, size, uint(t.log)+1
	zero := false
	for s := 0; s < len(t.counts) && remaining > 1; {
		if zero { // runs of symbols that do not occur
			run := s
			for s < len(t.counts) && t.counts[s] == 0 {
				s++
			}
			if s == len(t.counts) {
				break
			}
			for run += 3; run <= s; run += 3 {
				put(3, 2)
			}
			put(uint64(s-(run-3)), 2)
			zero = false
			continue
		}
		c := int(t.counts[s])
		s++
		spare := 2*threshold - 1 - remaining
		if c < 0 {
			remaining += c
		} else {
			remaining -= c
		}
		v := c + 1
		if v >= threshold {
			v += spare
		}
		w := width
		if v < spare {
			w--
		}
		put(uint64(v), w)
		zero = c == 0
		for remaining < threshold {
			width--
			threshold >>= 1
		}
	}
	if n > 0 {
		b = append(b, byte(acc))
	}
	return b
}

// cost is how many bits, about, symbols with these counts take; ok is false if the table lacks one of them.
func (t *fseTable) cost(counts []uint32) (bits uint64, ok bool) {
	if len(counts) > len(t.counts) {
		return 0, false
	}
	for s, n := range counts {
		switch c := t.counts[s]; {
		case n == 0:
		case c == 0:
			return 0, false
		default:
			bits += uint64(n) * uint64(uint32(t.log)<<8-fixedLog(uint32(max(c, 1))))
		}
	}
	return bits >> 8, true
}
