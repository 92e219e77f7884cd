package rescue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/pgarchive"
)

// Options say which rows are wanted and how they are written.
type Options struct {
	// Key are ranges or values of the key column, see [ParseKey]; none: all rows.
	Key []string
	// Column is the key column; empty: the first of the primary key.
	Column string
	As     Format
	// Jobs is how many pieces are read at a time; 0: 1.
	Jobs int
	// Sums are the digests of the entries, as far as they are known. Data of another digest are an error.
	Sums map[pgarchive.ID]digest.Sum
	// Comment is what a script says about itself in its first line.
	Comment string
}

// Result is what was found.
type Result struct {
	Column string // the key column; empty: all rows were wanted
	Order  *Order // how its values were compared; nil likewise
	Rows   int64  // rows that were written
	Read   int64  // rows that were looked at
	Pieces int    // pieces of the table
	Whole  int    // pieces that were read to the end, and so proven
}

// Plan is a rescue that is ready to run.
type Plan struct {
	t      *Table
	r      pgarchive.Reader
	o      Options
	key    *Key
	column int
	format *formatter
	unique bool // each value of the key occurs once at most

	left  atomic.Int64 // values of a unique key that were not found yet
	ended atomic.Bool  // all of them were found
	read  atomic.Int64
	whole atomic.Int64
	rows  atomic.Int64
}

// NewPlan checks the options. Errors are about these; nothing is read.
func NewPlan(r pgarchive.Reader, t *Table, o Options) (*Plan, error) {
	p := &Plan{t: t, r: r, o: o, column: -1}
	var err error
	if p.format, err = newFormatter(t, o.As); err != nil {
		return nil, err
	}
	if len(o.Key) == 0 {
		if o.Column != "" {
			return nil, errors.New("--column without --key says nothing")
		}
		return p, nil
	}
	name := o.Column
	if name == "" {
		if len(t.PrimaryKey) == 0 {
			return nil, fmt.Errorf("%s has no primary key in this archive: name the key's column with --column", t.Qualified())
		}
		name = t.PrimaryKey[0]
	}
	if p.column, err = t.column(name); err != nil {
		return nil, err
	}
	c := t.Columns[p.column]
	if orderOf(c.Type) == texts && t.embeds() {
		return nil, fmt.Errorf("%w by %s: texts of the encoding %s cannot be compared here; choose a column of numbers", ErrForm, name, t.Encoding)
	}
	if p.key, err = ParseKey(o.Key, orderOf(c.Type)); err != nil {
		return nil, err
	}
	p.unique = len(t.PrimaryKey) == 1 && t.PrimaryKey[0] == name && p.key.exact > 0
	p.left.Store(int64(p.key.exact))
	return p, nil
}

// Describe says which rows are wanted, for a person.
func (p *Plan) Describe() (column string, order *Order) {
	if p.key == nil {
		return "", nil
	}
	return p.t.Columns[p.column].Name, p.key.order
}

// Chunks of rows wait for their turn, so many of each piece.
const (
	chunkSize   = 64 << 10
	chunksAhead = 32
)

