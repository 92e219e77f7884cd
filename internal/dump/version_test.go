package dump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/pgtest"
	"github.com/pghaul/pghaul/pgarchive"
)

// pretend returns a configuration for a way to the database on which the server calls itself by another version.
func pretend(t *testing.T, db *pgtest.DB, version string) *pg.Config {
	t.Helper()
	c, err := pgconn.ParseConfig(db.DSN)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() { l.Close(); running.Wait() })
	relay := func(client net.Conn) {
		defer client.Close()
		network, address := pgconn.NetworkAddress(c.Host, c.Port)
		server, err := net.Dial(network, address)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		running.Go(func() { io.Copy(server, client); server.Close() })
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if n > 0 {
				changeVersion(buf[:n], version)
				if _, err := client.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { relay(client) })
		}
	})
	dsn := fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=%s sslmode=disable", l.Addr().(*net.TCPAddr).Port, c.User, db.Name)
	config, err := pg.ParseConfig(dsn, pg.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// changeVersion puts version in the place of the one that the server reports, in its length.
func changeVersion(b []byte, version string) {
	name := []byte("\x00server_version\x00")[1:]
	i := bytes.Index(b, name)
	if i < 0 {
		return
	}
	value := b[i+len(name):]
	value = value[:bytes.IndexByte(value, 0)]
	copy(value, fmt.Sprintf("%-*s", len(value), version)[:len(value)])
}

func TestOldServerIsRefused(t *testing.T) {
	db := pgtest.Newest(t).NewDatabase(t)
	file := filepath.Join(t.TempDir(), "x.dump")
	_, err := Run(t.Context(), pretend(t, db, "9.6"), Options{Format: pgarchive.FormatCustom, File: file, DumpVersion: "18.6"}, nil)
	var old *VersionError
	if !errors.As(err, &old) {
		t.Fatalf("error %v, want a VersionError", err)
	}
	if strings.TrimSpace(old.Server) != "9.6" || !strings.Contains(err.Error(), "pghaul dumps PostgreSQL 10 and newer") {
		t.Errorf("error %q", err)
	}
	if left, _ := filepath.Glob(filepath.Dir(file) + "/*"); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}

// talk keeps the warnings of a dump.
type talk struct {
	NoProgress
	mu       sync.Mutex
	warnings []string
}

func (k *talk) Message(warning bool, text string) {
	if warning {
		k.mu.Lock()
		k.warnings = append(k.warnings, text)
		k.mu.Unlock()
	}
}

func (k *talk) Warning(w catalog.Warning) { k.Message(true, fmt.Sprint(w.Text, w.Details)) }

func TestNewerServerIsCheckedAndDumped(t *testing.T) {
	s := pgtest.Newest(t)
	if s.Major != 18 {
		pgtest.Missing(t, "PostgreSQL 18 server")
	}
	db := s.NewDatabase(t)
	db.Exec(t, `create table t (a int primary key, b text check (b <> '')); insert into t values (1, 'x'); create view v as select * from t`)
	var k talk
	file := filepath.Join(t.TempDir(), "x.dump")
	r, err := Run(t.Context(), pretend(t, db, "19.0"), Options{Format: pgarchive.FormatCustom, File: file, Jobs: 1, DumpVersion: "18.6"}, &k)
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.Totals.Rows != 1 {
		t.Errorf("%d rows dumped, want 1", r.Manifest.Totals.Rows)
	}
	if len(k.warnings) != 1 || !strings.Contains(k.warnings[0], "newer than this program knows (18)") {
		t.Errorf("warnings %q", k.warnings)
	}
	db.Exec(t, `set allow_system_table_mods = on; create table pg_catalog.pg_graph (oid oid, grname name); insert into pg_graph values (20000, 'g')`)
	if _, err = Run(t.Context(), pretend(t, db, "19.0"), Options{Format: pgarchive.FormatCustom, File: file + "2", DumpVersion: "18.6"}, &k); err == nil ||
		!strings.Contains(err.Error(), "pg_graph") {
		t.Errorf("error %v, want one that names pg_graph", err)
	}
}
