package dump

import (
	"io"
	"testing"

	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/pgarchive"
)

// checkDigests reads the data of an archive and compares their digests with the manifest's.
func checkDigests(t *testing.T, a pgarchive.Reader, m *manifest.Manifest) {
	t.Helper()
	byID := make(map[int32]digest.Sum)
	for i := range m.Tables {
		for j := range m.Tables[i].Pieces {
			p := &m.Tables[i].Pieces[j]
			byID[p.ID] = p.Sum()
		}
	}
	var objects digest.Sum
	for _, e := range a.Entries() {
		switch e.Desc {
		case "TABLE DATA":
			r, err := a.Data(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			var l interface {
				io.WriteCloser
				Sum() digest.Sum
			} = new(digest.Lines)
			if e.BinaryCopy() {
				l = new(digest.Tuples)
			}
			if _, err := io.Copy(l, r); err != nil {
				t.Fatalf("%s: %v", e, err)
			}
			if err := l.Close(); err != nil {
				t.Errorf("%s: %v", e, err)
			}
			r.Close()
			if want, ok := byID[int32(e.ID)]; !ok || l.Sum() != want {
				t.Errorf("%s: digest %v, in the manifest %v", e, l.Sum(), want)
			}
			delete(byID, int32(e.ID))
		case "BLOBS":
			r, err := a.LargeObjects(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			var o digest.Objects
			for {
				oid, content, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				o.Begin(oid)
				if _, err := io.Copy(&o, content); err != nil {
					t.Fatal(err)
				}
				o.End()
			}
			r.Close()
			objects.Add(o.Sum())
		}
	}
	if len(byID) > 0 {
		t.Errorf("pieces of the manifest without an entry: %v", byID)
	}
	if want := m.LargeObjects.Sum(); objects != want {
		t.Errorf("digest of the large objects %v, in the manifest %v", objects, want)
	}
}
