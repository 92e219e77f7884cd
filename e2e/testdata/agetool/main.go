// Command agetool is what tests have for the age tool: the same library behind the options that RECOVERY.md uses. The
// tool itself asks for a passphrase on the terminal, which tests do not have; this one takes it from AGE_PASSPHRASE.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"filippo.io/age"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "age:", err)
		os.Exit(1)
	}
}

func run() error {
	decrypt := flag.Bool("d", false, "decrypt")
	identity := flag.String("i", "", "identity file")
	output := flag.String("o", "", "file to write")
	flag.Parse()
	if !*decrypt || flag.NArg() != 1 {
		return errors.New("this one only decrypts a file")
	}
	ids, err := identities(*identity)
	if err != nil {
		return err
	}
	in, err := os.Open(flag.Arg(0))
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := age.Decrypt(in, ids...)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(*output, b, 0o600)
}

func identities(file string) ([]age.Identity, error) {
	if file == "" {
		id, err := age.NewScryptIdentity(os.Getenv("AGE_PASSPHRASE"))
		return []age.Identity{id}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return age.ParseIdentities(f)
}
