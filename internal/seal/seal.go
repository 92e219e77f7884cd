package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
)

// Suffix is what the name of a sealed object ends in.
const Suffix = ".age"

// KeyName is the object that holds the identity of a backup with a passphrase.
const KeyName = "key" + Suffix

// maxKeyFile bounds what is read of files with keys.
const maxKeyFile = 1 << 20

// workFactor is the base-2 logarithm of the cost of trying a passphrase: that of the age tool, a second and 256 MiB.
// An object of a store may cost no more; an identity file, which is the user's own, what age allows.
var workFactor = 18

const maxWorkFactor = 22

// ErrDamaged says that a sealed object is not what was sealed.
var ErrDamaged = errors.New("sealed object is damaged")

// Sealer encrypts streams. It may be used by several goroutines.
type Sealer struct {
	recipients []age.Recipient
	to         string // says to whom
	passphrase string
	key        []byte // what is stored as KeyName; nil without a passphrase
}

// NewSealer returns the sealer that encrypts to the recipients.
func NewSealer(recipients []Recipient) (*Sealer, error) {
	s := new(Sealer)
	var names []string
	for _, r := range recipients {
		s.recipients = append(s.recipients, r.Recipient)
		names = append(names, r.text)
	}
	slices.Sort(names)
	s.to = strings.Join(slices.Compact(names), "\n")
	if _, err := s.Bytes(nil); err != nil { // recipients that cannot be mixed
		return nil, err
	}
	return s, nil
}

// WithPassphrase returns a sealer for a backup that the passphrase opens.
func WithPassphrase(passphrase string) (*Sealer, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("make the key of a backup: %w", err)
	}
	r, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("encrypt with a passphrase: %w", err)
	}
	r.SetWorkFactor(workFactor)
	s := &Sealer{recipients: []age.Recipient{r}, passphrase: passphrase, to: "a passphrase"}
	text := fmt.Sprintf("# The identity of one backup: age -d -i FILE opens its objects.\n# public key: %s\n%s\n", id.Recipient(), id)
	if s.key, err = s.Bytes([]byte(text)); err != nil {
		return nil, err
	}
	s.recipients = []age.Recipient{id.Recipient()}
	return s, nil
}

// Key returns what has to be stored as KeyName, nil if nothing.
func (s *Sealer) Key() []byte { return s.key }

// ID tells sealers to other recipients apart. All sealers with a passphrase have the same.
func (s *Sealer) ID() string {
	sum := sha256.Sum256([]byte(s.to))
	return hex.EncodeToString(sum[:16])
}

// Continue returns the sealer that goes on with a backup whose KeyName holds key; nil: it has none.
func (s *Sealer) Continue(key []byte) (*Sealer, error) {
	switch {
	case key == nil && s.key == nil:
		return s, nil
	case key == nil:
		return nil, errors.New("what is there is not encrypted with a passphrase")
	case s.key == nil:
		return nil, errors.New("what is there is encrypted with a passphrase")
	}
	id, err := unlock(key, s.passphrase)
	if err != nil {
		return nil, err
	}
	return &Sealer{recipients: []age.Recipient{id.Recipient()}, to: s.to, passphrase: s.passphrase, key: key}, nil
}

// Reader returns the sealed form of what r holds.
func (s *Sealer) Reader(r io.Reader) (io.Reader, error) {
	sealed, err := age.EncryptReader(r, s.recipients...)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return sealed, nil
}

// Bytes returns the sealed form of b.
func (s *Sealer) Bytes(b []byte) ([]byte, error) {
	r, err := s.Reader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	sealed, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return sealed, nil
}

// ErrPassphrase says that a passphrase is wrong.
var ErrPassphrase = errors.New("the passphrase is wrong")

// withPassphrase opens an age file that is encrypted with a passphrase.
func withPassphrase(sealed []byte, passphrase string, maxWork int) ([]byte, error) {
	id, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	id.SetMaxWorkFactor(maxWork)
	r, err := age.Decrypt(bytes.NewReader(sealed), id)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none) && len(none.StanzaTypes) == 1 && none.StanzaTypes[0] == "scrypt":
		return nil, ErrPassphrase
	case errors.As(err, &none):
		return nil, errors.New("it is not encrypted with a passphrase")
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return b, nil
}

// unlock opens what KeyName holds.
func unlock(key []byte, passphrase string) (*age.X25519Identity, error) {
	if len(key) > maxKeyFile {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrDamaged, len(key))
	}
	b, err := withPassphrase(key, passphrase, workFactor)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			id, err := age.ParseX25519Identity(line)
			if err != nil {
				return nil, fmt.Errorf("%w: it holds no identity", ErrDamaged)
			}
			return id, nil
		}
	}
	return nil, fmt.Errorf("%w: it holds no identity", ErrDamaged)
}
