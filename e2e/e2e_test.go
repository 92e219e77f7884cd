// Package e2e judges the built program by the stock pg_dump and pg_restore of each
// server version: what one writes the other must read, and databases that went
// through must give the same text.
package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// binary is the program under test, built by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pghaul-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "pghaul")
	build := exec.Command("go", "build", "-o", binary, "github.com/pghaul/pghaul/cmd/pghaul")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build pghaul: %v\n%s", err, out)
		return 1
	}
	for _, name := range []string{"pg_dump", "pg_restore", "pg_dumpall"} {
		if err := os.Symlink("pghaul", filepath.Join(dir, name)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return pgtest.Wrap(m).Run()
}

// TestSources looks at the folders that the program is built of: go test gives an old result again unless something changed that a test
// itself looked at.
func TestSources(t *testing.T) {
	for _, dir := range []string{"../cmd", "../internal", "../pgarchive"} {
		if err := filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			t.Error(err)
		}
	}
}

// result is what a run of the program left.
type result struct {
	stdout, stderr string
	code           int
}

// command runs the program under a name (pghaul, pg_dump, pg_restore) with a database as its default.
func command(t *testing.T, db *pgtest.DB, stdin io.Reader, name string, args ...string) result {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(binary), name), args...)
	c.Env = os.Environ()
	if db != nil {
		c.Env = append(c.Env, db.Env()...)
	}
	var out, errb bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = stdin, &out, &errb
	err := c.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return result{out.String(), errb.String(), c.ProcessState.ExitCode()}
}

