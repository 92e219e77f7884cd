package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/pgarchive"
)

// maxManifest bounds the size of a manifest that is read: that of a database of a few million objects.
const maxManifest = 1 << 30

// ErrIncomplete says that a backup has no manifest: it was interrupted, or is still running.
var ErrIncomplete = errors.New("backup is incomplete")

// ErrUnsigned says that a backup is not signed by a key that is trusted, or not signed at all.
var ErrUnsigned = errors.New("backup is not signed as demanded")

// Snapshot is a complete backup that can be read.
type Snapshot struct {
	Backup   Backup
	Manifest *manifest.Manifest
	SignedBy string // fingerprint of the trusted key that signed it; "" if no signature was demanded

	r      *Repo
	ctx    context.Context
	found  contents
	files  map[string]manifest.File // by their names in the store
	raw    []byte                   // the manifest, in the clear
	opener *seal.Opener             // nil: nothing is encrypted
}

// Open reads the manifest of a backup and looks whether all of its objects are there. An incomplete
// or damaged backup, or one of a newer version, is refused, and so is one that is not signed as Use demands, or
// that the keys do not open. ctx ends all reading from the snapshot.
func (r *Repo) Open(ctx context.Context, b Backup) (*Snapshot, error) {
	s, err := r.open(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", b, err)
	}
	return s, nil
}

func (r *Repo) open(ctx context.Context, b Backup) (*Snapshot, error) {
	o, err := r.outside(ctx, b)
	if err != nil {
		return nil, err
	}
	return o.open(ctx)
}

// open reads the manifest.
func (o *outside) open(ctx context.Context) (*Snapshot, error) {
	s := &Snapshot{Backup: o.backup, SignedBy: o.signedBy, r: o.r, ctx: ctx, found: o.found}
	var err error
	if s.raw, err = o.readManifest(ctx); err != nil {
		return nil, err
	}
	if o.backup.Encrypted {
		if err := s.unlock(o); err != nil {
			return nil, err
		}
	}
	if s.Manifest, err = manifest.Decode(s.raw); err != nil {
		return nil, err
	}
	if string(s.Manifest.Database) != o.backup.Database {
		return nil, fmt.Errorf("%w: its manifest is of database %s", store.ErrDamaged, s.Manifest.Database)
	}
	if o.index != nil {
		if err := o.index.agrees(s.Manifest.Files); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", store.ErrDamaged, IndexName, err)
		}
	}
	s.files = make(map[string]manifest.File)
	for _, f := range s.Manifest.Files {
		s.files[f.Name] = f
	}
	if _, ok := s.files[s.stored(tocName)]; !ok {
		return nil, fmt.Errorf("%w: its manifest lists no %s", store.ErrDamaged, s.stored(tocName))
	}
	if err := s.found.missing(s.Manifest.Files); err != nil {
		return nil, err
	}
	return s, nil
}

// outside is what a backup shows without a key.
type outside struct {
	r        *Repo
	backup   Backup
	found    contents
	manifest string // name of the manifest in the store
	index    *index // nil: there is none, and none is needed
	signedBy string
}

// outside looks at what a backup shows without a key, and whether it is signed as demanded.
func (r *Repo) outside(ctx context.Context, b Backup) (*outside, error) {
	o := &outside{r: r, backup: b, manifest: ManifestName}
	var err error
	if o.found, err = r.contents(ctx, b); err != nil {
		return nil, err
	}
	o.found.describe(&o.backup)
	_, clear := o.found[ManifestName]
	_, sealed := o.found[sealedManifest]
	switch {
	case clear && sealed:
		return nil, fmt.Errorf("%w: there are both %s and %s", store.ErrDamaged, ManifestName, sealedManifest)
	case sealed:
		o.manifest = sealedManifest
	case !clear:
		return nil, fmt.Errorf("%w: there is no %s", ErrIncomplete, ManifestName)
	}
	if _, ok := o.found[IndexName]; ok {
		return o, o.readIndex(ctx)
	}
	switch {
	case sealed:
		return nil, fmt.Errorf("%w: %s is missing", store.ErrDamaged, IndexName)
	case r.trust != nil:
		return nil, fmt.Errorf("%w: it has no signature", ErrUnsigned)
	}
	return o, nil
}

// readIndex reads the index, checks its signature, and looks whether all is there.
func (o *outside) readIndex(ctx context.Context) error {
	b, err := o.r.s.ReadFile(ctx, o.backup.key(IndexName), maxManifest)
	if err != nil {
		return err
	}
	if err := o.checkSignature(ctx, b); err != nil {
		return err
	}
	if o.index, err = decodeIndex(b); err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrDamaged, IndexName, err)
	}
	if o.index.Backup != nameInIndex(o.backup) {
		return fmt.Errorf("%w: %s is that of backup %s", store.ErrDamaged, IndexName, o.index.Backup)
	}
	if _, err := o.index.manifest(o.manifest); err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrDamaged, IndexName, err)
	}
	return o.found.missing(o.index.Objects)
}

func (o *outside) checkSignature(ctx context.Context, b []byte) error {
	if o.r.trust == nil {
		return nil
	}
	sig, err := o.r.s.ReadFile(ctx, o.backup.key(SignatureName), seal.MaxSignature)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: it has no signature", ErrUnsigned)
	} else if err != nil {
		return err
	}
	if o.signedBy, err = o.r.trust.Verify(b, sig); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnsigned, SignatureName, err)
	}
	return nil
}

