package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/pgarchive"
)

// maxManifest bounds the size of a manifest that is read: that of a database of a few million objects.
const maxManifest = 1 << 30

// ErrIncomplete says that a backup has no manifest: it was interrupted, or is still running.
var ErrIncomplete = errors.New("backup is incomplete")

// Snapshot is a complete backup that can be read.
type Snapshot struct {
	Backup   Backup
	Manifest *manifest.Manifest

	r     *Repo
	ctx   context.Context
	found contents
	files map[string]manifest.File
	raw   []byte // the manifest as it is stored
}

// Open reads the manifest of a backup and looks whether all of its objects are there. An incomplete
// or damaged backup, or one of a newer version, is refused. ctx ends all reading from the snapshot.
func (r *Repo) Open(ctx context.Context, b Backup) (*Snapshot, error) {
	s, err := r.open(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", b, err)
	}
	return s, nil
}

func (r *Repo) open(ctx context.Context, b Backup) (*Snapshot, error) {
	s := &Snapshot{Backup: b, r: r, ctx: ctx}
	var err error
	s.raw, err = r.s.ReadFile(ctx, b.key(ManifestName), maxManifest)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("%w: there is no %s", ErrIncomplete, ManifestName)
	case err != nil:
		return nil, err
	}
	if s.Manifest, err = manifest.Decode(s.raw); err != nil {
		return nil, err
	}
	if string(s.Manifest.Database) != b.Database {
		return nil, fmt.Errorf("%w: its manifest is of database %s", store.ErrDamaged, s.Manifest.Database)
	}
	s.files = make(map[string]manifest.File)
	for _, f := range s.Manifest.Files {
		s.files[f.Name] = f
	}
	if _, ok := s.files[tocName]; !ok {
		return nil, fmt.Errorf("%w: its manifest lists no %s", store.ErrDamaged, tocName)
	}
	if s.found, err = r.contents(ctx, b); err != nil {
		return nil, err
	}
	s.found.describe(&s.Backup)
	if err := s.found.missing(s.Manifest.Files); err != nil {
		return nil, err
	}
	return s, nil
}

// Archive opens the archive. Its data come straight from the store, several ranges at a time, each object compared with its hash.
func (s *Snapshot) Archive() (pgarchive.Reader, error) {
	r, err := pgarchive.NewDirectoryReader(archiveFS{s}, s.Backup.String())
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", s.Backup, err)
	}
	return r, nil
}

// File returns a small file beside the archive.
func (s *Snapshot) File(name string) ([]byte, error) {
	return fs.ReadFile(archiveFS{s}, name)
}

func (s *Snapshot) object(f manifest.File) store.Object {
	return store.Object{Key: s.Backup.key(f.Name), Size: f.Bytes, SHA256: f.SHA256}
}

// RecordDrill adds the report of a drill, in JSON, to a backup.
func (r *Repo) RecordDrill(ctx context.Context, b Backup, d Drill, report []byte) error {
	if _, err := r.s.Put(ctx, b.key(d.name()), bytes.NewReader(report)); err != nil {
		return fmt.Errorf("record drill: %w", err)
	}
	return nil
}

// archiveFS shows those files of a backup that its manifest lists, and the manifest.
type archiveFS struct{ s *Snapshot }

var _ fs.StatFS = archiveFS{}

func (a archiveFS) stat(name string) (fileInfo, error) {
	if name == ManifestName {
		return fileInfo{name, int64(len(a.s.raw)), a.s.Backup.Modified}, nil
	}
	f, ok := a.s.files[name]
	if !ok {
		return fileInfo{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return fileInfo{name, f.Bytes, a.s.found[name].Modified}, nil
}

func (a archiveFS) Stat(name string) (fs.FileInfo, error) { return a.stat(name) }

func (a archiveFS) Open(name string) (fs.File, error) {
	st, err := a.stat(name)
	if err != nil {
		return nil, err
	}
	if name == ManifestName {
		return &file{io.NopCloser(bytes.NewReader(a.s.raw)), st}, nil
	}
	r, err := a.s.r.s.Open(a.s.ctx, a.s.object(a.s.files[name]))
	if err != nil {
		return nil, err
	}
	return &file{r, st}, nil
}

type file struct {
	io.ReadCloser
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
