package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/pgarchive"
)

// Start says what is known when a backup begins.
type Start struct {
	Database      string
	ServerVersion string // as the server calls itself
	Compression   string // "zstd", ...; "none"
	Tool          string // name and version of the program

	Sealer *seal.Sealer // nil: nothing is encrypted
	Signer *seal.Signer // nil: nothing is signed
}

// Secret reports whether the backup is encrypted or signed.
func (s Start) Secret() bool { return s.Sealer != nil || s.Signer != nil }

// protection tells other keys apart.
func (s Start) protection() string {
	text := ""
	if s.Sealer != nil {
		text = "encrypted " + s.Sealer.ID()
	}
	if s.Signer != nil {
		text += " signed " + s.Signer.Fingerprint()
	}
	return text
}

// Writer writes one backup. It is the Dir of its archive. Its methods may be called from several goroutines, but
// for Finish, which ends it.
type Writer struct {
	r      *Repo
	ctx    context.Context
	backup Backup
	sealer *seal.Sealer
	signer *seal.Signer

	mu    sync.Mutex
	files map[string]manifest.File // by their names in the store

	recorded bool // there is an object ProgressName
	keep     bool // Abort leaves everything, see Keep
}

var _ pgarchive.Dir = (*Writer)(nil)

// claims is how many seconds after now are tried before it is given up to find a free ID.
const claims = 60

// Begin claims the folder of a new backup. ctx ends everything that the writer does but Abort.
func (r *Repo) Begin(ctx context.Context, s Start) (*Writer, error) {
	if s.Database == "" {
		return nil, errors.New("begin backup: the database has no name")
	}
	w := &Writer{r: r, ctx: ctx, sealer: s.Sealer, signer: s.Signer, files: make(map[string]manifest.File)}
	for i := range claims {
		t := r.now().UTC().Truncate(time.Second).Add(time.Duration(i) * time.Second)
		w.backup = Backup{Database: s.Database, ID: FormatID(t), Time: t}
		o, err := r.s.Create(ctx, w.backup.key(RecoveryName), recovery(w.backup, s))
		switch {
		case err == nil:
			w.add(RecoveryName, o)
			if err := w.putKey(); err != nil {
				return nil, errors.Join(err, w.Abort())
			}
			return w, nil
		case !errors.Is(err, store.ErrExists):
			return nil, fmt.Errorf("begin backup: %w", err)
		}
	}
	return nil, fmt.Errorf("begin backup: the next %d seconds have backups already", claims)
}

// putKey stores the key that a passphrase opens, if there is one.
func (w *Writer) putKey() error {
	if w.sealer == nil || w.sealer.Key() == nil {
		return nil
	}
	o, err := w.r.s.Put(w.ctx, w.backup.key(seal.KeyName), bytes.NewReader(w.sealer.Key()))
	if err != nil {
		return fmt.Errorf("begin backup: %w", err)
	}
	w.add(seal.KeyName, o)
	return nil
}

// stored returns under which name a file is stored.
func (w *Writer) stored(name string) string {
	if w.sealer == nil {
		return name
	}
	return name + seal.Suffix
}

// put stores a file, encrypted if the backup is, and returns what was stored.
func (w *Writer) put(ctx context.Context, name string, body io.Reader) (store.Object, error) {
	if w.sealer != nil {
		var err error
		if body, err = w.sealer.Reader(body); err != nil {
			return store.Object{}, fmt.Errorf("store %s: %w", name, err)
		}
	}
	return w.r.s.Put(ctx, w.backup.key(w.stored(name)), body)
}

// Backup returns what the backup is called and how it is protected; after Finish also what was stored.
func (w *Writer) Backup() Backup {
	b := w.backup
	b.Encrypted, b.Signed = w.sealer != nil, w.signer != nil
	return b
}

func (w *Writer) add(name string, o store.Object) {
	w.mu.Lock()
	w.files[name] = manifest.File{Name: name, Bytes: o.Size, SHA256: o.SHA256}
	w.mu.Unlock()
}

