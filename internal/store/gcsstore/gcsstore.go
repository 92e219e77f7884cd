// Package gcsstore keeps objects in a bucket of Google Cloud Storage. What comes in and goes out is what
// package driver says.
//
// It speaks the service's JSON interface itself, in the few requests that a store needs: Google's own
// client would be larger than all the rest of the program. Only the credentials come from a library of theirs.
//
// An object up to the size of a part is put in one request. A larger one is sent in a resumable session, part after part; when
// one fails, the service is asked how much of it has arrived, and what is missing is sent. Whole objects carry a CRC-32C,
// which the service compares before an object exists.
package gcsstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/httpline"
	"github.com/pghaul/pghaul/internal/store/parts"
)

// Options say how to reach a bucket. The zero value is Google's own service, with the application default credentials: the file
// that GOOGLE_APPLICATION_CREDENTIALS names, else what gcloud left in the home folder, else the machine's service account.
type Options struct {
	// Endpoint is the URL of another service with the same interface, such as an emulator. It is asked
	// without credentials.
	Endpoint string

	PartSize     int64 // in which large objects are sent, a multiple of 256 KiB; 0: 16 MiB
	StorageClass string

	Retry     driver.Backoff    // of each request of an upload; other requests are not repeated here
	Transport http.RoundTripper // nil: the usual
}

// Store is a bucket.
type Store struct {
	bucket   string
	endpoint string
	client   *http.Client
	o        Options
	plan     parts.Plan
	token    func() (auth.TokenProvider, error) // nil: none
}

var _ driver.Store = (*Store)(nil)

const (
	partSize = 16 << 20
	partUnit = 256 << 10 // the service keeps multiples of it
	largest  = 5 << 40   // the largest object of the service
	scope    = "https://www.googleapis.com/auth/devstorage.read_write"
)

// Open opens a bucket. It makes no request.
func Open(bucket string, o Options) (*Store, error) {
	if o.PartSize == 0 {
		o.PartSize = partSize
	}
	if o.PartSize < 0 || o.PartSize%partUnit != 0 {
		return nil, fmt.Errorf("open bucket %s: parts of %d bytes are not a multiple of 256 KiB", bucket, o.PartSize)
	}
	if o.Transport == nil {
		o.Transport = httpline.New(0)
	}
	s := &Store{bucket: bucket, endpoint: "https://storage.googleapis.com", o: o}
	s.plan = parts.Plan{First: o.PartSize, Count: int(largest / o.PartSize)}
	s.client = &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("open bucket %s: the endpoint is not the URL of a service", bucket)
		}
		s.endpoint = u.Scheme + "://" + u.Host
		return s, nil
	}
	s.token = sync.OnceValues(func() (auth.TokenProvider, error) {
		c, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{scope}})
		if err != nil {
			return nil, fmt.Errorf("%w: no credentials for Google Cloud Storage: set GOOGLE_APPLICATION_CREDENTIALS to a service account's file, or run gcloud auth application-default login: %w", driver.ErrDenied, err)
		}
		return c, nil
	})
	return s, nil
}

// request is one request.
type request struct {
	method string
	url    string
	header http.Header
	body   []byte
	signed bool // the URL itself is the permission
}

