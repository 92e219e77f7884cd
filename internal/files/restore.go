package files

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/store"
)

// RestoreOptions say what to restore. The zero value restores all files, eight at a time, and replaces none.
type RestoreOptions struct {
	Buckets   []string // nil: all
	Jobs      int      // 0: 8
	Overwrite bool     // replace files that are there and differ
	DryRun    bool     // only look

	// Planned is told how much is to be uploaded, Uploaded of each file; nil is none. Uploaded is called from several goroutines.
	Planned  func(files int, bytes int64)
	Uploaded func(name string, bytes int64)
}

// Restored is what Restore did, or would do in a dry run.
type Restored struct {
	Buckets   []string `json:"buckets_made"`
	Uploaded  int      `json:"files_uploaded"`
	Bytes     int64    `json:"bytes_uploaded"`
	Identical int      `json:"files_identical"` // there already
	Different []string `json:"files_different"` // there, with other contents or metadata: replaced with Overwrite
	Foreign   int      `json:"files_foreign"`   // in these buckets and not in the backup; they stay as they are
}

// DifferentError says that files are there which are not those of the backup, and that nothing was done.
type DifferentError struct{ Names []string }

func (e *DifferentError) Error() string {
	const shown = 3
	text := strings.Join(e.Names[:min(shown, len(e.Names))], ", ")
	if n := len(e.Names) - shown; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("%d files are at the target with other contents or metadata: %s; nothing was changed", len(e.Names), text)
}

// Restore uploads the files of a backup to an endpoint, with their metadata. Files that are there already, the same
// in contents and metadata, are passed over, so that a restore that was interrupted goes on. Before anything is written, it is looked
// whether a file is there that differs; then the error is a *DifferentError, unless Overwrite is set.
func Restore(ctx context.Context, src Source, d *Document, dst *Client, o RestoreOptions) (*Restored, error) {
	r := &restoreRun{src: src, dst: dst, d: d, o: o, res: &Restored{Buckets: []string{}, Different: []string{}}}
	if r.o.Jobs <= 0 {
		r.o.Jobs = 8
	}
	if err := r.run(ctx); err != nil {
		return nil, fmt.Errorf("restore files: %w", err)
	}
	return r.res, nil
}

type restoreRun struct {
	src Source
	dst *Client
	d   *Document
	o   RestoreOptions

	mu   sync.Mutex
	res  *Restored
	skip map[*File]bool
}

func (r *restoreRun) run(ctx context.Context) error {
	r.skip = make(map[*File]bool)
	missing, err := r.plan(ctx)
	if err != nil {
		return err
	}
	slices.Sort(r.res.Different)
	if len(r.res.Different) > 0 && !r.o.Overwrite && !r.o.DryRun {
		return &DifferentError{r.res.Different}
	}
	files, size := 0, int64(0)
	for i := range r.d.Files {
		if f := &r.d.Files[i]; !r.skip[f] {
			files++
			size += f.Bytes
		}
	}
	if r.o.Planned != nil {
		r.o.Planned(files, size)
	}
	r.res.Buckets = append(r.res.Buckets, missing...)
	if r.o.DryRun {
		r.res.Uploaded, r.res.Bytes = files, size
		return nil
	}
	for _, b := range missing {
		if err := r.dst.makeBucket(ctx, b); err != nil {
			return err
		}
	}
	return r.upload(ctx)
}

