//go:build unix

package localpg

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/scratch"
)

func writeProgram(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestParseVersion(t *testing.T) {
	for _, test := range []struct {
		line         string
		version      string
		major, minor int
	}{
		{"postgres (PostgreSQL) 17.12 (Debian 17.12-0+deb13u1)", "17.12", 17, 12},
		{"postgres (PostgreSQL) 9.6.24", "9.6.24", 9, 6},
		{"postgres (PostgreSQL) 18beta1", "18beta1", 18, 0},
		{"postgres (PostgreSQL) 19devel", "19devel", 19, 0},
	} {
		version, major, minor, err := parseVersion(test.line)
		if err != nil || version != test.version || major != test.major || minor != test.minor {
			t.Errorf("%s: %s %d %d %v", test.line, version, major, minor, err)
		}
	}
	for _, bad := range []string{"", "postgres 17", "postgres (PostgreSQL) ", "postgres (PostgreSQL) x"} {
		if _, _, _, err := parseVersion(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestVersionNumber(t *testing.T) {
	for s, want := range map[string]int{
		"17.12 (Debian 17.12-1)": 170012, "15.3": 150003, "9.6.24": 90624, "19devel": 190000, "18beta2": 180000,
	} {
		if got, err := versionNumber(s); err != nil || got != want {
			t.Errorf("%s: %d %v", s, got, err)
		}
	}
	if _, err := versionNumber("none"); err == nil {
		t.Error("no error")
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{"/tmp/x": "/tmp/x", "/a b": "'/a b'", `/a'b\`: `'/a\'b\\'`, "": "''"} {
		if got := quote(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	says := func(v string) string { return "#!/bin/sh\necho 'postgres (PostgreSQL) " + v + "'\n" }
	add := func(name, v string) string {
		d := filepath.Join(dir, name)
		writeProgram(t, d, "initdb", "#!/bin/sh\n")
		writeProgram(t, d, "postgres", says(v))
		return d
	}
	old, newer, beside := add("98.1", "98.1"), add("98.7", "98.7"), add("99", "99devel")
	clientOnly := filepath.Join(dir, "client")
	writeProgram(t, clientOnly, "psql", "#!/bin/sh\n")
	broken := filepath.Join(dir, "broken")
	writeProgram(t, broken, "initdb", "#!/bin/sh\n")
	writeProgram(t, broken, "postgres", "#!/bin/sh\nexit 127\n")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}

	dirOf := func(major int) string {
		for _, p := range Find(context.Background()) {
			if p.Major == major {
				return p.Dir
			}
		}
		return ""
	}
	list := func(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }

	t.Setenv(EnvBinDirs, list(clientOnly, broken, "", filepath.Join(dir, "none"), old, beside))
	path := os.Getenv("PATH")
	t.Setenv("PATH", list(newer, path))
	if got := dirOf(98); got != old {
		t.Errorf("98 is %s; the folder that was named does not win", got)
	}
	if got := dirOf(99); got != beside {
		t.Errorf("99 is %s", got)
	}

	t.Setenv(EnvBinDirs, "")
	t.Setenv("PATH", list(link, newer, beside, path))
	if got := dirOf(98); got != newer {
		t.Errorf("98 is %s; the higher minor version does not win", got)
	}

	p, err := choose(Find(context.Background()), 0)
	if err != nil || p.Major != 99 {
		t.Errorf("newest: %+v %v", p, err)
	}
	if _, err := p.Path("pg_dump"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("program that is not there: %v", err)
	}
}

func TestVersionMissing(t *testing.T) {
	found := []Programs{{Major: 17}, {Major: 15}}
	_, err := choose(found, 16)
	const want = "no PostgreSQL 16 server programs found (found 15, 17): install PostgreSQL 16 (Debian and Ubuntu: package postgresql-16) or name their folder in PGHAUL_PG_BINDIRS"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if !errors.Is(err, ErrNoPrograms) {
		t.Error("is not ErrNoPrograms")
	}
	if _, err := choose(nil, 0); err == nil || !strings.Contains(err.Error(), "found none") {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := (&Provider{}).Start(context.Background(), scratch.Spec{Major: 7}); !errors.Is(err, ErrNoPrograms) {
		t.Errorf("Start of version 7: %v", err)
	}
}
