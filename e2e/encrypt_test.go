package e2e

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// keyFiles are files with keys, as a user has them.
type keyFiles struct {
	dir       string
	recipient string // of identity
}

func (k keyFiles) file(name string) string { return filepath.Join(k.dir, name) }

func (k keyFiles) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(k.file(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newKeyFiles makes an age identity, another one, an SSH key to sign with and another one, and passphrases.
func newKeyFiles(t *testing.T) keyFiles {
	t.Helper()
	for _, name := range []string{"PGHAUL_IDENTITY", "PGHAUL_PASSPHRASE", "PGHAUL_VERIFY_KEY"} {
		t.Setenv(name, "")
	}
	k := keyFiles{dir: t.TempDir()}
	for _, name := range []string{"stranger", "identity"} {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		k.recipient = id.Recipient().String()
		k.write(t, name, "# a key\n"+id.String()+"\n")
	}
	for _, name := range []string{"ssh", "other-ssh"} {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			t.Fatal(err)
		}
		public, err := ssh.NewPublicKey(private.Public())
		if err != nil {
			t.Fatal(err)
		}
		k.write(t, name, string(pem.EncodeToMemory(block)))
		k.write(t, name+".pub", string(ssh.MarshalAuthorizedKey(public)))
	}
	k.write(t, "pass", "correct horse\n")
	k.write(t, "wrong-pass", "incorrect horse\n")
	return k
}

// An encrypted backup is restored with its key and with no other, proven with the key and, as far as it is stored, without, and needs
// only the age tool when there is no pghaul.
func TestEncryptedBackup(t *testing.T) {
	s := pgtest.Newest(t)
	s.NeedTool(t, "pg_restore")
	src := shop(t, s)
	want := sorted(text(t, src))
	k := newKeyFiles(t)
	for _, c := range []struct {
		name        string
		lock        []string
		right       []string
		wrong       []string
		refusal     string
		protection  string
		toolOptions string // what RECOVERY.md calls FILE
	}{
		{
			"recipients",
			[]string{"--recipient", k.recipient, "--recipients-file", k.file("ssh.pub"), "--sign-key", k.file("ssh")},
			[]string{"--identity", k.file("identity"), "--verify-key", k.file("ssh.pub")},
			[]string{"--identity", k.file("stranger"), "--identity", k.file("other-ssh")},
			"manifest.json.age: no key that was given opens it", "encrypted, signed", k.file("identity"),
		},
		{
			"passphrase", []string{"--passphrase-file", k.file("pass")}, []string{"--passphrase-file", k.file("pass")},
			[]string{"--passphrase-file", k.file("wrong-pass")}, "key.age: the passphrase is wrong", "encrypted", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "backups")
			with := func(more []string, args ...string) []string { return append(args, more...) }
			must(t, src, "pghaul", with(c.lock, "backup", "--quiet", "-j2", "--piece-size=1MB", "--to", dir, "-d", src.DSN)...)
			for _, file := range filesIn(t, dir) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(file, ".age") != bytes.HasPrefix(text, []byte("age-encryption.org/v1\n")) || bytes.Contains(text, []byte("parent")) {
					t.Errorf("%s is in the clear", file)
				}
			}
			if out := must(t, nil, "pghaul", "list", dir); !strings.Contains(out, "complete  "+c.protection) {
				t.Errorf("list:\n%s", out)
			}
			if out := must(t, nil, "pghaul", "verify", dir); !strings.HasPrefix(out, "INTACT") || !strings.Contains(out, "not opened") {
				t.Errorf("verify without a key:\n%s", out)
			}
			if c.name == "passphrase" {
				// Each opening costs a second: what follows is as with recipients.
			} else if out := must(t, nil, "pghaul", with(c.right, "verify", dir, "--rows", "--quiet")...); !strings.HasPrefix(out, "INTACT") || !strings.Contains(out, "are those of the manifest") {
				t.Errorf("verify with the key:\n%s", out)
			}
			if r := command(t, nil, nil, "pghaul", "show", dir); r.code != 1 || !strings.Contains(r.stderr, "no key was given") || !strings.Contains(r.stderr, "hint: ") {
				t.Errorf("show without a key: %d\n%s", r.code, r.stderr)
			}
			if r := command(t, nil, nil, "pghaul", with(c.wrong, "show", dir)...); r.code != 1 || !strings.Contains(r.stderr, c.refusal) {
				t.Errorf("show with another key: %d\n%s", r.code, r.stderr)
			}
			target := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
			must(t, target, "pghaul", with(c.right, "restore", "-j2", "-d", target.DSN, "file://"+dir)...)
			same(t, "what restore restored", want, sorted(text(t, target)))

			folder := openedByHand(t, dir, c.toolOptions)
			target = s.NewDatabase(t, pgtest.Options{Suffix: "stock"})
			target.MustTool(t, "pg_restore", "-j2", "-d", target.DSN, folder)
			same(t, "what pg_restore restored", want, sorted(text(t, target)))
		})
	}
}