// plan finds out what is there already, and returns the buckets that are not.
func (r *restoreRun) plan(ctx context.Context) (missing []string, err error) {
	for _, b := range r.o.Buckets {
		if !slices.ContainsFunc(r.d.Buckets, func(have Bucket) bool { return have.Name == b }) {
			return nil, fmt.Errorf("bucket %q is not in the backup", b)
		}
	}
	there, err := r.dst.Buckets(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[Ref]int64)
	for _, b := range r.d.Buckets {
		switch {
		case len(r.o.Buckets) > 0 && !slices.Contains(r.o.Buckets, b.Name):
			continue
		case !slices.Contains(there, b.Name):
			missing = append(missing, b.Name)
			continue
		}
		list, err := r.dst.List(ctx, b.Name)
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			found[Ref{b.Name, l.Key}] = l.Bytes
		}
	}
	r.res.Foreign = len(found)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.o.Jobs)
	for i := range r.d.Files {
		f := &r.d.Files[i]
		if len(r.o.Buckets) > 0 && !slices.Contains(r.o.Buckets, f.Bucket) {
			r.skip[f] = true
			continue
		}
		size, ok := found[f.ref()]
		if !ok {
			continue
		}
		r.res.Foreign--
		g.Go(func() error { return r.look(ctx, f, size) })
	}
	return missing, g.Wait()
}

// look compares a file with the one that is there.
func (r *restoreRun) look(ctx context.Context, f *File, size int64) error {
	same, known := size == f.Bytes, false
	if same {
		there, err := r.dst.Stat(ctx, f.Bucket, f.Key)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		same, known = there.Bytes == f.Bytes && f.sameMetadata(&there), there.etag == f.MD5
	}
	if same && !known {
		err := r.dst.read(ctx, f.Bucket, f.Key, func(_ File, body io.Reader) error {
			h := sha256.New()
			_, err := io.Copy(h, body)
			same = [sha256.Size]byte(h.Sum(nil)) == f.SHA256
			return err
		})
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if same {
		r.res.Identical++
		r.skip[f] = true
	} else {
		r.res.Different = append(r.res.Different, f.String())
	}
	return nil
}

// upload uploads what is not skipped: small files side by side, large ones by the way.
func (r *restoreRun) upload(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(r.o.Jobs)
	packs := r.d.packs()
	var err error
	for _, name := range sample(packs, 0, 0) {
		wanted := packs[name]
		for path, f := range wanted {
			if r.skip[f] {
				delete(wanted, path)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		err = readPack(r.src, name, func(path string, size int64, body io.Reader) error {
			f := wanted[path]
			delete(wanted, path)
			switch {
			case gctx.Err() != nil:
				return gctx.Err()
			case f == nil:
				return nil
			case size != f.Bytes:
				return fmt.Errorf("%w: %s has %d bytes in %s, %d were copied", store.ErrDamaged, f, size, name, f.Bytes)
			case size > smallFile:
				return r.put(gctx, f, body)
			}
			data, err := io.ReadAll(body)
			if err != nil {
				return err
			}
			g.Go(func() error { return r.put(gctx, f, bytes.NewReader(data)) })
			return nil
		})
		if err == nil && len(wanted) > 0 {
			err = fmt.Errorf("%w: %d files are missing in %s", store.ErrDamaged, len(wanted), name)
		}
		if err != nil {
			break
		}
	}
	if werr := g.Wait(); werr != nil {
		return werr // the reading was given up because of it
	}
	return err
}

func (r *restoreRun) put(ctx context.Context, f *File, body io.Reader) error {
	h := sha256.New()
	// The last part of a file is sent when its hash is known to be right.
	if err := r.dst.put(ctx, f, &checked{r: io.TeeReader(body, h), left: f.Bytes, check: func() error {
		if [sha256.Size]byte(h.Sum(nil)) != f.SHA256 {
			return fmt.Errorf("%w: %s is not what was copied", store.ErrDamaged, f)
		}
		return nil
	}}); err != nil {
		return err
	}
	r.mu.Lock()
	r.res.Uploaded++
	r.res.Bytes += f.Bytes
	r.mu.Unlock()
	if r.o.Uploaded != nil {
		r.o.Uploaded(f.String(), f.Bytes)
	}
	return nil
}

// checked asks check before it hands over the last bytes.
type checked struct {
	r     io.Reader
	left  int64
	check func() error
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if c.left == 0 && n > 0 {
		if cerr := c.check(); cerr != nil {
			return 0, cerr
		}
	}
	return n, err
}

// isDamage says whether an error is about what is stored, and not about reading it.
func isDamage(err error) bool {
	return errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound) || errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF)
}
