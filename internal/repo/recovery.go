package repo

import (
	"fmt"
	"path"
	"strings"

	"github.com/pghaul/pghaul/internal/seal"
)

// recovery returns the text for somebody who has this backup and not this program.
func recovery(b Backup, s Start) []byte {
	jobs, reader := "-j 4", "pg_restore of this major version or newer"
	if s.Compression == "zstd" || s.Compression == "lz4" {
		reader = "pg_restore of this major version or newer, at least 16, built with " + s.Compression
	}
	var w strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	p("# How to restore this backup")
	p("")
	p("A backup of the PostgreSQL database %s, begun at %s (UTC),", code(s.Database), b.Time.Format("2006-01-02 15:04:05"))
	p("of a server of version %s, written by %s.", s.ServerVersion, s.Tool)
	p("")
	manifest, options := "manifest.json", ""
	if s.Sealer != nil {
		manifest = sealedManifest
		options = " --identity FILE"
		if s.Sealer.Key() != nil {
			options = " --passphrase"
		}
	}
	p("It is complete only if there is a file `%s` in this folder. If there is none, the backup was", manifest)
	p("interrupted, or is still being written: use another.")
	p("")
	p("## With pghaul")
	p("")
	p("    pghaul drill --snapshot %s%s STORE        # prove that it restores, on a throwaway server", shell(b.String()), options)
	p("    pghaul restore --snapshot %s%s -C -d postgres STORE", shell(b.String()), options)
	p("")
	p("STORE is the address of the folder two levels above this one, such as `s3://bucket/prefix` or `file:///backups`.")
	p("")
	p("## Without pghaul")
	p("")
	folder := "."
	if s.Sealer != nil {
		folder = "clear"
		sealedRecovery(p, s.Sealer.Key() != nil)
	} else {
		p("The folder is an archive in the directory format of `pg_dump`, in the clear. Download all of it, then:")
		p("")
		p("    jq -r '.files[] | .sha256 + \"  \" + .name' manifest.json | sha256sum -c --quiet    # is it whole?")
	}
	p("    psql -d postgres -f %-20s    # roles, if there are any missing; they get no passwords", path.Join(folder, GlobalsName))
	p("    pg_restore %s -C -d postgres %-7s     # creates the database and restores into it", jobs, folder)
	p("")
	p("It needs %s. `pg_restore -l %s` lists", reader, folder)
	p("what is in it, `pg_restore --help` says how to restore parts of it.")
	p("")
	p("If there is a file `storage.json`, the backup has files of the platform's storage, too, in `storage_*.tar`: any tar")
	p("program unpacks them, and `storage.json` lists their buckets, names, types and metadata.")
	if s.Signer != nil {
		signedRecovery(p, s.Signer.Fingerprint())
	}
	return []byte(w.String())
}

// sealedRecovery says how to open the files of an encrypted backup.
func sealedRecovery(p func(string, ...any), passphrase bool) {
	p("The folder is an archive in the directory format of `pg_dump`. Each file was encrypted for itself with age")
	p("(https://age-encryption.org), which many systems have as a package. Download all of it, then, in this folder:")
	p("")
	p("    jq -r '.objects[] | .sha256 + \"  \" + .name' index.json | sha256sum -c --quiet    # is it whole?")
	p("    umask 077; mkdir clear")
	identity, note := "FILE", "    # FILE: your age identity or SSH private key"
	if passphrase {
		identity, note = "clear/.key", ""
		p("    age -d -o clear/.key key.age          # asks for the passphrase")
	}
	p("    for f in [0-9a-z]*.age; do")
	p("      case $f in key.age | drill-*) continue ;; esac")
	p("      age -d -i %s -o \"clear/${f%%.age}\" \"$f\" || break%s", identity, note)
	p("    done")
}

// signedRecovery says how to check the signature.
func signedRecovery(p func(string, ...any), fingerprint string) {
	p("")
	p("## Who wrote it")
	p("")
	p("`index.json` lists every file with its SHA-256 and is signed by the SSH key %s.", fingerprint)
	p("With that public key in a file `signers`, as `backup ssh-ed25519 AAAA...`:")
	p("")
	p("    ssh-keygen -Y verify -f signers -I backup -n %s -s index.json.sig < index.json", seal.Namespace)
	p("    jq -r '.objects[] | .sha256 + \"  \" + .name' index.json | sha256sum -c --quiet")
}

// code writes a name as code in Markdown.
func code(name string) string {
	return "`` " + strings.Map(func(r rune) rune {
		if r < ' ' || r == '`' {
			return '?'
		}
		return r
	}, name) + " ``"
}

// shell quotes a word for a shell if it must be.
func shell(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, s), "'", `'\''`) + "'"
}
