package seal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"filippo.io/age"
)

// Opener opens what was sealed. It may be used by several goroutines. Keys are read, and people
// asked, when the first object has to be opened, and once.
type Opener struct {
	identities func() ([]Identity, error)
	passphrase func() (string, error)

	mu      sync.Mutex
	matched Identity // the one that opened something last
}

// Keys are what an Opener may use. A nil function means that there is no such key.
type Keys struct {
	Identities func() ([]Identity, error)
	Passphrase func() (string, error)
}

// NewOpener returns an opener with these keys.
func NewOpener(k Keys) *Opener {
	o := new(Opener)
	if k.Identities != nil {
		o.identities = sync.OnceValues(func() ([]Identity, error) {
			ids, err := k.Identities()
			slices.SortStableFunc(ids, func(a, b Identity) int { return interactive(a) - interactive(b) })
			return ids, err
		})
	}
	if k.Passphrase != nil {
		o.passphrase = sync.OnceValues(k.Passphrase)
	}
	return o
}

// interactive puts identities that ask behind those that do not.
func interactive(id Identity) int {
	if _, ok := id.(*protected); ok {
		return 1
	}
	return 0
}

// Errors about keys. What can be done about it stands in the text.
var (
	ErrNoKey    = errors.New("it is encrypted, and no key was given")
	ErrWrongKey = errors.New("no key that was given opens it")
)

// HasKey reports whether there is any key at all.
func (o *Opener) HasKey() bool { return o != nil && (o.identities != nil || o.passphrase != nil) }

// Unlock returns the opener for the objects of a backup whose KeyName holds key; nil: it has none.
func (o *Opener) Unlock(key []byte) (*Opener, error) {
	switch {
	case !o.HasKey():
		return nil, ErrNoKey
	case key == nil && o.identities == nil:
		return nil, fmt.Errorf("%w: it is encrypted to recipients, not with a passphrase; an identity is needed", ErrWrongKey)
	case key == nil:
		return o, nil
	case o.passphrase == nil:
		return nil, fmt.Errorf("%w: it is encrypted with a passphrase, not to recipients", ErrWrongKey)
	}
	p, err := o.passphrase()
	if err != nil {
		return nil, err
	}
	id, err := unlock(key, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", KeyName, err)
	}
	return NewOpener(Keys{Identities: func() ([]Identity, error) { return []Identity{id}, nil }}), nil
}

// Reader returns what is sealed in r, whose size is size bytes, and how many bytes that is. The error of a wrong key
// wraps ErrWrongKey, that of data that were not sealed so ErrDamaged; errors of r are passed on. Nothing is handed
// over that was not authenticated.
func (o *Opener) Reader(r io.Reader, size int64) (io.Reader, int64, error) {
	if o == nil || o.identities == nil {
		return nil, 0, ErrNoKey
	}
	ids, err := o.identities()
	if err != nil {
		return nil, 0, err
	}
	src := &source{r: r}
	buf := bufio.NewReaderSize(src, maxHeaderLine)
	header, err := readHeader(buf)
	if err != nil {
		return nil, 0, src.explain(err)
	}
	n, err := plainSize(size - int64(len(header)))
	if err != nil {
		return nil, 0, src.explain(err)
	}
	noting := make([]Identity, len(ids))
	var asked error
	for i, id := range ids {
		noting[i] = noted{id, o, &asked}
	}
	plain, err := age.Decrypt(io.MultiReader(bytes.NewReader(header), buf), noting...)
	switch {
	case asked != nil:
		return nil, 0, asked
	case err != nil:
		return nil, 0, src.explain(err)
	}
	return &opened{plain, src}, n, nil
}

// Bytes returns what is sealed in b.
func (o *Opener) Bytes(b []byte) ([]byte, error) {
	r, _, err := o.Reader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Sealer returns the sealer to the identity that opened something last: what it seals, the same key opens.
func (o *Opener) Sealer() (*Sealer, error) {
	o.mu.Lock()
	id := o.matched
	o.mu.Unlock()
	r := recipients(id)
	if len(r) == 0 {
		return nil, ErrNoKey
	}
	return NewSealer([]Recipient{{Recipient: r[0]}})
}

// noted is an identity of which it is noted that it opened something, and why it could not.
type noted struct {
	Identity
	o      *Opener
	failed *error
}

func (n noted) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	key, err := n.Identity.Unwrap(stanzas)
	switch {
	case err == nil:
		n.o.mu.Lock()
		n.o.matched = n.Identity
		n.o.mu.Unlock()
	case !errors.Is(err, age.ErrIncorrectIdentity):
		if _, ok := n.Identity.(*protected); ok {
			*n.failed = err
		}
	}
	return key, err
}

// source keeps the error of what is read.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// explain says what an error of age means.
func (s *source) explain(err error) error {
	var none *age.NoIdentityMatchError
	switch {
	case s.err != nil:
		return s.err
	case errors.As(err, &none):
		return fmt.Errorf("%w: it is encrypted to %s", ErrWrongKey, kinds(none.StanzaTypes))
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// kinds says to what kinds of recipients something is encrypted.
func kinds(stanzas []string) string {
	var known []string
	for _, t := range stanzas {
		switch t {
		case "X25519", "ssh-ed25519", "ssh-rsa":
		case "mlkem768x25519":
			t = "post-quantum"
		case "scrypt":
			t = "passphrase"
		default:
			continue // age fills headers up with stanzas that mean nothing
		}
		if !slices.Contains(known, t) {
			known = append(known, t)
		}
	}
	if len(known) == 0 {
		return "recipients of a kind that is not known here"
	}
	return "other recipients (" + strings.Join(known, ", ") + ")"
}

// opened is the plain text.
type opened struct {
	r   io.Reader
	src *source
}

func (o *opened) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && err != io.EOF {
		err = o.src.explain(err)
	}
	return n, err
}
