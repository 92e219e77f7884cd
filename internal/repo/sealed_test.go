package repo

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/seal"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultstore"
	"github.com/pghaul/pghaul/internal/store/memstore"
	"github.com/pghaul/pghaul/internal/store/storetest"
	"github.com/pghaul/pghaul/pgarchive"
)

// person has keys to seal, open, sign and check with.
type person struct {
	sealer   *seal.Sealer
	opener   *seal.Opener
	signer   *seal.Signer
	verifier *seal.Verifier
}

func newPerson(t testing.TB) *person {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	recipient, err := seal.ParseRecipient(id.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	p := new(person)
	if p.sealer, err = seal.NewSealer([]seal.Recipient{recipient}); err != nil {
		t.Fatal(err)
	}
	p.opener = seal.NewOpener(seal.Keys{Identities: func() ([]seal.Identity, error) { return []seal.Identity{id}, nil }})
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.signer, err = seal.ParseSigner(pem.EncodeToMemory(block), "", nil); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	if p.verifier, err = seal.ParseVerifier(ssh.MarshalAuthorizedKey(key)); err != nil {
		t.Fatal(err)
	}
	return p
}

// reading is the repository of somebody with these keys.
func reading(mem driver.Store, o *seal.Opener, v *seal.Verifier) *Repo {
	r := newRepo(mem, noon)
	r.Use(o, v)
	return r
}

// tables are the two tables of write, with large objects.
func tables() *manifest.Manifest {
	m := testManifest("shop")
	for id := range int32(2) {
		var d digest.Lines
		d.Write(rows(100 * int(id+1)))
		table := manifest.Table{Namespace: "public", Name: manifest.Name(fmt.Sprintf("t%d", id+1)), Pieces: []manifest.Piece{{ID: id + 1}}}
		table.SetSum(d.Sum())
		table.Pieces[0].SetSum(d.Sum())
		m.Tables = append(m.Tables, table)
	}
	return m
}

// protectedBackup makes a backup in mem; nil is not encrypted, not signed.
func protectedBackup(t testing.TB, mem driver.Store, at time.Time, s *seal.Sealer, g *seal.Signer) Backup {
	t.Helper()
	w, err := writeAs(newRepo(mem, at), t.Context(), Start{Database: "shop", Sealer: s, Signer: g})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(tables()); err != nil {
		t.Fatal(err)
	}
	return w.Backup()
}

func get(t testing.TB, mem *memstore.Store, b Backup, name string) []byte {
	t.Helper()
	data, err := storetest.Get(t.Context(), mem, "backups/"+b.key(name), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func set(t testing.TB, mem *memstore.Store, b Backup, name string, data []byte) {
	t.Helper()
	if err := mem.Put(t.Context(), "backups/"+b.key(name), bytes.NewReader(data), driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, mem *memstore.Store, b Backup, name string) {
	t.Helper()
	if err := mem.Delete(t.Context(), "backups/"+b.key(name)); err != nil {
		t.Fatal(err)
	}
}

// readAll restores, as far as a store is concerned: it returns the error of the first file that is not as it was put.
func readAll(ctx context.Context, r *Repo, b Backup) error {
	s, err := r.Open(ctx, b)
	if err != nil {
		return err
	}
	a, err := s.Archive()
	if err != nil {
		return err
	}
	defer a.Close()
	for _, e := range a.Entries() {
		d, err := a.Data(ctx, e.ID)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(d)
		d.Close()
		if err != nil {
			return err
		}
		if want := rows(100 * int(e.ID)); !bytes.Equal(got, want) {
			return fmt.Errorf("entry %d: %d bytes instead of %d, and no error", e.ID, len(got), len(want))
		}
	}
	_, err = s.File(GlobalsName)
	return err
}

func TestSealed(t *testing.T) {
	me := newPerson(t)
	mem := memstore.New()
	b := protectedBackup(t, mem, noon, me.sealer, me.signer)
	var names []string
	for _, key := range keys(t, mem) {
		name := key[strings.LastIndexByte(key, '/')+1:]
		names = append(names, name)
		data := get(t, mem, b, name)
		if strings.HasSuffix(name, seal.Suffix) != bytes.HasPrefix(data, []byte("age-encryption.org/v1\n")) {
			t.Errorf("%s: %.30q", name, data)
		}
		if name != RecoveryName && bytes.Contains(data, []byte("public")) || bytes.Contains(data, []byte("CREATE")) {
			t.Errorf("%s tells what is in the database: %s", name, data)
		}
	}
	want := []string{"1.dat.gz.age", "2.dat.gz.age", "RECOVERY.md", "globals.sql.age", "index.json", "index.json.sig", "manifest.json.age", "toc.dat.age"}
	if !slices.Equal(names, want) {
		t.Errorf("stored: %q", names)
	}

	// Without a key: list, and that what is stored is what was put.
	outside := reading(mem, nil, me.verifier)
	found, err := outside.Find(t.Context(), "")
	if err != nil || !found.Complete || !found.Encrypted || !found.Signed || found.Objects != len(want) || found.Objects != b.Objects || found.Bytes != b.Bytes {
		t.Errorf("found %+v, %v; made %+v", found, err, b)
	}
	v, err := outside.Verify(t.Context(), b, VerifyOptions{})
	if err != nil || len(v.Problems)+len(v.Unknown) > 0 || v.Read != 6 || v.Read != v.Objects || v.Opened || !v.Encrypted || v.SignedBy != me.signer.Fingerprint() {
		t.Errorf("verify without a key: %+v, %v", v, err)
	}
	if _, err := outside.Verify(t.Context(), b, VerifyOptions{Rows: true}); !errors.Is(err, ErrRowsSealed) || !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("verify rows without a key: %v", err)
	}

	// With a key: everything.
	inside := reading(mem, me.opener, me.verifier)
	if err := readAll(t.Context(), inside, b); err != nil {
		t.Error(err)
	}
	v, err = inside.Verify(t.Context(), b, VerifyOptions{Rows: true})
	if err != nil || len(v.Problems)+len(v.Unknown) > 0 || v.Read != 5 || v.Read != v.Objects || v.BytesOf != v.Bytes || !v.Opened || v.Pieces != 2 || v.Rows != 300 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	s, err := inside.Open(t.Context(), b)
	if err != nil || s.SignedBy != me.signer.Fingerprint() {
		t.Fatalf("open: %v", err)
	}
	if text, err := s.File(ManifestName); err != nil || !bytes.Contains(text, []byte("pghaul-manifest")) {
		t.Errorf("manifest: %v", err)
	}

	// The report of a drill is no less secret.
	if err := s.RecordDrill(t.Context(), Drill{noon, true}, []byte(`{"public": 1}`)); err != nil {
		t.Fatal(err)
	}
	name := "drill-20261130T120000Z-passed.json.age"
	if plain, err := me.opener.Bytes(get(t, mem, b, name)); err != nil || string(plain) != `{"public": 1}` {
		t.Errorf("report: %q, %v", plain, err)
	}
	if found, err = outside.Find(t.Context(), ""); err != nil || !found.Drilled() {
		t.Errorf("after a drill: %+v, %v", found, err)
	}
	if v, err = outside.Verify(t.Context(), b, VerifyOptions{}); err != nil || len(v.Unknown) > 0 {
		t.Errorf("verify after a drill: %+v, %v", v, err)
	}
	if err := outside.Delete(t.Context(), b); err != nil || len(keys(t, mem)) > 0 {
		t.Errorf("delete: %v, left %q", err, keys(t, mem))
	}
}

// Whatever is done to a protected backup is refused with the reason and the name of the object: by who has the key, and as
// far as possible by who has none.
func TestSealedDamage(t *testing.T) {
	me, other := newPerson(t), newPerson(t)
	flip := func(name string) func(testing.TB, *memstore.Store, Backup, Backup) {
		return func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			data := get(t, mem, b, name)
			data[len(data)/2] ^= 1
			set(t, mem, b, name, data)
		}
	}
	cut := func(name string) func(testing.TB, *memstore.Store, Backup, Backup) {
		return func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			data := get(t, mem, b, name)
			set(t, mem, b, name, data[:len(data)-1])
		}
	}
	drop := func(name string) func(testing.TB, *memstore.Store, Backup, Backup) {
		return func(t testing.TB, mem *memstore.Store, b, _ Backup) { remove(t, mem, b, name) }
	}
	from := func(names ...string) func(testing.TB, *memstore.Store, Backup, Backup) {
		return func(t testing.TB, mem *memstore.Store, b, later Backup) {
			for _, name := range names {
				set(t, mem, b, name, get(t, mem, later, name))
			}
		}
	}
	// rewrite makes the backup again as somebody who knows to whom it is encrypted, but cannot sign.
	rewrite := func(change func(m []byte) []byte) func(testing.TB, *memstore.Store, Backup, Backup) {
		return func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			m, err := me.opener.Bytes(get(t, mem, b, sealedManifest))
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := me.sealer.Bytes(change(m))
			if err != nil {
				t.Fatal(err)
			}
			x, err := decodeIndex(get(t, mem, b, IndexName))
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.Objects {
				if x.Objects[i].Name == sealedManifest {
					x.Objects[i] = fileOf(sealedManifest, sealed)
				}
			}
			text, err := x.encode()
			if err != nil {
				t.Fatal(err)
			}
			set(t, mem, b, sealedManifest, sealed)
			set(t, mem, b, IndexName, text)
		}
	}
	const ok = ""
	for _, c := range []struct {
		name   string
		change func(t testing.TB, mem *memstore.Store, b, later Backup)

		read    string // the error of who has the key and does not ask for a signature
		trusted string // of who asks for one; "=": the same
		outside string // the error or problem of Verify without a key; "=": the same
	}{
		{"data flipped", flip("2.dat.gz.age"), "2.dat.gz.age", "=", "2.dat.gz.age: object is damaged: its SHA-256"},
		{"data cut", cut("2.dat.gz.age"), "2.dat.gz.age has", "=", "="},
		{"data missing", drop("1.dat.gz.age"), "1.dat.gz.age is missing", "=", "="},
		{"data of another backup", from("1.dat.gz.age"), "1.dat.gz.age: object is damaged: its SHA-256", "=", "="},
		{"data swapped with others", func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			one, two := get(t, mem, b, "toc.dat.age"), get(t, mem, b, "globals.sql.age")
			set(t, mem, b, "toc.dat.age", two)
			set(t, mem, b, "globals.sql.age", one)
		}, "globals.sql.age has", "=", "="},
		{"table of contents flipped", flip("toc.dat.age"), "toc.dat.age: ", "=", "toc.dat.age: object is damaged: its SHA-256"},
		{"roles flipped", flip("globals.sql.age"), "globals.sql.age: ", "=", "globals.sql.age: object is damaged: its SHA-256"},
		{"manifest flipped", flip(sealedManifest), "manifest.json.age is another one than index.json lists", "=", "manifest.json.age: object is damaged"},
		{"manifest cut", cut(sealedManifest), "manifest.json.age has", "=", "="},
		{"manifest missing", drop(sealedManifest), "incomplete", "=", "="},
		{"manifest of another backup", from(sealedManifest), "manifest.json.age", "=", "="},
		{"manifest and index of another backup", from(sealedManifest, IndexName), "index.json is that of backup shop/20261130T130000Z", "signature is not valid", "="},
		{"all of another backup but the data", from(sealedManifest, IndexName, SignatureName, "toc.dat.age", "globals.sql.age"), "index.json is that of backup", "=", "="},
		{"manifest in the clear beside it", func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			set(t, mem, b, ManifestName, []byte("{}"))
		}, "there are both manifest.json and manifest.json.age", "=", "="},
		{"a newer manifest", rewrite(func(m []byte) []byte {
			return bytes.Replace(m, []byte(`"version": 1`), []byte(`"version": 99`), 1)
		}), "newer version", "signature is not valid", ok},
		{"a manifest that leaves an object out", rewrite(func(m []byte) []byte {
			i := bytes.Index(m, []byte(`{"name":"globals.sql.age"`))
			j := bytes.IndexByte(m[i:], '\n')
			return append(bytes.Clone(m[:i]), bytes.TrimLeft(m[i+j:], "\n ")...)
		}), "globals.sql.age is in the index and not in the manifest", "signature is not valid", ok},
		{"a manifest with an object of another hash", rewrite(func(m []byte) []byte {
			i := bytes.Index(m, []byte(`{"name":"globals.sql.age"`))
			j := i + bytes.Index(m[i:], []byte(`"sha256":"`)) + len(`"sha256":"`)
			out := bytes.Clone(m)
			copy(out[j:], strings.Repeat("0", 64))
			return out
		}), "globals.sql.age is another one in the index than in the manifest", "signature is not valid", ok},
		{"index missing", drop(IndexName), "index.json is missing", "=", "="},
		{"index flipped", flip(IndexName), "", "signature is not valid", ""},
		{"index cut", func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			set(t, mem, b, IndexName, get(t, mem, b, IndexName)[:200])
		}, "index.json", "signature is not valid", "index.json"},
		{"newer index", func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			set(t, mem, b, IndexName, bytes.Replace(get(t, mem, b, IndexName), []byte(`"version": 1`), []byte(`"version": 2`), 1))
		}, "newer version", "signature is not valid", "="},
		{"signature missing", drop(SignatureName), ok, "it has no signature", ok},
		{"signature flipped", flip(SignatureName), ok, "signature is not valid", ok},
		{"signature of somebody else", func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			sig, err := other.signer.Sign(get(t, mem, b, IndexName))
			if err != nil {
				t.Fatal(err)
			}
			set(t, mem, b, SignatureName, sig)
		}, ok, "none of the trusted keys", ok},
		{"a key that a passphrase would open", func(t testing.TB, mem *memstore.Store, b, _ Backup) {
			set(t, mem, b, seal.KeyName, get(t, mem, b, "toc.dat.age"))
		}, "encrypted with a passphrase", "=", ok},
		{"nothing", func(testing.TB, *memstore.Store, Backup, Backup) {}, ok, ok, ok},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memstore.New()
			b := protectedBackup(t, mem, noon, me.sealer, me.signer)
			later := protectedBackup(t, mem, noon.Add(time.Hour), me.sealer, me.signer)
			c.change(t, mem, b, later)
			check := func(who string, err error, want string) {
				t.Helper()
				if want == "=" {
					want = c.read
				}
				if (err == nil) != (want == ok) && c.name != "index flipped" || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", who, err)
				}
			}
			check("with the key", readAll(t.Context(), reading(mem, me.opener, nil), b), c.read)
			check("with the key and a demand", readAll(t.Context(), reading(mem, me.opener, me.verifier), b), c.trusted)
			verified := func(r *Repo, o VerifyOptions) error {
				v, err := r.Verify(t.Context(), b, o)
				if err == nil && len(v.Problems) > 0 {
					err = errors.New(strings.Join(v.Problems, "\n"))
				}
				return err
			}
			check("verify with the key", verified(reading(mem, me.opener, nil), VerifyOptions{}), c.read)
			check("verify rows", verified(reading(mem, me.opener, nil), VerifyOptions{Rows: true}), c.read)
			check("verify without a key", verified(reading(mem, nil, nil), VerifyOptions{}), c.outside)
			if err := readAll(t.Context(), reading(mem, other.opener, nil), later); !errors.Is(err, seal.ErrWrongKey) || !strings.Contains(err.Error(), sealedManifest) {
				t.Errorf("with another key: %v", err)
			}
			if err := readAll(t.Context(), reading(mem, nil, nil), later); !errors.Is(err, seal.ErrNoKey) {
				t.Errorf("without a key: %v", err)
			}
		})
	}
}