// openedByHand does what RECOVERY.md says about opening the files and returns the folder of what is in the clear.
func openedByHand(t *testing.T, dir, identity string) string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "*", "*Z"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders: %q, %v", folders, err)
	}
	text, err := os.ReadFile(filepath.Join(folders[0], "RECOVERY.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`(?s)    umask.*?    done\n`).FindString(string(text))
	if script == "" {
		t.Fatalf("RECOVERY.md has no commands:\n%s", text)
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "age"), "./testdata/agetool").CombinedOutput(); err != nil {
		t.Fatalf("build age: %v\n%s", err, out)
	}
	c := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.ReplaceAll(script, " FILE ", " '"+identity+"' "))
	c.Dir = folders[0]
	c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "AGE_PASSPHRASE=correct horse")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return filepath.Join(folders[0], "clear")
}

// A drill of an encrypted, signed backup in a bucket passes, and its report is no less secret; whoever demands another's signature is refused.
func TestEncryptedBackupInBucket(t *testing.T) {
	server := storetest.StartS3(t)
	s := pgtest.Newest(t)
	src := shop(t, s)
	k := newKeyFiles(t)
	address := inBucket(t, server)
	must(t, src, "pghaul", "backup", "--quiet", "--to", address, "--recipient", k.recipient, "--sign-key", k.file("ssh"), "-d", src.DSN)
	t.Setenv("PGHAUL_IDENTITY", k.file("stranger")+string(os.PathListSeparator)+k.file("identity"))
	t.Setenv("PGHAUL_VERIFY_KEY", k.file("ssh.pub"))
	if r := command(t, nil, nil, "pghaul", "drill", address, "--quiet"); r.code != 0 || !strings.HasPrefix(r.stdout, "IDENTICAL") {
		t.Errorf("drill: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if out := must(t, nil, "pghaul", "list", address); !strings.Contains(out, "  drilled ") {
		t.Errorf("list:\n%s", out)
	}
	if out := must(t, nil, "pghaul", "compare", src.DSN, address); !strings.HasPrefix(out, "IDENTICAL") {
		t.Errorf("compare:\n%s", out)
	}
	r := command(t, nil, nil, "pghaul", "restore", "-l", address, "--verify-key", k.file("other-ssh.pub"))
	if r.code != 1 || !strings.Contains(r.stderr, "none of the trusted keys") {
		t.Errorf("another's signature: %d\n%s", r.code, r.stderr)
	}
	must(t, src, "pghaul", "backup", "--quiet", "--to", address, "-d", src.DSN)
	if r := command(t, nil, nil, "pghaul", "show", address); r.code != 1 || !strings.Contains(r.stderr, "it has no signature") {
		t.Errorf("a backup without a signature: %d\n%s", r.code, r.stderr)
	}
}