// do makes a request and returns a reply with status 2xx, or 308 which says that an upload is not complete yet. The
// caller closes its body.
func (s *Store) do(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, driver.Permanent(err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if s.token != nil && !r.signed {
		provider, err := s.token()
		if err != nil {
			return nil, err
		}
		t, err := provider.Token(ctx)
		if err != nil {
			return nil, s.gone(ctx, fmt.Errorf("get an access token: %w", err))
		}
		req.Header.Set("Authorization", "Bearer "+t.Value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var where *url.Error // names the URL, which may be a permission
		if errors.As(err, &where) {
			err = where.Err
		}
		return nil, s.gone(ctx, err)
	}
	if resp.StatusCode/100 == 2 || resp.StatusCode == http.StatusPermanentRedirect {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, s.refused(resp)
}

// gone is an error without a reply.
func (s *Store) gone(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

// refused gives a reply's status the meaning it has for a store.
func (s *Store) refused(resp *http.Response) error {
	var reply struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	message := resp.Status
	if json.Unmarshal(text, &reply) == nil && reply.Error.Message != "" {
		message += ": " + reply.Error.Message
	}
	reason := ""
	if len(reply.Error.Errors) > 0 {
		reason = reply.Error.Errors[0].Reason
	}
	err := errors.New(message)
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound, status == http.StatusGone:
		return fmt.Errorf("%w (%s)", driver.ErrNotFound, message)
	case status == http.StatusPreconditionFailed:
		return driver.ErrExists
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500,
		strings.HasSuffix(strings.ToLower(reason), "ratelimitexceeded"):
		return driver.After(err, driver.RetryAfter(resp.Header))
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w: %s", driver.ErrDenied, message)
	}
	return driver.Permanent(err)
}

// noBucket is what "not found" means where no object is asked for.
func (s *Store) noBucket(err error) error {
	if errors.Is(err, driver.ErrNotFound) {
		return driver.Permanent(fmt.Errorf("bucket %s does not exist", s.bucket))
	}
	return err
}

// decode makes a request and reads its reply.
func (s *Store) decode(ctx context.Context, r request, into any) error {
	resp, err := s.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return s.gone(ctx, fmt.Errorf("read the reply: %w", err))
	}
	return nil
}

// object is what the service says of one.
type object struct {
	Name     string            `json:"name"`
	Size     int64             `json:"size,string"`
	Updated  time.Time         `json:"updated"`
	Metadata map[string]string `json:"metadata"`
}

func (o object) info() driver.Info {
	return driver.Info{Key: o.Name, Size: o.Size, Modified: o.Updated}
}

func (s *Store) objects() string {
	return s.endpoint + "/storage/v1/b/" + url.PathEscape(s.bucket) + "/o"
}

func (s *Store) object(key string) string { return s.objects() + "/" + url.PathEscape(key) }

func (s *Store) lookUp(ctx context.Context, key string) (o object, err error) {
	err = s.decode(ctx, request{method: http.MethodGet, url: s.object(key) + "?fields=name,size,updated,metadata"}, &o)
	return o, err
}

// Stat returns size and time of an object.
func (s *Store) Stat(ctx context.Context, key string) (driver.Info, error) {
	o, err := s.lookUp(ctx, key)
	o.Name = key
	return o.info(), err
}

// Get returns a part of an object.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r := request{method: http.MethodGet, url: s.object(key) + "?alt=media", header: http.Header{}}
	switch {
	case length == 0:
		if _, err := s.Stat(ctx, key); err != nil {
			return nil, err
		}
		return http.NoBody, nil
	case length > 0:
		r.header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		r.header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := s.do(ctx, r)
	if err != nil {
		return nil, err
	}
	size := resp.ContentLength
	if len(r.header) > 0 {
		if size, err = driver.CheckRange(resp.Header.Get("Content-Range"), offset, length); err != nil {
			resp.Body.Close()
			return nil, err
		}
	}
	body := io.ReadCloser(&stream{resp.Body, ctx, s})
	if size >= 0 {
		body = driver.ExpectLength(body, size)
	}
	return body, nil
}

// stream gives errors of a body their meaning.
type stream struct {
	io.ReadCloser
	ctx context.Context
	s   *Store
}

func (b *stream) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.s.gone(b.ctx, err)
	}
	return n, err
}

