package drill

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/pgarchive"
)

// digestReader is an archive whose data are counted and hashed as they are read.
type digestReader struct {
	pgarchive.Reader
	entries []*pgarchive.Entry // as they are to be restored

	binary      map[pgarchive.ID]bool // entries whose rows have COPY's binary form
	binaryNames map[[2]string]bool    // the tables, by schema and name

	mu   sync.Mutex
	rows map[pgarchive.ID]digest.Sum // of entries that were read to their end
	los  map[pgarchive.ID]digest.Sum // of large object entries, likewise
}

func newDigestReader(r pgarchive.Reader) *digestReader {
	binary := make(map[pgarchive.ID]bool)
	names := make(map[[2]string]bool)
	for _, e := range r.Entries() {
		if e.BinaryCopy() {
			binary[e.ID], names[[2]string{e.Namespace, e.Tag}] = true, true
		}
	}
	return &digestReader{
		Reader: r, entries: r.Entries(),
		binary: binary, binaryNames: names,
		rows: make(map[pgarchive.ID]digest.Sum),
		los:  make(map[pgarchive.ID]digest.Sum),
	}
}

// Entries returns the entries as they are to be restored.
func (r *digestReader) Entries() []*pgarchive.Entry { return r.entries }

// source returns the entries as the archive has them.
func (r *digestReader) source() []*pgarchive.Entry { return r.Reader.Entries() }

// changeDatabase has the database created by another statement than the archive's.
func (r *digestReader) changeDatabase(create string) {
	r.entries = slices.Clone(r.entries)
	for i, e := range r.entries {
		if e.Desc == "DATABASE" {
			changed := *e
			changed.Defn = create
			r.entries[i] = &changed
		}
	}
}

// Data returns the entry's data; those of a table are hashed row by row.
func (r *digestReader) Data(ctx context.Context, id pgarchive.ID) (io.ReadCloser, error) {
	data, err := r.Reader.Data(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &digestData{ReadCloser: data, r: r, id: id, rows: new(digest.Lines)}
	if r.binary[id] {
		d.rows = new(digest.Tuples)
	}
	return d, nil
}

type digestData struct {
	io.ReadCloser
	r    *digestReader
	id   pgarchive.ID
	rows interface { // of COPY's text or binary form
		io.WriteCloser
		Sum() digest.Sum
	}
	bad bool // not of that form: INSERT commands, or damaged
}

func (d *digestData) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if n > 0 && !d.bad {
		_, lerr := d.rows.Write(p[:n])
		d.bad = lerr != nil
	}
	if err == io.EOF {
		sum := d.rows.Sum()
		if d.bad || d.rows.Close() != nil {
			sum.Rows = -1
		}
		d.r.mu.Lock()
		d.r.rows[d.id] = sum
		d.r.mu.Unlock()
	}
	return n, err
}

// LargeObjects returns the large objects of an entry, hashed each for itself.
func (r *digestReader) LargeObjects(ctx context.Context, id pgarchive.ID) (pgarchive.LargeObjectReader, error) {
	l, err := r.Reader.LargeObjects(ctx, id)
	if err != nil {
		return nil, err
	}
	return &digestLargeObjects{LargeObjectReader: l, r: r, id: id}, nil
}

type digestLargeObjects struct {
	pgarchive.LargeObjectReader
	r       *digestReader
	id      pgarchive.ID
	objects digest.Objects
}

func (l *digestLargeObjects) Next() (uint32, io.Reader, error) {
	l.objects.End()
	oid, data, err := l.LargeObjectReader.Next()
	if err == io.EOF {
		l.r.mu.Lock()
		l.r.los[l.id] = l.objects.Sum()
		l.r.mu.Unlock()
	}
	if err != nil {
		return 0, nil, err
	}
	l.objects.Begin(oid)
	return oid, io.TeeReader(data, &l.objects), nil
}

// drain reads what the restore did not, so that every byte of the archive is seen.
func (r *digestReader) drain(ctx context.Context) error {
	for _, e := range r.source() {
		if !e.HasData || r.seen(e.ID) {
			continue
		}
		if err := r.discard(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *digestReader) seen(id pgarchive.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, rows := r.rows[id]
	_, los := r.los[id]
	return rows || los
}

func (r *digestReader) discard(ctx context.Context, e *pgarchive.Entry) error {
	if e.Desc == "BLOBS" {
		return r.discardLargeObjects(ctx, e)
	}
	data, err := r.Data(ctx, e.ID)
	if err != nil {
		return err
	}
	defer data.Close()
	_, err = io.Copy(io.Discard, data)
	return err
}

func (r *digestReader) discardLargeObjects(ctx context.Context, e *pgarchive.Entry) error {
	l, err := r.LargeObjects(ctx, e.ID)
	if err != nil {
		return err
	}
	defer l.Close()
	for {
		_, data, err := l.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			_, err = io.Copy(io.Discard, data)
		}
		if err != nil {
			return err
		}
	}
}
