package filestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/filestore"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

func open(t *testing.T, dir string) *filestore.Store {
	t.Helper()
	s, err := filestore.Open(dir, filestore.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{New: func(t *testing.T) driver.Store { return open(t, t.TempDir()) }})
}

func TestSync(t *testing.T) {
	s, err := filestore.Open(filepath.Join(t.TempDir(), "new"), filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := s.Put(t.Context(), "a/b/c", f, driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Stat(t.Context(), "a/b/c"); err != nil || st.Size != 0 {
		t.Errorf("stat: %+v, %v", st, err)
	}
}

func TestSweepRemovesWhatAKilledPutLeft(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": 48 * time.Hour, "young": 0} {
		file := filepath.Join(dir, "a", "."+name+".0123456789ab.partial")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := s.List(t.Context(), driver.ListRequest{}); err != nil || len(p.Objects) > 0 {
		t.Errorf("unfinished files are listed: %+v, %v", p, err)
	}
	if p, err := s.List(t.Context(), driver.ListRequest{Folders: true}); err != nil || len(p.Folders) > 0 {
		t.Errorf("a folder with nothing else is listed: %+v, %v", p, err)
	}
	if n, err := s.Sweep(t.Context(), "a/", time.Now().Add(-24*time.Hour)); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if n, err := s.Sweep(t.Context(), "", time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !os.IsNotExist(err) {
		t.Errorf("the empty folder is still there: %v", err)
	}
}

func TestNothingOutsideIsReached(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Skipf("symbolic links: %v", err)
	}
	inside := filepath.Join(dir, "inside")
	s := open(t, inside)
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"../secret", "link"} {
		if _, err := s.Get(t.Context(), key, 0, -1); err == nil {
			t.Errorf("%s was read", key)
		}
	}
	_, err := filestore.OpenExisting(filepath.Join(dir, "none"), filestore.Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
