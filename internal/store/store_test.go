package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/faultstore"
	"github.com/pghaul/pghaul/internal/store/memstore"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

func TestPutAndOpen(t *testing.T) {
	mem := memstore.New()
	s := store.New(mem, "/backups/db/", "mem")
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 400 << 10} {
		data := storetest.Bytes(1, size)
		o, err := s.Put(t.Context(), "a/b", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if o.Size != int64(size) || o.Key != "a/b" {
			t.Errorf("%d bytes: %+v", size, o)
		}
		r, err := s.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Read(make([]byte, 1)); err == nil {
			t.Error("a closed reader reads")
		}
	}
	if _, err := mem.Stat(t.Context(), "backups/db/a/b"); err != nil {
		t.Errorf("the folder is not in front of the key: %v", err)
	}
}

func TestCloseEarly(t *testing.T) {
	s := store.New(memstore.New(), "", "mem")
	o, err := s.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, 600<<10)))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{0, 1, 150 << 10} {
		r, err := s.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, r, n); err != nil {
			t.Error(err)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	}
}

// What a store does to an object is seen before the last bytes of it are handed over.
func TestDamageIsFound(t *testing.T) {
	const size = 200 << 10
	for _, c := range []struct {
		name  string
		spoil func(data []byte) []byte
		fault faultstore.Fault
		want  string
	}{
		{"bit flipped at the beginning", func(b []byte) []byte { b[0] ^= 1; return b }, faultstore.Fault{}, "SHA-256"},
		{"bit flipped at the end", func(b []byte) []byte { b[size-1] ^= 128; return b }, faultstore.Fault{}, "SHA-256"},
		{"cut", func(b []byte) []byte { return b[:size-1] }, faultstore.Fault{}, "ends after"},
		{"longer", func(b []byte) []byte { return append(b, 0) }, faultstore.Fault{}, "longer"},
		{"empty", func(b []byte) []byte { return nil }, faultstore.Fault{}, ""},
		{"flipped on the way", nil, faultstore.Fault{Flip: true, After: 77}, "SHA-256"},
		{"cut on the way", nil, faultstore.Fault{Cut: true, After: 77}, "ends after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memstore.New()
			s := store.New(faultstore.New(mem, func(op faultstore.Op, _ string, n int) faultstore.Fault {
				if op == faultstore.Get && n == 1 {
					return c.fault
				}
				return faultstore.Fault{}
			}), "", "mem")
			o, err := s.Put(t.Context(), "x", bytes.NewReader(storetest.Bytes(1, size)))
			if err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				if err := mem.Put(t.Context(), "x", bytes.NewReader(c.spoil(storetest.Bytes(1, size))), driver.PutOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			r, err := s.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			n, err := io.Copy(io.Discard, r)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.want != "" && !errors.Is(err, store.ErrDamaged) {
				t.Errorf("not ErrDamaged: %v", err)
			}
			if n >= size {
				t.Errorf("all of %d bytes were handed over", n)
			}
			if err := s.Verify(t.Context(), o); c.spoil != nil && err == nil {
				t.Error("verify found nothing")
			}
		})
	}
}

func TestCreate(t *testing.T) {
	for name, conditional := range map[string]bool{"conditional": true, "checked before": false} {
		s := store.New(faultstore.New(memstore.New(), func(faultstore.Op, string, int) faultstore.Fault { return faultstore.Fault{} }), "", "mem")
		if !conditional {
			s = store.New(unconditional{memstore.New()}, "", "mem")
		}
		if _, err := s.Create(t.Context(), "x", []byte("1")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Create(t.Context(), "x", []byte("2")); !errors.Is(err, store.ErrExists) {
			t.Errorf("%s: second: %v", name, err)
		}
		if b, err := s.ReadFile(t.Context(), "x", 10); err != nil || string(b) != "1" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

// unconditional is a store that cannot put conditionally.
type unconditional struct{ driver.Store }

func (u unconditional) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	if o.IfAbsent {
		return errors.ErrUnsupported
	}
	return u.Store.Put(ctx, key, body, o)
}

func TestListAndFolders(t *testing.T) {
	mem := memstore.New()
	s := store.New(small{mem}, "top", "mem")
	for _, key := range []string{"a/1", "a/2", "a/b/3", "b/4", "c"} {
		if _, err := s.Put(t.Context(), key, strings.NewReader(key)); err != nil {
			t.Fatal(err)
		}
	}
	if err := mem.Put(t.Context(), "elsewhere", strings.NewReader("x"), driver.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	keys := func(folder string) (out []string) {
		for o, err := range s.List(t.Context(), folder) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, o.Key)
		}
		return out
	}
	if got := keys(""); !slices.Equal(got, []string{"a/1", "a/2", "a/b/3", "b/4", "c"}) {
		t.Errorf("all: %q", got)
	}
	if got := keys("a"); !slices.Equal(got, []string{"a/1", "a/2", "a/b/3"}) {
		t.Errorf("a: %q", got)
	}
	if got, err := s.Folders(t.Context(), ""); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("folders: %q, %v", got, err)
	}
	if err := s.Delete(t.Context(), "a/1", "a/2", "a/b/3", "none"); err != nil {
		t.Error(err)
	}
	if got := keys(""); !slices.Equal(got, []string{"b/4", "c"}) {
		t.Errorf("after delete: %q", got)
	}
}

// small gives pages of one.
type small struct{ driver.Store }

func (s small) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	r.Limit = 1
	return s.Store.List(ctx, r)
}

func TestCheckKey(t *testing.T) {
	for _, key := range []string{"", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\\b", "a\nb", "\xff", strings.Repeat("x", 221), strings.Repeat("x/", 600) + "x"} {
		if store.CheckKey(key) == nil {
			t.Errorf("%.40q is taken", key)
		}
		if _, err := store.New(memstore.New(), "", "mem").Put(t.Context(), key, strings.NewReader("")); err == nil {
			t.Errorf("put %.40q", key)
		}
	}
	for _, key := range []string{"a", "a/b.dat", "...", "ä b", "%2F"} {
		if err := store.CheckKey(key); err != nil {
			t.Error(err)
		}
	}
}
