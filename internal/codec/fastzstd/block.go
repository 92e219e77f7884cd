package fastzstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/huff0"
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
)

// alphabet is one of the three kinds of codes of sequences.
type alphabet struct {
	maxLog uint8
	codes  []uint8 // of the block's sequences
	counts [64]uint32
	table  fseTable
	norm   []int16
	single bool // there is one code only: no bits are written for it
}

// blockWriter turns sequences into blocks.
type blockWriter struct {
	huffman      huff0.Scratch
	lengths      alphabet // of literals
	offsets      alphabet
	matches      alphabet
	literalCodes [64]uint8
	matchCodes   [128]uint8
	out          []byte
}

func (b *blockWriter) init() {
	b.huffman.Reuse = huff0.ReusePolicyNone
	b.lengths.maxLog, b.offsets.maxLog, b.matches.maxLog = 9, 8, 9
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
	literalBits = widths(literalBase[:36])
	matchBits   = widths(matchBase[:53])
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
	if !b.addLiterals(literals) {
		return nil
	}
	b.addSequences(seqs)
	if len(b.out) >= limit {
		return nil
	}
	return b.out
}

// forget says that the reader has not seen the last block, so nothing of it can be used again.
func (b *blockWriter) forget() { b.huffman.Reuse = huff0.ReusePolicyNone }

func (b *blockWriter) addLiterals(lits []byte) bool {
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
		return true
	}
	var packed []byte
	var reused bool
	var err error
	single := len(lits) < 1024
	if single {
		packed, reused, err = huff0.Compress1X(lits, &b.huffman)
	} else {
		packed, reused, err = huff0.Compress4X(lits, &b.huffman)
	}
	switch err {
	case nil:
	case huff0.ErrUseRLE:
		raw(literalsRLE)
		b.out = append(b.out, lits[0])
		return true
	case huff0.ErrIncompressible:
		raw(literalsRaw)
		b.out = append(b.out, lits...)
		return true
	default:
		return false // the block is stored as it is
	}
	b.huffman.Reuse = huff0.ReusePolicyAllow
	kind := uint64(literalsCompressed)
	if reused {
		kind = literalsTreeless
	}
	n, c := uint64(len(lits)), uint64(len(packed))
	switch {
	case single && c < 1024:
		v := kind | 0<<2 | n<<4 | c<<14
		b.out = append(b.out, byte(v), byte(v>>8), byte(v>>16))
	case single:
		return false
	case n < 16384 && c < 16384:
		b.out = binary.LittleEndian.AppendUint32(b.out, uint32(kind|2<<2|n<<4|c<<18))
	default:
		v := kind | 3<<2 | n<<4 | c<<22
		b.out = append(b.out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32))
	}
	b.out = append(b.out, packed...)
	return true
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
	b.lengths.begin(len(seqs))
	b.offsets.begin(len(seqs))
	b.matches.begin(len(seqs))
	for i := range seqs {
		s := &seqs[i]
		l, o, m := b.literalCode(s.literals), uint8(bits.Len32(s.offset))-1, b.matchCode(s.match)
		b.lengths.codes[i], b.offsets.codes[i], b.matches.codes[i] = l, o, m
		b.lengths.counts[l]++
		b.offsets.counts[o]++
		b.matches.counts[m]++
	}
	modes := len(b.out)
	b.out = append(b.out, 0)
	l := b.lengths.describe(b)
	o := b.offsets.describe(b)
	m := b.matches.describe(b)
	b.out[modes] = l<<6 | o<<4 | m<<2
	b.addBits(seqs)
}

func (a *alphabet) begin(n int) {
	if cap(a.codes) < n {
		a.codes = make([]uint8, n, max(n, blockSize/minMatch+1))
	}
	a.codes = a.codes[:n]
	a.counts = [64]uint32{}
}

// describe makes the table for the codes counted, appends what a reader must know of it, and returns its mode.
func (a *alphabet) describe(b *blockWriter) byte {
	n := len(a.counts)
	for a.counts[n-1] == 0 {
		n--
	}
	total := uint32(len(a.codes))
	if a.single = a.counts[n-1] == total; a.single {
		a.table.setSingle()
		b.out = append(b.out, byte(n-1))
		return modeRLE
	}
	var log uint8
	a.norm, log = normalize(a.norm, a.counts[:n], total, a.maxLog)
	a.table.setCounts(a.norm, log)
	b.out = a.table.appendCounts(b.out)
	return modeCompressed
}

// addBits appends the codes and their further bits, the last sequence first, since the reader begins at the end.
func (b *blockWriter) addBits(seqs []sequence) {
	start := len(b.out)
	need := len(seqs)*10 + 32
	if cap(b.out)-start < need {
		b.out = append(make([]byte, 0, start+need+blockSize), b.out...)
	}
	w := bitWriter{out: b.out[:cap(b.out)], pos: start}
	lt, ot, mt := &b.lengths.table, &b.offsets.table, &b.matches.table
	ls, os, ms := b.lengths.first(len(seqs)-1), b.offsets.first(len(seqs)-1), b.matches.first(len(seqs)-1)
	lengths, offsets, matches := b.lengths.codes[:len(seqs)], b.offsets.codes[:len(seqs)], b.matches.codes[:len(seqs)]
	for i := len(seqs) - 1; ; {
		s := &seqs[i]
		l, o, m := lengths[i]%maxSymbols, offsets[i]%32, matches[i]%maxSymbols
		w.add(s.literals-literalBase[l], literalBits[l])
		w.add(s.match-matchBase[m], matchBits[m])
		w.flush()
		w.add(s.offset&(1<<o-1), o)
		if i--; i < 0 {
			break
		}
		l, o, m = lengths[i], offsets[i], matches[i]
		os = ot.code(&w, o, os)
		ms = mt.code(&w, m, ms)
		ls = lt.code(&w, l, ls)
		w.flush()
	}
	w.flush()
	w.add(ms&(1<<mt.log-1), mt.log)
	w.add(os&(1<<ot.log-1), ot.log)
	w.add(ls&(1<<lt.log-1), lt.log)
	w.add(1, 1) // the end mark
	w.flush()
	if w.n > 0 {
		w.pos++
	}
	b.out = w.out[:w.pos]
}

// first is the state in which coding begins, with the last code.
func (a *alphabet) first(last int) uint32 {
	if a.single {
		return 0
	}
	return a.table.begin(a.codes[last])
}

// bitWriter writes bits, the lowest of each byte first.
type bitWriter struct {
	out []byte // with eight bytes more than will be needed
	pos int
	acc uint64
	n   uint8 // bits in acc
}

func (w *bitWriter) add(v uint32, n uint8) {
	w.acc |= uint64(v) << (w.n & 63)
	w.n += n
}

// flush makes room for at least 57 bits.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.out[w.pos:], w.acc)
	w.pos += int(w.n >> 3)
	w.acc >>= w.n & 56
	w.n &= 7
}

// code writes a symbol's bits and returns the next state.
func (t *fseTable) code(w *bitWriter, symbol uint8, state uint32) uint32 {
	c := &t.change[symbol%maxSymbols]
	n := (state + c.bits) >> 16
	w.add(state&(1<<(n&31)-1), uint8(n))
	return uint32(t.states[(int32(state>>(n&31))+c.rank)&(1<<maxTableLog-1)])
}
