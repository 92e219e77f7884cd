package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultstore"
	"github.com/pghaul/pghaul/internal/store/memstore"
	"github.com/pghaul/pghaul/internal/store/storetest"
	"github.com/pghaul/pghaul/pgarchive"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newRepo(d driver.Store, now time.Time) *Repo {
	r := New(store.New(d, "backups", "mem"))
	r.now = func() time.Time { return now }
	return r
}

// rows is the data of a table as an archive has them.
func rows(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%d\t%x\n", i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	b.WriteString(pgarchive.CopyEnd)
	return b.Bytes()
}

func testManifest(database string) *manifest.Manifest {
	m := &manifest.Manifest{
		Server: manifest.Server{Version: "18.6", VersionNum: 180006}, Database: manifest.Name(database),
		Snapshot: manifest.Snapshot{Time: noon}, Complete: true,
	}
	m.Seal()
	return m
}

// write writes an archive with two tables, without completing the backup.
func write(r *Repo, ctx context.Context, database string) (*Writer, error) {
	return writeAs(r, ctx, Start{Database: database})
}

func writeAs(r *Repo, ctx context.Context, s Start) (*Writer, error) {
	s.ServerVersion, s.Compression, s.Tool = "18.6", "gzip", "pghaul test"
	database := s.Database
	w, err := r.Begin(ctx, s)
	if err != nil {
		return nil, err
	}
	spec, err := pgarchive.ParseCompression("gzip")
	if err != nil {
		return nil, err
	}
	a, err := pgarchive.NewDirectoryWriter(w, pgarchive.WriterOptions{Header: pgarchive.Header{
		Database: database, ServerVersion: "18.6", DumpVersion: "18.6", Created: noon, Compression: spec,
	}})
	if err != nil {
		return w, err
	}
	for id := range pgarchive.ID(2) {
		e := &pgarchive.Entry{ID: id + 1, Section: pgarchive.SectionData, Desc: "TABLE DATA", Tag: "t", Namespace: "public", HasData: true, CopyStmt: "COPY t FROM stdin;\n"}
		if err := a.Add(e); err != nil {
			return w, err
		}
	}
	for id := range pgarchive.ID(2) {
		d, err := a.Data(id + 1)
		if err != nil {
			return w, errors.Join(err, a.Abort())
		}
		_, err = d.Write(rows(100 * int(id+1)))
		if err = errors.Join(err, d.Close()); err != nil {
			return w, errors.Join(err, a.Abort())
		}
	}
	if err := a.Close(); err != nil {
		return w, err
	}
	return w, w.Put(GlobalsName, []byte("CREATE ROLE r;\n"))
}

