package fastzstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Types of blocks and of literals, and modes of the tables of sequences (RFC 8878, section 3.1.1).
const (
	blockRaw        = 0
	blockRLE        = 1
	blockCompressed = 2

	literalsRaw        = 0
	literalsRLE        = 1
	literalsCompressed = 2
	literalsTreeless   = 3

	modeRLE        = 1
	modeCompressed = 2
	modeRepeat     = 3
)

// alphabet is one of the three kinds of codes of sequences.
type alphabet struct {
	maxLog uint8
	counts [64]uint32
	table  fseTable
	norm   []int16
	known  bool // the reader has the table
	single bool // there is one code only: no bits are written for it
}

// blockWriter turns sequences into blocks.
type blockWriter struct {
	huffman      huffman
	lengths      alphabet // of literals
	offsets      alphabet
	matches      alphabet
	literalCodes [64]uint8
	matchCodes   [128]uint8
	literalBits  [64]uint8 // how many bits follow a code
	matchBits    [64]uint8
	codes        [][4]uint8 // of literals, offset and match of the block's sequences
	counts       [2][3][64]uint32
	out          []byte
}

func (b *blockWriter) init() {
	b.lengths.maxLog, b.offsets.maxLog, b.matches.maxLog = 9, 8, 9
	b.literalBits, b.matchBits = widths(literalBase[:36]), widths(matchBase[:53])
	b.codes = make([][4]uint8, blockSize/minMatch+1)
	for i := range b.literalCodes {
		b.literalCodes[i] = code(uint32(i), literalBase[:36])
	}
	for i := range b.matchCodes {
		b.matchCodes[i] = code(uint32(i)+3, matchBase[:53])
	}
}

// Codes stand for ranges of lengths: the first of each range (RFC 8878, section 3.1.1.3.2.1.1). How many further bits say which of
// the range it is, follows from its size.
var (
	literalBase = [maxSymbols]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512,
		1024, 2048, 4096, 8192, 16384, 32768, 65536}
	matchBase = [maxSymbols]uint32{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
		34, 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539}
)

func widths(base []uint32) (out [64]uint8) {
	for i := range base {
		if i+1 < len(base) {
			out[i] = uint8(bits.Len32(base[i+1]-base[i]) - 1)
		} else {
			out[i] = 16
		}
	}
	return out
}

func code(v uint32, base []uint32) uint8 {
	c := 0
	for c+1 < len(base) && base[c+1] <= v {
		c++
	}
	return uint8(c)
}

func (b *blockWriter) literalCode(n uint32) uint8 {
	if n < 64 {
		return b.literalCodes[n]
	}
	return uint8(bits.Len32(n)) - 1 + 19
}

func (b *blockWriter) matchCode(n uint32) uint8 {
	if n < 128+3 {
		return b.matchCodes[n-3]
	}
	return uint8(bits.Len32(n-3)) - 1 + 36
}

// compressed returns the contents of a compressed block with these sequences, nil if
// that is no smaller than limit bytes.
func (b *blockWriter) compressed(seqs []sequence, literals []byte, limit int) []byte {
	b.out = b.out[:0]
	b.addLiterals(literals)
	b.addSequences(seqs)
	if len(b.out) >= limit {
		return nil
	}
	return b.out
}

// forget says that the reader has not seen the last block, so nothing of it can be used again.
func (b *blockWriter) forget() {
	b.huffman.known, b.lengths.known, b.offsets.known, b.matches.known = false, false, false, false
}

func (b *blockWriter) addLiterals(lits []byte) {
	raw := func(kind uint32) {
		n := uint32(len(lits))
		switch {
		case n < 32:
			b.out = append(b.out, byte(kind|n<<3))
		case n < 4096:
			b.out = binary.LittleEndian.AppendUint16(b.out, uint16(kind|1<<2|n<<4))
		default:
			v := kind | 3<<2 | n<<4
			b.out = append(b.out, byte(v), byte(v>>8), byte(v>>16))
		}
	}
	if len(lits) < 64 {
		raw(literalsRaw)
		b.out = append(b.out, lits...)
		return
	}
	if most := b.huffman.count(lits); int(most) == len(lits) {
		raw(literalsRLE)
		b.out = append(b.out, lits[0])
		return
	}
	table, ok := b.huffman.prepare(lits)
	if !ok {
		raw(literalsRaw)
		b.out = append(b.out, lits...)
		return
	}
	kind := uint64(literalsCompressed)
	if table == nil {
		kind = literalsTreeless
	}
	// One stream is enough for few literals; for many there are four, so that they can be read side by side.
	start, head := len(b.out), 5
	single := len(lits) < 1024
	if single {
		head = 3
	} else if len(lits) < 16384 {
		head = 4
	}
	b.out = slices.Grow(b.out, head+len(table)+len(lits)*maxCodeBits/8+10+4*huffmanRoom)
	out := b.out[:cap(b.out)]
	at := start + head
	at += copy(out[at:], table)
	if single {
		at += b.huffman.put(out[at:], lits)
	} else {
		sizes := at
		at += 6
		part := (len(lits) + 3) / 4
		n0, n1 := b.huffman.putTwo(out[at:], lits[:part], lits[part:2*part])
		n2, n3 := b.huffman.putTwo(out[at+n0+n1:], lits[2*part:3*part], lits[3*part:])
		binary.LittleEndian.PutUint16(out[sizes:], uint16(n0))
		binary.LittleEndian.PutUint16(out[sizes+2:], uint16(n1))
		binary.LittleEndian.PutUint16(out[sizes+4:], uint16(n2))
		at += n0 + n1 + n2 + n3
	}
	n, c := uint64(len(lits)), uint64(at-start-head)
	switch head {
	case 3:
		v := kind | n<<4 | c<<14
		out[start], out[start+1], out[start+2] = byte(v), byte(v>>8), byte(v>>16)
	case 4:
		binary.LittleEndian.PutUint32(out[start:], uint32(kind|2<<2|n<<4|c<<18))
	default:
		v := kind | 3<<2 | n<<4 | c<<22
		binary.LittleEndian.PutUint32(out[start:], uint32(v))
		out[start+4] = byte(v >> 32)
	}
	b.out = out[:at]
}

