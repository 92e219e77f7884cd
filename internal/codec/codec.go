package codec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/pghaul/pghaul/internal/codec/fastzstd"
)

// maxWindow bounds the window a zstd frame may ask for, as libzstd's default does (ZSTD_WINDOWLOG_LIMIT_DEFAULT).
const maxWindow = 1 << 27

// NewWriter returns a writer that compresses into w as a file of its own: what
// `gzip`, `lz4` or `zstd` would write. Close ends the stream and must be called;
// it does not close w.
func NewWriter(w io.Writer, s Spec) (io.WriteCloser, error) { return newWriter(w, s, false) }

// NewBlockWriter is like NewWriter for a data block of a custom archive, where
// gzip means a bare zlib stream.
func NewBlockWriter(w io.Writer, s Spec) (io.WriteCloser, error) { return newWriter(w, s, true) }

// NewReader returns a reader of what NewWriter with method m wrote into r. A
// stream that ends before its end mark gives [io.ErrUnexpectedEOF], never io.EOF;
// but an empty file is empty data in LZ4 and zstd, as pg_dump writes it.
// Close gives the decoder back; it does not close r.
func NewReader(r io.Reader, m Method) (io.ReadCloser, error) { return newReader(r, m, false) }

// NewBlockReader is like NewReader for a data block of a custom archive.
func NewBlockReader(r io.Reader, m Method) (io.ReadCloser, error) { return newReader(r, m, true) }

// An encoder is what the compression libraries' writers have in common.
type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
}

type poolKey struct {
	method Method
	level  int
	long   bool
	block  bool
}

var (
	encoders sync.Map // poolKey -> *sync.Pool of encoder
	decoders sync.Map // poolKey with method and block only -> *sync.Pool
)

func pool(m *sync.Map, k poolKey) *sync.Pool {
	if p, ok := m.Load(k); ok {
		return p.(*sync.Pool)
	}
	p, _ := m.LoadOrStore(k, new(sync.Pool))
	return p.(*sync.Pool)
}

func newWriter(w io.Writer, s Spec, block bool) (io.WriteCloser, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Method == None {
		return nopWriter{w}, nil
	}
	k := poolKey{s.Method, s.Effective(), s.Long, block && s.Method == Gzip}
	p := pool(&encoders, k)
	e, _ := p.Get().(encoder)
	if e == nil {
		var err error
		if e, err = newEncoder(k); err != nil {
			return nil, fmt.Errorf("initialize %s compression: %w", s.Method, err)
		}
	}
	e.Reset(w)
	return &writer{e: e, pool: p}, nil
}

func newEncoder(k poolKey) (encoder, error) {
	switch k.method {
	case Gzip:
		if k.block {
			return zlib.NewWriterLevel(nil, k.level)
		}
		return gzip.NewWriterLevel(nil, k.level)
	case LZ4:
		e := lz4.NewWriter(nil)
		err := e.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false),
			lz4.ConcurrencyOption(1), lz4.CompressionLevelOption(lz4Level(k.level)))
		return e, err
	default:
		if k.level <= 1 && !k.long {
			return new(fastzstd.Writer), nil
		}
		opts := []zstd.EOption{
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstdLevel(k.level)),
			zstd.WithZeroFrames(true), // empty data are a frame, too
		}
		if k.long {
			opts = append(opts, zstd.WithWindowSize(maxWindow))
		}
		return zstd.NewWriter(nil, opts...)
	}
}

// lz4Level maps a level of liblz4, where 0 to 2 are the fast mode, to the library's.
func lz4Level(l int) lz4.CompressionLevel {
	if l < 3 {
		return lz4.Fast
	}
	return lz4.CompressionLevel(1 << (8 + min(l, 9)))
}

// zstdLevel maps a level of libzstd to the nearest of the library's four; negative levels are the fastest.
func zstdLevel(l int) zstd.EncoderLevel {
	if l < 1 {
		return zstd.SpeedFastest
	}
	return zstd.EncoderLevelFromZstd(l)
}

type writer struct {
	e    encoder
	pool *sync.Pool
	err  error
}

