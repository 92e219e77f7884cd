// Package storetest holds a driver to what package driver promises. What comes in is a
// way to make an empty store; each promise is a subtest.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Harness is a driver under test.
type Harness struct {
	// New returns an empty store; what it needs to be removed is for t.Cleanup.
	New func(t *testing.T) driver.Store
	// Large is the size of an object that the driver stores in several steps (0: 200 KiB).
	Large int
	// Unconditional says that the store cannot put conditionally.
	Unconditional bool
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	if h.Large == 0 {
		h.Large = 200 << 10
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"round trip", testRoundTrip},
		{"replace", testReplace},
		{"ranges", testRanges},
		{"not found", testNotFound},
		{"body fails", testBodyFails},
		{"cancelled", testCancelled},
		{"if absent", testIfAbsent},
		{"one of many wins", testRace},
		{"list", testList},
		{"pages", testPages},
		{"names", testNames},
		{"delete", testDelete},
		{"side by side", testSideBySide},
		{"sweep", testSweep},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, h)
		})
	}
}

// Bytes returns n bytes that do not compress and depend on seed only.
func Bytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	var s [32]byte
	s[0], s[1] = byte(seed), byte(seed>>8)
	rand.NewChaCha8(s).Read(b)
	return b
}

// stream hides what else a reader can do, and gives odd amounts.
type stream struct{ r io.Reader }

func (s stream) Read(p []byte) (int, error) {
	if len(p) > 10_007 {
		p = p[:10_007]
	}
	return s.r.Read(p)
}

func put(t *testing.T, s driver.Store, key string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, stream{bytes.NewReader(data)}, driver.PutOptions{}); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
}

