package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/repo"
	"github.com/pghaul/pghaul/internal/seal"
)

// What the environment says about keys: names of files, and a passphrase.
const (
	identityVariable   = "PGHAUL_IDENTITY"
	passphraseVariable = "PGHAUL_PASSPHRASE"
	verifyVariable     = "PGHAUL_VERIFY_KEY"
)

// maxKeyFile bounds what is read of a file that the command line calls a key.
const maxKeyFile = 1 << 20

// keyHelp is for the help of commands that read backups.
const keyHelp = `Encrypted backups need a key: an identity (--identity, or the files that the
environment's PGHAUL_IDENTITY names) or a passphrase (PGHAUL_PASSPHRASE,
--passphrase-file, --passphrase).`

// addKeyFlags adds the flags that fill in the keys of a command that reads backups.
func addKeyFlags(c *cobra.Command, k *pgflags.Keys) {
	for _, f := range k.Flags() {
		switch v := f.Value.(type) {
		case *[]string:
			c.Flags().StringArrayVar(v, f.Name, nil, markArg(f))
		case *string:
			c.Flags().StringVar(v, f.Name, "", markArg(f))
		case *bool:
			c.Flags().BoolVar(v, f.Name, false, f.Help)
		}
	}
}

// markArg names the argument in a help text, in the way of package pflag.
func markArg(f pgflags.KeyFlag) string {
	return strings.Replace(f.Help, "in this file", "in this `"+f.Arg+"`", 1)
}

// useKeys gives the keys to what reads backups. Files that the command line names are read at once, what the
// environment names when an encrypted backup is met; people are asked only then.
func useKeys(r *repo.Repo, k *pgflags.Keys) error {
	if err := k.Check(); err != nil {
		return err
	}
	var keys seal.Keys
	switch files := k.Identities; {
	case len(files) > 0:
		ids, err := readIdentities(files)
		if err != nil {
			return err
		}
		keys.Identities = func() ([]seal.Identity, error) { return ids, nil }
	case os.Getenv(identityVariable) != "":
		keys.Identities = func() ([]seal.Identity, error) {
			return readIdentities(filepath.SplitList(os.Getenv(identityVariable)))
		}
	}
	var err error
	if keys.Passphrase, err = passphrase(k.PassphraseFile, k.AskPassphrase, "Passphrase of the backup: "); err != nil {
		return err
	}
	trust, err := verifier(k.VerifyKey)
	if err != nil {
		return err
	}
	r.Use(seal.NewOpener(keys), trust)
	return nil
}

func readIdentities(files []string) ([]seal.Identity, error) {
	var all []seal.Identity
	for _, file := range files {
		data, err := readKeyFile(file)
		if err != nil {
			return nil, fmt.Errorf("read identity: %w", err)
		}
		ids, err := seal.ParseIdentities(data, file, askSecret)
		if err != nil {
			return nil, fmt.Errorf("read identity %s: %w", file, err)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// passphrase returns where the passphrase comes from, nil if there is none.
func passphrase(file string, ask bool, prompt string) (func() (string, error), error) {
	switch {
	case file != "":
		text, err := readPassphrase(file)
		if err != nil {
			return nil, err
		}
		return func() (string, error) { return text, nil }, nil
	case ask:
		return func() (string, error) { return askSecret(prompt) }, nil
	}
	if text := passphraseOfEnvironment(); text != "" {
		return func() (string, error) { return text, nil }, nil
	}
	return nil, nil
}

// passphraseOfEnvironment takes the passphrase out of the environment, which programs that are started later inherit.
var passphraseOfEnvironment = sync.OnceValue(func() string {
	text := os.Getenv(passphraseVariable)
	os.Unsetenv(passphraseVariable)
	return text
})

// readPassphrase reads a file that holds one line.
func readPassphrase(file string) (string, error) {
	data, err := readKeyFile(file)
	if err != nil {
		return "", fmt.Errorf("read passphrase: %w", err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case text == "":
		return "", fmt.Errorf("read passphrase: %s is empty", file)
	case strings.ContainsAny(text, "\n\r"):
		return "", fmt.Errorf("read passphrase: %s has several lines; a passphrase is one", file)
	}
	return text, nil
}

// verifier reads the keys whose signature is demanded; nil: none is.
func verifier(file string) (*seal.Verifier, error) {
	if file == "" {
		file = os.Getenv(verifyVariable)
	}
	if file == "" {
		return nil, nil
	}
	data, err := readKeyFile(file)
	if err != nil {
		return nil, fmt.Errorf("read verify key: %w", err)
	}
	v, err := seal.ParseVerifier(data)
	if err != nil {
		return nil, fmt.Errorf("read verify key %s: %w", file, err)
	}
	return v, nil
}

// locks reads what a backup is encrypted to and signed with; nil for what is not wanted.
func locks(l *pgflags.Locks) (*seal.Sealer, *seal.Signer, error) {
	var signer *seal.Signer
	if l.SignKey != "" {
		data, err := readKeyFile(l.SignKey)
		if err != nil {
			return nil, nil, fmt.Errorf("read sign key: %w", err)
		}
		if signer, err = seal.ParseSigner(data, l.SignKey, askSecret); err != nil {
			return nil, nil, fmt.Errorf("read sign key %s: %w", l.SignKey, err)
		}
	}
	recipients, err := readRecipients(l)
	if err != nil {
		return nil, nil, err
	}
	if len(recipients) > 0 {
		s, err := seal.NewSealer(recipients)
		return s, signer, err
	}
	secret, err := passphrase(l.PassphraseFile, l.AskPassphrase, "Passphrase for the backup: ")
	if err != nil || secret == nil {
		return nil, signer, err
	}
	text, err := secret()
	if err == nil && l.AskPassphrase {
		err = confirm(text)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := seal.WithPassphrase(text)
	return s, signer, err
}

// confirm asks for a passphrase again.
func confirm(text string) error {
	again, err := askSecret("The same again: ")
	switch {
	case err != nil:
		return err
	case text == "":
		return errors.New("the passphrase is empty")
	case again != text:
		return errors.New("the two passphrases differ")
	}
	return nil
}

func readRecipients(l *pgflags.Locks) ([]seal.Recipient, error) {
	var all []seal.Recipient
	for _, text := range l.Recipients {
		r, err := seal.ParseRecipient(text)
		if err != nil {
			return nil, &pgflags.UsageError{Text: "--recipient: " + err.Error()}
		}
		all = append(all, r)
	}
	for _, file := range l.RecipientsFiles {
		data, err := readKeyFile(file)
		if err != nil {
			return nil, fmt.Errorf("read recipients: %w", err)
		}
		list, err := seal.ParseRecipients(data)
		if err != nil {
			return nil, fmt.Errorf("read recipients %s: %w", file, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// readKeyFile reads a small file.
func readKeyFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(data) > maxKeyFile {
		err = fmt.Errorf("%s is too large for a file with keys", name)
	}
	return data, err
}

// errNoTerminal says that there is nobody to ask.
var errNoTerminal = errors.New("there is no terminal to ask on")

// askSecret asks on the terminal, not on standard input, which may be an archive.
func askSecret(prompt string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("the %s is needed, and %w", strings.TrimSuffix(strings.ToLower(prompt[:1])+prompt[1:], ": "), errNoTerminal)
	}
	defer tty.Close()
	fmt.Fprint(tty, prompt)
	b, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	return string(b), err
}
