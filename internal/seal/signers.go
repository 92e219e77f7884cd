package seal

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Verifier knows the keys whose signatures are trusted.
type Verifier struct{ keys []ssh.PublicKey }

func (v *Verifier) trusts(key ssh.PublicKey) bool {
	return slices.ContainsFunc(v.keys, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), key.Marshal()) })
}

// keyTypes are the types of keys whose signatures can be checked.
var keyTypes = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
	ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
}

// ParseVerifier reads SSH public keys, one on a line, or lines of an allowed signers file (ssh-keygen(1)): principals,
// options, key. Every key is trusted, whatever its principals. The one option that is known is namespaces; others are refused.
func ParseVerifier(data []byte) (*Verifier, error) {
	v := new(Verifier)
	others := 0
	err := lines(data, func(line string) error {
		if strings.HasPrefix(line, "-----BEGIN") {
			return errors.New("that is no public key; ssh-keygen -y prints the public key of a private one")
		}
		if !slices.Contains(keyTypes, firstWord(line)) { // principals come first
			line = afterWord(line)
		}
		if options := firstWord(line); options != "" && !slices.Contains(keyTypes, options) {
			ours, err := forUs(options)
			if err != nil {
				return err
			}
			if !ours {
				others++
				return nil
			}
			line = afterWord(line)
		}
		if !slices.Contains(keyTypes, firstWord(line)) {
			return errors.New("there is no SSH public key on it")
		}
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return fmt.Errorf("SSH public key: %w", err)
		}
		if k, ok := key.(*ssh.Certificate); ok {
			return fmt.Errorf("certificates such as %s are not supported", k.Type())
		}
		v.keys = append(v.keys, key)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(v.keys) == 0 && others > 0:
		return nil, fmt.Errorf("none of its keys is for the namespace %s", Namespace)
	case len(v.keys) == 0:
		return nil, errors.New("there is no key in it")
	}
	return v, nil
}

// wordEnd returns where the first word of a line ends; blanks between double quotes are part of it.
func wordEnd(line string) int {
	quoted := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return i
		}
	}
	return len(line)
}

func firstWord(line string) string { return line[:wordEnd(line)] }

func afterWord(line string) string { return strings.TrimLeft(line[wordEnd(line):], " \t") }

// forUs reports whether a key with these options may sign backups.
func forUs(options string) (bool, error) {
	name, value, _ := strings.Cut(options, "=")
	value, ok := strings.CutPrefix(value, `"`)
	if ok {
		value, ok = strings.CutSuffix(value, `"`)
	}
	if !strings.EqualFold(name, "namespaces") || !ok || strings.ContainsAny(value, `"!`) {
		return false, fmt.Errorf("%.60q is neither an SSH key nor namespaces=\"...\", the one option that is supported", options)
	}
	for pattern := range strings.SplitSeq(value, ",") {
		if match, err := path.Match(pattern, Namespace); err != nil {
			return false, fmt.Errorf("namespace %.60q is not valid", pattern)
		} else if match {
			return true, nil
		}
	}
	return false, nil
}
