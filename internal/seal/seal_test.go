package seal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"
)

// A passphrase is made cheap to try, here only.
func TestMain(m *testing.M) {
	workFactor = 10
	os.Exit(m.Run())
}

// pair is somebody's keys, as they stand in files.
type pair struct{ public, private string }

func agePair(t testing.TB) pair {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return pair{id.Recipient().String(), "# created: now\n\n" + id.String() + "\n"}
}

func hybridPair(t testing.TB) pair {
	id, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return pair{id.Recipient().String(), id.String()}
}

// sshPair makes a key, protected if there is a passphrase.
func sshPair(t testing.TB, key any, passphrase string) pair {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(key, "me")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "me", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return pair{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))) + " me@host", string(pem.EncodeToMemory(block))}
}

func ed25519Pair(t testing.TB) pair {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sshPair(t, key, "")
}

// guarded is an SSH key with the passphrase "open", made once: that is slow by design.
var guarded pair

func guardedPair(t testing.TB) pair {
	if guarded.private == "" {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		guarded = sshPair(t, key, "open")
	}
	return guarded
}

func rsaPair(t testing.TB) pair {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return sshPair(t, key, "")
}

// protectedPair is an age identity file that a passphrase protects.
func protectedPair(t testing.TB, passphrase string, armored bool) pair {
	p := agePair(t)
	r, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	r.SetWorkFactor(workFactor)
	var b bytes.Buffer
	var out io.WriteCloser = nopCloser{&b}
	if armored {
		out = armor.NewWriter(&b)
	}
	w, err := age.Encrypt(out, r)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, p.private)
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return pair{p.public, b.String()}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func noAsk(string) (string, error) { return "", errors.New("nobody to ask") }

func asked(passphrase string) Ask { return func(string) (string, error) { return passphrase, nil } }