// List lists objects, all of them in one page unless it is limited.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	q := url.Values{"prefix": {r.Prefix}, "fields": {"nextPageToken,prefixes,items(name,size,updated)"}}
	if r.Folders {
		q.Set("delimiter", "/")
	}
	var l driver.Listing
	for {
		var page struct {
			NextPageToken string
			Prefixes      []string
			Items         []object
		}
		if err := s.decode(ctx, request{method: http.MethodGet, url: s.objects() + "?" + q.Encode()}, &page); err != nil {
			return driver.Page{}, s.noBucket(err)
		}
		for _, o := range page.Items {
			l.Object(o.info())
		}
		for _, f := range page.Prefixes {
			l.Folder(f)
		}
		if page.NextPageToken == "" {
			return l.Page(r), nil
		}
		q.Set("pageToken", page.NextPageToken)
	}
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	resp, err := s.do(ctx, request{method: http.MethodDelete, url: s.object(key)})
	if errors.Is(err, driver.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Close ends idle connections.
func (s *Store) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Put stores an object.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	u := &upload{s: s, key: key, o: o, token: rand.Text()}
	err := s.plan.Send(ctx, body, u)
	if err != nil && u.session != "" {
		u.abort(ctx)
	}
	return err
}

// upload is a Put under way.
type upload struct {
	s     *Store
	key   string
	o     driver.PutOptions
	token string

	session string // URL of a resumable upload
	crc     uint32
}

var _ parts.Sink = (*upload)(nil)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encode(crc uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))
}

// tokenKey is the metadata of an object that says which Put stored it, for the case that a reply is lost.
const tokenKey = "pghaul-put"

// description is what is said of an object before its bytes. crc may be "".
func (u *upload) description(crc string) []byte {
	b, err := json.Marshal(struct {
		Name         string            `json:"name"`
		ContentType  string            `json:"contentType"`
		StorageClass string            `json:"storageClass,omitempty"`
		CRC32C       string            `json:"crc32c,omitempty"`
		Metadata     map[string]string `json:"metadata"`
	}{u.key, driver.ContentType(u.key), u.s.o.StorageClass, crc, map[string]string{tokenKey: u.token}})
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return b
}

func (u *upload) address(kind string) string {
	q := url.Values{"uploadType": {kind}, "fields": {"name,size"}}
	if u.o.IfAbsent {
		q.Set("ifGenerationMatch", "0")
	}
	return u.s.endpoint + "/upload/storage/v1/b/" + url.PathEscape(u.s.bucket) + "/o?" + q.Encode()
}

// stored reports whether this upload is the object that is there.
func (u *upload) stored(ctx context.Context) bool {
	ours := false
	err := u.s.o.Retry.Do(ctx, "stat", u.key, func() error {
		o, err := u.s.lookUp(ctx, u.key)
		ours = o.Metadata[tokenKey] == u.token
		return err
	})
	return err == nil && ours
}

// One puts the object in one request: a description and the bytes.
func (u *upload) One(ctx context.Context, data []byte) error {
	boundary := rand.Text() + rand.Text()
	var body bytes.Buffer
	fmt.Fprintf(&body, "--%s\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n%s\r\n", boundary, u.description(encode(crc32.Checksum(data, castagnoli))))
	fmt.Fprintf(&body, "--%s\r\nContent-Type: %s\r\n\r\n", boundary, driver.ContentType(u.key))
	body.Write(data)
	fmt.Fprintf(&body, "\r\n--%s--\r\n", boundary)
	r := request{
		method: http.MethodPost, url: u.address("multipart"), body: body.Bytes(),
		header: http.Header{"Content-Type": {"multipart/related; boundary=" + boundary}},
	}
	again := false
	return u.s.o.Retry.Do(ctx, "put", u.key, func() error {
		var o object
		err := u.s.noBucket(u.s.decode(ctx, r, &o))
		if again && errors.Is(err, driver.ErrExists) && u.stored(ctx) {
			return nil // an earlier request had been carried out, only its reply was lost
		}
		again = true
		return err
	})
}

