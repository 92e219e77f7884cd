package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// A backup goes into a folder, and out of it by our restore, the stock pg_restore, and a drill.
func TestBackupInFolder(t *testing.T) {
	s := pgtest.Newest(t)
	s.NeedTool(t, "pg_restore")
	src := shop(t, s)
	dir := filepath.Join(t.TempDir(), "backups of a shop")
	address := "file://" + strings.ReplaceAll(dir, " ", "%20")
	backup(t, s, src, address)

	// A copy of the folder is an archive for the stock program.
	folders, err := filepath.Glob(filepath.Join(dir, "*", "*Z"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders: %q, %v", folders, err)
	}
	target := s.NewDatabase(t, pgtest.Options{Suffix: "stock"})
	target.MustTool(t, "pg_restore", "-j2", "-d", target.DSN, folders[0])
	same(t, "what pg_restore restored", sorted(text(t, src)), sorted(text(t, target)))
	if r := command(t, nil, nil, "pghaul", "compare", address, src.DSN); r.code != 0 || !strings.HasPrefix(r.stdout, "IDENTICAL") {
		t.Errorf("compare: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	target.Exec(t, "INSERT INTO parent VALUES (9, 'x')")
	r := command(t, nil, nil, "pghaul", "compare", target.DSN, address)
	if r.code != 1 || !strings.Contains(r.stdout, "TABLE DATA public.parent: rows differs") {
		t.Errorf("compare after a change: %d\n%s%s", r.code, r.stdout, r.stderr)
	}

	// A report lies beside the backup, so that prune knows it; damage is found from now on, and a drill says so.
	if r := command(t, nil, nil, "pghaul", "drill", address, "--quiet"); r.code != 0 || !strings.HasPrefix(r.stdout, "IDENTICAL") {
		t.Errorf("drill: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if out := must(t, nil, "pghaul", "list", dir); !strings.Contains(out, "complete") || !strings.Contains(out, "  drilled ") {
		t.Errorf("list:\n%s", out)
	}
	flip(t, filepath.Join(folders[0], "*.dat.*"))
	if r := command(t, nil, nil, "pghaul", "verify", address, "--quiet"); r.code != 1 || !strings.Contains(r.stdout, "DAMAGED") {
		t.Errorf("verify after a flipped bit: %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	target = s.NewDatabase(t, pgtest.Options{Suffix: "damaged"})
	if r := command(t, target, nil, "pghaul", "restore", "-e", "-d", target.DSN, address); r.code != 1 || !strings.Contains(r.stderr, "SHA-256") {
		t.Errorf("restore after a flipped bit: %d\n%s", r.code, r.stderr)
	}
}

// The same with a real S3 server.
func TestBackupInBucket(t *testing.T) {
	server := storetest.StartS3(t)
	s := pgtest.Newest(t)
	src := shop(t, s)
	address := inBucket(t, server)
	backup(t, s, src, address)
	target := s.NewDatabase(t, pgtest.Options{Suffix: "copy"})
	must(t, target, "pghaul", "restore", "-j2", "--snapshot", src.Name+"/latest", "-d", target.DSN, address)
	same(t, "what restore restored", sorted(text(t, src)), sorted(text(t, target)))
}

// inBucket returns the address of a folder in a new bucket of the server, which the environment names.
func inBucket(t *testing.T, server *storetest.S3Server) string {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": server.Access, "AWS_SECRET_ACCESS_KEY": server.Secret, "AWS_SESSION_TOKEN": "",
		"AWS_REGION": server.Region, "AWS_ENDPOINT_URL": server.Endpoint, "AWS_ENDPOINT_URL_S3": "",
	} {
		t.Setenv(name, value)
	}
	return "s3://" + server.NewBucket(t) + "/nightly"
}

// backup makes a backup and looks at it in every way but restoring it.
func backup(t *testing.T, s *pgtest.Server, src *pgtest.DB, address string) {
	var made struct {
		ID     string
		Totals struct{ Rows, Pieces int }
	}
	out := must(t, src, "pghaul", "backup", "--json", "-j2", "--piece-size=1MB", "--to", address, "-d", src.DSN)
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.ID == "" || made.Totals.Rows == 0 {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	if out := must(t, nil, "pghaul", "restore", "-l", "--snapshot", made.ID, address); !strings.Contains(out, "TABLE DATA public event") {
		t.Errorf("restore -l:\n%s", out)
	}
	var shown struct {
		Server struct{ Version_Num int }
		Roles  []string
	}
	out = must(t, nil, "pghaul", "show", address, "--json")
	if err := json.Unmarshal([]byte(out), &shown); err != nil || shown.Server.Version_Num/10000 != s.Major || len(shown.Roles) == 0 {
		t.Errorf("show: %v\n%s", err, out)
	}
	out = must(t, nil, "pghaul", "verify", address)
	if !strings.HasPrefix(out, "INTACT: "+src.Name+"/"+made.ID) {
		t.Errorf("verify:\n%s", out)
	}
	out = must(t, nil, "pghaul", "prune", address, "--keep-last", "3")
	if !strings.Contains(out, "keep   "+src.Name+"/"+made.ID) || strings.Contains(out, "remove") {
		t.Errorf("prune:\n%s", out)
	}
}

// flip changes a bit of a file.
func flip(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %q, %v", pattern, files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A backup that is interrupted leaves nothing, one that is killed an incomplete one, which is
// neither restored nor taken for the latest, and removed when it is dead.
func TestBackupInterruptedAndKilled(t *testing.T) {
	s := pgtest.Newest(t)
	src := shop(t, s)
	dir := filepath.Join(t.TempDir(), "backups")
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGKILL} {
		// A lock keeps the backup from going on after it has begun.
		lock := src.Conn(t)
		if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE event IN ACCESS EXCLUSIVE MODE").ReadAll(); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), binary, "backup", "--quiet", "--to", dir, "-d", src.DSN)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitForFile(t, dir, "RECOVERY.md")
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		lock.Close(t.Context())
		left := filesIn(t, dir)
		if sig == syscall.SIGINT && (len(left) > 0 || c.ProcessState.ExitCode() != 130) {
			t.Errorf("an interrupt left %q, exit status %d\n%s", left, c.ProcessState.ExitCode(), stderr.String())
		}
	}
	if out := must(t, nil, "pghaul", "list", dir); !strings.Contains(out, "INCOMPLETE") {
		t.Errorf("list:\n%s", out)
	}
	if r := command(t, nil, nil, "pghaul", "restore", "-l", "file://"+dir); r.code != 1 || !strings.Contains(r.stderr, "only incomplete ones") {
		t.Errorf("restore: %d\n%s", r.code, r.stderr)
	}
	if out := must(t, nil, "pghaul", "prune", dir, "--keep-last=1"); !strings.Contains(out, "may still be running") {
		t.Errorf("prune:\n%s", out)
	}
	must(t, nil, "pghaul", "prune", dir, "--keep-last=1", "--incomplete-after=1ns")
	if left := filesIn(t, dir); len(left) > 0 {
		t.Errorf("prune left %q", left)
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// waitForFile returns when there is a file of that name somewhere below the folder.
func waitForFile(t *testing.T, dir, name string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		if found, _ := filepath.Glob(filepath.Join(dir, "*", "*", name)); len(found) > 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("no %s below %s", name, dir)
		case <-tick.C:
		}
	}
}
