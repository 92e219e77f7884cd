package fastzstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

const (
	maxCodeBits = 11 // of a literal's code (RFC 8878, section 4.2.1)
	// huffmanRoom is how many bytes further than its result a coder of literals may write.
	huffmanRoom = 16
)

// huffman codes literals: RFC 8878, section 4.2.
type huffman struct {
	known bool        // the reader has the table of codes
	codes [256]uint64 // the code in the highest bits, how many they are in the lowest

	counts  [4][256]uint32
	next    [256]uint64 // codes of a table that may be better
	weights [256]uint8
	sorted  []uint64
	fse     fseTable
	norm    []int16
	table   []byte // the description of next
}

// count counts lits into counts[0], and returns how often the commonest occurs.
func (h *huffman) count(lits []byte) uint32 {
	h.counts = [4][256]uint32{}
	c0, c1, c2, c3 := &h.counts[0], &h.counts[1], &h.counts[2], &h.counts[3]
	rest := lits
	for len(rest) >= 8 {
		v := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		c0[uint8(v)]++
		c1[uint8(v>>8)]++
		c2[uint8(v>>16)]++
		c3[uint8(v>>24)]++
		c0[uint8(v>>32)]++
		c1[uint8(v>>40)]++
		c2[uint8(v>>48)]++
		c3[uint8(v>>56)]++
	}
	for _, b := range rest {
		c0[b]++
	}
	most := uint32(0)
	for i := range c0 {
		c0[i] += c1[i] + c2[i] + c3[i]
		most = max(most, c0[i])
	}
	return most
}

// prepare chooses the codes for lits, which are counted. It returns the description of them that the reader needs, nil if it has it;
// ok is false if coding is no gain.
func (h *huffman) prepare(lits []byte) (table []byte, ok bool) {
	total := uint64(len(lits))
	enough := (total - total>>6) << 3 // bits, at most, so that it is worth the reader's time
	least := entropy(h.counts[0][:], uint32(total))
	if least >= enough {
		return nil, false
	}
	old, usable := uint64(0), false
	if h.known {
		// To make a table takes time, so the last one need not be the best.
		if old, usable = h.cost(&h.codes); usable && old <= least+least>>7+30*8 {
			return nil, old < enough
		}
	}
	if !h.build(uint32(total)) {
		return nil, false
	}
	fresh, _ := h.cost(&h.next)
	fresh += uint64(len(h.table)) << 3
	if usable && old <= fresh {
		return nil, old < enough
	}
	if fresh >= enough {
		return nil, false
	}
	h.codes, h.known = h.next, true
	return h.table, true
}

// cost is how many bits what is counted takes with these codes; ok is false if one is missing.
func (h *huffman) cost(codes *[256]uint64) (n uint64, ok bool) {
	ok = true
	for i, c := range h.counts[0] {
		width := codes[i] & 0xff
		n += uint64(c) * width
		ok = ok && (c == 0 || width != 0)
	}
	return n, ok
}

// build makes next and table for symbols of that total count, two of them or more. Where an optimal code has codes that are too
// wide, rare symbols are taken for commoner ones. It returns false if the weights cannot be described.
func (h *huffman) build(total uint32) bool {
	var widths [256]uint8
	for floor := uint32(0); ; floor = max(2*floor, total>>maxCodeBits, 2) {
		h.sorted = h.sorted[:0]
		for s, n := range h.counts[0] {
			if n > 0 {
				h.sorted = append(h.sorted, uint64(max(n, floor))<<8|uint64(s))
			}
		}
		slices.Sort(h.sorted)
		if treeWidths(h.sorted, &widths) <= maxCodeBits {
			break
		}
	}
	// Codes of the same width follow each other in the order of symbols, the longest ones first.
	var used [maxCodeBits + 2]uint32
	longest, last := uint8(0), 0
	for s, w := range widths {
		if w > 0 {
			used[w]++
			longest, last = max(longest, w), s
		}
	}
	var begin [maxCodeBits + 2]uint32
	for w, code := longest, uint32(0); w > 0; w-- {
		begin[w] = code
		code = (code + used[w]) >> 1
	}
	for s, w := range widths {
		h.next[s] = 0
		h.weights[s] = 0
		if w > 0 {
			h.next[s] = uint64(begin[w])<<(64-w) | uint64(w)
			begin[w]++
			h.weights[s] = longest + 1 - w
		}
	}
	return h.describe(h.weights[:last])
}

// treeWidths sets the widths of an optimal code for symbols in the low byte of each element, whose counts, above it, ascend, and
// returns the greatest.
func treeWidths(sorted []uint64, widths *[256]uint8) int {
	n := len(sorted)
	var weight [512]uint64
	var parent [512]uint16
	for i, s := range sorted {
		weight[i] = s >> 8
	}
	leaf, inner := 0, n
	for node := n; node < 2*n-1; node++ {
		for range 2 {
			var i int
			if leaf < n && (inner >= node || weight[leaf] <= weight[inner]) {
				i = leaf
				leaf++
			} else {
				i = inner
				inner++
			}
			weight[node] += weight[i]
			parent[i] = uint16(node)
		}
	}
	var depth [512]uint8
	greatest := 0
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
		if i < n {
			widths[uint8(sorted[i])] = depth[i]
			greatest = max(greatest, int(depth[i]))
		}
	}
	return greatest
}