func (w *writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.e.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

var errClosed = errors.New("compressed stream is closed")

func (w *writer) Close() error {
	if w.e == nil {
		return nil
	}
	e, failed := w.e, w.err
	w.e, w.err = nil, errClosed
	if failed != nil {
		return failed // an encoder that failed is not used again
	}
	if err := e.Close(); err != nil {
		return err
	}
	e.Reset(io.Discard) // hold no reference to the caller's writer
	w.pool.Put(e)
	return nil
}

type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }

func newReader(r io.Reader, m Method, block bool) (io.ReadCloser, error) {
	if !m.Valid() {
		return nil, fmt.Errorf("unknown compression algorithm %d", m)
	}
	if m == None {
		return io.NopCloser(r), nil
	}
	if _, ok := r.(io.ByteReader); !ok && m == Gzip {
		r = bufio.NewReaderSize(r, 64<<10) // inflate reads byte by byte
	}
	k := poolKey{method: m, block: block && m == Gzip}
	p := pool(&decoders, k)
	d := &reader{pool: p, method: m}
	d.engine = p.Get()
	if err := d.start(r, block); err != nil {
		return nil, fmt.Errorf("read %s data: %w", m, noEOF(err))
	}
	return d, nil
}

type reader struct {
	r      io.Reader // the engine, as a reader
	engine any
	pool   *sync.Pool
	method Method
	err    error
}

// start points a pooled or a new engine at r.
func (d *reader) start(r io.Reader, block bool) error {
	var err error
	switch d.method {
	case Gzip:
		err = d.startGzip(r, block)
	case LZ4:
		var br *bufio.Reader
		if br, err = peekMagic(r, lz4Magic); err != nil {
			return d.startEmpty(err, block)
		}
		e, _ := d.engine.(*lz4.Reader)
		if e == nil {
			e = lz4.NewReader(nil)
		}
		e.Reset(br)
		d.engine, d.r = e, e
	case Zstd:
		var br *bufio.Reader
		if br, err = peekMagic(r, zstdMagic); err != nil {
			return d.startEmpty(err, block)
		}
		e, _ := d.engine.(*zstd.Decoder)
		if e == nil {
			e, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return err
			}
		}
		err = e.Reset(br)
		d.engine, d.r = e, e
	}
	return err
}

// startEmpty deals with the error err of reading a magic number. Empty files are what compress_lz4.c and
// compress_zstd.c leave when nothing was written.
func (d *reader) startEmpty(err error, block bool) error {
	if err == io.EOF && !block {
		d.engine, d.r = nil, eofReader{}
		return nil
	}
	return err
}

func (d *reader) startGzip(r io.Reader, block bool) error {
	switch e := d.engine.(type) {
	case *gzip.Reader:
		d.r = e
		return e.Reset(r)
	case io.ReadCloser:
		d.r = e
		return e.(zlib.Resetter).Reset(r, nil)
	}
	if block {
		e, err := zlib.NewReader(r)
		if err != nil {
			return err
		}
		d.engine, d.r = e, e
		return nil
	}
	e, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	d.engine, d.r = e, e
	return nil
}

// The magic numbers that start a frame. The libraries also take frames without
// an end mark (LZ4's legacy format), whose truncation nobody could notice.
var (
	lz4Magic  = [4]byte{0x04, 0x22, 0x4d, 0x18}
	zstdMagic = [4]byte{0x28, 0xb5, 0x2f, 0xfd}
)

// peekMagic checks the first bytes of r. It returns io.EOF if r is empty.
func peekMagic(r io.Reader, magic [4]byte) (*bufio.Reader, error) {
	br := bufio.NewReaderSize(r, 4096)
	head, err := br.Peek(4)
	switch {
	case len(head) == 0 && err != nil:
		return nil, err
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case [4]byte(head) != magic:
		return nil, errors.New("wrong magic number")
	}
	return br, nil
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }

func (d *reader) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.r.Read(p)
	if err != nil {
		if err != io.EOF {
			err = fmt.Errorf("decompress %s data: %w", d.method, err)
		}
		d.err = err
	}
	return n, err
}

func (d *reader) Close() error {
	if d.engine == nil {
		return nil
	}
	e := d.engine
	d.engine, d.r = nil, nil
	d.err = errClosed
	switch e := e.(type) {
	case *zstd.Decoder:
		if e.Reset(nil) != nil { // releases the input
			return nil
		}
	case *lz4.Reader:
		e.Reset(nil)
	}
	d.pool.Put(e)
	return nil
}

// noEOF turns an end of input where none may be into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