// must runs the program and expects success.
func must(t *testing.T, db *pgtest.DB, name string, args ...string) string {
	t.Helper()
	r := command(t, db, nil, name, args...)
	if r.code != 0 {
		t.Fatalf("%s %s: exit status %d\n%s", name, strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// shop loads the test database.
func shop(t *testing.T, s *pgtest.Server) *pgtest.DB {
	t.Helper()
	s.EnsureRole(t, "pghaul_e2e_owner", "pghaul_e2e_reader")
	db := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
	db.Exec(t, "DO $$ BEGIN CREATE ROLE pghaul_e2e_login LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$")
	sql, err := os.ReadFile(filepath.Join(pgtest.Root(t), "testdata", "shop.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, string(sql))
	return db
}

// changing are the beginnings of the lines of a dump that differ from run to run.
var changing = []string{`\restrict `, `\unrestrict `, "-- Dumped by ", "-- Dumped from ", "-- Started on ", "-- Completed on "}

// text is the database as the stock pg_dump of its version writes it.
func text(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return normal(db.MustTool(t, "pg_dump", "-Fp", "-d", db.DSN))
}

// normal takes out the lines that differ from run to run.
func normal(s string) string {
	for _, start := range changing {
		for from := 0; ; {
			i := strings.Index(s[from:], start)
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			if i == 0 || s[i-1] == '\n' {
				s = s[:i] + s[i+strings.IndexByte(s[i:]+"\n", '\n'):]
			}
		}
	}
	return s
}

// sorted puts the rows of each table in order: pieces of a table that are loaded side by
// side lie in the copy as they came.
func sorted(s string) string {
	lines := strings.Split(s, "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "COPY ") || !strings.HasSuffix(lines[i], " FROM stdin;") {
			continue
		}
		start := i + 1
		for i < len(lines) && lines[i] != `\.` {
			i++
		}
		slices.Sort(lines[start:i])
	}
	return strings.Join(lines, "\n")
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if want != got {
		t.Errorf("%s differs:\n%s", what, firstDifferences(want, got))
	}
}

// firstDifferences shows the first lines in which two texts differ.
func firstDifferences(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := 0; i < len(as) || i < len(bs); i++ {
		if i >= len(as) || i >= len(bs) || as[i] != bs[i] {
			lo, hi := max(0, i-3), i+12
			return fmt.Sprintf("from line %d:\n%s", i+1, cmp.Diff(as[min(lo, len(as)):min(hi, len(as))], bs[min(lo, len(bs)):min(hi, len(bs))]))
		}
	}
	return ""
}

// cut makes pieces of a table of a few megabytes.
const cut = "--piece-size=1MB"

// Every format that pghaul writes is restored by the stock pg_restore of the server's version.
func TestStockRestoresOurs(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.NeedTool(t, "pg_restore")
		src := shop(t, s)
		want := text(t, src)
		for i, c := range []struct{ name, dump, restore string }{
			{"custom", "-Fc", ""},
			{"directory in jobs", "-Fd -j4 " + cut, "-j2"},
			{"tar", "-Ft " + cut, ""},
			{"custom in jobs", "-Fc " + cut, "-j2"},
			{"custom uncompressed", "-Fc -Z0", "-j2"},
			{"directory", "-Fd -j2 " + cut, ""},
			{"directory in four jobs", "-Fd -j2 -Z1 " + cut, "-j4"},
			{"lz4", "-Fc -Zlz4", ""},
			{"zstd", "-Fd -Zzstd:3", "-j2"},
		} {
			if i >= 3 && s != pgtest.Newest(t) {
				break // the rest does not depend on the server
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				if s.Major < 16 && (c.name == "lz4" || c.name == "zstd") {
					t.Skipf("pg_restore %d has no %s", s.Major, c.name)
				}
				archive := filepath.Join(t.TempDir(), "archive")
				must(t, src, "pghaul", append(strings.Fields("dump "+c.dump), "-f", archive)...)
				dst := s.NewDatabase(t)
				dst.MustTool(t, "pg_restore", append(strings.Fields(c.restore), "-e", "-d", dst.DSN, archive)...)
				same(t, "the copy", sorted(want), sorted(text(t, dst)))
			})
		}
	})
}

// Every format that the stock pg_dump writes is restored by pghaul.
func TestOursRestoresStock(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		s.NeedTool(t, "pg_dump")
		src := shop(t, s)
		want := text(t, src)
		for i, c := range []struct {
			name, dump, restore string
			stdin               bool
		}{
			{"custom in jobs from a pipe", "-Fc", "-j3", true},
			{"directory", "-Fd -j2", "-j2", false},
			{"tar", "-Ft", "", false},
			{"custom", "-Fc", "", false},
			{"custom in jobs", "-Fc", "-j2", false},
			{"custom from a pipe", "-Fc", "", true},
			{"tar in jobs", "-Ft", "-j2", false},
			{"tar in jobs from a pipe", "-Ft", "-j2", true},
			{"single transaction", "-Fc", "-1", false},
			{"inserts", "-Fc --inserts", "", false},
		} {
			if i >= 3 && s != pgtest.Newest(t) {
				break // the rest does not depend on the server
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				archive := filepath.Join(t.TempDir(), "archive")
				src.MustTool(t, "pg_dump", append(strings.Fields(c.dump), "-f", archive, "-d", src.DSN)...)
				dst := s.NewDatabase(t)
				args := append(strings.Fields("restore "+c.restore), "-e", "-d", dst.DSN)
				var in io.Reader
				if c.stdin {
					f, err := os.Open(archive)
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					in = struct{ io.Reader }{f} // a pipe to the program
				} else {
					args = append(args, archive)
				}
				if r := command(t, dst, in, "pghaul", args...); r.code != 0 {
					t.Fatalf("exit status %d\n%s", r.code, r.stderr)
				}
				same(t, "the copy", want, text(t, dst))
			})
		}
	})
}

