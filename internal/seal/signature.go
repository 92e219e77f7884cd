package seal

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Namespace says in a signature what was signed, so that no signature that was made for
// something else passes: ssh-keygen -Y verify -n pghaul-backup.
const Namespace = "pghaul-backup"

// MaxSignature bounds the size of a signature that is read.
const MaxSignature = 64 << 10

// ErrSignature says that a signature is not that of a trusted key over what it should sign.
var ErrSignature = errors.New("signature is not valid")

// Signer signs.
type Signer struct{ key ssh.Signer }

// ParseSigner reads an SSH private key of type ed25519. If a passphrase protects it, ask is asked at once.
func ParseSigner(data []byte, name string, ask Ask) (*Signer, error) {
	if len(data) > maxKeyFile {
		return nil, fmt.Errorf("%d bytes are too many for a private key", len(data))
	}
	key, err := ssh.ParsePrivateKey(data)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		var p string
		if p, err = ask("Passphrase of " + name + ": "); err != nil {
			return nil, err
		}
		key, err = ssh.ParsePrivateKeyWithPassphrase(data, []byte(p))
	}
	if err != nil {
		return nil, fmt.Errorf("SSH private key: %w", err)
	}
	if t := key.PublicKey().Type(); t != ssh.KeyAlgoED25519 {
		return nil, fmt.Errorf("the SSH key is of type %s; signatures are made with ssh-ed25519 (ssh-keygen -t ed25519)", t)
	}
	return &Signer{key}, nil
}

// Fingerprint returns the key's fingerprint as ssh-keygen -l shows it.
func (s *Signer) Fingerprint() string { return ssh.FingerprintSHA256(s.key.PublicKey()) }

// The format of signatures is that of OpenSSH's PROTOCOL.sshsig.
const (
	sshsigMagic   = "SSHSIG"
	sshsigVersion = 1
	sshsigHash    = "sha512"
	sshsigBegin   = "-----BEGIN SSH SIGNATURE-----"
	sshsigEnd     = "-----END SSH SIGNATURE-----"
	sshsigColumns = 70
)

// sshsig is what a signature file holds after the magic.
type sshsig struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// signed returns the bytes that the key signs.
func (s *sshsig) signed(message []byte) ([]byte, error) {
	var sum []byte
	switch s.Hash {
	case "sha512":
		h := sha512.Sum512(message)
		sum = h[:]
	case "sha256":
		h := sha256.Sum256(message)
		sum = h[:]
	default:
		return nil, fmt.Errorf("hash algorithm %.20q is not known", s.Hash)
	}
	return append([]byte(sshsigMagic), ssh.Marshal(struct {
		Namespace, Reserved, Hash string
		Sum                       []byte
	}{s.Namespace, s.Reserved, s.Hash, sum})...), nil
}

// Sign returns the signature of a message as ssh-keygen -Y sign writes it.
func (s *Signer) Sign(message []byte) ([]byte, error) {
	out := sshsig{Version: sshsigVersion, PublicKey: s.key.PublicKey().Marshal(), Namespace: Namespace, Hash: sshsigHash}
	text, err := out.signed(message)
	if err != nil {
		return nil, err
	}
	sig, err := s.key.Sign(rand.Reader, text)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	out.Signature = ssh.Marshal(sig)
	return armored(append([]byte(sshsigMagic), ssh.Marshal(out)...)), nil
}

func armored(b []byte) []byte {
	text := base64.StdEncoding.EncodeToString(b)
	var w bytes.Buffer
	w.WriteString(sshsigBegin + "\n")
	for len(text) > 0 {
		n := min(sshsigColumns, len(text))
		w.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	w.WriteString(sshsigEnd + "\n")
	return w.Bytes()
}

func dearmored(b []byte) ([]byte, error) {
	if len(b) > MaxSignature {
		return nil, fmt.Errorf("%d bytes are too many", len(b))
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(b)), sshsigBegin)
	if ok {
		text, ok = strings.CutSuffix(text, sshsigEnd)
	}
	if !ok {
		return nil, errors.New("it is not an SSH signature")
	}
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
}

// parseSignature reads the armored form.
func parseSignature(b []byte) (*sshsig, error) {
	raw, err := dearmored(b)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(raw, []byte(sshsigMagic))
	if !ok {
		return nil, errors.New("it is not an SSH signature")
	}
	s := new(sshsig)
	if err := ssh.Unmarshal(rest, s); err != nil {
		return nil, err
	}
	if s.Version != sshsigVersion {
		return nil, fmt.Errorf("its format has version %d", s.Version)
	}
	return s, nil
}

// Verify compares a signature, in the form that Sign returns, with the message, and returns the key that made it. An error wraps ErrSignature.
func (v *Verifier) Verify(message, signature []byte) (fingerprint string, err error) {
	s, err := parseSignature(signature)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSignature, err)
	}
	key, err := ssh.ParsePublicKey(s.PublicKey)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSignature, err)
	}
	fingerprint = ssh.FingerprintSHA256(key)
	if err := v.verify(s, key, message); err != nil {
		return fingerprint, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return fingerprint, nil
}

func (v *Verifier) verify(s *sshsig, key ssh.PublicKey, message []byte) error {
	if !v.trusts(key) {
		return fmt.Errorf("it was made by %s %s, which is none of the trusted keys", key.Type(), ssh.FingerprintSHA256(key))
	}
	if s.Namespace != Namespace {
		return fmt.Errorf("it was made for %.40q, not for %q", s.Namespace, Namespace)
	}
	text, err := s.signed(message)
	if err != nil {
		return err
	}
	sig := new(ssh.Signature)
	if err := ssh.Unmarshal(s.Signature, sig); err != nil {
		return err
	}
	if sig.Format == ssh.KeyAlgoRSA { // with SHA-1
		return fmt.Errorf("its algorithm %s is too weak", sig.Format)
	}
	if err := key.Verify(text, sig); err != nil {
		return errors.New("what was signed is not what is there")
	}
	return nil
}
