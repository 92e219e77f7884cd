package all_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/store/all"
)

func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{filepath.Join(dir, "a b"), (&url.URL{Scheme: "file", Path: filepath.Join(dir, "c d")}).String()} {
		if _, err := all.Open(address, all.Options{}); err == nil {
			t.Errorf("%s is not there and was opened for reading", address)
		}
		s, err := all.Open(address, all.Options{Create: true, Up: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "x/y", strings.NewReader("z")); err != nil {
			t.Error(err)
		}
		s.Close()
		s, err = all.Open(address, all.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := s.ReadFile(t.Context(), "x/y", 10); err != nil || string(b) != "z" {
			t.Errorf("%s: %q, %v", address, b, err)
		}
		s.Close()
	}
	if got, err := filepath.Glob(filepath.Join(dir, "*", "x", "y")); err != nil || len(got) != 2 {
		t.Errorf("files: %q, %v", got, err)
	}
}

func TestOpenBucket(t *testing.T) {
	env := map[string]string{"AWS_REGION": "eu-central-1"}
	for _, address := range []string{
		"s3://bucket", "s3://bucket/a/prefix/",
		"s3://bucket/p?endpoint=http://127.0.0.1:7070&region=us-east-1&path-style=true&checksum=md5&conditional=false&part-mib=16",
		"s3://bucket/p?endpoint=https://abc.r2.cloudflarestorage.com",
		"gs://bucket", "gs://bucket/a/prefix?storage-class=NEARLINE",
		"azure://account/container", "azure://account/container/a/prefix?tier=Cool&endpoint=http://127.0.0.1:10000/account",
	} {
		s, err := all.Open(address, all.Options{Getenv: func(n string) string { return env[n] }})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if got, _, _ := strings.Cut(address, "?"); s.String() != got {
			t.Errorf("%s is called %s", address, s)
		}
	}
}

// No address that is refused shows what is secret in it.
func TestRefused(t *testing.T) {
	for address, want := range map[string]string{
		"":                                 "empty",
		"ftp://host/x":                     `"ftp"`,
		"file://host/x":                    "file:///path",
		"file:///x?a=b":                    "no options",
		"s3:///x":                          "s3://bucket",
		"s3://key:hunter2@bucket/x":        "credentials",
		"s3://key:hunt%zzer2@bucket/x":     "not a valid URL",
		"s3://bucket/x?secret-key=hunter2": `option "secret-key" is not known; there are checksum,`,
		"s3://bucket/x?part-mib=1":         "5 MiB",
		"s3://bucket/x?checksum=sha0":      "crc32c, md5 or none",
		"s3://bucket/x#y":                  "#",
		"gs:///x":                          "gs://bucket",
		"gs://bucket/x?secret=hunter2":     `option "secret" is not known; there are storage-class`,
		"azure://account":                  "azure://account/container",
		"azure://account/c?sig=hunter2":    `option "sig" is not known; there are endpoint, tier`,
	} {
		_, err := all.Open(address, all.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunt") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestIsAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"s3://b/p": true, "file:///x": true, "/x/y": false, "x": false, "a/b://c": false, "://x": false, `C:\x`: false, "": false,
	} {
		if all.IsAddress(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
