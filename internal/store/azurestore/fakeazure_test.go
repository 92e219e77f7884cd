package azurestore_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeAzure is as much of the service as the store uses, for machines without an emulator. It checks the MD5 it is sent and the
// conditions of a put, and drops staged blocks when their key is committed, but checks no signatures.
type fakeAzure struct {
	mu         sync.Mutex
	containers map[string]map[string]*fakeBlob
	staged     map[string]map[string][]byte // blocks by path and ID
	auth       []string                     // Authorization headers, or the signatures of addresses
}

type fakeBlob struct {
	data   []byte
	blocks map[string][]byte
	time   time.Time
	header http.Header
}

func startFake(t testing.TB) (*fakeAzure, string) {
	f := &fakeAzure{containers: map[string]map[string]*fakeBlob{}, staged: map[string]map[string][]byte{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL + "/account"
}

func (f *fakeAzure) newContainer(testing.TB) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fmt.Sprintf("container-%d", len(f.containers))
	f.containers[name] = map[string]*fakeBlob{}
	return name
}

func (f *fakeAzure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auth = append(f.auth, r.Header.Get("Authorization")+r.URL.Query().Get("sig"))
	fail := func(status int, code string) {
		w.Header().Set("X-Ms-Error-Code", code)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>a fake's</Message></Error>", code)
		}
	}
	sum := md5.Sum(body)
	if want := r.Header.Get("Content-Md5"); want != "" && want != base64.StdEncoding.EncodeToString(sum[:]) {
		fail(http.StatusBadRequest, "Md5Mismatch")
		return
	}
	q := r.URL.Query()
	_, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	name, key, _ := strings.Cut(rest, "/")
	blobs, ok := f.containers[name]
	if !ok {
		fail(http.StatusNotFound, "ContainerNotFound")
		return
	}
	b, exists := blobs[key]
	switch {
	case key == "":
		f.list(w, blobs, q)
	case r.Method == http.MethodPut && q.Get("comp") == "block":
		if f.staged[rest] == nil {
			f.staged[rest] = map[string][]byte{}
		}
		f.staged[rest][q.Get("blockid")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && r.Header.Get("If-None-Match") == "*" && exists:
		fail(http.StatusConflict, "BlobAlreadyExists")
	case r.Method == http.MethodPut:
		stored := &fakeBlob{data: body, time: time.Now(), header: http.Header{}}
		for n, v := range r.Header {
			if strings.HasPrefix(n, "X-Ms-Meta-") {
				stored.header[n] = v
			}
		}
		if q.Get("comp") == "blocklist" {
			var l struct{ Latest []string }
			if xml.Unmarshal(body, &l) != nil {
				fail(http.StatusBadRequest, "InvalidXmlDocument")
				return
			}
			stored.data, stored.blocks = nil, map[string][]byte{}
			for _, id := range l.Latest {
				block, ok := f.staged[rest][id]
				if !ok && exists {
					block, ok = b.blocks[id]
				}
				if !ok {
					fail(http.StatusBadRequest, "InvalidBlockList")
					return
				}
				stored.blocks[id] = block
				stored.data = append(stored.data, block...)
			}
		}
		delete(f.staged, rest)
		blobs[key] = stored
		w.WriteHeader(http.StatusCreated)
	case !exists:
		fail(http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodDelete:
		delete(blobs, key)
		w.WriteHeader(http.StatusAccepted)
	default:
		maps.Copy(w.Header(), b.header)
		if g := r.Header.Get("X-Ms-Range"); g != "" {
			r.Header.Set("Range", g)
		}
		http.ServeContent(w, r, "", b.time, bytes.NewReader(b.data))
	}
}

func (f *fakeAzure) list(w io.Writer, blobs map[string]*fakeBlob, q url.Values) {
	const page = 5
	var out strings.Builder
	prefix, next, last, n := q.Get("prefix"), "", "", 0
	escape := func(s string) string {
		var b strings.Builder
		xml.EscapeText(&b, []byte(s))
		return b.String()
	}
	for _, key := range slices.Sorted(maps.Keys(blobs)) {
		rest, ok := strings.CutPrefix(key, prefix)
		name := key
		if i := strings.Index(rest, "/"); i >= 0 && q.Get("delimiter") == "/" {
			name = prefix + rest[:i+1]
		}
		if !ok || name <= q.Get("marker") || name == last {
			continue
		}
		if n == page {
			next = last
			break
		}
		n++
		last = name
		if name != key {
			fmt.Fprintf(&out, "<BlobPrefix><Name>%s</Name></BlobPrefix>", escape(name))
			continue
		}
		fmt.Fprintf(&out, "<Blob><Name>%s</Name><Properties><Content-Length>%d</Content-Length><Last-Modified>%s</Last-Modified></Properties></Blob>",
			escape(key), len(blobs[key].data), blobs[key].time.UTC().Format(http.TimeFormat))
	}
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><EnumerationResults><Blobs>%s</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", out.String(), escape(next))
}
