package gcsstore_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
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

// fakeGCS is as much of the service as the store uses, for machines without an emulator. It compares checksums, evaluates the
// condition of a put when it ends, and keeps of a part that breaks what arrived, in its units.
type fakeGCS struct {
	mu       sync.Mutex
	buckets  map[string]map[string]*fakeObject
	sessions map[string]*fakeSession
	n        int
	tokens   []string // what Authorization headers there were
}

type fakeObject struct {
	description
	data    []byte
	updated time.Time
}

type description struct {
	Name     string            `json:"name"`
	CRC32C   string            `json:"crc32c"`
	Metadata map[string]string `json:"metadata"`
}

type fakeSession struct {
	bucket string
	absent bool
	done   bool
	fakeObject
}

func startFake(t testing.TB) (*fakeGCS, string) {
	f := &fakeGCS{buckets: map[string]map[string]*fakeObject{}, sessions: map[string]*fakeSession{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

func (f *fakeGCS) newBucket(testing.TB) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fmt.Sprintf("bucket-%d", len(f.buckets))
	f.buckets[name] = map[string]*fakeObject{}
	return name
}

func fail(w http.ResponseWriter, status int, reason string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%d,"message":"%s","errors":[{"reason":%q}]}}`, status, reason, reason)
}

func sum(data []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))))
}

func (f *fakeGCS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, broken := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens = append(f.tokens, r.Header.Get("Authorization"))
	q := r.URL.Query()
	path := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if id := q.Get("upload_id"); id != "" {
		f.session(w, r, id, body, broken != nil)
		return
	}
	if broken != nil {
		return
	}
	upload := path[0] == "upload"
	if upload {
		path = path[1:]
	}
	if len(path) < 5 || path[0] != "storage" || path[1] != "v1" || path[2] != "b" || path[4] != "o" {
		fail(w, http.StatusBadRequest, "invalid")
		return
	}
	bucket, ok := f.buckets[path[3]]
	if !ok {
		fail(w, http.StatusNotFound, "The specified bucket does not exist.")
		return
	}
	absent := q.Get("ifGenerationMatch") == "0"
	switch {
	case upload && q.Get("uploadType") == "multipart":
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		m := multipart.NewReader(bytes.NewReader(body), params["boundary"])
		var o fakeObject
		if first, err := m.NextPart(); err != nil || json.NewDecoder(first).Decode(&o.description) != nil {
			fail(w, http.StatusBadRequest, "invalid description")
			return
		}
		second, err := m.NextPart()
		if err != nil {
			fail(w, http.StatusBadRequest, "invalid media")
			return
		}
		o.data, _ = io.ReadAll(second)
		f.store(w, bucket, o, absent, o.CRC32C)
	case upload:
		f.n++
		id := fmt.Sprintf("session-%d", f.n)
		s := &fakeSession{bucket: path[3], absent: absent}
		if json.Unmarshal(body, &s.description) != nil {
			fail(w, http.StatusBadRequest, "invalid description")
			return
		}
		f.sessions[id] = s
		w.Header().Set("Location", "http://"+r.Host+r.URL.Path+"?uploadType=resumable&upload_id="+id)
	case len(path) == 5:
		f.list(w, bucket, q)
	default:
		key, _ := url.PathUnescape(path[5])
		o, ok := bucket[key]
		switch {
		case !ok:
			fail(w, http.StatusNotFound, "notFound")
		case r.Method == http.MethodDelete:
			delete(bucket, key)
			w.WriteHeader(http.StatusNoContent)
		case q.Get("alt") == "media":
			http.ServeContent(w, r, "", o.updated, bytes.NewReader(o.data))
		default:
			o.reply(w)
		}
	}
}

func (o *fakeObject) reply(w io.Writer) {
	json.NewEncoder(w).Encode(map[string]any{"name": o.Name, "size": strconv.Itoa(len(o.data)), "updated": o.updated, "metadata": o.Metadata})
}

// store stores an object unless something is against it.
func (f *fakeGCS) store(w http.ResponseWriter, bucket map[string]*fakeObject, o fakeObject, absent bool, crc string) bool {
	_, exists := bucket[o.Name]
	switch {
	case absent && exists:
		fail(w, http.StatusPreconditionFailed, "conditionNotMet")
		return false
	case crc != "" && crc != sum(o.data):
		fail(w, http.StatusBadRequest, "Provided CRC32C does not match calculated CRC32C")
		return false
	}
	o.updated = time.Now()
	bucket[o.Name] = &o
	o.reply(w)
	return true
}

func (f *fakeGCS) session(w http.ResponseWriter, r *http.Request, id string, body []byte, broken bool) {
	s, ok := f.sessions[id]
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "no session")
		return
	case r.Method == http.MethodDelete:
		delete(f.sessions, id)
		fail(w, 499, "cancelled")
		return
	case s.done:
		s.reply(w)
		return
	}
	var from, to, total int64
	given := r.Header.Get("Content-Range")
	switch {
	case given == "bytes */*":
	default:
		total = -1
		if _, err := fmt.Sscanf(given, "bytes %d-%d/%d", &from, &to, &total); err != nil {
			total = -1
			if _, err := fmt.Sscanf(given, "bytes %d-%d/*", &from, &to); err != nil {
				if _, err := fmt.Sscanf(given, "bytes */%d", &total); err != nil {
					fail(w, http.StatusBadRequest, "invalid range "+given)
					return
				}
				from = int64(len(s.data))
			}
		}
		if from != int64(len(s.data)) {
			fail(w, http.StatusBadRequest, fmt.Sprintf("range %s, %d are here", given, len(s.data)))
			return
		}
		s.data = append(s.data, body...)
		if total >= 0 && int64(len(s.data)) == total {
			s.done = f.store(w, f.buckets[s.bucket], s.fakeObject, s.absent, strings.TrimPrefix(r.Header.Get("X-Goog-Hash"), "crc32c="))
			s.updated = time.Now()
			return
		}
		s.data = s.data[:len(s.data)/(256<<10)*(256<<10)]
		if broken {
			return
		}
	}
	if n := len(s.data); n > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", n-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}

func (f *fakeGCS) list(w io.Writer, bucket map[string]*fakeObject, q url.Values) {
	const page = 5
	prefix := q.Get("prefix")
	var items []map[string]any
	var folders []string
	next := ""
	keys := make([]string, 0, len(bucket))
	for key := range bucket {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	last := ""
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, prefix)
		name := key
		if i := strings.Index(rest, "/"); i >= 0 && q.Get("delimiter") == "/" {
			name = prefix + rest[:i+1]
		}
		if !ok || name <= q.Get("pageToken") || name == last {
			continue
		}
		if len(items)+len(folders) == page {
			next = last
			break
		}
		last = name
		if name != key {
			folders = append(folders, name)
			continue
		}
		items = append(items, map[string]any{"name": key, "size": strconv.Itoa(len(bucket[key].data)), "updated": bucket[key].updated})
	}
	json.NewEncoder(w).Encode(map[string]any{"nextPageToken": next, "prefixes": folders, "items": items})
}
