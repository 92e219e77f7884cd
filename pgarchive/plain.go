package pgarchive

import (
	"fmt"
	"io"
	"sync"

	"github.com/pghaul/pghaul/internal/codec"
)

// copyBuffer is the size of the buffers data are copied with.
const copyBuffer = 128 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// plainWriter writes a script.
type plainWriter struct {
	contents
	o   ScriptOptions
	out io.Writer
	z   io.WriteCloser // the compressor, over out
	s   *script
}

var _ Writer = (*plainWriter)(nil)

// NewPlainWriter writes an SQL script into w, compressed as o's header says: what
// pg_dump -Fp prints. Only the entries that s selects are written; an
// entry whose data are not wanted needs none. Data must come in the order of the entries.
func NewPlainWriter(w io.Writer, s ScriptOptions, o WriterOptions) (Writer, error) {
	z, err := codec.NewWriter(w, o.Header.Compression)
	if err != nil {
		return nil, fmt.Errorf("create script: %w", err)
	}
	p := &plainWriter{o: s, out: w, z: z}
	p.contents.init(o.Header, FormatPlain, p.Properties())
	return p, nil
}

func (p *plainWriter) Properties() Properties { return Properties{Ordered: true} }

func (p *plainWriter) Add(e *Entry) error { return p.add(e) }

// freeze starts the script. The caller holds mu.
func (p *plainWriter) freeze() error {
	if p.frozen {
		return p.err
	}
	p.fix()
	p.s, p.err = newScript(p.z, p.header, p.entries, &p.o)
	if p.err == nil {
		p.err = p.s.begin()
	}
	if p.err != nil {
		return p.err
	}
	for _, e := range p.entries {
		if e.HasData && p.s.sel.Wanted(e.ID)&WantData == 0 {
			p.state[e.ID] = dataDone
		}
	}
	return nil
}

// advance writes the script up to the data of id.
func (p *plainWriter) advance(id ID, largeObjects bool) (*Entry, error) {
	if err := p.freeze(); err != nil {
		return nil, err
	}
	e, err := p.begin(id, largeObjects)
	if err != nil {
		return nil, err
	}
	next, ok := p.s.nextData()
	if !ok || next != e {
		p.open = nil
		p.err = fmt.Errorf("write data of entry %s: the script needs the data of entry %v first", e, next)
		return nil, p.err
	}
	return e, nil
}

func (p *plainWriter) Data(id ID) (io.WriteCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, err := p.advance(id, false)
	if err != nil {
		return nil, err
	}
	return &entryWriter{w: plainData{p.s.data(e), p.s}, e: e, c: &p.contents}, nil
}

// plainData ends the entry in the script with its data.
type plainData struct {
	io.WriteCloser
	s *script
}

func (d plainData) Close() error {
	if err := d.WriteCloser.Close(); err != nil {
		return err
	}
	return d.s.endEntry()
}

func (p *plainWriter) LargeObjects(id ID) (LargeObjectWriter, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, err := p.advance(id, true)
	if err != nil {
		return nil, err
	}
	los := p.s.largeObjects()
	return &largeObjectWriter{e: e, c: &p.contents, create: los.Create, finish: func() error {
		if err := los.Close(); err != nil {
			return err
		}
		return p.s.endEntry()
	}}, nil
}

// Attach does nothing: a script has no place for it.
func (p *plainWriter) Attach(name string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.attach(name)
}

func (p *plainWriter) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.err
	}
	err := p.freeze()
	p.closed = true
	if err == nil {
		err = p.complete()
	}
	if err == nil {
		err = p.s.end()
	}
	if zerr := p.z.Close(); err == nil && zerr != nil {
		err = fmt.Errorf("could not write to output file: %w", zerr)
	}
	p.err = finish(p.out, err)
	return p.err
}

func (p *plainWriter) Abort() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	return abort(p.out)
}
