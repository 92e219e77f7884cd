package s3store_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeS3 is as much of an S3 server as the store uses, for machines without a real one. It
// checks the checksums it is sent and the conditions of a put, but no signatures.
type fakeS3 struct {
	mu      sync.Mutex
	objects map[string][]byte // by /bucket/key
	times   map[string]time.Time
	meta    map[string]http.Header // x-amz-meta-*
	uploads map[string]*fakeUpload
	buckets int
	n       int
}

type fakeUpload struct {
	path  string
	began time.Time
	meta  http.Header
	parts map[int][]byte
}

func metaOf(h http.Header) http.Header {
	meta := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			meta[name] = values
		}
	}
	return meta
}

func startFake(t *testing.T) (*fakeS3, string) {
	f := &fakeS3{objects: map[string][]byte{}, times: map[string]time.Time{}, meta: map[string]http.Header{}, uploads: map[string]*fakeUpload{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

// damaged says which checksum of a request does not fit.
func damaged(r *http.Request, body []byte) string {
	sha := sha256.Sum256(body)
	if want := r.Header.Get("X-Amz-Content-Sha256"); len(want) == 64 && want != hex.EncodeToString(sha[:]) {
		return "XAmzContentSHA256Mismatch"
	}
	sum := md5.Sum(body)
	if want := r.Header.Get("Content-Md5"); want != "" && want != base64.StdEncoding.EncodeToString(sum[:]) {
		return "BadDigest"
	}
	crc := binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	if want := r.Header.Get("X-Amz-Checksum-Crc32c"); want != "" && want != base64.StdEncoding.EncodeToString(crc) {
		return "BadDigest"
	}
	return ""
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fail := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
	}
	if code := damaged(r, body); code != "" {
		fail(http.StatusBadRequest, code)
		return
	}
	q, path := r.URL.Query(), r.URL.Path
	bucket, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !strings.HasPrefix(bucket, "bucket-") {
		fail(http.StatusNotFound, "NoSuchBucket")
		return
	}
	_, exists := f.objects[path]
	upload := f.uploads[q.Get("uploadId")]
	switch {
	case q.Has("uploadId") && upload == nil:
		fail(http.StatusNotFound, "NoSuchUpload")
	case r.Header.Get("If-None-Match") == "*" && exists:
		fail(http.StatusPreconditionFailed, "PreconditionFailed")
	case key == "" && q.Has("uploads"):
		f.listUploads(w, bucket, q)
	case key == "":
		f.list(w, bucket, q)
	case r.Method == http.MethodPost && q.Has("uploads"):
		f.n++
		id := fmt.Sprintf("upload-%d", f.n)
		f.uploads[id] = &fakeUpload{path, time.Now(), metaOf(r.Header), map[int][]byte{}}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><Bucket>%s</Bucket><UploadId>%s</UploadId></InitiateMultipartUploadResult>", bucket, id)
	case r.Method == http.MethodPut && q.Has("partNumber"):
		n, _ := strconv.Atoi(q.Get("partNumber"))
		upload.parts[n] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodPost:
		f.complete(w, fail, bucket, q.Get("uploadId"), body)
	case r.Method == http.MethodDelete && q.Has("uploadId"):
		delete(f.uploads, q.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		f.objects[path], f.times[path], f.meta[path] = body, time.Now(), metaOf(r.Header)
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodDelete:
		delete(f.objects, path)
		w.WriteHeader(http.StatusNoContent)
	case !exists:
		fail(http.StatusNotFound, "NoSuchKey")
	default: // GET and HEAD
		maps.Copy(w.Header(), f.meta[path])
		w.Header().Set("ETag", etag(f.objects[path]))
		http.ServeContent(w, r, "", f.times[path], bytes.NewReader(f.objects[path]))
	}
}

func etag(b []byte) string { sum := md5.Sum(b); return `"` + hex.EncodeToString(sum[:]) + `"` }

func (f *fakeS3) complete(w http.ResponseWriter, fail func(int, string), bucket, id string, body []byte) {
	var request struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	u := f.uploads[id]
	var all []byte
	err := xml.Unmarshal(body, &request)
	for i, p := range request.Part {
		data, ok := u.parts[p.PartNumber]
		if !ok || strings.Trim(p.ETag, `"`) != strings.Trim(etag(data), `"`) || p.PartNumber != i+1 || i+1 < len(request.Part) && len(data) < 64<<10 {
			fail(http.StatusBadRequest, "InvalidPart")
			return
		}
		all = append(all, data...)
	}
	if err != nil || len(request.Part) == 0 {
		fail(http.StatusBadRequest, "MalformedXML")
		return
	}
	f.objects[u.path], f.times[u.path], f.meta[u.path] = all, time.Now(), u.meta
	delete(f.uploads, id)
	fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>%s</Bucket><ETag>%s</ETag></CompleteMultipartUploadResult>", bucket, etag(all))
}

func escape(s string) string { return url.QueryEscape(s) } // encoding-type=url, which the client asks for

func (f *fakeS3) list(w http.ResponseWriter, bucket string, q url.Values) {
	prefix, delimiter, after := q.Get("prefix"), q.Get("delimiter"), max(q.Get("start-after"), q.Get("continuation-token"))
	const page = 5
	var keys []string
	for path := range f.objects {
		if key, ok := strings.CutPrefix(path, "/"+bucket+"/"); ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var b strings.Builder
	last, n, truncated := "", 0, false
	for _, key := range keys {
		name := key
		if i := strings.Index(key[len(prefix):], delimiter); delimiter != "" && i >= 0 {
			name = key[:len(prefix)+i+1]
		}
		if name <= after || name == last {
			continue
		}
		if truncated = n == page; truncated {
			break
		}
		n++
		last = name
		if name != key {
			fmt.Fprintf(&b, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", escape(name))
			continue
		}
		path := "/" + bucket + "/" + key
		fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>%s</LastModified></Contents>",
			escape(key), len(f.objects[path]), f.times[path].UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	next := ""
	if truncated {
		next = "<NextContinuationToken>" + last + "</NextContinuationToken>"
	}
	fmt.Fprintf(w, "<ListBucketResult><Name>%s</Name><EncodingType>url</EncodingType><IsTruncated>%t</IsTruncated>%s%s</ListBucketResult>", bucket, truncated, next, b.String())
}

func (f *fakeS3) listUploads(w http.ResponseWriter, bucket string, q url.Values) {
	fmt.Fprintf(w, "<ListMultipartUploadsResult><Bucket>%s</Bucket><EncodingType>url</EncodingType>", bucket)
	for id, u := range f.uploads {
		if key, ok := strings.CutPrefix(u.path, "/"+bucket+"/"); ok && strings.HasPrefix(key, q.Get("prefix")) {
			fmt.Fprintf(w, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>",
				escape(key), id, u.began.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
	}
	fmt.Fprint(w, "</ListMultipartUploadsResult>")
}