// The command lines that people have in their scripts work as they stand.
func TestVerbatim(t *testing.T) {
	s := pgtest.Newest(t)
	s.NeedTool(t, "pg_dump")
	src := shop(t, s)
	want := sorted(text(t, src))
	for name, script := range map[string]string{
		"custom":              `pg_dump -Fc -Z3 -f x "$SRC" && pg_restore -d "$DST" x`,
		"directory":           `pg_dump --format=directory --jobs=4 --compress=0 -f x "$SRC" && pg_restore -j 2 -d "$DST" x`,
		"tar through gzip":    `pg_dump --format=tar "$SRC" | gzip >x && gunzip -c x | pg_restore --clean --if-exists -d "$DST"`,
		"jobs from a file":    `pg_dump -Fc "$SRC" >x && pghaul restore -j 8 -d "$DST" < x`,
		"create":              `pg_dump -Fc "$SRC" >x && pg_restore -l x >l && pg_restore -L l -d "$DST" x`,
		"script from archive": `pg_dump -Fc "$SRC" >x && pg_restore -f y x && psql -qX -v ON_ERROR_STOP=1 -d "$DST" -f y >/dev/null`,
		"plain":               `pg_dump "$SRC" | psql -qX -v ON_ERROR_STOP=1 -d "$DST" >/dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(script, "psql") {
				s.NeedTool(t, "psql")
			}
			dst := s.NewDatabase(t)
			c := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-ec", script)
			c.Dir = t.TempDir()
			path := filepath.Dir(binary) + ":"
			if s.BinDir != "" && strings.Contains(script, "psql") {
				tools := t.TempDir() // psql only, so that no stock pg_dump can step in
				if s.Major < 17 {
					t.Skipf("the scripts are pg_dump 18's, which set transaction_timeout; PostgreSQL %d does not know it", s.Major)
				}
				if err := os.Symlink(filepath.Join(s.BinDir, "psql"), filepath.Join(tools, "psql")); err != nil {
					t.Fatal(err)
				}
				path += tools + ":"
			}
			c.Env = append(append(os.Environ(), src.Env()...), "SRC="+src.DSN, "DST="+dst.DSN, "PATH="+path+"/usr/bin:/bin")
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, out)
			}
			same(t, "the copy", want, sorted(text(t, dst)))
		})
	}
}

// The text of a dump is the stock pg_dump's of version 18.
func TestPlainText(t *testing.T) {
	s := pgtest.Version(t, 18)
	s.NeedTool(t, "pg_dump")
	src := shop(t, s)
	for _, args := range []string{"-s", "", "--inserts", "-a", "--clean --if-exists --create", "-n app", "-t event", "--section=post-data", "-x -O", "--statistics"} {
		t.Run("pg_dump "+args, func(t *testing.T) {
			t.Parallel()
			list := append(strings.Fields(args), "-d", src.DSN)
			same(t, "the text", normal(src.MustTool(t, "pg_dump", list...)), normal(must(t, src, "pg_dump", list...)))
		})
	}
}

// The list of an archive, and a restore by an edited list and of one table, are the same through both programs.
func TestListAndSelection(t *testing.T) {
	s := pgtest.Version(t, 18)
	s.NeedTool(t, "pg_restore")
	src := shop(t, s)
	archive := filepath.Join(t.TempDir(), "archive")
	must(t, src, "pghaul", "dump", "-Fd", cut, "-f", archive)
	list := must(t, src, "pg_restore", "-l", archive)
	same(t, "the list", src.MustTool(t, "pg_restore", "-l", archive), list)

	var edited strings.Builder
	for _, line := range strings.Split(list, "\n") {
		if strings.Contains(line, " event") && !strings.Contains(line, "STATISTICS") || strings.HasPrefix(line, ";") {
			edited.WriteString(line + "\n")
		}
	}
	listFile := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(listFile, []byte(edited.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"list":  {"-L", listFile},
		"table": {"-t", "event"},
	} {
		t.Run(name, func(t *testing.T) {
			stock, ours := s.NewDatabase(t), s.NewDatabase(t)
			stock.MustTool(t, "pg_restore", append(args, "-d", stock.DSN, archive)...)
			must(t, ours, "pg_restore", append(args, "-d", ours.DSN, archive)...)
			for _, db := range []*pgtest.DB{stock, ours} {
				if n := db.QueryString(t, "SELECT count(*) FROM event"); n != "20000" {
					t.Errorf("%s rows in event, want 20000", n)
				}
			}
			same(t, "the copy", sorted(text(t, stock)), sorted(text(t, ours)))
		})
	}
}

// A drill passes for every format, of ours and of the stock pg_dump.
func TestDrillPasses(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, s *pgtest.Server) {
		src := shop(t, s)
		for i, format := range []string{"-Fd " + cut, "-Fc", "-Ft"} {
			if i >= 1 && s != pgtest.Newest(t) {
				break // the rest does not depend on the server
			}
			t.Run(format, func(t *testing.T) {
				archive := filepath.Join(t.TempDir(), "archive")
				must(t, src, "pghaul", append(strings.Fields("dump "+format), "-f", archive)...)
				if out := must(t, src, "pghaul", "drill", archive); !strings.HasPrefix(out, "IDENTICAL") {
					t.Errorf("report:\n%s", out)
				}
			})
		}
		t.Run("stock archive", func(t *testing.T) {
			s.NeedTool(t, "pg_dump")
			archive := filepath.Join(t.TempDir(), "archive")
			src.MustTool(t, "pg_dump", "-Fc", "-f", archive, "-d", src.DSN)
			out := command(t, src, nil, "pghaul", "drill", "--json", "--quiet", archive).stdout
			var report struct {
				Passed, Manifest bool
				Rules            []struct{ Rule string }
				Compared         struct{ Rows int64 }
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatal(err)
			}
			// An older pg_dump may write a blank more here and there.
			for _, r := range report.Rules {
				if r.Rule != "stock-text" {
					t.Errorf("rule %s", r.Rule)
				}
			}
			if !report.Passed || report.Manifest || report.Compared.Rows != 33056 {
				t.Errorf("report:\n%s", out)
			}
		})
	})
}

// An interrupted drill leaves no process, no server and no file behind.
func TestInterruptedDrillLeavesNothing(t *testing.T) {
	s := pgtest.Newest(t)
	src := shop(t, s)
	archive := filepath.Join(t.TempDir(), "archive")
	must(t, src, "pghaul", "dump", "-Fc", "-f", archive)
	tmp, err := os.MkdirTemp("", "pghaul-e2e-") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil { // the server may run as another user
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, "drill", "--json", archive)
	c.Env = append(os.Environ(), "TMPDIR="+tmp)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() { // the first line of progress: the drill is under way
		t.Fatalf("no progress: %v", c.Wait())
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 130 {
		t.Errorf("exit status %d, want 130: %s", c.ProcessState.ExitCode(), rest)
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("left behind: %s", f.Name())
	}
	if out, err := exec.Command("pgrep", "-f", tmp).Output(); err == nil {
		t.Errorf("processes left behind: %s", out)
	}
}

// Damaged and missing input is refused with a reason, and nothing appears under the
// name of an output that failed.
func TestBadInput(t *testing.T) {
	s := pgtest.Newest(t)
	src := shop(t, s)
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	must(t, src, "pghaul", "dump", "-Fc", "-f", good)
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder")
	must(t, src, "pghaul", "dump", "-Fd", "-f", folder)
	files, err := filepath.Glob(filepath.Join(folder, "[0-9]*.dat*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no data files", err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name, path, want string
	}{
		{"missing", filepath.Join(dir, "nothing"), "no such file"},
		{"empty", write("empty", nil), "too short"},
		{"not an archive", write("text", bytes.Repeat([]byte("no archive\n"), 100)), "does not appear to be a valid"},
		{"script", write("script", []byte("--\n-- PostgreSQL database dump\n--\n\n")), "psql"},
		{"unknown version", write("version", append([]byte("PGDMP\x01\x63"), whole[7:]...)), "unsupported version"},
		{"cut in the table of contents", write("toc", whole[:200]), "table of contents"},
		{"cut in the data", write("data", whole[:len(whole)/2]), ""},
		{"data file missing", folder, strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0]))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dst := s.NewDatabase(t)
			r := command(t, dst, nil, "pghaul", "restore", "-j2", "-e", "-d", dst.DSN, c.path)
			if r.code == 0 || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "goroutine") {
				t.Errorf("exit status %d: %s", r.code, r.stderr)
			}
		})
	}
	t.Run("output that fails", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(dir, "out")
		for _, args := range [][]string{
			{"dump", "-Fc", "-f", out, "-t", "nothing_like_it"},
			{"dump", "-Fd", "-f", out, "-t", "nothing_like_it"},
			{"restore", "-f", out, write("cut", whole[:len(whole)/2])},
		} {
			if r := command(t, src, nil, "pghaul", args...); r.code == 0 {
				t.Errorf("%s: exit status 0", strings.Join(args, " "))
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s: there is an output", strings.Join(args, " "))
			}
		}
	})
	t.Run("no permission", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(dir, "denied")
		r := command(t, src, nil, "pghaul", "dump", "-Fc", "-f", out, "-d", strings.Replace(src.DSN, "user=postgres", "user=pghaul_e2e_login", 1))
		if r.code != 1 || !strings.Contains(r.stderr, "permission denied") {
			t.Errorf("exit status %d: %s", r.code, r.stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("there is an output")
		}
	})
}
