package files

import (
	"bytes"
	"testing"
)

// What is read as a document can be written, and is read as the same.
func FuzzDecode(f *testing.F) {
	d := &Document{Buckets: []Bucket{{Name: "b", Public: true, AllowedTypes: []string{"image/*"}}}, Compared: true, Missing: []Ref{{"b", "x"}}, Files: []File{
		{Bucket: "b", Key: "k", Bytes: 3, Pack: packName(1), Path: "b/k", ContentType: "text/plain", Metadata: map[string]string{"a": "b"}},
	}}
	seed, err := d.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"format":"pghaul-storage","version":1,"files":[{"bucket":"b","bytes":-1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			return
		}
		once, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
	})
}