// Begin begins a session.
func (u *upload) Begin(ctx context.Context) error {
	r := request{
		method: http.MethodPost, url: u.address("resumable"), body: u.description(""),
		header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}, "X-Upload-Content-Type": {driver.ContentType(u.key)}},
	}
	return u.s.o.Retry.Do(ctx, "begin upload of", u.key, func() error {
		resp, err := u.s.do(ctx, r)
		if err != nil {
			return u.s.noBucket(err)
		}
		defer resp.Body.Close()
		if u.session = resp.Header.Get("Location"); u.session == "" {
			return errors.New("the service did not say where to send the parts to")
		}
		return nil
	})
}

// Part sends a part: one after the other, as the plan says.
func (u *upload) Part(ctx context.Context, p parts.Part) error {
	u.crc = crc32.Update(u.crc, castagnoli, p.Data)
	sent, end := p.Offset, p.Offset+int64(len(p.Data))
	ask := false
	err := u.s.o.Retry.Do(ctx, fmt.Sprintf("upload part %d of", p.N), u.key, func() error {
		total := "*"
		if p.Last {
			total = strconv.FormatInt(end, 10)
		}
		if ask { // after a failure nobody knows how much has arrived
			have, done, err := u.progress(ctx, "*")
			switch {
			case err != nil:
				return err
			case done && p.Last:
				return nil
			case done || have < p.Offset || have > end:
				return driver.Permanent(fmt.Errorf("the service has %d bytes of an upload of which %d to %d were sent", have, p.Offset, end))
			}
			sent = have
		}
		ask = true
		if sent == end && !p.Last {
			return nil
		}
		have, done, err := u.send(ctx, p.Data[sent-p.Offset:], sent, total)
		switch {
		case err != nil:
			return err
		case done != p.Last || !done && have != end:
			return fmt.Errorf("the service took %d of %d bytes", have, end)
		}
		return nil
	})
	switch {
	case errors.Is(err, driver.ErrNotFound):
		return driver.Permanent(fmt.Errorf("part %d: the service does not know the upload any more", p.N))
	case errors.Is(err, driver.ErrExists), err == nil:
		return err
	}
	return fmt.Errorf("part %d: %w", p.N, err)
}

// send sends bytes from offset on; with them the object is complete if total is a number.
func (u *upload) send(ctx context.Context, data []byte, offset int64, total string) (have int64, done bool, err error) {
	h := http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%s", offset, offset+int64(len(data))-1, total)}}
	if len(data) == 0 {
		h = http.Header{"Content-Range": {"bytes */" + total}}
	}
	if total != "*" {
		h.Set("X-Goog-Hash", "crc32c="+encode(u.crc))
	}
	return u.put(ctx, h, data)
}

// progress asks how many bytes the service has.
func (u *upload) progress(ctx context.Context, total string) (have int64, done bool, err error) {
	return u.put(ctx, http.Header{"Content-Range": {"bytes */" + total}}, nil)
}

func (u *upload) put(ctx context.Context, h http.Header, data []byte) (have int64, done bool, err error) {
	resp, err := u.s.do(ctx, request{method: http.MethodPut, url: u.session, header: h, body: data, signed: true})
	if err != nil {
		return 0, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusPermanentRedirect {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be used again
		return 0, true, u.s.gone(ctx, err)
	}
	if r := resp.Header.Get("Range"); r != "" {
		_, last, ok := strings.Cut(r, "-")
		if have, err = strconv.ParseInt(last, 10, 64); !ok || err != nil || have < 0 {
			return 0, false, fmt.Errorf("the service says it has the range %q", r)
		}
		have++
	}
	return have, false, nil
}

// patience is how long it may take to clean up.
const patience = 20 * time.Second

// abort ends the session, also when ctx is done. One that it cannot end, the service forgets after a week.
func (u *upload) abort(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	if resp, err := u.s.do(ctx, request{method: http.MethodDelete, url: u.session, signed: true}); err == nil {
		resp.Body.Close()
	}
}
