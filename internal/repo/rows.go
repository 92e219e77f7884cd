package repo

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/pgarchive"
)

// tablePiece is a table, or a piece of one, that is an entry of the archive.
type tablePiece struct {
	*manifest.Piece
	table *manifest.Table
}

func (p tablePiece) String() string {
	return fmt.Sprintf("rows of table %s.%s", p.table.Namespace, p.table.Name)
}

func piecesOf(m *manifest.Manifest) map[pgarchive.ID]tablePiece {
	out := make(map[pgarchive.ID]tablePiece)
	for i := range m.Tables {
		t := &m.Tables[i]
		for j := range t.Pieces {
			out[pgarchive.ID(t.Pieces[j].ID)] = tablePiece{&t.Pieces[j], t}
		}
	}
	return out
}

// labels says of objects that hold rows, by name, whose rows they are.
func labels(m *manifest.Manifest) map[string]string {
	pieces := piecesOf(m)
	out := make(map[string]string, len(pieces))
	for _, f := range m.Files {
		number, rest, _ := strings.Cut(f.Name, ".")
		id, err := strconv.ParseInt(number, 10, 32)
		if p, ok := pieces[pgarchive.ID(id)]; ok && err == nil && strings.HasPrefix(rest, "dat") {
			out[f.Name] = p.String()
		}
	}
	return out
}

// rows reads the data that stand in the chosen objects as a restore would, and compares their digests with
// the manifest. The objects are compared with their hashes on the way.
func (v *verification) rows(ctx context.Context, s *Snapshot, chosen []manifest.File) error {
	w := &watch{v: v, damaged: make(map[string]bool)}
	a, err := pgarchive.NewDirectoryReader(archiveFS{s: s, opened: w.open}, s.Backup.String())
	if err != nil {
		return w.failure(ctx) // a damaged table of contents is named by run
	}
	defer a.Close()
	wanted := make(map[string]bool, len(chosen))
	for _, f := range chosen {
		wanted[f.Name] = true
	}
	pieces := piecesOf(s.Manifest)
	r := &rowReader{v: v, a: a, w: w}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(v.o.Jobs)
	for _, e := range a.Entries() {
		if !e.HasData {
			continue
		}
		name := s.dataFile(e)
		if e.Desc == "BLOBS" {
			if len(chosen) == len(s.Manifest.Files) { // their digest is one over all of them
				g.Go(func() error { return r.largeObjects(gctx, e) })
			}
			continue
		}
		p, ok := pieces[e.ID]
		delete(pieces, e.ID)
		switch {
		case !ok:
			v.problem("%s %s: the manifest has no such data", e.Desc, e.Tag)
		case name == "" || wanted[name]:
			g.Go(func() error { return r.piece(gctx, e, name, p) })
		}
	}
	err = g.Wait()
	for id, p := range pieces {
		v.problem("%s (entry %d): the archive has no such data", p, id)
	}
	if want := s.Manifest.LargeObjects.Sum(); err == nil && len(chosen) == len(s.Manifest.Files) && !r.bad && r.large != want {
		v.problem("large objects: %v, the manifest has %v", r.large, want)
	}
	return err
}

// dataFile returns the name of the object with an entry's data, "" if there is none.
func (s *Snapshot) dataFile(e *pgarchive.Entry) string {
	for _, suffix := range []string{"", ".gz", ".lz4", ".zst"} {
		if name := s.stored(e.Filename + suffix); s.files[name].Name != "" {
			return name
		}
	}
	return ""
}

// rowReader reads rows and large objects of an archive and sums them.
type rowReader struct {
	v *verification
	a pgarchive.Reader
	w *watch

	mu    sync.Mutex
	large digest.Sum
	bad   bool // a large object could not be read, and that was said
}

// piece compares the rows of an entry.
func (r *rowReader) piece(ctx context.Context, e *pgarchive.Entry, name string, want tablePiece) error {
	var rows interface {
		io.WriteCloser
		Sum() digest.Sum
	} = new(digest.Lines)
	if e.BinaryCopy() {
		rows = new(digest.Tuples)
	}
	data, err := r.a.Data(ctx, e.ID)
	if err == nil {
		_, err = io.Copy(rows, data)
		data.Close()
	}
	if err == nil {
		err = rows.Close()
	}
	if failed := r.w.failure(ctx); failed != nil {
		return failed
	}
	what := fmt.Sprintf("%s (%s)", want, name)
	switch got := rows.Sum(); {
	case r.w.isDamaged(r.v.b.key(name)): // that was said
	case err != nil:
		r.v.problem("%s: %v", what, err)
	case got != want.Sum():
		r.v.problem("%s: %v, the manifest has %v", what, got, want.Sum())
	default:
		r.v.compared(got)
	}
	return nil
}

// largeObjects sums the large objects of an entry.
func (r *rowReader) largeObjects(ctx context.Context, e *pgarchive.Entry) error {
	sum, err := r.sumLargeObjects(ctx, e)
	if failed := r.w.failure(ctx); failed != nil {
		return failed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.large.Add(sum)
	if err != nil {
		r.bad = true
		if !isDamage(err) { // that was said
			r.v.problem("large objects (%s): %v", e.Filename, err)
		}
	}
	return nil
}

func (r *rowReader) sumLargeObjects(ctx context.Context, e *pgarchive.Entry) (digest.Sum, error) {
	var objects digest.Objects
	l, err := r.a.LargeObjects(ctx, e.ID)
	if err != nil {
		return digest.Sum{}, err
	}
	defer l.Close()
	for {
		oid, data, err := l.Next()
		if err == io.EOF {
			return objects.Sum(), nil
		}
		if err == nil {
			objects.Begin(oid)
			_, err = io.Copy(&objects, data)
			objects.End()
		}
		if err != nil {
			return digest.Sum{}, err
		}
	}
}

func (v *verification) compared(rows digest.Sum) {
	v.mu.Lock()
	v.Pieces++
	v.Rows += rows.Rows
	v.mu.Unlock()
}

// watch sees to it that each object that is opened is read to its end, and notes how that ended.
type watch struct {
	v *verification

	mu      sync.Mutex
	damaged map[string]bool // by key
	failed  error           // what is no problem of the backup
}

func (w *watch) open(o store.Object, f fs.File, err error) (fs.File, error) {
	if err != nil {
		w.note(o, err)
		return nil, err
	}
	return &watchedFile{File: f, o: o, w: w}, nil
}

func (w *watch) note(o store.Object, err error) {
	failed := w.v.read(o, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.damaged[o.Key] = err != nil
	if w.failed == nil {
		w.failed = failed
	}
}

// failure returns why reading has to end.
func (w *watch) failure(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.failed
}

func (w *watch) isDamaged(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.damaged[key]
}

type watchedFile struct {
	fs.File
	o   store.Object
	w   *watch
	end error // the error of the last Read
}

func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.end = err
	return n, err
}

func (f *watchedFile) Close() error {
	if f.end == nil { // a decompressor need not read what follows its data
		_, f.end = io.Copy(io.Discard, f.File)
	}
	err := f.end
	if err == io.EOF {
		err = nil
	}
	f.w.note(f.o, err)
	return f.File.Close()
}