func backup(t *testing.T, r *Repo, database string) Backup {
	t.Helper()
	w, err := write(r, t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(testManifest(database)); err != nil {
		t.Fatal(err)
	}
	return w.Backup()
}

func keys(t *testing.T, d driver.Store) (out []string) {
	t.Helper()
	p, err := d.List(t.Context(), driver.ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Objects {
		out = append(out, o.Key)
	}
	return out
}

func TestBackup(t *testing.T) {
	mem := memstore.New()
	r := newRepo(mem, noon)
	b := backup(t, r, "shop")
	var want []string
	for _, n := range []string{"1.dat.gz", "2.dat.gz", "RECOVERY.md", "globals.sql", "manifest.json", "toc.dat"} {
		want = append(want, "backups/shop/20261130T120000Z/"+n)
	}
	if got := keys(t, mem); !slices.Equal(got, want) {
		t.Errorf("stored: %q", got)
	}
	b, err := r.Find(t.Context(), "latest")
	if err != nil || !b.Complete || b.Objects != 6 || b.String() != "shop/20261130T120000Z" || !b.Time.Equal(noon) || b.Bytes == 0 {
		t.Fatalf("found %+v, %v", b, err)
	}
	s, err := r.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Archive()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, e := range a.Entries() {
		d, err := a.Data(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(d)
		if want := rows(100 * int(e.ID)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("entry %d: %d bytes of %d, %v", e.ID, len(got), len(want), err)
		}
		d.Close()
	}
	if m, err := a.Attachment("manifest.json"); err != nil || !bytes.Contains(m, []byte("pghaul-manifest")) {
		t.Errorf("manifest: %v", err)
	}
	if g, err := s.File(GlobalsName); err != nil || string(g) != "CREATE ROLE r;\n" {
		t.Errorf("globals: %q, %v", g, err)
	}
	v, err := r.Verify(t.Context(), b, VerifyOptions{})
	if err != nil || len(v.Problems)+len(v.Unknown) > 0 || v.Read != 5 || v.Read != v.Objects || v.BytesOf != v.Bytes {
		t.Errorf("verify: %+v, %v", v, err)
	}
	if v, err := r.Verify(t.Context(), b, VerifyOptions{Percent: 1}); err != nil || v.Read == 0 || v.Read == v.Objects {
		t.Errorf("verify 1 %%: %+v, %v", v, err)
	}
}

func TestSecondInTheSameSecondTakesTheNext(t *testing.T) {
	mem := memstore.New()
	r := newRepo(mem, noon)
	ids := []string{backup(t, r, "a").ID, backup(t, r, "a").ID, backup(t, r, "b").ID}
	if !slices.Equal(ids, []string{"20261130T120000Z", "20261130T120001Z", "20261130T120000Z"}) {
		t.Errorf("IDs: %q", ids)
	}
}

func TestFind(t *testing.T) {
	mem := memstore.New()
	r := newRepo(mem, noon)
	if _, err := r.Find(t.Context(), ""); !errors.Is(err, ErrNoBackup) {
		t.Errorf("in an empty store: %v", err)
	}
	backup(t, r, "a/b c")
	old := backup(t, r, "shop")
	newer := backup(t, newRepo(mem, noon.Add(time.Hour)), "shop")
	if _, err := write(newRepo(mem, noon.Add(2*time.Hour)), t.Context(), "shop"); err != nil { // never completed
		t.Fatal(err)
	}
	for _, c := range []struct{ selector, want, err string }{
		{"", "", "backups of 2 databases: name one, as in --snapshot 'a/b c/latest'; there are a/b c, shop"},
		{"shop", newer.String(), ""},
		{"shop/latest", newer.String(), ""},
		{"shop/" + old.ID, old.String(), ""},
		{"a/b c", "a/b c/20261130T120000Z", ""},
		{"a/b c/latest", "a/b c/20261130T120000Z", ""},
		{"none", "", "no such backup"},
		{"shop/20200101T000000Z", "", "no such backup"},
	} {
		b, err := r.Find(t.Context(), c.selector)
		if c.err == "" && (err != nil || b.String() != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v, %v", c.selector, b, err)
		}
	}
	all, err := r.List(t.Context(), "")
	if err != nil || len(all) != 4 || all[0].Database != "a/b c" || !all[2].Complete || all[3].Complete {
		t.Errorf("list: %+v, %v", all, err)
	}
	b, err := r.Find(t.Context(), "shop/"+all[3].ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(t.Context(), b); !errors.Is(err, ErrIncomplete) {
		t.Errorf("open an incomplete backup: %v", err)
	}
}

// Whatever is done to an object in the store is found: by Open, by Verify, or by whoever reads the data.
func TestDamage(t *testing.T) {
	put := func(t *testing.T, mem *memstore.Store, b Backup, name string, change func([]byte) []byte) {
		key := "backups/" + b.key(name)
		data, err := storetest.Get(t.Context(), mem, key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if data = change(data); data == nil {
			err = mem.Delete(t.Context(), key)
		} else {
			err = mem.Put(t.Context(), key, bytes.NewReader(data), driver.PutOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 4; return b }
	for _, c := range []struct {
		name   string
		file   string
		change func([]byte) []byte
		open   string // Open's error
		verify string
	}{
		{"data flipped", "2.dat.gz", flip, "", "2.dat.gz"},
		{"data cut", "2.dat.gz", func(b []byte) []byte { return b[:len(b)-1] }, "2.dat.gz has", ""},
		{"data missing", "1.dat.gz", func([]byte) []byte { return nil }, "1.dat.gz is missing", ""},
		{"contents flipped", "toc.dat", flip, "", "toc.dat"},
		{"globals flipped", "globals.sql", flip, "", "globals.sql"},
		{"manifest missing", "manifest.json", func([]byte) []byte { return nil }, "incomplete", ""},
		{"manifest cut", "manifest.json", func(b []byte) []byte { return b[:len(b)/2] }, "read manifest", ""},
		{"manifest newer", "manifest.json", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"version": 1`), []byte(`"version": 99`), 1)
		}, "newer version", ""},
		{"manifest of another database", "manifest.json", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"database": "shop"`), []byte(`"database": "shoq"`), 1)
		}, "of database shoq", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memstore.New()
			r := newRepo(mem, noon)
			b := backup(t, r, "shop")
			put(t, mem, b, c.file, c.change)
			_, err := r.Open(t.Context(), b)
			if c.open != "" {
				if err == nil || !strings.Contains(err.Error(), c.open) {
					t.Errorf("open: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			v, err := r.Verify(t.Context(), b, VerifyOptions{})
			if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], c.verify) {
				t.Errorf("verify: %+v, %v", v, err)
			}
		})
	}
	t.Run("objects swapped", func(t *testing.T) {
		mem := memstore.New()
		r := newRepo(mem, noon)
		b := backup(t, r, "shop")
		other := backup(t, newRepo(mem, noon.Add(time.Hour)), "shop")
		recovery, err := storetest.Get(t.Context(), mem, "backups/"+other.key(RecoveryName), 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		put(t, mem, b, RecoveryName, func([]byte) []byte { return recovery })
		if v, err := r.Verify(t.Context(), b, VerifyOptions{}); err != nil || len(v.Problems) != 1 {
			t.Errorf("verify: %+v, %v", v, err)
		}
	})
}

// At whatever request a store fails for good, what is left is no complete backup.
func TestFailuresLeaveNoBackup(t *testing.T) {
	errDown := errors.New("the store is gone")
	for _, late := range []bool{false, true} {
		for n := range 20 {
			mem := memstore.New()
			puts, gone := 0, false
			d := faultstore.New(mem, func(op faultstore.Op, _ string, _ int) faultstore.Fault {
				if op == faultstore.Put {
					puts++
				}
				if gone {
					return faultstore.Fault{Err: errDown}
				}
				if gone = op == faultstore.Put && puts > n; gone {
					return faultstore.Fault{Err: errDown, After: 100, Late: late}
				}
				return faultstore.Fault{}
			})
			w, err := write(newRepo(d, noon), t.Context(), "shop")
			if err == nil {
				err = w.Finish(testManifest("shop"))
			}
			if !gone {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if err == nil {
				t.Errorf("put %d failed, the backup did not", n)
			}
			all, lerr := newRepo(mem, noon).List(t.Context(), "")
			if lerr != nil {
				t.Fatal(lerr)
			}
			for _, b := range all {
				// Only when the reply to the manifest itself is lost is it complete, and then it is whole.
				if _, err := newRepo(mem, noon).Open(t.Context(), b); b.Complete && (!late || err != nil) {
					t.Errorf("put %d failed: %+v, %v", n, b, err)
				}
			}
		}
	}
}

func TestAbortAndDelete(t *testing.T) {
	mem := memstore.New()
	r := newRepo(mem, noon)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := write(r, ctx, "shop")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := w.Finish(testManifest("shop")); !errors.Is(err, context.Canceled) {
		t.Errorf("finish after an interrupt: %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if got := keys(t, mem); len(got) > 0 {
		t.Errorf("abort left %q", got)
	}
	b := backup(t, r, "shop")
	snap, err := r.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := snap.RecordDrill(t.Context(), Drill{noon, true}, []byte("{}")); err != nil {
		t.Error(err)
	}
	if b, err = r.Find(t.Context(), ""); err != nil || !b.Drilled() || b.Objects != 6 {
		t.Errorf("after a drill: %+v, %v", b, err)
	}
	if err := snap.RecordDrill(t.Context(), Drill{noon.Add(time.Minute), false}, []byte("{}")); err != nil {
		t.Error(err)
	}
	if b, err = r.Find(t.Context(), ""); err != nil || b.Drilled() || len(b.Drills) != 2 {
		t.Errorf("after a failed drill: %+v, %v", b, err)
	}
	if v, err := r.Verify(t.Context(), b, VerifyOptions{}); err != nil || len(v.Unknown)+len(v.Problems) > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	if err := r.Delete(t.Context(), b); err != nil {
		t.Error(err)
	}
	if got := keys(t, mem); len(got) > 0 {
		t.Errorf("delete left %q", got)
	}
}

// A stream that is given up can be written again under its name.
func TestRewrite(t *testing.T) {
	mem := memstore.New()
	w, err := newRepo(mem, noon).Begin(t.Context(), Start{Database: "d"})
	if err != nil {
		t.Fatal(err)
	}
	for _, give := range []bool{true, false} {
		f, err := w.Create("1.dat")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("half")); err != nil {
			t.Fatal(err)
		}
		if give {
			err = f.(interface{ Abort() error }).Abort()
		} else {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := w.files["1.dat"]; ok == give {
			t.Errorf("given up %t, recorded %t", give, ok)
		}
	}
}

func TestFolderNames(t *testing.T) {
	for name, want := range map[string]string{
		"shop": "shop", "a.b-c_D9": "a.b-c_D9", "..": "%2E.", "a/b": "a%2Fb", "ä": "%C3%A4", "a b": "a%20b", "%": "%25", "\xff": "%FF",
	} {
		if got := folderOf(name); got != want || store.CheckKey(got) != nil {
			t.Errorf("%q: %q", name, got)
		}
		if got, ok := databaseOf(want); !ok || got != name {
			t.Errorf("%q back: %q, %t", want, got, ok)
		}
	}
	for _, folder := range []string{"a b", "%2f", "%41", "%", ".x"} {
		if got, ok := databaseOf(folder); ok {
			t.Errorf("%q is taken for %q", folder, got)
		}
	}
}