// A backup may be signed and not encrypted; one that is neither is refused when a signature is demanded.
func TestSignedInTheClear(t *testing.T) {
	me, other := newPerson(t), newPerson(t)
	mem := memstore.New()
	b := protectedBackup(t, mem, noon, nil, me.signer)
	plain := protectedBackup(t, mem, noon.Add(time.Hour), nil, nil)
	if b.Encrypted || !b.Signed {
		t.Errorf("made %+v", b)
	}
	for _, r := range []*Repo{reading(mem, nil, nil), reading(mem, nil, me.verifier), reading(mem, other.opener, me.verifier)} {
		if err := readAll(t.Context(), r, b); err != nil {
			t.Error(err)
		}
		if v, err := r.Verify(t.Context(), b, VerifyOptions{Rows: true}); err != nil || len(v.Problems)+len(v.Unknown) > 0 || v.Rows != 300 {
			t.Errorf("verify: %+v, %v", v, err)
		}
	}
	for _, c := range []struct {
		b    Backup
		v    *seal.Verifier
		want string
	}{
		{b, other.verifier, "none of the trusted keys"},
		{plain, me.verifier, "it has no signature"},
	} {
		r := reading(mem, nil, c.v)
		if _, err := r.Open(t.Context(), c.b); !errors.Is(err, ErrUnsigned) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("open: %v", err)
		}
		if _, err := r.Verify(t.Context(), c.b, VerifyOptions{}); !errors.Is(err, ErrUnsigned) {
			t.Errorf("verify: %v", err)
		}
	}
	set(t, mem, b, ManifestName, get(t, mem, plain, ManifestName))
	if _, err := reading(mem, nil, me.verifier).Open(t.Context(), b); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("another manifest: %v", err)
	}
}

