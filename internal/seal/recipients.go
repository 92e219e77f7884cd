package seal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// Recipient is somebody who will be able to open what is sealed.
type Recipient struct {
	age.Recipient
	text string // the public key, without a comment
}

// ParseRecipient reads a recipient of age ("age1...") or an SSH public key ("ssh-ed25519 ...", "ssh-rsa ...").
func ParseRecipient(text string) (Recipient, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		words = []string{""}
	}
	r, err := parseRecipient(strings.TrimSpace(text), words[0])
	return Recipient{r, strings.Join(words[:min(len(words), 2)], " ")}, err
}

func parseRecipient(text, kind string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(strings.ToUpper(text), "AGE-SECRET-KEY-"), strings.HasPrefix(text, "-----BEGIN"):
		return nil, errors.New("that is a private key: give the public one, which age-keygen -y or ssh-keygen -y prints")
	case kind == "ssh-ed25519", kind == "ssh-rsa":
		r, err := sshRecipient(text)
		if err != nil {
			return nil, fmt.Errorf("SSH public key %.40q: %w", text, err)
		}
		return r, nil
	case strings.HasPrefix(kind, "ssh-"), strings.HasPrefix(kind, "ecdsa-"), strings.HasPrefix(kind, "sk-"):
		return nil, fmt.Errorf("nothing can be encrypted to an SSH key of type %q: use ssh-ed25519 or ssh-rsa, or a key of age", kind)
	case strings.HasPrefix(text, "age1"):
		list, err := age.ParseRecipients(strings.NewReader(text))
		if err != nil || len(list) != 1 {
			return nil, fmt.Errorf("recipient %.70q is not valid (those of plugins are not supported)", text)
		}
		return list[0], nil
	}
	return nil, fmt.Errorf("recipient %.40q is neither one of age (age1...) nor an SSH public key (ssh-ed25519 ..., ssh-rsa ...)", text)
}

func sshRecipient(text string) (age.Recipient, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
	switch {
	case err != nil:
		return nil, err
	case key.Type() == ssh.KeyAlgoRSA:
		return agessh.NewRSARecipient(key)
	}
	return agessh.NewEd25519Recipient(key)
}

// ParseRecipients reads a file with a recipient on each line; empty lines and those that begin with # say nothing.
func ParseRecipients(data []byte) ([]Recipient, error) {
	var out []Recipient
	err := lines(data, func(line string) error {
		r, err := ParseRecipient(line)
		out = append(out, r)
		return err
	})
	if err == nil && len(out) == 0 {
		err = errors.New("there is no recipient in it")
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// lines calls f for each line that says something and adds the number of the line to its error.
func lines(data []byte, f func(line string) error) error {
	if len(data) > maxKeyFile {
		return fmt.Errorf("%d bytes are too many for a file with keys", len(data))
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		if err := f(text); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}