// Run writes the wanted rows to w, in the order of the archive. If there are none, nothing is written.
func (p *Plan) Run(ctx context.Context, w io.Writer) (*Result, error) {
	pieces := p.t.Pieces
	out := make([]chan []byte, len(pieces))
	for i := range out {
		out[i] = make(chan []byte, chunksAhead)
	}
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for i := range pieces {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range max(1, min(p.o.Jobs, len(pieces))) {
		f := p.format.clone()
		g.Go(func() error {
			// Pieces are taken in their order, so the one whose turn it is to be written is always being read.
			for i := range next {
				if err := p.piece(ctx, f, &pieces[i], out[i]); err != nil {
					return err
				}
				close(out[i])
			}
			return nil
		})
	}
	g.Go(func() error { return p.write(ctx, w, out) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	res := &Result{Rows: p.rows.Load(), Read: p.read.Load(), Pieces: len(pieces), Whole: int(p.whole.Load())}
	res.Column, res.Order = p.Describe()
	return res, nil
}

// write puts the chunks into their order.
func (p *Plan) write(ctx context.Context, w io.Writer, out []chan []byte) error {
	begun := false
	for _, c := range out {
		for open := true; open; {
			var chunk []byte
			select {
			case chunk, open = <-c:
			case <-ctx.Done():
				return ctx.Err()
			}
			if len(chunk) == 0 {
				continue
			}
			if !begun {
				begun = true
				if _, err := w.Write(p.format.head(p.o.Comment)); err != nil {
					return err
				}
			}
			if _, err := w.Write(chunk); err != nil {
				return err
			}
		}
	}
	if begun {
		_, err := w.Write(p.format.tail())
		return err
	}
	return nil
}

// piece reads one data entry and sends its wanted rows to out.
func (p *Plan) piece(ctx context.Context, f *formatter, piece *Piece, out chan<- []byte) (err error) {
	if p.ended.Load() {
		return nil
	}
	in, err := p.r.Data(ctx, piece.Entry.ID)
	if err != nil {
		return err
	}
	defer func() {
		in.Close()
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("rescue rows out of %s: %w", piece.Entry, err)
		}
	}()
	var sum digest.Lines
	s := scanner{p: p, f: f, piece: piece, lines: lineReader{in: io.TeeReader(in, &sum)}}
	if s.column = p.column; piece.fields != nil && s.column >= 0 {
		s.column = piece.fields[s.column]
	}
	whole, err := s.scan(ctx, out)
	p.read.Add(s.read)
	if err != nil || !whole {
		return err
	}
	// What is behind the end marker belongs to the data: only when all is read has a store's object been proven.
	if _, err := io.Copy(&sum, in); err != nil {
		return err
	}
	if want, ok := p.o.Sums[piece.Entry.ID]; ok && want != sum.Sum() {
		return fmt.Errorf("its %d rows have not the digest of the %d that were backed up: the archive is damaged", sum.Sum().Rows, want.Rows)
	}
	p.whole.Add(1)
	return nil
}

// scanner looks at the rows of one piece.
type scanner struct {
	p      *Plan
	f      *formatter
	piece  *Piece
	lines  lineReader
	column int // of the key in this piece's lines

	read, found int64
	value       []byte
	chunk       []byte
}

// scan sends the wanted rows to out. It returns false if it stopped because nothing more could be found.
func (s *scanner) scan(ctx context.Context, out chan<- []byte) (whole bool, err error) {
	p := s.p
	for {
		line, err := s.lines.next()
		if err == io.EOF {
			return true, s.send(ctx, out)
		} else if err != nil {
			return false, err
		}
		s.read++
		if s.read%4096 == 0 && s.found == 0 && p.ended.Load() {
			return false, nil
		}
		if wanted, err := s.wants(line); err != nil {
			return false, err
		} else if !wanted {
			continue
		}
		if s.chunk, err = s.f.row(s.chunk, line, s.piece); err != nil {
			return false, err
		}
		s.found++
		p.rows.Add(1)
		if p.unique && p.left.Add(-1) == 0 {
			p.ended.Store(true)
		}
		if len(s.chunk) >= chunkSize {
			if err := s.send(ctx, out); err != nil {
				return false, err
			}
		}
	}
}

func (s *scanner) send(ctx context.Context, out chan<- []byte) error {
	if len(s.chunk) == 0 {
		return nil
	}
	select {
	case out <- s.chunk:
		s.chunk = nil
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wants looks at the key of a row.
func (s *scanner) wants(line []byte) (bool, error) {
	if s.p.key == nil {
		return true, nil
	}
	v, ok := field(line, s.column)
	if !ok {
		return false, errFields
	}
	if isNull(v) {
		return false, nil
	}
	if bytes.IndexByte(v, '\\') >= 0 {
		s.value = unescape(s.value, v)
		v = s.value
	}
	return s.p.key.Has(v), nil
}