// Create starts an object of the archive, which is uploaded while it is written.
func (w *Writer) Create(name string) (io.WriteCloser, error) {
	switch name {
	case ManifestName, IndexName, SignatureName, RecoveryName, seal.KeyName:
		return nil, fmt.Errorf("%s is no file of an archive", name)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	r, pw := io.Pipe()
	o := &object{w: w, name: name, pipe: pw, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.stored, o.err = w.put(ctx, name, r)
		r.CloseWithError(o.err) // who writes on gets the reason
	}()
	return o, nil
}

// object is an object that is being uploaded.
type object struct {
	w      *Writer
	name   string
	pipe   *io.PipeWriter
	cancel context.CancelFunc
	done   chan struct{}
	stored store.Object
	err    error
}

func (o *object) Write(p []byte) (int, error) { return o.pipe.Write(p) }

func (o *object) Close() error {
	o.pipe.Close()
	<-o.done
	o.cancel()
	if o.err == nil {
		o.w.add(o.w.stored(o.name), o.stored)
	}
	return o.err
}

var errAborted = errors.New("upload is given up")

// Abort ends the upload; the object does not appear.
func (o *object) Abort() error {
	o.cancel()
	o.pipe.CloseWithError(errAborted)
	<-o.done
	return nil
}

// Put stores an object beside the archive.
func (w *Writer) Put(name string, data []byte) error {
	o, err := w.put(w.ctx, name, bytes.NewReader(data))
	if err != nil {
		return err
	}
	w.add(w.stored(name), o)
	return nil
}

// Finish completes the backup: it looks whether all objects are there, and puts the manifest,
// which it completes by the list of objects. After an error there is no backup; call Abort then.
func (w *Writer) Finish(m *manifest.Manifest) error {
	err := w.finish(m)
	if err == nil && w.recorded {
		// Only now: until the manifest is there it is what a later run needs. A record that stays does no harm.
		_ = w.r.s.Delete(w.ctx, w.backup.key(ProgressName))
	}
	if err != nil {
		return fmt.Errorf("complete backup %s: %w", w.backup, err)
	}
	return nil
}

func (w *Writer) finish(m *manifest.Manifest) error {
	if _, ok := w.files[w.stored(tocName)]; !ok {
		return errors.New("the archive has no table of contents")
	}
	if string(m.Database) != w.backup.Database {
		return fmt.Errorf("the manifest is of database %s", m.Database)
	}
	m.Files = m.Files[:0]
	for _, f := range w.files {
		m.Files = append(m.Files, f)
	}
	found, err := w.r.contents(w.ctx, w.backup)
	if err != nil {
		return err
	}
	if err := found.missing(m.Files); err != nil {
		return err
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	if w.sealer != nil {
		if b, err = w.sealer.Bytes(b); err != nil {
			return err
		}
	}
	for _, f := range m.Files {
		w.backup.Objects++
		w.backup.Bytes += f.Bytes
	}
	name := w.stored(ManifestName)
	if w.sealer != nil || w.signer != nil {
		if err := w.putIndex(append(slices.Clone(m.Files), fileOf(name, b))); err != nil {
			return err
		}
	}
	if err := w.putChecked(name, b); err != nil {
		return err
	}
	w.backup.Complete = true
	return nil
}

func fileOf(name string, b []byte) manifest.File {
	return manifest.File{Name: name, Bytes: int64(len(b)), SHA256: sha256.Sum256(b)}
}

// putIndex stores the list of all objects, and signs it.
func (w *Writer) putIndex(files []manifest.File) error {
	b, err := newIndex(w.backup, files).encode()
	if err != nil {
		return err
	}
	if err := w.putChecked(IndexName, b); err != nil || w.signer == nil {
		return err
	}
	sig, err := w.signer.Sign(b)
	if err != nil {
		return err
	}
	return w.putChecked(SignatureName, sig)
}

// putChecked stores an object that no hash elsewhere vouches for, and reads it back.
func (w *Writer) putChecked(name string, b []byte) error {
	key := w.backup.key(name)
	if _, err := w.r.s.Put(w.ctx, key, bytes.NewReader(b)); err != nil {
		return err
	}
	got, err := w.r.s.ReadFile(w.ctx, key, maxManifest)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, b) {
		return fmt.Errorf("%w: %s reads back differently", store.ErrDamaged, name)
	}
	w.backup.Objects++
	w.backup.Bytes += int64(len(b))
	return nil
}

// Commit does nothing: an archive alone is no backup.
func (w *Writer) Commit() error { return nil }

// patience is how long it may take to clean up.
const patience = time.Minute

// Abort removes what was written, also when ctx is done, unless Keep says otherwise.
func (w *Writer) Abort() error {
	w.mu.Lock()
	keep := w.keep
	w.mu.Unlock()
	if keep {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(w.ctx), patience)
	defer stop()
	if err := w.r.Delete(ctx, w.backup); err != nil {
		return fmt.Errorf("remove what backup %s had stored: %w", w.backup, err)
	}
	return nil
}
