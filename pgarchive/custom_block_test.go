package pgarchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pghaul/pghaul/internal/codec"
)

// Many streams at once give a whole archive, whether blocks wait in memory, in temporary files or for their turn, and
// whether some of them are given up and written again.
func TestBlocksSideBySide(t *testing.T) {
	for _, seeks := range []bool{true, false} {
		for _, limit := range []int{0, 1, 5, 1000} {
			t.Run(fmt.Sprintf("seeks=%v/segments=%d", seeks, limit), func(t *testing.T) {
				t.Parallel()
				sideBySide(t, seeks, limit)
			})
		}
	}
}

func sideBySide(t *testing.T, seeks bool, limit int) {
	const entries, workers = 24, 4
	rnd := rand.New(rand.NewSource(int64(limit)))
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "x")
	var w Writer
	var err error
	o := WriterOptions{Header: Header{Compression: codec.Spec{}}}
	if seeks {
		w, err = Create(path, FormatCustom, o)
	} else {
		w, err = NewCustomWriter(&out, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := w.(*customWriter)
	c.queue.limit = limit
	data := make(map[ID][]byte)
	order := make(chan ID, entries)
	for id := ID(1); id <= entries; id++ {
		e := &Entry{ID: id, Desc: "TABLE DATA", Tag: "t", Section: SectionData, HasData: true}
		if id%7 == 0 {
			e.Desc = descBlobs
		}
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
		data[id] = make([]byte, rnd.Intn(4*segmentSize))
		rnd.Read(data[id])
		order <- id
	}
	close(order)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for id := range order {
				if err := writeBlock(w, id, data[id]); err != nil {
					t.Errorf("entry %d: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	if c.queue.used != 0 || c.queue.owner != nil || len(c.queue.done)+len(c.queue.waiting) > 0 {
		t.Errorf("not all was written: %+v", c.queue)
	}
	if err := w.Attach("note", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var r Reader
	if seeks {
		if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
			t.Errorf("files left: %v", files)
		}
		r, err = Open(path, FormatCustom)
	} else {
		r, err = NewReader(&out, FormatCustom)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for id := ID(1); id <= entries; id++ {
		if !seeks {
			if next, err := r.NextData(context.Background()); err != nil || next != id {
				t.Fatalf("next is entry %d, %v; want %d", next, err, id)
			}
		}
		got, err := readBlock(r, id)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, data[id]) {
			t.Errorf("entry %d: other data, %d bytes, want %d", id, len(got), len(data[id]))
		}
	}
	if b, err := r.Attachment("note"); seeks && (err != nil || string(b) != "hello") {
		t.Errorf("attachment %q, %v", b, err)
	}
}

func writeBlock(w Writer, id ID, data []byte) error {
	if id%7 == 0 {
		l, err := w.LargeObjects(id)
		if err != nil {
			return err
		}
		for oid, p := range [][]byte{data[:len(data)/2], data[len(data)/2:]} {
			lo, err := l.Create(uint32(oid + 1))
			if err != nil {
				return err
			}
			lo.Write(p)
			if err := lo.Close(); err != nil {
				return err
			}
		}
		return l.Close()
	}
	if id%5 == 0 { // a first try that fails
		d, err := w.Data(id)
		if err != nil {
			return err
		}
		d.Write(data[:len(data)/3])
		if w.(*customWriter).at == nil && d.(*entryWriter).w.(customData).b.direct { // on its way
			d.Write(data[len(data)/3:])
			return d.Close()
		}
		if err := d.(interface{ Discard() error }).Discard(); err != nil {
			return err
		}
	}
	d, err := w.Data(id)
	if err != nil {
		return err
	}
	for p := data; len(p) > 0; p = p[min(len(p), 50000):] {
		if _, err := d.Write(p[:min(len(p), 50000)]); err != nil {
			return err
		}
	}
	return d.Close()
}

func readBlock(r Reader, id ID) ([]byte, error) {
	if id%7 != 0 {
		d, err := r.Data(context.Background(), id)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return io.ReadAll(d)
	}
	l, err := r.LargeObjects(context.Background(), id)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var all []byte
	for {
		_, lo, err := l.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(lo)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
}
