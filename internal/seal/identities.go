package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
	"golang.org/x/crypto/ssh"
)

// Identity is what opens what was sealed to a recipient.
type Identity = age.Identity

// Ask asks for the passphrase of a key.
type Ask func(prompt string) (string, error)

// ParseIdentities reads a file of age identities or an SSH private key. One that is protected with a
// passphrase asks when it is needed; name is what it calls the file.
func ParseIdentities(data []byte, name string, ask Ask) ([]Identity, error) {
	if len(data) > maxKeyFile {
		return nil, fmt.Errorf("%d bytes are too many for a file with keys", len(data))
	}
	trimmed := bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(trimmed, []byte(armor.Header)):
		b, err := io.ReadAll(armor.NewReader(bytes.NewReader(trimmed)))
		if err != nil {
			return nil, err
		}
		return []Identity{&protected{open: openFile(b, name, ask)}}, nil
	case bytes.HasPrefix(data, []byte("age-encryption.org/")):
		return []Identity{&protected{open: openFile(data, name, ask)}}, nil
	case bytes.HasPrefix(trimmed, []byte("-----BEGIN")):
		return parseSSH(data, name, ask)
	}
	return parseIdentities(data)
}

func parseIdentities(data []byte) ([]Identity, error) {
	var out []Identity
	err := lines(data, func(line string) error {
		var id Identity
		var err error
		// The line stands in no message: it may be most of a key.
		switch {
		case strings.HasPrefix(line, "AGE-SECRET-KEY-1"):
			id, err = age.ParseX25519Identity(line)
		case strings.HasPrefix(line, "AGE-SECRET-KEY-PQ-1"):
			id, err = age.ParseHybridIdentity(line)
		case strings.HasPrefix(line, "age1"), strings.HasPrefix(line, "ssh-"):
			return errors.New("that is a recipient, not an identity: to open something the private key is needed")
		case strings.HasPrefix(line, "AGE-PLUGIN-"):
			return errors.New("identities of plugins are not supported")
		default:
			return errors.New("that is no identity of age (AGE-SECRET-KEY-...)")
		}
		if err != nil {
			return errors.New("the identity is not valid")
		}
		out = append(out, id)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = errors.New("there is no identity in it")
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func parseSSH(data []byte, name string, ask Ask) ([]Identity, error) {
	id, err := agessh.ParseIdentity(data)
	if err == nil {
		return []Identity{id}, nil
	}
	var missing *ssh.PassphraseMissingError
	if !errors.As(err, &missing) {
		return nil, fmt.Errorf("SSH private key: %w", err)
	}
	if missing.PublicKey == nil {
		return nil, errOldPEM
	}
	id, err = agessh.NewEncryptedSSHIdentity(missing.PublicKey, data, func() ([]byte, error) {
		p, err := ask("Passphrase of " + name + ": ")
		return []byte(p), err
	})
	if err != nil {
		return nil, fmt.Errorf("SSH private key: %w", err)
	}
	return []Identity{&protected{ids: []Identity{id}}}, nil
}

var errOldPEM = errors.New("the SSH key is protected in an old format: ssh-keygen -p -f FILE rewrites it in the present one")

// openFile opens an age identity file that is protected with a passphrase.
func openFile(data []byte, name string, ask Ask) func() ([]Identity, error) {
	return func() ([]Identity, error) {
		p, err := ask("Passphrase of " + name + ": ")
		if err != nil {
			return nil, err
		}
		b, err := withPassphrase(data, p, maxWorkFactor)
		if err == nil {
			var ids []Identity
			if ids, err = parseIdentities(b); err == nil {
				return ids, nil
			}
		}
		return nil, fmt.Errorf("open identity file %s: %w", name, err)
	}
}

// protected are identities that a passphrase protects. It asks once, and one goroutine at a time.
type protected struct {
	mu   sync.Mutex
	open func() ([]Identity, error) // nil: ids ask for themselves
	ids  []Identity
	err  error // of open
}

func (p *protected) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil && p.ids == nil && p.err == nil {
		p.ids, p.err = p.open()
	}
	if p.err != nil {
		return nil, p.err
	}
	for _, id := range p.ids {
		key, err := id.Unwrap(stanzas)
		if !errors.Is(err, age.ErrIncorrectIdentity) {
			return key, err
		}
	}
	return nil, age.ErrIncorrectIdentity
}

// recipients returns whom to encrypt to so that the identity opens it.
func recipients(id Identity) []age.Recipient {
	switch id := id.(type) {
	case *age.X25519Identity:
		return []age.Recipient{id.Recipient()}
	case *age.HybridIdentity:
		return []age.Recipient{id.Recipient()}
	case *agessh.Ed25519Identity:
		return []age.Recipient{id.Recipient()}
	case *agessh.RSAIdentity:
		return []age.Recipient{id.Recipient()}
	case *agessh.EncryptedSSHIdentity:
		return []age.Recipient{id.Recipient()}
	case *protected:
		id.mu.Lock()
		defer id.mu.Unlock()
		var out []age.Recipient
		for _, i := range id.ids {
			out = append(out, recipients(i)...)
		}
		return out
	}
	return nil
}