// describe makes table of the weights of all symbols but the last (RFC 8878, section 4.2.1.1).
func (h *huffman) describe(weights []uint8) bool {
	h.table = append(h.table[:0], 0)
	var counts [maxCodeBits + 1]uint32
	most := uint32(0)
	for _, w := range weights {
		counts[w]++
		most = max(most, counts[w])
	}
	if len(weights) > 2 && most > 1 && int(most) < len(weights) {
		n := len(counts)
		for counts[n-1] == 0 {
			n--
		}
		var log uint8
		h.norm, log = normalize(h.norm, counts[:n], uint32(len(weights)), 6)
		h.fse.setCounts(h.norm, log)
		h.table = h.fse.appendCounts(h.table)
		// Two states take turns; the last weight is coded first.
		at := len(h.table)
		h.table = append(h.table, make([]byte, len(weights)+16)...)
		s := newStream(h.table[at:], nil)
		var states [2]uint64
		last := len(weights) - 1
		states[last&1] = h.fse.begin(weights[last])
		states[(last-1)&1] = h.fse.begin(weights[last-1])
		for i := last - 2; i >= 0; i-- {
			states[i&1] = h.fse.code(&s, weights[i], states[i&1])
			s.flush()
		}
		s.add(states[1], uint64(log))
		s.add(states[0], uint64(log))
		s.flush()
		s.end()
		h.table = h.table[:at+s.size(h.table[at:])]
		if size := len(h.table) - 1; size < 128 && (size < (len(weights)+1)/2 || len(weights) > 128) {
			h.table[0] = byte(size)
			return true
		}
	}
	if len(weights) > 128 {
		return false
	}
	h.table = append(h.table[:0], byte(127+len(weights)))
	for i := 0; i < len(weights); i += 2 {
		b := weights[i] << 4
		if i+1 < len(weights) {
			b |= weights[i+1]
		}
		h.table = append(h.table, b)
	}
	return true
}

// stream writes the codes of literals, the last literal first.
type stream struct {
	from unsafe.Pointer // behind the literals that are left
	to   unsafe.Pointer
	acc  uint64 // bits that are not written yet, the highest n
	n    uint64
}

// put writes the codes of the n last literals that are left, four at most.
func (s *stream) put(codes *[256]uint64, n int) {
	for range n {
		s.from = unsafe.Add(s.from, -1)
		e := codes[*(*uint8)(s.from)]
		s.acc = s.acc>>(e&63) | e // the width falls off the low end in time
		s.n += e & 0xff
	}
	s.flush()
}

// add adds the lowest n bits of v. After 54 bits, the n left by flush among them, there must be a flush.
func (s *stream) add(v, n uint64) {
	s.acc = s.acc>>(n&63) | bits.RotateLeft64(v, -int(n))
	s.n += n
}

// flush writes whole bytes and leaves up to seven bits.
func (s *stream) flush() {
	binary.LittleEndian.PutUint64((*[8]byte)(s.to)[:], s.acc>>(-s.n&63))
	s.to = unsafe.Add(s.to, s.n>>3)
	s.n &= 7
}

// end writes the end mark.
func (s *stream) end() {
	*(*uint8)(s.to) = uint8((s.acc>>1 | 1<<63) >> (63 - s.n))
	s.to = unsafe.Add(s.to, 1)
}

// put codes lits into out, which has room for the bits that they take and for huffmanRoom bytes more, and returns how many bytes
// they are.
func (h *huffman) put(out, lits []byte) int {
	s := newStream(out, lits)
	s.put(&h.codes, len(lits)&3)
	for range len(lits) >> 2 {
		s.put(&h.codes, 4)
	}
	s.end()
	return s.size(out)
}

func newStream(out, lits []byte) stream {
	p := unsafe.Pointer(unsafe.SliceData(lits))
	return stream{from: unsafe.Add(p, len(lits)), to: unsafe.Pointer(unsafe.SliceData(out))}
}

func (s *stream) size(out []byte) int {
	return int(uintptr(s.to) - uintptr(unsafe.Pointer(unsafe.SliceData(out))))
}

// putTwo does put for two parts of the literals, of which the first is as long as the other, or up to three longer. The second
// result begins where the other ends.
func (h *huffman) putTwo(out, a, b []byte) (int, int) {
	far := out[(len(a)*maxCodeBits+7)/8+huffmanRoom:]
	s, t := newStream(out, a), newStream(far, b)
	s.put(&h.codes, len(a)&3)
	t.put(&h.codes, len(b)&3)
	groups := len(b) >> 2
	if len(a)>>2 > groups {
		s.put(&h.codes, 4)
	}
	if portable {
		for range groups {
			s.put(&h.codes, 4)
			t.put(&h.codes, 4)
		}
	} else {
		putGroups(&h.codes, &s, &t, groups)
	}
	s.end()
	t.end()
	n := s.size(out)
	return n, copy(out[n:], far[:t.size(far)])
}

// fixedLog is the binary logarithm of v, above 0, in parts of 256, a little less than it is.
func fixedLog(v uint32) uint32 {
	n := uint32(bits.Len32(v)) - 1
	return n<<8 + uint32(logParts[uint8(uint64(v)<<32>>n>>24)])
}

// logParts has the logarithm of 1 + i/256.
var logParts = func() (out [256]uint8) {
	for i := range out {
		// squaring doubles the logarithm
		x := uint64(256+i) << 22
		for range 8 {
			x = (x * x) >> 30
			out[i] <<= 1
			if x >= 2<<30 {
				x >>= 1
				out[i] |= 1
			}
		}
	}
	return out
}()

// entropy is how many bits, at least, symbols with these counts take, which add up to total.
func entropy(counts []uint32, total uint32) uint64 {
	all := uint64(fixedLog(total))
	n := uint64(0)
	for _, c := range counts {
		if c > 0 {
			n += uint64(c) * (all - uint64(fixedLog(c)))
		}
	}
	return n >> 8
}
