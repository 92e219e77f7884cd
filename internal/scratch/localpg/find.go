package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// EnvBinDirs names the environment variable with further folders of server
// programs, separated like PATH. They are preferred to those found by looking.
const EnvBinDirs = "PGHAUL_PG_BINDIRS"

// Programs is a folder with the server programs of one version.
type Programs struct {
	Dir     string // holds at least initdb and postgres
	Major   int    // 17; 9 for all of 9.x
	Minor   int    // 12
	Version string // "17.12", as the program says it
}

// Path returns the file name of a program in the folder, or an error that
// errors.Is exec.ErrNotFound.
func (p Programs) Path(name string) (string, error) {
	file := filepath.Join(p.Dir, name)
	if st, err := os.Stat(file); err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
		return "", fmt.Errorf("find %s of PostgreSQL %s in %s: %w", name, p.Version, p.Dir, exec.ErrNotFound)
	}
	return file, nil
}

// Find returns the server programs of this machine, one folder for each major
// version, newest first. If several folders hold the same major version, one
// named by PGHAUL_PG_BINDIRS or in extra wins, else the one with the highest
// minor version. A folder whose programs do not run is passed over.
func Find(ctx context.Context, extra ...string) []Programs {
	named := append(slices.Clone(extra), filepath.SplitList(os.Getenv(EnvBinDirs))...)
	var found []Programs
	seen := map[string]bool{}
	add := func(dirs []string, replace bool) {
		for _, dir := range dirs {
			if dir == "" {
				continue
			}
			// Two names of one folder are looked at once; the programs are
			// run by the name given, as they find their files by it.
			real, err := filepath.EvalSymlinks(dir)
			if err != nil || seen[real] {
				continue
			}
			seen[real] = true
			p, err := Look(ctx, dir)
			if err != nil {
				continue
			}
			i := slices.IndexFunc(found, func(q Programs) bool { return q.Major == p.Major })
			switch {
			case i < 0:
				found = append(found, p)
			case replace && p.Minor > found[i].Minor && !slices.Contains(named, found[i].Dir):
				found[i] = p
			}
		}
	}
	add(named, false)
	add(usualDirs(ctx), true)
	sort.Slice(found, func(i, j int) bool { return found[i].Major > found[j].Major })
	return found
}

// usualDirs returns the folders in which server programs usually are.
func usualDirs(ctx context.Context) []string {
	var dirs []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",             // Debian, Ubuntu
		"/usr/pgsql-*/bin",                      // packages of postgresql.org for Red Hat and SUSE
		"/usr/lib/postgresql*/bin",              // SUSE
		"/usr/libexec/postgresql*",              // Alpine
		"/usr/local/pgsql/bin",                  // make install
		"/opt/homebrew/opt/postgresql*/bin",     // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",        // Homebrew on Intel
		"/opt/local/lib/postgresql*/bin",        // MacPorts
		"/Applications/Postgres.app/*/*/bin",    // Postgres.app
		"/Library/PostgreSQL/*/bin",             // EnterpriseDB's installer
		"/home/linuxbrew/*/opt/postgresql*/bin", // Homebrew on Linux
	} {
		m, err := filepath.Glob(pattern)
		if err == nil {
			dirs = append(dirs, m...)
		}
	}
	if p, err := exec.LookPath("pg_config"); err == nil {
		if out, err := output(ctx, p, "--bindir"); err == nil {
			dirs = append(dirs, out)
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Look examines one folder. It is an error if it holds no server programs or
// they do not run on this machine.
func Look(ctx context.Context, dir string) (Programs, error) {
	p := Programs{Dir: dir}
	if _, err := p.Path("initdb"); err != nil {
		return p, err
	}
	file, err := p.Path("postgres")
	if err != nil {
		return p, err
	}
	out, err := output(ctx, file, "--version")
	if err != nil {
		return p, fmt.Errorf("run %s --version: %w", file, err)
	}
	p.Version, p.Major, p.Minor, err = parseVersion(out)
	if err != nil {
		return p, fmt.Errorf("run %s --version: %w", file, err)
	}
	return p, nil
}

// output runs a program that prints one line and ends.
func output(ctx context.Context, file string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// parseVersion reads "postgres (PostgreSQL) 17.12 (Debian 17.12-1)", also with
// 9.6.24, 18beta1 and 19devel.
func parseVersion(s string) (version string, major, minor int, err error) {
	_, rest, ok := strings.Cut(s, "(PostgreSQL) ")
	if !ok {
		return "", 0, 0, fmt.Errorf("unexpected version line %q", s)
	}
	version, _, _ = strings.Cut(rest, " ")
	major, tail := leadingInt(version)
	if major == 0 {
		return "", 0, 0, fmt.Errorf("unexpected version line %q", s)
	}
	if after, ok := strings.CutPrefix(tail, "."); ok {
		minor, _ = leadingInt(after)
	}
	return version, major, minor, nil
}

// leadingInt returns the number at the start of s, 0 if there is none, and the rest.
func leadingInt(s string) (n int, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	if err != nil {
		return 0, s
	}
	return n, s[i:]
}

// ErrNoPrograms is wrapped by the error for a version whose server programs are
// not on this machine.
var ErrNoPrograms = errors.New("no server programs")

// choose returns the programs of the major version, the newest for 0.
func choose(found []Programs, major int) (Programs, error) {
	for _, p := range found {
		if major == 0 || p.Major == major {
			return p, nil
		}
	}
	return Programs{}, &missingError{major: major, found: found}
}

// missingError says which version is missing, which are there, and what to do.
type missingError struct {
	major int
	found []Programs
}

func (e *missingError) Unwrap() error { return ErrNoPrograms }

func (e *missingError) Error() string {
	have := "found none"
	if len(e.found) > 0 {
		var v []string
		for _, p := range slices.Backward(e.found) {
			v = append(v, strconv.Itoa(p.Major))
		}
		have = "found " + strings.Join(v, ", ")
	}
	if e.major == 0 {
		return fmt.Sprintf("no PostgreSQL server programs (%s): install PostgreSQL (Debian and Ubuntu: package postgresql) or name their folder in %s", have, EnvBinDirs)
	}
	return fmt.Sprintf("no PostgreSQL %d server programs found (%s): install PostgreSQL %d (Debian and Ubuntu: package postgresql-%d) or name their folder in %s",
		e.major, have, e.major, e.major, EnvBinDirs)
}