func sealerTo(t testing.TB, public ...string) *Sealer {
	t.Helper()
	list, err := ParseRecipients([]byte("# us\n\n" + strings.Join(public, "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSealer(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openerOf(t testing.TB, private string, ask Ask) *Opener {
	t.Helper()
	ids, err := ParseIdentities([]byte(private), "me", ask)
	if err != nil {
		t.Fatal(err)
	}
	return NewOpener(Keys{Identities: func() ([]Identity, error) { return ids, nil }})
}

func text(n int) []byte { return bytes.Repeat([]byte("twelve bytes"), n/12+1)[:n] }

// What is sealed to somebody, that one opens, with every kind of key; and what that one seals in turn, as well.
func TestRecipients(t *testing.T) {
	stranger := agePair(t).public
	for _, c := range []struct {
		name string
		keys pair
		ask  Ask
	}{
		{"age", agePair(t), noAsk},
		{"post-quantum", hybridPair(t), noAsk},
		{"SSH ed25519", ed25519Pair(t), noAsk},
		{"SSH RSA", rsaPair(t), noAsk},
		{"SSH ed25519 with passphrase", guardedPair(t), asked("open")},
		{"identity file with passphrase", protectedPair(t, "open", false), asked("open")},
		{"armored identity file with passphrase", protectedPair(t, "open", true), asked("open")},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := []string{c.keys.public, stranger}
			if c.name == "post-quantum" { // it cannot be mixed with others
				to = to[:1]
			}
			o := openerOf(t, c.keys.private, c.ask)
			if _, err := o.Sealer(); !errors.Is(err, ErrNoKey) {
				t.Errorf("a sealer before anything was opened: %v", err)
			}
			for _, n := range []int{0, 1, 1000, chunkSize - 1, chunkSize, chunkSize + 1, 3 * chunkSize} {
				sealed, err := sealerTo(t, to...).Bytes(text(n))
				if err != nil {
					t.Fatal(err)
				}
				r, size, err := o.Reader(iotest.HalfReader(bytes.NewReader(sealed)), int64(len(sealed)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(got, text(n)) || size != int64(n) {
					t.Fatalf("%d bytes: %d, said to be %d, %v", n, len(got), size, err)
				}
			}
			s, err := o.Sealer()
			if err != nil {
				t.Fatal(err)
			}
			sealed, err := s.Bytes([]byte("report"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := o.Bytes(sealed); err != nil || string(got) != "report" {
				t.Errorf("sealed in turn: %q, %v", got, err)
			}
			other := openerOf(t, agePair(t).private, noAsk)
			if _, err := other.Bytes(sealed); !errors.Is(err, ErrWrongKey) {
				t.Errorf("with another key: %v", err)
			}
		})
	}
}

func TestPassphrase(t *testing.T) {
	s, err := WithPassphrase("open")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Bytes([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	asks := 0
	o := NewOpener(Keys{Passphrase: func() (string, error) { asks++; return "open", nil }})
	for range 2 {
		u, err := o.Unlock(s.Key())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := u.Bytes(sealed); err != nil || string(got) != "text" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if asks != 1 {
		t.Errorf("asked %d times", asks)
	}
	wrong := NewOpener(Keys{Passphrase: func() (string, error) { return "shut", nil }})
	if _, err := wrong.Unlock(s.Key()); !errors.Is(err, ErrPassphrase) {
		t.Errorf("wrong passphrase: %v", err)
	}
	bad := bytes.Clone(s.Key())
	bad[len(bad)-3] ^= 1
	if _, err := o.Unlock(bad); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged key: %v", err)
	}

	// The age tool, which knows nothing of us, opens it in two steps.
	id, err := age.NewScryptIdentity("open")
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(bytes.NewReader(s.Key()), id)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := age.ParseIdentities(r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = age.Decrypt(bytes.NewReader(sealed), ids...); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "text" {
		t.Errorf("as the age tool does: %q, %v", got, err)
	}

	// Going on with a backup means its key, not another.
	next, err := WithPassphrase("open")
	if err != nil {
		t.Fatal(err)
	}
	if next, err = next.Continue(s.Key()); err != nil || !bytes.Equal(next.Key(), s.Key()) || next.ID() != s.ID() {
		t.Fatalf("continue: %v", err)
	}
	if sealed, err = next.Bytes([]byte("more")); err != nil {
		t.Fatal(err)
	}
	if u, err := o.Unlock(s.Key()); err != nil {
		t.Error(err)
	} else if got, err := u.Bytes(sealed); err != nil || string(got) != "more" {
		t.Errorf("continued: %q, %v", got, err)
	}
	if costly := bytes.Replace(s.Key(), []byte(" 10\n"), []byte(" 11\n"), 1); bytes.Equal(costly, s.Key()) {
		t.Error("the header is not as expected")
	} else if _, err := o.Unlock(costly); err == nil || !strings.Contains(err.Error(), "work factor too large") {
		t.Errorf("a key that would cost more to open: %v", err)
	}
	p := agePair(t)
	if _, err := sealerTo(t, p.public).Continue(s.Key()); err == nil {
		t.Error("a sealer to recipients goes on with a backup that has a passphrase")
	}
	if _, err := s.Continue(nil); err == nil {
		t.Error("a sealer with a passphrase goes on with a backup that has none")
	}
	if a, b := sealerTo(t, p.public), sealerTo(t, p.public, agePair(t).public); a.ID() == b.ID() || a.ID() != sealerTo(t, p.public+" ").ID() {
		t.Error("IDs do not tell recipients apart")
	}
	if _, err := WithPassphrase(""); err == nil {
		t.Error("an empty passphrase is taken")
	}
}

// Each key that does not fit says why.
func TestUnlock(t *testing.T) {
	s, err := WithPassphrase("open")
	if err != nil {
		t.Fatal(err)
	}
	ids := func() ([]Identity, error) { return nil, nil }
	pass := func() (string, error) { return "open", nil }
	for _, c := range []struct {
		name string
		o    *Opener
		key  []byte
		want error
		text string
	}{
		{"no opener", nil, nil, ErrNoKey, "no key was given"},
		{"no keys", NewOpener(Keys{}), s.Key(), ErrNoKey, "no key was given"},
		{"identity for a passphrase", NewOpener(Keys{Identities: ids}), s.Key(), ErrWrongKey, "encrypted with a passphrase, not to recipients"},
		{"passphrase for recipients", NewOpener(Keys{Passphrase: pass}), nil, ErrWrongKey, "encrypted to recipients, not with a passphrase"},
	} {
		if _, err := c.o.Unlock(c.key); !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := NewOpener(Keys{Passphrase: func() (string, error) { return "", errors.New("no terminal") }}).Unlock(s.Key()); err == nil || err.Error() != "no terminal" {
		t.Errorf("nobody to ask: %v", err)
	}
}

// Nothing that is not as it was sealed is taken for it, wherever it is changed, and an error on the way is not called damage.
func TestDamaged(t *testing.T) {
	p := agePair(t)
	plain := text(2*chunkSize + 100)
	sealed, err := sealerTo(t, p.public).Bytes(plain)
	if err != nil {
		t.Fatal(err)
	}
	o := openerOf(t, p.private, noAsk)
	check := func(name string, b []byte) {
		t.Helper()
		got, err := o.Bytes(b)
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrWrongKey) || !bytes.HasPrefix(plain, got) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	header := bytes.Index(sealed, []byte("\n---")) + 60
	for i := 0; i < len(sealed); i += 3 + max(0, i-header)/12 {
		b := bytes.Clone(sealed)
		b[i] ^= 0x20
		check(fmt.Sprintf("byte %d changed", i), b)
	}
	for i := 0; i < len(sealed); i += 3 + max(0, i-header)/12 {
		check(fmt.Sprintf("cut at %d", i), sealed[:i])
	}
	check("longer", append(bytes.Clone(sealed), 0))
	check("not an age file", plain)
	check("empty", nil)
	check("endless line", append([]byte(headerIntro+"-> X25519 "), bytes.Repeat([]byte("A"), 1<<20)...))
	check("endless header", append([]byte(headerIntro), bytes.Repeat([]byte("-> X\nAAAA\n"), 1<<18)...))

	broken := errors.New("the line broke")
	for _, n := range []int{10, header + 30, header + chunkSize} {
		r, _, err := o.Reader(io.MultiReader(bytes.NewReader(sealed[:n]), iotest.ErrReader(broken)), int64(len(sealed)))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if !errors.Is(err, broken) || errors.Is(err, ErrDamaged) {
			t.Errorf("an error after %d bytes: %v", n, err)
		}
	}
}

func TestBadKeys(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private := agePair(t).private
	secret := strings.TrimSpace(private[strings.Index(private, "AGE-"):])
	for text, want := range map[string]string{
		"":                              "there is no recipient",
		"age1qqqq":                      `line 1: recipient "age1qqqq" is not valid`,
		"me\n":                          "neither one of age",
		private:                         "line 3: that is a private key",
		sshPair(t, key, "").private:     "that is a private key",
		"ecdsa-sha2-nistp256 AAAA me":   "nothing can be encrypted to an SSH key of type",
		"ssh-ed25519 AAAA me":           "SSH public key",
		"# nothing\n\nssh-dss AAAA x\n": "line 3: nothing can be encrypted",
	} {
		if _, err := ParseRecipients([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("recipients %.30q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"":                          "there is no identity",
		agePair(t).public:           "that is a recipient",
		secret[:40]:                 "line 1: the identity is not valid",
		"x" + secret:                "no identity of age",
		"AGE-PLUGIN-X-1QQ":          "plugins are not supported",
		"-----BEGIN NOTHING-----\n": "SSH private key",
	} {
		if _, err := ParseIdentities([]byte(text), "me", noAsk); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret[20:40]) {
			t.Errorf("identities %.30q: %v", text, err)
		}
	}
	list, err := ParseRecipients([]byte(agePair(t).public + "\n" + hybridPair(t).public))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSealer(list); err == nil || !strings.Contains(err.Error(), "post-quantum") {
		t.Errorf("post-quantum mixed with others: %v", err)
	}
}

// A protected key asks once; a wrong passphrase is said to be that, and a key that fits is taken before anybody is asked.
func TestProtected(t *testing.T) {
	for _, p := range []pair{guardedPair(t), protectedPair(t, "open", false)} {
		sealed, err := sealerTo(t, p.public).Bytes([]byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		asks := 0
		o := openerOf(t, p.private, func(prompt string) (string, error) {
			asks++
			if prompt != "Passphrase of me: " {
				t.Errorf("prompt %q", prompt)
			}
			return "open", nil
		})
		for range 3 {
			if _, err := o.Bytes(sealed); err != nil {
				t.Error(err)
			}
		}
		if asks != 1 {
			t.Errorf("asked %d times", asks)
		}
		for _, ask := range []Ask{asked("shut"), noAsk} {
			if _, err := openerOf(t, p.private, ask).Bytes(sealed); err == nil || errors.Is(err, ErrDamaged) {
				t.Errorf("wrong passphrase: %v", err)
			}
		}
		free := agePair(t)
		sealed, err = sealerTo(t, free.public).Bytes([]byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		var ids []Identity
		for _, private := range []string{p.private, free.private} {
			list, err := ParseIdentities([]byte(private), "me", noAsk)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, list...)
		}
		if _, err := NewOpener(Keys{Identities: func() ([]Identity, error) { return ids, nil }}).Bytes(sealed); err != nil {
			t.Errorf("with a key that need not ask: %v", err)
		}
	}
}

// What is read of a foreign object costs little, and never crashes.
func FuzzOpen(f *testing.F) {
	p := agePair(f)
	sealed, err := sealerTo(f, p.public).Bytes(text(100))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add([]byte(headerIntro + "-> X25519 AAAA\nAAAA\n--- AAAA\n"))
	f.Add([]byte(headerIntro + "-> scrypt AAAA 30\nAAAA\n--- AAAA\n"))
	o := openerOf(f, p.private, noAsk)
	pass := NewOpener(Keys{Passphrase: func() (string, error) { return "open", nil }})
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := o.Bytes(b); err == nil && !bytes.Equal(got, text(100)) {
			t.Errorf("opened %d bytes that nobody sealed", len(got))
		}
		if _, err := pass.Unlock(b); err == nil {
			t.Error("unlocked a key that nobody sealed")
		}
	})
}

func FuzzKeyFiles(f *testing.F) {
	for _, p := range []pair{agePair(f), hybridPair(f), ed25519Pair(f), guardedPair(f), protectedPair(f, "open", true)} {
		f.Add([]byte(p.public))
		f.Add([]byte(p.private))
	}
	f.Add([]byte("me@host namespaces=\"pghaul-*,x\" ssh-ed25519 AAAA\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := ParseRecipients(b); err == nil && len(list) == 0 {
			t.Error("no recipient and no error")
		}
		if list, err := ParseIdentities(b, "me", noAsk); err == nil && len(list) == 0 {
			t.Error("no identity and no error")
		}
		if v, err := ParseVerifier(b); err == nil && len(v.keys) == 0 {
			t.Error("no key and no error")
		}
		ParseSigner(b, "me", noAsk)
	})
}
