package files

import (
	"strings"
	"testing"
	"time"
)

func TestPathOf(t *testing.T) {
	for key, want := range map[string]string{
		"a/b.txt":            "bucket/a/b.txt",
		"../../etc/passwd":   "bucket/%2E%2E/%2E%2E/etc/passwd",
		"/absolute":          "bucket/%00/absolute",
		"folder/":            "bucket/folder/%00",
		"100%/back\\slash\n": "bucket/100%25/back%5Cslash%0A",
		"ünï":                "bucket/ünï",
	} {
		if got := pathOf("bucket", key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

// A document that does not fit together is refused.
func TestDecode(t *testing.T) {
	file := File{Bucket: "b", Key: "k", Bytes: 3, Pack: packName(1), Path: "b/k", Modified: time.Unix(0, 0).UTC()}
	good := func() *Document {
		return &Document{Buckets: []Bucket{{Name: "b"}}, Files: []File{file}, Missing: []Ref{}, Unlisted: []Ref{}}
	}
	b, err := good().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"version": 1`, `"version": 2`}, {`"pghaul-storage"`, `"other"`}, {`"bytes": 3`, `"bytes": 4`}, {`"bytes": 3`, `"bytes": -3`},
		{`"bucket": "b"`, `"bucket": "c"`}, {`"pack": "storage_00001.tar"`, `"pack": "toc.dat"`}, {`"key": "k"`, `"key": ""`},
		{`"compared"`, `"other"`}, {"}\n", "}{}\n"},
	} {
		changed := strings.Replace(string(b), c[0], c[1], 1)
		if c[0] == "}\n" {
			changed = string(b) + "{}"
		}
		if changed == string(b) {
			t.Fatalf("%s is not in %s", c[0], b)
		}
		if _, err := Decode([]byte(changed)); err == nil {
			t.Errorf("with %s the document is taken", c[1])
		}
	}
	d := good()
	d.Files = append(d.Files, file)
	if b, err = d.Encode(); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b); err == nil {
		t.Error("a file twice is taken")
	}
}
