package repo

import (
	"fmt"
	"strings"
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
	p("It is complete only if there is a file `manifest.json` in this folder. If there is none, the backup was")
	p("interrupted, or is still being written: use another.")
	p("")
	p("## With pghaul")
	p("")
	p("    pghaul drill --snapshot %s STORE        # prove that it restores, on a throwaway server", shell(b.String()))
	p("    pghaul restore --snapshot %s -C -d postgres STORE", shell(b.String()))
	p("")
	p("STORE is the address of the folder two levels above this one, such as `s3://bucket/prefix` or `file:///backups`.")
	p("")
	p("## Without pghaul")
	p("")
	p("The folder is an archive in the directory format of `pg_dump`, in the clear. Download all of it, then:")
	p("")
	p("    jq -r '.files[] | .sha256 + \"  \" + .name' manifest.json | sha256sum -c --quiet    # is it whole?")
	p("    psql -d postgres -f globals.sql                    # roles, if there are any missing; they get no passwords")
	p("    pg_restore %s -C -d postgres .                    # creates the database and restores into it", jobs)
	p("")
	p("It needs %s. `pg_restore -l .` lists", reader)
	p("what is in it, `pg_restore --help` says how to restore parts of it.")
	return []byte(w.String())
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
