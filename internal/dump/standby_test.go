//go:build unix

package dump

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// startStandby makes a standby of the server with a database in it, and returns a connection string of that.
func startStandby(t *testing.T, s *pgtest.Server, database string) string {
	t.Helper()
	c, err := pg.ParseConfig(s.DSN, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	socket := c.Hosts[0].Name
	st, err := os.Stat(filepath.Join(socket, ".s.PGSQL."+c.Hosts[0].Port))
	if err != nil {
		t.Skipf("missing: a Unix socket of the server to copy: %v", err)
	}
	dir, err := os.MkdirTemp("", "pghaul-standby-") // short: there will be a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	owner := st.Sys().(*syscall.Stat_t)
	run := func(name string, args ...string) *osexec.Cmd {
		cmd := osexec.Command(s.NeedTool(t, name), args...)
		cmd.Dir = dir
		if os.Geteuid() == 0 { // servers refuse to be run by root
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
		}
		return cmd
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if out, err := run("pg_basebackup", "-h", socket, "-p", c.Hosts[0].Port, "-U", c.User, "-D", data, "-R", "-c", "fast", "-X", "stream", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	server := run("postgres", "-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories="+dir, "-c", "port=5432",
		"-c", "max_standby_streaming_delay=0", "-c", "max_standby_archive_delay=0", "-c", "hot_standby_feedback=off", "-c", "logging_collector=off")
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGQUIT)
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	dsn := fmt.Sprintf("host=%s port=5432 user=%s dbname=%s", dir, c.User, database)
	config, err := pg.ParseConfig(dsn, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pg.Connect(t.Context(), config)
		if err == nil {
			conn.Close(t.Context())
			return dsn
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the standby ended: %v", err)
		case <-t.Context().Done():
			t.Fatal(err)
		case <-tick.C:
		}
	}
}

// A standby is dumped by several sessions as a primary is; when it cancels the dump, the error says what to set.
func TestStandby(t *testing.T) {
	s := pgtest.Newest(t)
	db := s.NewDatabase(t)
	db.Exec(t, bigTable+"; CREATE UNLOGGED TABLE fleeting (a int); INSERT INTO fleeting VALUES (1)")
	standby, err := pg.ParseConfig(startStandby(t, s, db.Name), pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Format: pgarchive.FormatDirectory, Jobs: 2, DumpVersion: "18.6", PieceBytes: 8 << 20}
	o.NoUnloggedTableData = true
	o.File = filepath.Join(t.TempDir(), "primary")
	want := mustRun(t, db, o, nil)
	o.File = filepath.Join(t.TempDir(), "standby")
	r, err := Run(t.Context(), standby, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := manifest.Compare(want.Manifest, r.Manifest); len(d) > 0 || !r.Manifest.Server.Standby {
		t.Errorf("standby: %t\n%s", r.Manifest.Server.Standby, manifest.Report(d))
	}

	// Rows that the dump sees are removed on the primary, and the standby follows.
	conn, err := pg.Connect(t.Context(), standby)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var once sync.Once
	p := &recorder{copied: func(*Item, int64) {
		once.Do(func() {
			db.Exec(t, "DELETE FROM big")
			db.Exec(t, "VACUUM big")
			// The session that holds the snapshot is ended first: it is idle. One that sends does not notice before that is read.
			sql := "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction')"
			deadline := time.Now().Add(30 * time.Second)
			for v := ""; v != "f"; {
				v, err = conn.Value(t.Context(), sql)
				if pg.SQLState(err) == "40001" { // the conflict can hit this query too
					v, err = "", nil
				}
				if err != nil || time.Now().After(deadline) {
					t.Errorf("the standby has no conflict: %v", err)
					return
				}
			}
		})
	}}
	o.File = filepath.Join(t.TempDir(), "cancelled")
	_, err = Run(t.Context(), standby, o, p)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "hot_standby_feedback") || !strings.Contains(e.Hint, "max_standby_streaming_delay") {
		t.Errorf("error %v, hint of %+v", err, e)
	}
	mustNotExist(t, o.File)
}
