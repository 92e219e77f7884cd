package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	minio "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pghaul/pghaul/internal/files"
	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/storetest"
)

// memory is the objects of a backup.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

type memoryFile struct {
	bytes.Buffer
	m    *memory
	name string
}

func (m *memory) Create(name string) (io.WriteCloser, error) {
	return &memoryFile{m: m, name: name}, nil
}

func (f *memoryFile) Close() error { return f.m.Put(f.name, f.Bytes()) }
func (f *memoryFile) Abort() error { return nil }

func (m *memory) Put(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects == nil {
		m.objects = make(map[string][]byte)
	}
	m.objects[name] = bytes.Clone(data)
	return nil
}

func (m *memory) OpenFile(name string) (io.ReadCloser, error) {
	b, ok := m.objects[name]
	if !ok {
		return nil, store.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// platformOf returns a client of the server, and the module's own for what a platform does there.
func platformOf(t *testing.T, s *storetest.S3Server) (*files.Client, *minio.Client) {
	t.Helper()
	c, err := files.Open(files.Endpoint{URL: s.Endpoint, Region: s.Region, AccessKeyID: s.Access, SecretAccessKey: s.Secret})
	if err != nil {
		t.Fatal(err)
	}
	m, err := minio.New(strings.TrimPrefix(s.Endpoint, "http://"), &minio.Options{Creds: credentials.NewStaticV4(s.Access, s.Secret, ""), Region: s.Region})
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

func put(t *testing.T, m *minio.Client, bucket, key string, data []byte, o minio.PutObjectOptions) {
	t.Helper()
	if _, err := m.PutObject(t.Context(), bucket, key, bytes.NewReader(data), int64(len(data)), o); err != nil {
		t.Fatal(err)
	}
}

// Files go from one server into a backup and to another server with their metadata, and a second restore finds them there.
func TestRoundTrip(t *testing.T) {
	from, to := storetest.StartS3(t), storetest.StartS3(t)
	src, there := platformOf(t, from)
	dst, target := platformOf(t, to)
	ctx := t.Context()
	avatars, docs := from.NewBucket(t), from.NewBucket(t)
	large := make([]byte, 6<<20)
	rand.NewChaCha8([32]byte{}).Read(large)
	put(t, there, avatars, "a/b/face.png", []byte("\x89PNG"), minio.PutObjectOptions{
		ContentType: "image/png", CacheControl: "max-age=3600", UserMetadata: map[string]string{"owner": "somebody", "Shade": "blue"},
	})
	put(t, there, avatars, "empty", nil, minio.PutObjectOptions{ContentType: "text/plain", ContentEncoding: "identity"})
	put(t, there, docs, "größer/100 % + weit & breit.bin", large, minio.PutObjectOptions{ContentType: "application/x-large", ContentDisposition: "attachment"})
	for i := range 30 {
		put(t, there, docs, fmt.Sprintf("many/%d.txt", i), fmt.Appendf(nil, "file %d", i), minio.PutObjectOptions{ContentType: "text/plain; charset=utf-8"})
	}
	limit := int64(1 << 20)
	tables := &files.Tables{
		Buckets: []files.Bucket{{Name: avatars, Public: true, SizeLimit: &limit, AllowedTypes: []string{"image/*"}}, {Name: docs}},
		Objects: map[files.Ref]bool{{Bucket: avatars, Key: "a/b/face.png"}: true, {Bucket: avatars, Key: "lost"}: true},
	}
	backup := new(memory)
	made, err := files.Copy(ctx, src, backup, files.CopyOptions{Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	made.Compare(tables)
	doc, err := made.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d, err := files.Decode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Files) != 33 || len(made.Files) != 33 || !d.Compared || !slices.Equal(d.Missing, []files.Ref{{Bucket: avatars, Key: "lost"}}) || len(d.Unlisted) != 32 {
		t.Errorf("%d files, missing %v, unlisted %d", len(d.Files), d.Missing, len(d.Unlisted))
	}
	if d := cmp.Diff(tables.Buckets, d.Buckets); d != "" {
		t.Error(d)
	}

	v, err := files.Verify(ctx, backup, d, files.VerifyOptions{})
	if err != nil || len(v.Problems) > 0 || v.Read != 33 || v.BytesRead != d.Bytes {
		t.Fatalf("verify: %+v, %v", v, err)
	}
	if v, err = files.Verify(ctx, backup, d, files.VerifyOptions{Percent: 1}); err != nil || len(v.Problems) > 0 || v.Read == 0 {
		t.Errorf("verify of a sample: %+v, %v", v, err)
	}

	res, err := files.Restore(ctx, backup, d, dst, files.RestoreOptions{DryRun: true})
	if err != nil || res.Uploaded != 33 || len(res.Buckets) != 2 {
		t.Fatalf("dry run: %+v, %v", res, err)
	}
	res, err = files.Restore(ctx, backup, d, dst, files.RestoreOptions{})
	if err != nil || res.Uploaded != 33 || res.Bytes != d.Bytes || res.Identical != 0 {
		t.Fatalf("restore: %+v, %v", res, err)
	}
	copied, err := files.Copy(ctx, dst, new(memory), files.CopyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range copied.Files { // these say when and where, and not what
		copied.Files[i].Modified, made.Files[i].Modified = made.Time, made.Time
		copied.Files[i].Pack, made.Files[i].Pack = "", ""
	}
	if d := cmp.Diff(made.Files, copied.Files, cmp.AllowUnexported(files.File{}), cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".etag"
	}, cmp.Ignore())); d != "" {
		t.Error("restored files differ:", d)
	}

	// What was lost or changed in between.
	if err := target.RemoveObject(ctx, docs, "many/3.txt", minio.RemoveObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, target, docs, "of somebody else", []byte("x"), minio.PutObjectOptions{})
	res, err = files.Restore(ctx, backup, d, dst, files.RestoreOptions{})
	if err != nil || res.Uploaded != 1 || res.Identical != 32 || res.Foreign != 1 {
		t.Errorf("second restore: %+v, %v", res, err)
	}
	put(t, target, docs, "many/4.txt", []byte("file X"), minio.PutObjectOptions{ContentType: "text/plain; charset=utf-8"})
	put(t, target, docs, "many/5.txt", []byte("file 5"), minio.PutObjectOptions{ContentType: "text/html"})
	_, err = files.Restore(ctx, backup, d, dst, files.RestoreOptions{})
	var different *files.DifferentError
	if !errors.As(err, &different) || !slices.Equal(different.Names, []string{docs + "/many/4.txt", docs + "/many/5.txt"}) {
		t.Errorf("restore over other files: %v", err)
	}
	res, err = files.Restore(ctx, backup, d, dst, files.RestoreOptions{Overwrite: true, Buckets: []string{docs}})
	if err != nil || res.Uploaded != 2 || len(res.Different) != 2 || res.Identical != 29 {
		t.Errorf("restore with replacement: %+v, %v", res, err)
	}
}

// Damage in a pack is found, and no damaged file gets to a server.
func TestDamage(t *testing.T) {
	server := storetest.StartS3(t)
	c, m := platformOf(t, server)
	bucket := server.NewBucket(t)
	put(t, m, bucket, "x", []byte("contents"), minio.PutObjectOptions{})
	backup := new(memory)
	d, err := files.Copy(t.Context(), c, backup, files.CopyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.RemoveObject(t.Context(), bucket, "x", minio.RemoveObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	name := d.Files[0].Pack
	whole := backup.objects[name]
	for what, damaged := range map[string][]byte{
		"changed": bytes.Replace(whole, []byte("contents"), []byte("Contents"), 1),
		"cut":     whole[:515],
		"empty":   make([]byte, 1024),
	} {
		backup.objects[name] = damaged
		v, err := files.Verify(t.Context(), backup, d, files.VerifyOptions{})
		if err != nil || len(v.Problems) != 1 {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
		if _, err := files.Restore(t.Context(), backup, d, c, files.RestoreOptions{}); err == nil {
			t.Errorf("%s: restored", what)
		}
		if _, err := c.Stat(t.Context(), bucket, "x"); !errors.Is(err, files.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Requests go below the path of the endpoint, and are signed with it; buckets may have names that S3 knows not.
func TestEndpointWithPath(t *testing.T) {
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.EscapedPath())
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/") {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer server.Close()
	c, err := files.Open(files.Endpoint{URL: server.URL + "/storage/v1/s3/", AccessKeyID: "key", SecretAccessKey: "secret", Retry: driver.Backoff{Tries: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stat(t.Context(), "My files", "a b/ü%"); err != nil && errors.Is(err, files.ErrNotFound) {
		t.Error(err)
	}
	if want := "/storage/v1/s3/My%20files/a%20b/%C3%BC%25"; !slices.Contains(paths, want) {
		t.Errorf("paths %q, want %q", paths, want)
	}
	for _, bad := range []string{"", "host", "ftp://host", "https://key:secret@host/x", "https://host/?a=b"} {
		if _, err := files.Open(files.Endpoint{URL: bad, AccessKeyID: "key", SecretAccessKey: "secret"}); err == nil {
			t.Errorf("%q is taken for an endpoint", bad)
		}
	}
}

// flaky is a line that breaks: requests fail, replies are cut, servers are busy.
type flaky struct {
	base http.RoundTripper
	n    atomic.Int64
	bad  atomic.Int64
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	kind := f.n.Add(1) % 7
	switch kind {
	case 2:
		f.bad.Add(1)
		return nil, errors.New("connection reset")
	case 4:
		f.bad.Add(1)
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Content-Type": {"application/xml"}}, Request: r,
			Body: io.NopCloser(strings.NewReader("<Error><Code>SlowDown</Code><Message>busy</Message></Error>")),
		}, nil
	}
	resp, err := f.base.RoundTrip(r)
	if err == nil && kind == 6 && r.Method == http.MethodGet && resp.ContentLength > 1 {
		f.bad.Add(1)
		resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, resp.ContentLength/2), iotest.ErrReader(errors.New("connection reset"))))
	}
	return resp, err
}

// On a line that breaks every few requests everything arrives whole.
func TestFlakyLine(t *testing.T) {
	server := storetest.StartS3(t)
	_, m := platformOf(t, server)
	line := &flaky{base: http.DefaultTransport}
	c, err := files.Open(files.Endpoint{
		URL: server.Endpoint, Region: server.Region, AccessKeyID: server.Access, SecretAccessKey: server.Secret, Transport: line,
		Retry: driver.Backoff{Sleep: func(context.Context, time.Duration) error { return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	bucket := server.NewBucket(t)
	for i := range 40 {
		put(t, m, bucket, fmt.Sprintf("%d", i), bytes.Repeat([]byte{byte(i)}, 100*i), minio.PutObjectOptions{})
	}
	put(t, m, bucket, "large", make([]byte, 2<<20), minio.PutObjectOptions{DisableMultipart: true})
	backup := new(memory)
	d, err := files.Copy(t.Context(), c, backup, files.CopyOptions{})
	if err != nil || len(d.Files) != 41 {
		t.Fatal(err)
	}
	if v, err := files.Verify(t.Context(), backup, d, files.VerifyOptions{}); err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	for i := range 20 {
		if err := m.RemoveObject(t.Context(), bucket, fmt.Sprintf("%d", i), minio.RemoveObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := files.Restore(t.Context(), backup, d, c, files.RestoreOptions{})
	if err != nil || res.Uploaded != 20 || res.Identical != 21 {
		t.Errorf("%+v, %v", res, err)
	}
	if line.bad.Load() < 10 {
		t.Errorf("the line broke %d times only", line.bad.Load())
	}
}
