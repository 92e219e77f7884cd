package repo

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
)

// ProgressName is the object that says how far an incomplete backup came. It is removed when the backup is complete.
const ProgressName = "progress.json"

const (
	progressFormat  = "pghaul-progress"
	progressVersion = 1
	maxProgress     = 1 << 30
)

// Progress is the record of a backup that is not complete: whose it is, and what of it is stored. Another run that
// still sees the same snapshot can go on with it.
type Progress struct {
	Source    json.RawMessage `json:"source"`    // which database of which server, as the caller tells them apart
	Selection string          `json:"selection"` // equal for backups that are to have the same in them
	// Lock is the key of the advisory lock, in the source database, that is held while somebody works on the backup.
	Lock int64 `json:"lock"`

	State State `json:"-"`
}

// State is what a later run needs to go on with a backup.
type State struct {
	Protection string `json:"protection"` // to whom it is encrypted, and by whom signed: goes on only for the same

	Snapshot string `json:"snapshot"` // name for importing; empty: it ends with its session
	Visible  string `json:"visible"`  // which transactions it sees

	// Dump is what the dump itself wants to know; null before it has planned.
	Dump  json.RawMessage `json:"dump"`
	Begun []manifest.File `json:"begun"` // objects that were put when the backup was begun
	Done  []Stored        `json:"done"`
}

// Stored is a data entry whose object is stored.
type Stored struct {
	ID   int32         `json:"id"`  // dump ID
	Sum  string        `json:"sum"` // rows:bytes:sum
	File manifest.File `json:"file"`
}

// record is Progress as it is stored. The state has digests of rows, and what it lists goes into a manifest that may be signed; so
// of a backup that is encrypted or signed it is sealed with a key that the store does not have.
type record struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Progress
	State  *State `json:"state,omitempty"`
	Sealed []byte `json:"sealed,omitempty"` // nonce and AES-256-GCM of the state's JSON
}

// Rest is a backup that is not complete and has a record.
type Rest struct {
	Backup
	Progress // without its State, which Open reads

	record record
}

// NewProgressKey makes a key for Record.
func NewProgressKey() []byte {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return key
}

// sealing returns the cipher of a record's state.
func sealing(key []byte) (cipher.AEAD, error) {
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(b)
}

// ErrSealedProgress says that the state of a record does not open with the key, or that there is none.
var ErrSealedProgress = errors.New("how far it came cannot be read, as the key for that is not here")

// Open reads the state. key is that of Record.
func (r *Rest) Open(key []byte) error {
	switch {
	case r.record.State != nil && key == nil:
		r.State = *r.record.State
		return nil
	case r.record.State != nil || key == nil:
		return ErrSealedProgress
	}
	c, err := sealing(key)
	if err != nil {
		return err
	}
	n := c.NonceSize()
	if len(r.record.Sealed) < n {
		return ErrSealedProgress
	}
	b, err := c.Open(nil, r.record.Sealed[:n], r.record.Sealed[n:], []byte(r.folder()))
	if err != nil {
		return ErrSealedProgress
	}
	return json.Unmarshal(b, &r.State)
}

// Rests returns the incomplete backups of a database that say what they are, oldest first. Of others nothing can be said.
func (r *Repo) Rests(ctx context.Context, database string) ([]Rest, error) {
	all, err := r.List(ctx, database)
	if err != nil {
		return nil, err
	}
	var rests []Rest
	for _, b := range all {
		rest, ok, err := r.Reread(ctx, Rest{Backup: b})
		if err != nil {
			return nil, err
		}
		if ok {
			rests = append(rests, rest)
		}
	}
	return rests, nil
}

// Reread returns a rest as it is now, or false if it is a backup by now, gone, or has no record that can be read.
func (r *Repo) Reread(ctx context.Context, old Rest) (Rest, bool, error) {
	now := Rest{Backup: old.Backup}
	c, err := r.contents(ctx, old.Backup)
	if err != nil {
		return now, false, err
	}
	c.describe(&now.Backup)
	if _, ok := c[ProgressName]; !ok || now.Complete {
		return now, false, nil
	}
	text, err := r.s.ReadFile(ctx, now.key(ProgressName), maxProgress)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return now, false, nil
	case err != nil:
		return now, false, err
	}
	p := &now.record
	if json.Unmarshal(text, p) != nil || p.Format != progressFormat || p.Version != progressVersion {
		return now, false, nil
	}
	now.Progress = p.Progress
	return now, true, nil
}

