package repo

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/store/memstore"
)

// recorded writes a backup that is not complete, with a record of both of its entries.
func recorded(t *testing.T, r *Repo, database string, key []byte) *Writer {
	t.Helper()
	w, err := write(r, t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	p := Progress{Source: json.RawMessage(`{"system":"1"}`), Selection: "all", Lock: 7, State: State{Snapshot: "0-1"}}
	for id := range int32(2) {
		f, ok := w.Stored(id + 1)
		if !ok {
			t.Fatalf("entry %d is not stored", id+1)
		}
		p.State.Done = append(p.State.Done, Stored{id + 1, "0:0:00000000000000000000000000000000", f})
	}
	if _, ok := w.Stored(3); ok {
		t.Error("there is an entry 3")
	}
	if err := w.Record(p, key); err != nil {
		t.Fatal(err)
	}
	return w
}

// What is stored in its size is taken over, everything else is removed.
func TestResume(t *testing.T) {
	d := memstore.New()
	r := newRepo(d, noon)
	backup(t, r, "shop") // complete, so it is no rest
	r = newRepo(d, noon.Add(3600e9))
	first := recorded(t, r, "shop", nil)
	if err := first.Put("2.dat.gz", []byte("cut")); err != nil { // another size than is recorded
		t.Fatal(err)
	}
	rests, err := r.Rests(t.Context(), "shop")
	if err != nil || len(rests) != 1 {
		t.Fatalf("rests: %v, %v", rests, err)
	}
	rest := rests[0]
	if rest.ID != first.Backup().ID || rest.Lock != 7 || rest.Selection != "all" || string(rest.Source) != `{"system":"1"}` {
		t.Errorf("rest: %+v", rest)
	}
	if err := rest.Open(nil); err != nil {
		t.Fatal(err)
	}
	w, done, err := r.Resume(t.Context(), rest, Start{Database: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 || done[0].ID != 1 {
		t.Errorf("done: %+v", done)
	}
	var left []string
	for _, k := range keys(t, d) {
		if name, ok := strings.CutPrefix(k, "backups/"+first.Backup().folder()+"/"); ok {
			left = append(left, name)
		}
	}
	if want := []string{"1.dat.gz", "RECOVERY.md", "progress.json"}; !slices.Equal(left, want) {
		t.Errorf("objects: %q", left)
	}

	// A writer that keeps removes nothing, one that does not keep all.
	w.Keep(true)
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.Reread(t.Context(), rest); err != nil || !ok {
		t.Errorf("reread: %t, %v", ok, err)
	}
	w.Keep(false)
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := r.Reread(t.Context(), rest); err != nil || ok {
		t.Errorf("reread after removal: %t, %v", ok, err)
	}
}

// The state of a sealed record opens with its key, in its own folder, and not otherwise.
func TestSealedProgress(t *testing.T) {
	d := memstore.New()
	r := newRepo(d, noon)
	key := NewProgressKey()
	w := recorded(t, r, "shop", key)
	text, err := r.s.ReadFile(t.Context(), w.backup.key(ProgressName), 1<<20)
	if err != nil || strings.Contains(string(text), "0-1") || strings.Contains(string(text), "dat") {
		t.Errorf("the record is in the clear: %s, %v", text, err)
	}
	open := func(key []byte) error {
		t.Helper()
		rests, err := r.Rests(t.Context(), "shop")
		if err != nil || len(rests) != 1 {
			t.Fatalf("rests: %v, %v", rests, err)
		}
		return rests[0].Open(key)
	}
	if err := open(key); err != nil {
		t.Error(err)
	}
	for _, k := range [][]byte{nil, NewProgressKey()} {
		if err := open(k); !errors.Is(err, ErrSealedProgress) {
			t.Errorf("another key: %v", err)
		}
	}
	if err := w.Finish(testManifest("shop")); err != nil {
		t.Fatal(err)
	}
	if rests, err := r.Rests(t.Context(), "shop"); err != nil || len(rests) > 0 {
		t.Errorf("rests of a complete backup: %v, %v", rests, err)
	}
	if k := keys(t, d); slices.ContainsFunc(k, func(s string) bool { return strings.HasSuffix(s, ProgressName) }) {
		t.Errorf("objects: %q", k)
	}
}