// Get reads a range to its end.
func Get(ctx context.Context, s driver.Store, key string, offset, length int64) ([]byte, error) {
	r, err := s.Get(ctx, key, offset, length)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func check(t *testing.T, s driver.Store, key string, want []byte) {
	t.Helper()
	got, err := Get(t.Context(), s, key, 0, -1)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	if sha256.Sum256(got) != sha256.Sum256(want) {
		t.Fatalf("get %s: %d bytes that are not the %d put", key, len(got), len(want))
	}
}

func testRoundTrip(t *testing.T, h Harness) {
	s := h.New(t)
	for i, size := range []int{0, 1, 10_000, h.Large} {
		key := fmt.Sprintf("a/b%d/c.dat", i)
		data := Bytes(uint64(i), size)
		before := time.Now().Add(-time.Minute)
		put(t, s, key, data)
		check(t, s, key, data)
		st, err := s.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if st.Key != key || st.Size != int64(size) || st.Modified.Before(before) || st.Modified.After(time.Now().Add(time.Minute)) {
			t.Errorf("stat of %d bytes: %+v", size, st)
		}
	}
}

func testReplace(t *testing.T, h Harness) {
	s := h.New(t)
	put(t, s, "x", Bytes(1, 5000))
	put(t, s, "x", Bytes(2, 300))
	check(t, s, "x", Bytes(2, 300))
}

func testRanges(t *testing.T, h Harness) {
	s := h.New(t)
	data := Bytes(3, h.Large)
	put(t, s, "r", data)
	size := int64(len(data))
	for _, c := range []struct{ offset, length, want int64 }{
		{0, 10, 10}, {5, 0, 0}, {size - 3, -1, 3}, {size - 3, 100, 3}, {1, size - 2, size - 2}, {size / 2, 50_000, 50_000}, {0, -1, size},
	} {
		got, err := Get(t.Context(), s, "r", c.offset, c.length)
		if err != nil {
			t.Errorf("range %d, %d: %v", c.offset, c.length, err)
		} else if !bytes.Equal(got, data[c.offset:c.offset+c.want]) {
			t.Errorf("range %d, %d: %d bytes, want %d", c.offset, c.length, len(got), c.want)
		}
	}
	if got, err := Get(t.Context(), s, "r", size+5, 3); err == nil && len(got) > 0 {
		t.Errorf("beyond the end: %d bytes", len(got))
	}
}

func testNotFound(t *testing.T, h Harness) {
	s := h.New(t)
	put(t, s, "folder/object", []byte("x"))
	for _, key := range []string{"no", "folder", "folder/no", "folder/object/no"} {
		if _, err := Get(t.Context(), s, key, 0, -1); !errors.Is(err, driver.ErrNotFound) && key != "folder/object/no" {
			t.Errorf("get %s: %v", key, err)
		}
		if _, err := s.Stat(t.Context(), key); !errors.Is(err, driver.ErrNotFound) && key != "folder/object/no" {
			t.Errorf("stat %s: %v", key, err)
		}
	}
}

// errBody is what a body fails with.
var errBody = errors.New("the source failed")

type failing struct {
	r   io.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

func testBodyFails(t *testing.T, h Harness) {
	s := h.New(t)
	put(t, s, "old", []byte("as it was"))
	for _, key := range []string{"old", "new"} {
		for _, size := range []int{0, 100, h.Large} {
			body := failing{bytes.NewReader(Bytes(4, size)), errBody}
			if err := s.Put(t.Context(), key, body, driver.PutOptions{}); !errors.Is(err, errBody) {
				t.Errorf("put %s whose body fails after %d bytes: %v", key, size, err)
			}
		}
	}
	check(t, s, "old", []byte("as it was"))
	if keys := list(t, s, ""); !slices.Equal(keys, []string{"old"}) {
		t.Errorf("after failures the store holds %q", keys)
	}
}

// cancelling ends a context after some bytes and goes on as if nothing were.
type cancelling struct {
	r      io.Reader
	cancel context.CancelFunc
}

func (c cancelling) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err == io.EOF {
		c.cancel()
	}
	return n, err
}

func testCancelled(t *testing.T, h Harness) {
	s := h.New(t)
	for _, size := range []int{100, h.Large} {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Put(ctx, "k", cancelling{bytes.NewReader(Bytes(5, size)), cancel}, driver.PutOptions{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("put of %d bytes: %v", size, err)
		}
		if keys := list(t, s, ""); len(keys) > 0 {
			t.Errorf("a cancelled put left %q", keys)
		}
	}
	put(t, s, "k", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Get(ctx, s, "k", 0, -1)
	_, serr := s.Stat(ctx, "k")
	_, lerr := s.List(ctx, driver.ListRequest{})
	for _, err := range []error{err, serr, lerr, s.Delete(ctx, "k")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("with a cancelled context: %v", err)
		}
	}
	check(t, s, "k", []byte("x"))
}

func testIfAbsent(t *testing.T, h Harness) {
	s := h.New(t)
	for i, size := range []int{10, h.Large} {
		key := fmt.Sprintf("d/o%d", i)
		data := Bytes(6, size)
		absent := driver.PutOptions{IfAbsent: true}
		err := s.Put(t.Context(), key, stream{bytes.NewReader(data)}, absent)
		if h.Unconditional {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("a store that cannot put conditionally: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{5, h.Large} {
			if err := s.Put(t.Context(), key, stream{bytes.NewReader(Bytes(7, size))}, absent); !errors.Is(err, driver.ErrExists) {
				t.Errorf("second put of %d bytes: %v", size, err)
			}
		}
		check(t, s, key, data)
	}
}

func testRace(t *testing.T, h Harness) {
	if h.Unconditional {
		return
	}
	s := h.New(t)
	const n = 6
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			errs[i] = s.Put(t.Context(), "claim", bytes.NewReader(Bytes(uint64(i), 1000)), driver.PutOptions{IfAbsent: true})
		})
	}
	wg.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Errorf("%d and %d both stored it", winner, i)
		case !errors.Is(err, driver.ErrExists):
			t.Errorf("%d: %v", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody stored it")
	}
	check(t, s, "claim", Bytes(uint64(winner), 1000))
}