// Nothing of an object that is not what was put is read to its end, whatever its size.
func TestSealedLargeObject(t *testing.T) {
	me := newPerson(t)
	mem := memstore.New()
	w, err := newRepo(mem, noon).Begin(t.Context(), Start{Database: "shop", Sealer: me.sealer})
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
	if err := errors.Join(w.Put("big", data), w.Put(tocName, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(testManifest("shop")); err != nil {
		t.Fatal(err)
	}
	b, r := w.Backup(), reading(mem, me.opener, nil)
	read := func() ([]byte, error) {
		s, err := r.Open(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return s.File("big")
	}
	if got, err := read(); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	sealed := get(t, mem, b, "big.age")
	for _, at := range []int{10, 150, len(sealed) / 2, len(sealed) - 1} {
		bad := bytes.Clone(sealed)
		bad[at] ^= 1
		set(t, mem, b, "big.age", bad)
		got, err := read()
		if !errors.Is(err, store.ErrDamaged) || len(got) >= len(data) || !strings.Contains(err.Error(), "big.age") {
			t.Errorf("byte %d changed: %d bytes, %v", at, len(got), err)
		}
		if !bytes.HasPrefix(data, got) {
			t.Errorf("byte %d changed: what was read was never put", at)
		}
	}
	// One that was sealed for another place decrypts well, and its hash is that of another.
	other, err := me.sealer.Bytes(bytes.Repeat([]byte("f"), len(data)))
	if err != nil {
		t.Fatal(err)
	}
	set(t, mem, b, "big.age", other)
	if got, err := read(); !errors.Is(err, store.ErrDamaged) || len(got) >= len(data) {
		t.Errorf("another object: %d bytes, %v", len(got), err)
	}
}

// The rows are compared with the manifest, and what differs is named.
func TestVerifyRows(t *testing.T) {
	me := newPerson(t)
	for _, c := range []struct {
		name   string
		change func(m *manifest.Manifest)
		want   string
	}{
		{"as put", func(*manifest.Manifest) {}, ""},
		{"another row", func(m *manifest.Manifest) {
			s := m.Tables[1].Sum()
			s.Lo++
			m.Tables[1].SetSum(s)
			m.Tables[1].Pieces[0].SetSum(s)
		}, "rows of table public.t2 (2.dat.gz"},
		{"a table too few", func(m *manifest.Manifest) { m.Tables = m.Tables[:1] }, "TABLE DATA t: the manifest has no such data"},
		{"a table too many", func(m *manifest.Manifest) {
			m.Tables = append(m.Tables, manifest.Table{Namespace: "public", Name: "t3", Pieces: []manifest.Piece{{ID: 3}}})
		}, "rows of table public.t3 (entry 3): the archive has no such data"},
		{"a large object too many", func(m *manifest.Manifest) { m.LargeObjects.SetSum(digest.Sum{Rows: 1, Bytes: 5, Lo: 7}) }, "large objects: 0:0:"},
	} {
		for _, sealer := range []*seal.Sealer{nil, me.sealer} {
			mem := memstore.New()
			w, err := writeAs(newRepo(mem, noon), t.Context(), Start{Database: "shop", Sealer: sealer})
			if err != nil {
				t.Fatal(err)
			}
			m := tables()
			c.change(m)
			if err := w.Finish(m); err != nil {
				t.Fatal(err)
			}
			v, err := reading(mem, me.opener, nil).Verify(t.Context(), w.Backup(), VerifyOptions{Rows: true})
			if err != nil || len(v.Problems) > 1 || (len(v.Problems) == 0) != (c.want == "") {
				t.Fatalf("%s: %+v, %v", c.name, v, err)
			}
			if c.want != "" && !strings.Contains(v.Problems[0], c.want) {
				t.Errorf("%s: %s", c.name, v.Problems[0])
			}
		}
	}
	// Of damaged rows the table is named too, and a part of the objects can be chosen.
	mem := memstore.New()
	b := protectedBackup(t, mem, noon, me.sealer, nil)
	r := reading(mem, me.opener, nil)
	if v, err := r.Verify(t.Context(), b, VerifyOptions{Rows: true, Percent: 1}); err != nil || len(v.Problems) > 0 || v.Read < 1 || v.Read > 3 {
		t.Errorf("verify 1 %%: %+v, %v", v, err)
	}
	data := get(t, mem, b, "2.dat.gz.age")
	data[len(data)-20] ^= 1
	set(t, mem, b, "2.dat.gz.age", data)
	for _, rows := range []bool{false, true} {
		v, err := r.Verify(t.Context(), b, VerifyOptions{Rows: rows})
		if err != nil || len(v.Problems) != 1 || !strings.HasPrefix(v.Problems[0], "rows of table public.t2: ") || !strings.Contains(v.Problems[0], "2.dat.gz.age: object is damaged") {
			t.Errorf("rows %t: %+v, %v", rows, v, err)
		}
	}
	// A store that fails is no damage.
	down := errors.New("the line is down")
	d := faultstore.New(mem, func(op faultstore.Op, key string, _ int) faultstore.Fault {
		if op == faultstore.Get && strings.HasSuffix(key, "2.dat.gz.age") {
			return faultstore.Fault{Err: down}
		}
		return faultstore.Fault{}
	})
	for _, rows := range []bool{false, true} {
		if v, err := reading(d, me.opener, nil).Verify(t.Context(), b, VerifyOptions{Rows: rows}); !errors.Is(err, down) {
			t.Errorf("rows %t: %+v, %v", rows, v, err)
		}
	}
}

func TestVerifyLargeObjects(t *testing.T) {
	me := newPerson(t)
	mem := memstore.New()
	w, err := newRepo(mem, noon).Begin(t.Context(), Start{Database: "shop", Sealer: me.sealer})
	if err != nil {
		t.Fatal(err)
	}
	a, err := pgarchive.NewDirectoryWriter(w, pgarchive.WriterOptions{Header: pgarchive.Header{Database: "shop", ServerVersion: "18.6", DumpVersion: "18.6", Created: noon}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Add(&pgarchive.Entry{ID: 1, Section: pgarchive.SectionData, Desc: "BLOBS", Tag: "BLOBS", HasData: true}); err != nil {
		t.Fatal(err)
	}
	l, err := a.LargeObjects(1)
	if err != nil {
		t.Fatal(err)
	}
	var sum digest.Objects
	for oid := range uint32(3) {
		o, err := l.Create(oid + 1)
		if err != nil {
			t.Fatal(err)
		}
		sum.Begin(oid + 1)
		_, err = io.WriteString(io.MultiWriter(o, &sum), strings.Repeat("x", int(oid)*1000))
		if err := errors.Join(err, o.Close()); err != nil {
			t.Fatal(err)
		}
		sum.End()
	}
	if err := errors.Join(l.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	m := testManifest("shop")
	m.LargeObjects.SetSum(sum.Sum())
	if err := w.Finish(m); err != nil {
		t.Fatal(err)
	}
	b, r := w.Backup(), reading(mem, me.opener, nil)
	if v, err := r.Verify(t.Context(), b, VerifyOptions{Rows: true}); err != nil || len(v.Problems) > 0 || v.Read != v.Objects {
		t.Errorf("%+v, %v", v, err)
	}
	name := "blob_2.dat.age"
	data := get(t, mem, b, name)
	data[len(data)-1] ^= 1
	set(t, mem, b, name, data)
	if v, err := r.Verify(t.Context(), b, VerifyOptions{Rows: true}); err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], name) {
		t.Errorf("%+v, %v", v, err)
	}
}

func FuzzIndex(f *testing.F) {
	x := newIndex(Backup{Database: "shop", ID: FormatID(noon)}, []manifest.File{fileOf("toc.dat.age", []byte("x")), fileOf(sealedManifest, nil)})
	b, err := x.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format": "pghaul-index", "version": 2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeIndex(b)
		if err != nil {
			return
		}
		for _, o := range x.Objects {
			if strings.ContainsAny(o.Name, "/\\") || o.Name == "" || o.Name == ".." {
				t.Errorf("name %q", o.Name)
			}
		}
		if _, err := x.manifest(sealedManifest); err == nil {
			x.agrees(nil)
		}
	})
}

// A backup that was killed goes on encrypted to the same, and signed by the same; and with nobody else.
func TestSealedResume(t *testing.T) {
	me, other := newPerson(t), newPerson(t)
	mem := memstore.New()
	r := reading(mem, me.opener, me.verifier)
	start := Start{Database: "shop", ServerVersion: "18.6", Compression: "gzip", Tool: "pghaul test", Sealer: me.sealer, Signer: me.signer}
	w, err := writeAs(r, t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	key := NewProgressKey()
	p := Progress{Source: []byte(`{}`), Lock: 7, State: State{Dump: []byte(`{}`)}}
	f, ok := w.Stored(1)
	if !ok || f.Name != "1.dat.gz.age" {
		t.Fatalf("stored: %+v", f)
	}
	sum := tables().Tables[0].Sum()
	p.State.Done = []Stored{{ID: 1, Sum: sum.String(), File: f}}
	if err := w.Record(p, key); err != nil {
		t.Fatal(err)
	}
	if text := get(t, mem, w.Backup(), ProgressName); bytes.Contains(text, []byte(sum.String())) {
		t.Errorf("the record tells digests of rows: %s", text)
	}
	rests, err := r.Rests(t.Context(), "shop")
	if err != nil || len(rests) != 1 {
		t.Fatalf("rests: %+v, %v", rests, err)
	}
	rest := rests[0]
	if err := rest.Open(NewProgressKey()); err == nil {
		t.Error("the record opens with another key")
	}
	if err := rest.Open(key); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Start{
		"in the clear": {Signer: me.signer}, "to others": {Sealer: other.sealer, Signer: me.signer},
		"not signed": {Sealer: me.sealer}, "signed by another": {Sealer: me.sealer, Signer: other.signer},
	} {
		if _, _, err := r.Resume(t.Context(), rest, s); err == nil {
			t.Errorf("goes on %s", name)
		}
	}
	w, done, err := r.Resume(t.Context(), rest, start)
	if err != nil || len(done) != 1 || done[0].File != f {
		t.Fatalf("resume: %+v, %v", done, err)
	}
	if err := errors.Join(w.Put("2.dat.gz", nil), w.Put(tocName, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(testManifest("shop")); err != nil {
		t.Fatal(err)
	}
	s, err := r.Open(t.Context(), w.Backup())
	if err != nil || s.files[f.Name] != f {
		t.Fatalf("open: %v", err)
	}
	if rests, err := r.Rests(t.Context(), "shop"); err != nil || len(rests) > 0 {
		t.Errorf("rests afterwards: %+v, %v", rests, err)
	}
}