// Resume continues a backup whose state is open. done are those of its data entries whose objects are there, in their size; what else is
// there will be written again. ctx ends everything that the writer does but Abort.
func (r *Repo) Resume(ctx context.Context, rest Rest, s Start) (w *Writer, done []Stored, err error) {
	if w, done, err = r.resume(ctx, rest, s); err != nil {
		return nil, nil, fmt.Errorf("continue backup %s: %w", rest.Backup, err)
	}
	return w, done, nil
}

func (r *Repo) resume(ctx context.Context, rest Rest, s Start) (w *Writer, done []Stored, err error) {
	c, err := r.contents(ctx, rest.Backup)
	if err != nil {
		return nil, nil, err
	}
	w = &Writer{r: r, ctx: ctx, backup: rest.Backup, sealer: s.Sealer, signer: s.Signer, files: make(map[string]manifest.File), recorded: true}
	if rest.State.Protection != s.protection() {
		return nil, nil, errors.New("it is not encrypted and signed as this one is to be")
	}
	if err := c.missing(rest.State.Begun); err != nil {
		return nil, nil, err
	}
	for _, f := range rest.State.Begun {
		w.files[f.Name] = f
	}
	// What the uploads of the run that was killed left behind. Nobody else writes here.
	if _, err := r.s.Sweep(ctx, rest.folder(), r.now()); err != nil {
		return nil, nil, err
	}
	if w.sealer != nil {
		var key []byte
		if _, ok := c[seal.KeyName]; ok {
			if key, err = r.s.ReadFile(ctx, rest.key(seal.KeyName), maxKey); err != nil {
				return nil, nil, err
			}
		}
		if w.sealer, err = w.sealer.Continue(key); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range rest.State.Done {
		if w.entryOf(o.File.Name) == o.ID && c.missing([]manifest.File{o.File}) == nil {
			w.files[o.File.Name] = o.File
			done = append(done, o)
		}
	}
	// The rest is written again, or is nothing that this run will list.
	var others []string
	for name := range c {
		if _, ok := w.files[name]; !ok && name != ProgressName {
			others = append(others, rest.key(name))
		}
	}
	return w, done, r.s.Delete(ctx, others...)
}

// entryOf returns the dump ID of the data entry that an object belongs to, 0 for another object, or one that is
// encrypted although the backup is not, or the reverse.
func (w *Writer) entryOf(name string) int32 {
	digits, suffix, _ := strings.Cut(name, ".dat")
	id, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || !slices.ContainsFunc(archiveSuffixes, func(s string) bool { return w.stored(s) == suffix }) {
		return 0
	}
	return int32(id)
}

// archiveSuffixes are those of the compressions.
var archiveSuffixes = []string{"", ".zst", ".gz", ".lz4"}

// Stored returns the object of a data entry that was written; false if there is none.
func (w *Writer) Stored(id int32) (manifest.File, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, suffix := range archiveSuffixes {
		if f, ok := w.files[w.stored(strconv.Itoa(int(id))+".dat"+suffix)]; ok {
			return f, true
		}
	}
	return manifest.File{}, false
}

// Record stores how far the backup came. The key seals the state; nil leaves it readable.
func (w *Writer) Record(p Progress, key []byte) error {
	if err := w.record(p, key); err != nil {
		return fmt.Errorf("record how far backup %s came: %w", w.backup, err)
	}
	return nil
}

func (w *Writer) record(p Progress, key []byte) error {
	s := p.State
	s.Begun, s.Protection = nil, Start{Sealer: w.sealer, Signer: w.signer}.protection()
	w.mu.Lock()
	w.recorded = true
	for _, name := range []string{RecoveryName, seal.KeyName} {
		if f, ok := w.files[name]; ok {
			s.Begun = append(s.Begun, f)
		}
	}
	w.mu.Unlock()
	if s.Done == nil {
		s.Done = []Stored{}
	}
	r := record{Format: progressFormat, Version: progressVersion, Progress: p, State: &s}
	if key != nil {
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		c, err := sealing(key)
		if err != nil {
			return err
		}
		nonce := make([]byte, c.NonceSize())
		rand.Read(nonce)
		r.State, r.Sealed = nil, c.Seal(nonce, nonce, text, []byte(w.backup.folder()))
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.r.s.Put(w.ctx, w.backup.key(ProgressName), bytes.NewReader(text))
	return err
}

// Keep lets Abort leave what is stored, for a later run to go on with; or lets it remove it again.
func (w *Writer) Keep(keep bool) {
	w.mu.Lock()
	w.keep = keep
	w.mu.Unlock()
}