// readManifest returns the manifest as it is stored.
func (o *outside) readManifest(ctx context.Context) ([]byte, error) {
	b, err := o.r.s.ReadFile(ctx, o.backup.key(o.manifest), maxManifest)
	if err != nil || o.index == nil {
		return b, err
	}
	want, err := o.index.manifest(o.manifest)
	if err == nil && want.SHA256 != sha256.Sum256(b) {
		err = fmt.Errorf("%w: %s is another one than %s lists", store.ErrDamaged, o.manifest, IndexName)
	}
	return b, err
}

// unlock opens the manifest, and all that follows with the same key.
func (s *Snapshot) unlock(o *outside) error {
	var key []byte
	if _, ok := s.found[seal.KeyName]; ok {
		var err error
		if key, err = s.r.s.ReadFile(s.ctx, s.Backup.key(seal.KeyName), maxKey); err != nil {
			return err
		}
	}
	var err error
	if s.opener, err = s.r.opener.Unlock(key); err == nil {
		s.raw, err = s.opener.Bytes(s.raw)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.manifest, damaged(err))
	}
	return nil
}

// maxKey bounds the size of the object that a passphrase opens.
const maxKey = 64 << 10

// damaged makes of the error of package seal one of package store, by which callers know damage.
func damaged(err error) error {
	if errors.Is(err, seal.ErrDamaged) && !errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return err
}

// stored returns under which name a file is stored.
func (s *Snapshot) stored(name string) string {
	if s.opener == nil {
		return name
	}
	return name + seal.Suffix
}

// Archive opens the archive. Its data come straight from the store, several ranges at a time, each object compared with its hash.
func (s *Snapshot) Archive() (pgarchive.Reader, error) {
	r, err := pgarchive.NewDirectoryReader(archiveFS{s: s}, s.Backup.String())
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", s.Backup, err)
	}
	return r, nil
}

// File returns a small file beside the archive.
func (s *Snapshot) File(name string) ([]byte, error) {
	return fs.ReadFile(archiveFS{s: s}, name)
}

func (s *Snapshot) object(f manifest.File) store.Object {
	return store.Object{Key: s.Backup.key(f.Name), Size: f.Bytes, SHA256: f.SHA256}
}

// RecordDrill adds the report of a drill, in JSON, to the backup. It names objects of the database, and is
// therefore encrypted to the key that opened the backup, if that is encrypted.
func (s *Snapshot) RecordDrill(ctx context.Context, d Drill, report []byte) error {
	err := s.recordDrill(ctx, d, report)
	if err != nil {
		return fmt.Errorf("record drill: %w", err)
	}
	return nil
}

func (s *Snapshot) recordDrill(ctx context.Context, d Drill, report []byte) error {
	if s.opener != nil {
		sealer, err := s.opener.Sealer()
		if err != nil {
			return err
		}
		if report, err = sealer.Bytes(report); err != nil {
			return err
		}
	}
	_, err := s.r.s.Put(ctx, s.Backup.key(s.stored(d.name())), bytes.NewReader(report))
	return err
}

// archiveFS shows those files of a backup that its manifest lists, and the manifest.
type archiveFS struct {
	s *Snapshot
	// opened, if not nil, is told of each object that is opened, or could not be, and returns what to read instead.
	opened func(store.Object, fs.File, error) (fs.File, error)
}

var _ fs.StatFS = archiveFS{}

// stat tells the size of an encrypted file as it is stored; that of the plain text is known when it is open.
func (a archiveFS) stat(name string) (fileInfo, error) {
	if name == ManifestName {
		return fileInfo{name, int64(len(a.s.raw)), a.s.Backup.Modified}, nil
	}
	stored := a.s.stored(name)
	f, ok := a.s.files[stored]
	if !ok {
		return fileInfo{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fileInfo{name, f.Bytes, a.s.found[stored].Modified}, nil
}

func (a archiveFS) Stat(name string) (fs.FileInfo, error) { return a.stat(name) }

func (a archiveFS) Open(name string) (fs.File, error) {
	st, err := a.stat(name)
	if err != nil {
		return nil, err
	}
	if name == ManifestName {
		return &file{bytes.NewReader(a.s.raw), io.NopCloser(nil), st}, nil
	}
	o := a.s.object(a.s.files[a.s.stored(name)])
	f, err := a.s.openObject(o, st)
	if a.opened != nil {
		return a.opened(o, f, err)
	}
	return f, err
}

// openObject opens an object of the store, in the clear.
func (s *Snapshot) openObject(o store.Object, st fileInfo) (fs.File, error) {
	r, err := s.r.s.Open(s.ctx, o)
	if err != nil {
		return nil, err
	}
	if s.opener == nil {
		return &file{r, r, st}, nil
	}
	plain, n, err := s.opener.Reader(r, o.Size)
	if err != nil {
		r.Close()
		return nil, sealedError(o.Key, err)
	}
	st.size = n
	return &file{sealedFile{plain, o.Key}, r, st}, nil
}

// sealedFile names the object in errors.
type sealedFile struct {
	r   io.Reader
	key string
}

func (f sealedFile) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	return n, sealedError(f.key, err)
}

// sealedError names the object in an error of package seal; those of the store name it themselves. A key that opened the
// manifest opens everything, or it is not what was put.
func sealedError(key string, err error) error {
	switch {
	case errors.Is(err, seal.ErrWrongKey):
		return fmt.Errorf("%s: %w: what opens the manifest does not open it: %v", key, store.ErrDamaged, err)
	case errors.Is(err, seal.ErrDamaged):
		return fmt.Errorf("%s: %w", key, damaged(err))
	}
	return err
}

type file struct {
	io.Reader
	io.Closer
	st fileInfo
}

func (f *file) Stat() (fs.FileInfo, error) { return f.st, nil }

type fileInfo struct {
	name     string
	size     int64
	modified time.Time
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return 0o400 }
func (i fileInfo) ModTime() time.Time { return i.modified }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }
