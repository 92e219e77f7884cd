package repo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
)

// VerifyOptions say how much is read. The zero value reads everything, with four requests at a time.
type VerifyOptions struct {
	// Percent of the stored bytes to read, chosen anew at random each time; 0 and 100: all. Whether every object
	// is there in its size is looked at in any case.
	Percent float64
	Jobs    int // 0: 4

	// Rows compares the rows in the objects with the manifest, too: what a restore would read.
	Rows bool

	// Verified is told of each object as it was read; nil is none. It is called from several goroutines.
	Verified func(name string, bytes int64)
}

// Verification is what Verify found.
type Verification struct {
	Backup    string `json:"backup"`
	Encrypted bool   `json:"encrypted"`
	// Opened says that the manifest was read. Without a key an encrypted backup is compared with its index only.
	Opened   bool   `json:"opened"`
	SignedBy string `json:"signed_by"` // fingerprint of the trusted key; "" if no signature was demanded

	Objects  int      `json:"objects"` // that the manifest, or the index, lists
	Bytes    int64    `json:"bytes"`
	Read     int      `json:"objects_read"`
	BytesOf  int64    `json:"bytes_read"`
	Pieces   int      `json:"pieces_compared"` // tables, or pieces of such, whose rows were compared
	Rows     int64    `json:"rows_compared"`
	Problems []string `json:"problems"`
	// Unknown are objects that the manifest does not list. They do no harm: nothing reads them.
	Unknown []string `json:"unknown"`
}

// ErrRowsSealed says that rows cannot be compared without a key.
var ErrRowsSealed = errors.New("its rows can be compared only with a key that opens it")

// Verify reads the objects of a backup and compares them with the manifest; those of an encrypted backup, if there is no key, with
// the index. A backup that cannot be opened at all is an error; damaged objects are problems of the result.
func (r *Repo) Verify(ctx context.Context, b Backup, o VerifyOptions) (*Verification, error) {
	v, err := r.verify(ctx, b, o)
	if err != nil {
		return nil, fmt.Errorf("verify backup %s: %w", b, err)
	}
	return v, nil
}

func (r *Repo) verify(ctx context.Context, b Backup, o VerifyOptions) (*Verification, error) {
	out, err := r.outside(ctx, b)
	if err != nil {
		return nil, err
	}
	v := &verification{r: r, b: out.backup, o: o, seen: make(map[string]bool), Verification: Verification{
		Backup: b.String(), Encrypted: out.backup.Encrypted, SignedBy: out.signedBy, Problems: []string{},
	}}
	if v.o.Jobs <= 0 {
		v.o.Jobs = 4
	}
	if out.backup.Encrypted && !r.opener.HasKey() {
		if o.Rows {
			return nil, fmt.Errorf("%w: %w", seal.ErrNoKey, ErrRowsSealed)
		}
		v.Unknown = out.found.unknown(out.index.Objects)
		return &v.Verification, v.run(ctx, out.index.Objects)
	}
	if v.s, err = out.open(ctx); err != nil {
		return nil, err
	}
	v.Opened, v.labels = true, labels(v.s.Manifest)
	v.Unknown = out.found.unknown(v.s.Manifest.Files)
	return &v.Verification, v.run(ctx, v.s.Manifest.Files)
}

// verification is a verification that is being made.
type verification struct {
	Verification
	r *Repo
	b Backup
	s *Snapshot // nil: it cannot be opened
	o VerifyOptions

	labels map[string]string // what is in an object, by its name

	mu   sync.Mutex
	seen map[string]bool // objects that were read, by key
}

// run reads objects out of files.
func (v *verification) run(ctx context.Context, files []manifest.File) error {
	v.Objects = len(files)
	for _, f := range files {
		v.Bytes += f.Bytes
	}
	chosen := sample(files, v.o.Percent)
	if v.o.Rows {
		if err := v.rows(ctx, v.s, chosen); err != nil {
			return err
		}
	}
	var rest []store.Object
	for _, f := range chosen {
		if o := (store.Object{Key: v.b.key(f.Name), Size: f.Bytes, SHA256: f.SHA256}); !v.seen[o.Key] {
			rest = append(rest, o)
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(v.o.Jobs)
	for _, o := range rest {
		g.Go(func() error { return v.read(o, v.r.s.Verify(gctx, o)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	slices.Sort(v.Problems)
	if v.s != nil {
		if _, err := v.s.Archive(); err != nil && len(v.Problems) == 0 {
			v.Problems = append(v.Problems, err.Error())
		}
	}
	return nil
}

// isDamage reports whether an error says something about the backup, rather than about the way to it.
func isDamage(err error) bool {
	return errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNotFound)
}

// read notes that an object was read to its end, or why not. It returns what is no problem of the backup.
func (v *verification) read(o store.Object, err error) error {
	if err != nil && !isDamage(err) {
		return err
	}
	v.mu.Lock()
	again := v.seen[o.Key]
	v.seen[o.Key] = true
	if !again {
		v.Read++
		v.BytesOf += o.Size
	}
	v.mu.Unlock()
	if again {
		return nil
	}
	name := path.Base(o.Key)
	if err != nil {
		text := err.Error()
		if what := v.labels[name]; what != "" {
			text = what + ": " + text
		}
		v.problem("%s", text)
	}
	if v.o.Verified != nil {
		v.o.Verified(name, o.Size)
	}
	return nil
}

func (v *verification) problem(format string, args ...any) {
	v.mu.Lock()
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
	v.mu.Unlock()
}

// unknown returns the names of objects that are neither listed nor of a known kind.
func (c contents) unknown(files []manifest.File) []string {
	known := map[string]bool{ManifestName: true, sealedManifest: true, IndexName: true, SignatureName: true, ProgressName: true}
	for _, f := range files {
		known[f.Name] = true
	}
	names := []string{}
	for name := range c {
		if _, ok := parseDrill(name); !ok && !known[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sample returns files of at least so many percent of the bytes, but at least one.
func sample(files []manifest.File, percent float64) []manifest.File {
	if percent <= 0 || percent >= 100 {
		return files
	}
	files = slices.Clone(files)
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	var total int64
	for _, f := range files {
		total += f.Bytes
	}
	var sum int64
	for i, f := range files {
		sum += f.Bytes
		if float64(sum) >= float64(total)*percent/100 {
			return files[:i+1]
		}
	}
	return files
}
