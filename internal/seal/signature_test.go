package seal

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func signerOf(t testing.TB, private string) *Signer {
	t.Helper()
	s, err := ParseSigner([]byte(private), "me", noAsk)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verifierOf(t testing.TB, lines string) *Verifier {
	t.Helper()
	v, err := ParseVerifier([]byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSignature(t *testing.T) {
	me, other := ed25519Pair(t), ed25519Pair(t)
	s := signerOf(t, me.private)
	message := []byte("what is there")
	sig, err := s.Sign(message)
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []string{
		me.public,
		"# us\n\n" + other.public + "\n" + me.public + "\n",
		"me@host,you@host " + me.public,
		`me@host namespaces="git,pghaul-backup" ` + me.public,
		`"me and you" namespaces="pghaul-*" ` + me.public,
	} {
		if by, err := verifierOf(t, lines).Verify(message, sig); err != nil || by != s.Fingerprint() {
			t.Errorf("%.40q: %q, %v", lines, by, err)
		}
	}
	for name, c := range map[string]struct {
		lines, message string
		sig            []byte
		want           string
	}{
		"another key":        {other.public, string(message), sig, "none of the trusted keys"},
		"another message":    {me.public, "what was there", sig, "what was signed is not what is there"},
		"a key for another":  {other.public + "\nme namespaces=\"git\" " + me.public, string(message), sig, "none of the trusted keys"},
		"no signature":       {me.public, string(message), []byte("hello"), "not an SSH signature"},
		"cut":                {me.public, string(message), sig[:len(sig)/2], "not an SSH signature"},
		"of another purpose": {me.public, string(message), forged(t, me, message, func(s *sshsig) { s.Namespace = "git" }), `made for "git"`},
		"of another version": {me.public, string(message), forged(t, me, message, func(s *sshsig) { s.Version = 2 }), "version 2"},
		"of another hash":    {me.public, string(message), forged(t, me, message, func(s *sshsig) { s.Hash = "md5" }), "md5"},
		"of a borrowed name": {me.public, string(message), forged(t, other, message, func(s *sshsig) { s.PublicKey = keyOf(t, me).Marshal() }), "what was signed"},
	} {
		if _, err := verifierOf(t, c.lines).Verify([]byte(c.message), c.sig); !errors.Is(err, ErrSignature) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func keyOf(t testing.TB, p pair) ssh.PublicKey {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(p.public))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// forged signs as Sign does, with something changed.
func forged(t *testing.T, p pair, message []byte, change func(*sshsig)) []byte {
	t.Helper()
	key, err := ssh.ParsePrivateKey([]byte(p.private))
	if err != nil {
		t.Fatal(err)
	}
	s := &sshsig{Version: 1, PublicKey: key.PublicKey().Marshal(), Namespace: Namespace, Hash: "sha512"}
	change(s)
	known := *s
	if known.Hash == "md5" {
		known.Hash = "sha512"
	}
	text, err := known.signed(message)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.Sign(rand.Reader, text)
	if err != nil {
		t.Fatal(err)
	}
	s.Signature = ssh.Marshal(sig)
	return armored(append([]byte(sshsigMagic), ssh.Marshal(*s)...))
}

func TestBadSigners(t *testing.T) {
	p := ed25519Pair(t)
	for lines, want := range map[string]string{
		"":                                   "there is no key",
		"me":                                 "line 1: there is no SSH public key",
		p.private:                            "line 1: that is no public key",
		"me cert-authority " + p.public:      "neither an SSH key nor namespaces",
		`me valid-after="2020" ` + p.public:  "neither an SSH key nor namespaces",
		`me namespaces="a",x ` + p.public:    "neither an SSH key nor namespaces",
		`me namespaces="!git,*" ` + p.public: "neither an SSH key nor namespaces",
		`me namespaces="git" ` + p.public:    "none of its keys is for the namespace pghaul-backup",
		`me namespaces="[" ` + p.public:      "not valid",
		"ssh-ed25519 AAAA":                   "SSH public key",
	} {
		if _, err := ParseVerifier([]byte(lines)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", lines, err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for private, want := range map[string]string{
		p.public:                    "SSH private key",
		sshPair(t, key, "").private: "of type ecdsa-sha2-nistp256",
		guardedPair(t).private:      "nobody to ask",
	} {
		if _, err := ParseSigner([]byte(private), "me", noAsk); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", private, err)
		}
	}
	if _, err := ParseSigner([]byte(guardedPair(t).private), "me", asked("open")); err != nil {
		t.Errorf("a protected key: %v", err)
	}
}

// OpenSSH makes and takes the same signatures.
func TestSSHKeygen(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		if os.Getenv("PGHAUL_TEST_FORBID_SKIP") != "" {
			t.Fatal("missing: ssh-keygen (and PGHAUL_TEST_FORBID_SKIP is set)")
		}
		t.Skip("missing: ssh-keygen")
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(file(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(stdin []byte, args ...string) error {
		c := exec.CommandContext(t.Context(), keygen, args...)
		c.Stdin = bytes.NewReader(stdin)
		out, err := c.CombinedOutput()
		t.Logf("ssh-keygen %s: %s", strings.Join(args, " "), out)
		return err
	}
	me := ed25519Pair(t)
	message := []byte("what is there")
	sig, err := signerOf(t, me.private).Sign(message)
	if err != nil {
		t.Fatal(err)
	}
	write("sig", sig)
	write("signers", []byte("me@host "+me.public+"\n"))
	verify := []string{"-Y", "verify", "-f", file("signers"), "-I", "me@host", "-n", Namespace, "-s", file("sig")}
	if err := run(message, verify...); err != nil {
		t.Errorf("ssh-keygen refuses our signature: %v", err)
	}
	if err := run([]byte("something else"), verify...); err == nil {
		t.Error("ssh-keygen takes our signature for something else")
	}

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]pair{"ed25519": me, "ecdsa": sshPair(t, key, ""), "rsa": rsaPair(t)} {
		write(name, []byte(p.private))
		write(name+".message", message)
		if err := run(nil, "-Y", "sign", "-f", file(name), "-n", Namespace, file(name+".message")); err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(file(name + ".message.sig"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verifierOf(t, p.public).Verify(message, theirs); err != nil {
			t.Errorf("%s: we refuse ssh-keygen's signature: %v", name, err)
		}
		if name == "ed25519" && !bytes.Equal(theirs, sig) {
			t.Errorf("ssh-keygen writes\n%s, we\n%s", theirs, sig)
		}
	}
}

func FuzzSignature(f *testing.F) {
	p := ed25519Pair(f)
	v, message := verifierOf(f, p.public), []byte("what is there")
	sig, err := signerOf(f, p.private).Sign(message)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sig)
	raw, err := dearmored(sig)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range [][]byte{b, armored(b)} {
			if _, err := v.Verify(message, s); err == nil {
				if got, derr := dearmored(s); derr != nil || !bytes.Equal(got, raw) {
					t.Errorf("another signature passes: %q", s)
				}
			}
		}
	})
}