func (b *blockWriter) addSequences(seqs []sequence) {
	switch n := len(seqs); {
	case n < 128:
		b.out = append(b.out, byte(n))
	case n < 0x7f00:
		b.out = append(b.out, byte(n>>8)+128, byte(n))
	default:
		b.out = append(b.out, 0xff, byte(n-0x7f00), byte((n-0x7f00)>>8))
	}
	if len(seqs) == 0 {
		return
	}
	b.counts = [2][3][64]uint32{}
	for i := range seqs {
		s := &seqs[i]
		l, o, m := b.literalCode(s.literals)%maxSymbols, uint8(bits.Len32(s.offset)-1)%maxSymbols, b.matchCode(s.match)%maxSymbols
		b.codes[i] = [4]uint8{l, o, m}
		counts := &b.counts[i&1] // two, since a count is often the same as that before, which is still on its way
		counts[0][l]++
		counts[1][o]++
		counts[2][m]++
	}
	b.lengths.counts, b.offsets.counts, b.matches.counts = b.counts[0][0], b.counts[0][1], b.counts[0][2]
	for i := range maxSymbols {
		b.lengths.counts[i] += b.counts[1][0][i]
		b.offsets.counts[i] += b.counts[1][1][i]
		b.matches.counts[i] += b.counts[1][2][i]
	}
	total := uint32(len(seqs))
	modes := len(b.out)
	b.out = append(b.out, 0)
	l := b.lengths.describe(b, total)
	o := b.offsets.describe(b, total)
	m := b.matches.describe(b, total)
	b.out[modes] = l<<6 | o<<4 | m<<2
	b.addBits(seqs)
}

// describe makes the table for the codes counted, appends what a reader must know of it, and returns its mode.
func (a *alphabet) describe(b *blockWriter, total uint32) byte {
	n := len(a.counts)
	for a.counts[n-1] == 0 {
		n--
	}
	if a.single = a.counts[n-1] == total; a.single {
		a.table.setSingle()
		a.known = false
		b.out = append(b.out, byte(n-1))
		return modeRLE
	}
	if a.known {
		least := entropy(a.counts[:n], total)
		if cost, ok := a.table.cost(a.counts[:n]); ok && cost <= least+least>>8+uint64(n)*4 {
			return modeRepeat
		}
	}
	var log uint8
	a.norm, log = normalize(a.norm, a.counts[:n], total, a.maxLog)
	a.table.setCounts(a.norm, log)
	a.known = true
	b.out = a.table.appendCounts(b.out)
	return modeCompressed
}

// addBits appends the codes and their further bits, the last sequence first, since the reader begins at the end.
func (b *blockWriter) addBits(seqs []sequence) {
	start := len(b.out)
	b.out = slices.Grow(b.out, len(seqs)*11+32)
	out := b.out[start:cap(b.out)]
	s := newStream(out, nil)
	last := len(seqs) - 1
	codes := &b.codes[last]
	states := [3]uint64{b.lengths.first(codes[0]), b.offsets.first(codes[1]), b.matches.first(codes[2])}
	b.putExtra(&s, &seqs[last], codes)
	if portable {
		b.putPortable(&s, seqs[:last], &states)
	} else {
		putSequences(b, &s, &seqs[0], &b.codes[0], &states, last)
	}
	s.add(states[2], uint64(b.matches.table.log))
	s.add(states[1], uint64(b.offsets.table.log))
	s.add(states[0], uint64(b.lengths.table.log))
	s.flush()
	s.end()
	b.out = b.out[:start+s.size(out)]
}

// putExtra writes the bits that say which of those with these codes a sequence is.
func (b *blockWriter) putExtra(s *stream, q *sequence, codes *[4]uint8) {
	s.add(uint64(q.literals), uint64(b.literalBits[codes[0]%maxSymbols]))
	s.flush()
	s.add(uint64(q.match-3), uint64(b.matchBits[codes[2]%maxSymbols]))
	s.add(uint64(q.offset), uint64(codes[1]))
	s.flush()
}

// putPortable does what putSequences does.
func (b *blockWriter) putPortable(s *stream, seqs []sequence, states *[3]uint64) {
	for i := len(seqs) - 1; i >= 0; i-- {
		codes := &b.codes[i]
		states[1] = b.offsets.table.code(s, codes[1], states[1])
		states[2] = b.matches.table.code(s, codes[2], states[2])
		states[0] = b.lengths.table.code(s, codes[0], states[0])
		b.putExtra(s, &seqs[i], codes)
	}
}

// first is the state in which coding begins, with the last code.
func (a *alphabet) first(last uint8) uint64 {
	if a.single {
		return 0
	}
	return a.table.begin(last)
}

// code writes a symbol's bits and returns the next state.
func (t *fseTable) code(s *stream, symbol uint8, state uint64) uint64 {
	c := &t.change[symbol%maxSymbols]
	n := (state + uint64(c.bits)) & (1<<32 - 1) >> 16
	s.add(state, n)
	return uint64(t.states[(int32(state>>(n&31))+c.rank)&(1<<maxTableLog-1)])
}
