package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/pgtest"
)

// A restore whose process is killed goes on where it was, and says how when it is interrupted otherwise.
func TestRestoreIsResumed(t *testing.T) {
	s := pgtest.Newest(t)
	src := shop(t, s)
	archive := filepath.Join(t.TempDir(), "archive")
	src.MustTool(t, "pg_dump", "-Fd", "-f", archive)
	target := s.NewDatabase(t)
	args := []string{"restore", "-v", "-j2", "-d", target.DSN}
	for _, at := range []string{"creating TABLE ", "processing data for table ", "launching item "} {
		c := exec.Command(binary, append(args, archive)...)
		c.Env = append(os.Environ(), target.Env()...)
		out, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		found := false
		for lines := bufio.NewScanner(out); !found && lines.Scan(); {
			found = strings.Contains(lines.Text(), at)
		}
		c.Process.Kill()
		c.Wait()
		if !found && !strings.HasPrefix(at, "creating") { // an earlier run may have done all that
			t.Errorf("%q was never said", at)
		}
		if len(args) == 5 {
			if r := command(t, target, nil, "pghaul", append(args, archive)...); r.code != 1 || !strings.Contains(r.stderr, "--resume") {
				t.Errorf("restore after an interruption: %d\n%s", r.code, r.stderr)
			}
			args = append(args, "--resume")
		}
	}
	must(t, target, "pghaul", append(args, archive)...)
	same(t, "what was restored", sorted(text(t, src)), sorted(text(t, target)))
	if r := command(t, target, nil, "pghaul", append(args, archive)...); r.code != 1 || !strings.Contains(r.stderr, "no interrupted restore") {
		t.Errorf("resume after the end: %d\n%s", r.code, r.stderr)
	}
	if r := command(t, target, nil, "pghaul", "restore", "--resume", "-1", "-d", target.DSN, archive); r.code != 2 {
		t.Errorf("resume with one transaction: %d\n%s", r.code, r.stderr)
	}
}

// A backup in a store goes into no database that is not meant, and brings its roles.
func TestRestoreTarget(t *testing.T) {
	s := pgtest.Newest(t)
	src := s.NewDatabase(t, pgtest.Options{Suffix: "source"})
	src.Exec(t, `create role pghaul_e2e_brought login createdb; create table t (a int primary key); insert into t values (1);
		alter table t owner to pghaul_e2e_brought; grant select on t to pg_monitor, pghaul_e2e_brought`)
	address := "file://" + t.TempDir()
	must(t, nil, "pghaul", "backup", "-d", src.DSN, "--to", address)
	target := s.NewDatabase(t)
	refused := func(want string, args ...string) {
		t.Helper()
		r := command(t, target, nil, "pghaul", append([]string{"restore"}, append(args, address)...)...)
		if r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "hint: ") {
			t.Errorf("%v: exit status %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	refused("is the one this backup was taken from", "-d", src.DSN)
	target.Exec(t, "create table other (a int)")
	refused("is not empty: it has table public.other", "-d", target.DSN)
	r := command(t, target, nil, "pghaul", "restore", "--dry-run", "--json", "-d", target.DSN, address)
	var dry struct {
		Plan      []struct{ Desc string }
		Preflight struct {
			Findings []struct{ Level, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &dry); err != nil || r.code != 1 || len(dry.Plan) < 3 || dry.Preflight.Findings[0].Kind != "nonempty" {
		t.Errorf("dry run: exit status %d: %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	if n := target.QueryString(t, "select count(*) from pg_class where relname in ('t', 'done')"); n != "0" {
		t.Error("something was written")
	}
	if r := command(t, target, nil, "pghaul", "restore", "--confirm", "another", "--into-nonempty", "-d", target.DSN, address); r.code != 1 || !strings.Contains(r.stderr, "expects \"another\"") {
		t.Errorf("confirm: exit status %d\n%s", r.code, r.stderr)
	}

	src.Exec(t, "alter role pghaul_e2e_brought rename to pghaul_e2e_away")
	t.Cleanup(func() {
		target.Exec(t, "drop owned by pghaul_e2e_brought; drop role pghaul_e2e_brought")
		src.Exec(t, "drop owned by pghaul_e2e_away; drop role pghaul_e2e_away")
	})
	skipped := s.NewDatabase(t, pgtest.Options{Suffix: "skipped"})
	must(t, skipped, "pghaul", "restore", "--roles=skip", "-d", skipped.DSN, address)
	mapped := s.NewDatabase(t, pgtest.Options{Suffix: "mapped"})
	must(t, mapped, "pghaul", "restore", "--map-role", "pghaul_e2e_brought=pghaul_e2e_away", "-d", mapped.DSN, address)
	if owner := mapped.QueryString(t, "select tableowner from pg_tables where tablename = 't'"); owner != "pghaul_e2e_away" {
		t.Errorf("owner %s", owner)
	}
	mapped.Exec(t, "drop table t")
	out := must(t, target, "pghaul", "restore", "--into-nonempty", "--json", "-d", target.DSN, address)
	if !strings.Contains(out, `"roles_created": [`+"\n"+`    "pghaul_e2e_brought"`) {
		t.Errorf("result:\n%s", out)
	}
	if role := target.QueryString(t, "select rolcanlogin || ' ' || rolcreatedb from pg_roles join pg_tables on tableowner = rolname where tablename = 't'"); role != "false true" {
		t.Errorf("role %s", role)
	}
}
