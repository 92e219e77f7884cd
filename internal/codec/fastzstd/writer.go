package fastzstd

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"
)

const (
	bufferSize = 2 << 20
	slack      = 64 // bytes that may be read, but mean nothing, behind the data
)

// Writer compresses what is written to it. The zero value must be Reset first.
type Writer struct {
	w     io.Writer
	err   error
	begun bool // the frame's header is written

	buf   []byte // what may be copied from, then what is not compressed yet
	start int    // of the latter

	match matcher
	block blockWriter
	sum   xxhash.Digest
	head  [3]byte
}

// NewWriter returns a writer of one frame into w. Close must be called.
func NewWriter(w io.Writer) *Writer {
	z := new(Writer)
	z.Reset(w)
	return z
}

// Reset begins a new frame, into w.
func (z *Writer) Reset(w io.Writer) {
	if z.buf == nil {
		z.buf = make([]byte, 0, bufferSize+slack)[:first]
		z.block.init()
	}
	z.w, z.err, z.begun = w, nil, false
	z.buf, z.start = z.buf[:first], first
	z.match.reset()
	z.block.forget()
	z.sum.Reset()
}

// Write compresses p, whole blocks of it at once.
func (z *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && z.err == nil {
		part := p[:min(len(p), bufferSize-len(z.buf))]
		z.sum.Write(part)
		z.buf = append(z.buf, part...)
		p = p[len(part):]
		for len(z.buf)-z.start > blockSize && z.err == nil { // the last block is written by Close
			z.writeBlock(z.start+blockSize, false)
		}
		if len(z.buf) == bufferSize {
			z.slide()
		}
	}
	return n - len(p), z.err
}

// slide makes room at the end of the buffer.
func (z *Writer) slide() {
	gone := z.start - windowSize - first
	z.buf = z.buf[:first+copy(z.buf[first:], z.buf[first+gone:])]
	z.start -= gone
	z.match.slide(gone)
}

var errClosed = errors.New("compressed stream is closed")

// Close completes the frame. It does not close the underlying writer.
func (z *Writer) Close() error {
	if z.err == errClosed {
		return nil
	}
	if z.err == nil {
		z.writeBlock(len(z.buf), true)
	}
	if z.err == nil {
		_, z.err = z.w.Write(binary.LittleEndian.AppendUint32(nil, uint32(z.sum.Sum64())))
	}
	err := z.err
	z.err = errClosed
	return err
}

// writeBlock writes buf[start:end] as a block.
func (z *Writer) writeBlock(end int, last bool) {
	if !z.begun {
		z.begun = true
		// no size of the contents, a checksum, the window as an exponent
		if _, z.err = z.w.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 1 << 2, (windowLog - 10) << 3}); z.err != nil {
			return
		}
	}
	data := z.buf[z.start:end]
	kind, size, out := uint32(blockRaw), len(data), data
	if len(data) > 32 {
		before := z.match.repeated
		z.match.find(z.buf, z.start, end)
		if packed := z.block.compressed(z.match.seqs, z.match.literals, len(data)); packed != nil {
			kind, size, out = blockCompressed, len(packed), packed
		} else {
			z.match.repeated = before
			z.block.forget()
		}
	}
	z.start = end
	head := kind<<1 | uint32(size)<<3
	if last {
		head |= 1
	}
	z.head = [3]byte{byte(head), byte(head >> 8), byte(head >> 16)}
	if _, z.err = z.w.Write(z.head[:]); z.err == nil {
		_, z.err = z.w.Write(out)
	}
}