// list returns all keys below a prefix.
func list(t *testing.T, s driver.Store, prefix string) []string {
	t.Helper()
	var keys []string
	for r := (driver.ListRequest{Prefix: prefix}); ; {
		p, err := s.List(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range p.Objects {
			keys = append(keys, o.Key)
		}
		if p.Next == "" {
			return keys
		}
		r.After = p.Next
	}
}

func testList(t *testing.T, h Harness) {
	s := h.New(t)
	all := []string{"a/1", "a/2", "a/b/3", "a/b/c/4", "a/b0", "ab/5", "b", "x/y/z"}
	for i := range all {
		put(t, s, all[len(all)-1-i], Bytes(8, i*10))
	}
	if got := list(t, s, ""); !slices.Equal(got, all) {
		t.Errorf("all: %q", got)
	}
	if got := list(t, s, "a/"); !slices.Equal(got, all[:5]) {
		t.Errorf("a/: %q", got)
	}
	if got := list(t, s, "none/"); len(got) > 0 {
		t.Errorf("none/: %q", got)
	}
	for _, c := range []struct {
		prefix           string
		objects, folders []string
	}{
		{"", []string{"b"}, []string{"a/", "ab/", "x/"}},
		{"a/", []string{"a/1", "a/2", "a/b0"}, []string{"a/b/"}},
		{"a/b/", []string{"a/b/3"}, []string{"a/b/c/"}},
		{"none/", nil, nil},
	} {
		p, err := s.List(t.Context(), driver.ListRequest{Prefix: c.prefix, Folders: true})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, o := range p.Objects {
			keys = append(keys, o.Key)
			if o.Modified.IsZero() {
				t.Errorf("%s has no time", o.Key)
			}
		}
		if !slices.Equal(keys, c.objects) || !slices.Equal(p.Folders, c.folders) || p.Next != "" {
			t.Errorf("%q: objects %q, folders %q, next %q", c.prefix, keys, p.Folders, p.Next)
		}
	}
	p, err := s.List(t.Context(), driver.ListRequest{Prefix: "a/b/"})
	if err != nil || len(p.Objects) != 2 || p.Objects[0].Size != 50 || p.Objects[1].Size != 40 {
		t.Errorf("sizes: %+v, %v", p, err)
	}
}

func testPages(t *testing.T, h Harness) {
	s := h.New(t)
	var want []string
	for i := range 7 {
		key := fmt.Sprintf("p/o%d", i)
		want = append(want, key)
		put(t, s, key, nil)
		put(t, s, fmt.Sprintf("p/o%d.f/x", i), nil)
	}
	for _, limit := range []int{1, 2, 3, 100} {
		var got, folders []string
		r := driver.ListRequest{Prefix: "p/", Folders: true, Limit: limit}
		for {
			p, err := s.List(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(p.Objects) + len(p.Folders); n > limit {
				t.Fatalf("page of %d, limit %d", n, limit)
			}
			for _, o := range p.Objects {
				got = append(got, o.Key)
			}
			folders = append(folders, p.Folders...)
			if p.Next == "" {
				break
			}
			if len(got)+len(folders) > 20 {
				t.Fatal("the list does not end")
			}
			r.After = p.Next
		}
		if !slices.Equal(got, want) || len(folders) != 7 {
			t.Errorf("limit %d: %q, %q", limit, got, folders)
		}
	}
}

func testNames(t *testing.T, h Harness) {
	s := h.New(t)
	want := []string{"%41/%2F.dat", "a b/c+d&e=f", "q?x#y", "ä/名前", strings.Repeat("n", 200) + "/x"}
	for i, key := range want {
		put(t, s, key, Bytes(uint64(i), 50))
	}
	for i, key := range want {
		check(t, s, key, Bytes(uint64(i), 50))
	}
	got := list(t, s, "")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("names: %q, want %q", got, want)
	}
	if got := list(t, s, "a b/"); !slices.Equal(got, []string{"a b/c+d&e=f"}) {
		t.Errorf("below a folder with a blank: %q", got)
	}
}

func testDelete(t *testing.T, h Harness) {
	s := h.New(t)
	put(t, s, "d/1", []byte("x"))
	put(t, s, "d/2", []byte("y"))
	for _, key := range []string{"d/1", "d/1", "never/was"} {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	if got := list(t, s, ""); !slices.Equal(got, []string{"d/2"}) {
		t.Errorf("left: %q", got)
	}
	if err := s.Delete(t.Context(), "d/2"); err != nil {
		t.Error(err)
	}
	p, err := s.List(t.Context(), driver.ListRequest{Folders: true})
	if err != nil || len(p.Objects)+len(p.Folders) > 0 {
		t.Errorf("after all is deleted: %+v, %v", p, err)
	}
}

func testSideBySide(t *testing.T, h Harness) {
	s := h.New(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			key := fmt.Sprintf("f%d/o", i%3) + fmt.Sprint(i)
			data := Bytes(uint64(i), 50_000)
			if err := s.Put(t.Context(), key, bytes.NewReader(data), driver.PutOptions{}); err != nil {
				t.Error(err)
				return
			}
			if got, err := Get(t.Context(), s, key, 0, -1); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %d bytes, %v", key, len(got), err)
			}
			if i%2 == 0 {
				if err := s.Delete(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := list(t, s, ""); len(got) != 4 {
		t.Errorf("left: %q", got)
	}
}

func testSweep(t *testing.T, h Harness) {
	s := h.New(t)
	sweeper, ok := s.(driver.Sweeper)
	if !ok {
		return
	}
	put(t, s, "keep/1", []byte("x"))
	if n, err := sweeper.Sweep(t.Context(), "", time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("nothing to sweep: %d, %v", n, err)
	}
	check(t, s, "keep/1", []byte("x"))
}
