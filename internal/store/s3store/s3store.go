// Package s3store keeps objects in a bucket of Amazon S3 or of a service that speaks its
// protocol. What comes in and goes out is what package driver says.
//
// An object up to the size of a part is put in one request. A larger one, whose size need not be known,
// becomes a multipart upload: parts of 8 MiB, twice as large after every 1,000, so that
// an object can grow to the protocol's limit of 5 TiB in 10,000 parts while small ones need little memory. Parts go
// through [minio.Core], since the convenient calls of that module drop the condition of a
// conditional put when it becomes a multipart upload. Each part and object carries a CRC-32C that the server checks.
//
// When the reply to a request that stores an object is lost, the next may be refused since the object is there. A random
// text in the object's metadata tells whether it is ours.
package s3store

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	minio "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/httpline"
	"github.com/pghaul/pghaul/internal/store/parts"
)

// Checksum is how the server checks what arrives.
type Checksum uint8

// The checksums.
const (
	CRC32C     Checksum = iota
	MD5                 // for services that do not know CRC-32C
	NoChecksum          // leave it to the connection
)

// Options say how to reach a bucket. The zero value is Amazon's own service, with the credentials of the environment.
type Options struct {
	Endpoint string // host, host:port or URL of another service than Amazon's
	Region   string // "": from the environment, else asked for

	// PathStyle names the bucket in the path and not in the host name. It is the default for other services than Amazon's.
	PathStyle, HostStyle bool

	// EqualParts makes all parts but the last of the same size, as Cloudflare R2 wants.
	EqualParts bool
	PartSize   int64 // of the first 1,000 parts, 5 MiB or more; 0: 8 MiB, or 64 MiB for equal parts
	InFlight   int   // parts of one object uploaded at a time; 0: 2

	Checksum     Checksum
	StorageClass string

	// Unconditional says that the service cannot put conditionally.
	Unconditional bool

	// Credentials; nil: those of the environment, of the file ~/.aws/credentials, or of the machine's role.
	Credentials *credentials.Credentials

	Retry     driver.Backoff    // of each request of an upload; other requests are not repeated here
	Transport http.RoundTripper // nil: the usual
}

// Store is a bucket.
type Store struct {
	core   *minio.Core
	bucket string
	secure bool
	o      Options
	plan   parts.Plan
	line   *patient
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Sweeper = (*Store)(nil)
)

const (
	partSize   = 8 << 20
	equalParts = 64 << 20
	maxParts   = 10_000 // the protocol's
	partsStep  = 1_000  // after so many parts, they get twice as large
)

// minPart is the protocol's smallest part, but for the last.
var minPart int64 = 5 << 20

// Open opens a bucket. It makes no request.
func Open(bucket string, o Options) (*Store, error) {
	host, secure := o.Endpoint, true
	if h, ok := strings.CutPrefix(host, "http://"); ok {
		host, secure = h, false
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "https://"), "/")
	lookup := minio.BucketLookupAuto
	switch {
	case o.PathStyle || host != "" && !o.HostStyle && !strings.HasSuffix(host, ".amazonaws.com"):
		lookup = minio.BucketLookupPath
	case o.HostStyle:
		lookup = minio.BucketLookupDNS
	}
	if host == "" {
		host = "s3.amazonaws.com"
		if o.Region != "" {
			host = "s3." + o.Region + ".amazonaws.com"
		}
	}
	if o.PartSize == 0 {
		o.PartSize = partSize
		if o.EqualParts {
			o.PartSize = equalParts
		}
	}
	if o.PartSize < minPart {
		return nil, fmt.Errorf("open bucket %s: parts of %d bytes are below the 5 MiB that S3 allows", bucket, o.PartSize)
	}
	if o.InFlight <= 0 {
		o.InFlight = 2
	}
	if o.Credentials == nil {
		o.Credentials = credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		})
	}
	if o.Transport == nil {
		o.Transport = httpline.New(0)
	}
	line := &patient{RoundTripper: o.Transport}
	core, err := minio.NewCore(host, &minio.Options{
		Creds: o.Credentials, Secure: secure, Region: o.Region, BucketLookup: lookup, Transport: line,
		MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	return &Store{core: core, bucket: bucket, secure: secure, o: o, plan: plan(o), line: line}, nil
}

// patient remembers how long the service asked to be left alone, which the errors of minio-go do not tell.
type patient struct {
	http.RoundTripper
	until atomic.Int64 // ns of the epoch
}

func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.RoundTripper.RoundTrip(r)
	if err == nil {
		if d := driver.RetryAfter(resp.Header); d > 0 {
			p.until.Store(time.Now().Add(d).UnixNano())
		}
	}
	return resp, err
}

// left is how much of that time is left.
func (p *patient) left() time.Duration { return time.Until(time.Unix(0, p.until.Load())) }

// plan returns how large objects are cut.
func plan(o Options) parts.Plan {
	p := parts.Plan{First: o.PartSize, Count: maxParts, Grow: partsStep, InFlight: o.InFlight}
	if o.EqualParts {
		p.Grow = 0
	}
	return p
}

// translate gives the server's error the meaning it has for a store.
func (s *Store) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == minio.NoSuchKey, r.Code == "NotFound", r.Code == minio.NoSuchUpload:
		return fmt.Errorf("%w (%s)", driver.ErrNotFound, r.Code)
	case s.o.Region == "" && (r.Code == minio.AuthorizationHeaderMalformed || r.Code == minio.InvalidRegion):
		return err // minio-go has learned the bucket's region from it
	case r.Code == minio.NoSuchBucket:
		return driver.Permanent(fmt.Errorf("bucket %s does not exist", s.bucket))
	case r.StatusCode == http.StatusPreconditionFailed:
		return driver.ErrExists
	case r.StatusCode == http.StatusNotImplemented:
		return fmt.Errorf("%w by this service: %s", errors.ErrUnsupported, r.Message)
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s (%s)", driver.ErrDenied, r.Message, r.Code)
	case r.StatusCode == http.StatusServiceUnavailable, r.StatusCode == http.StatusTooManyRequests:
		return driver.After(err, s.line.left())
	case r.StatusCode == http.StatusRequestTimeout, r.StatusCode == http.StatusConflict, r.Code == "RequestTimeout":
		return err
	case r.StatusCode == http.StatusBadRequest && (r.Code == "BadDigest" || r.Code == "XAmzContentSHA256Mismatch" || r.Code == "IncompleteBody"):
		return err // damaged on the way
	case r.StatusCode >= 400 && r.StatusCode < 500:
		return driver.Permanent(err)
	}
	return err
}

// Put stores an object.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	if o.IfAbsent && s.o.Unconditional {
		return fmt.Errorf("put conditionally: %w by this service", errors.ErrUnsupported)
	}
	u := &upload{s: s, key: key, o: o, token: rand.Text()}
	err := s.plan.Send(ctx, body, u)
	if u.id == "" {
		return err
	}
	if err == nil {
		err = u.complete(ctx)
	}
	if err != nil {
		err = errors.Join(err, u.abort(ctx))
	}
	return err
}

// sums returns the checksums of data in the places where minio-go wants them.
func (s *Store) sums(data []byte) (crc, md5Base64, sha string) {
	switch s.o.Checksum {
	case CRC32C:
		crc = base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli)))
	case MD5:
		m := md5.Sum(data)
		md5Base64 = base64.StdEncoding.EncodeToString(m[:])
	}
	if !s.secure { // sign the contents where no TLS guards them; minio-go would cut them into signed chunks instead
		h := sha256.Sum256(data)
		sha = hex.EncodeToString(h[:])
	}
	return crc, md5Base64, sha
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const crcHeader = "X-Amz-Checksum-Crc32c"

// tokenKey is the metadata of an object that says which Put stored it: a reply that is lost leaves open whether
// the request was carried out, and the object that is there then may be somebody else's.
const tokenKey = "Pghaul-Put"

func (u *upload) options() minio.PutObjectOptions {
	return minio.PutObjectOptions{
		ContentType: driver.ContentType(u.key), StorageClass: u.s.o.StorageClass, DisableContentSha256: true,
		UserMetadata: map[string]string{tokenKey: u.token},
	}
}

// upload is a Put under way.
type upload struct {
	s     *Store
	key   string
	o     driver.PutOptions
	token string

	id   string // of a multipart upload
	mu   sync.Mutex
	done []minio.CompletePart
}

var _ parts.Sink = (*upload)(nil)

// stored reports whether this upload is the object that is there.
func (u *upload) stored(ctx context.Context) bool {
	ours := false
	err := u.s.o.Retry.Do(ctx, "stat", u.key, func() error {
		o, err := u.s.core.StatObject(ctx, u.s.bucket, u.key, minio.StatObjectOptions{})
		ours = o.UserMetadata[tokenKey] == u.token
		return u.s.translate(ctx, err)
	})
	return err == nil && ours
}

// settle makes the request that stores the object until it is known whether it does.
func (u *upload) settle(ctx context.Context, op string, request func() error) error {
	again := false
	return u.s.o.Retry.Do(ctx, op, u.key, func() error {
		err := u.s.translate(ctx, request())
		if again && (errors.Is(err, driver.ErrExists) || errors.Is(err, driver.ErrNotFound)) && u.stored(ctx) {
			return nil // an earlier request had been carried out, only its reply was lost
		}
		again = true
		return err
	})
}

// One puts the object in one request.
func (u *upload) One(ctx context.Context, data []byte) error {
	crc, md5Base64, sha := u.s.sums(data)
	opts := u.options()
	if u.o.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	if crc != "" {
		opts.UserMetadata[crcHeader] = crc
	}
	return u.settle(ctx, "put", func() error {
		_, err := u.s.core.PutObject(ctx, u.s.bucket, u.key, bytes.NewReader(data), int64(len(data)), md5Base64, sha, opts)
		return err
	})
}

// Begin begins a multipart upload.
func (u *upload) Begin(ctx context.Context) error {
	opts := u.options()
	if u.s.o.Checksum == CRC32C {
		opts.UserMetadata["X-Amz-Checksum-Algorithm"] = "CRC32C"
	}
	return u.s.o.Retry.Do(ctx, "begin upload of", u.key, func() (err error) {
		u.id, err = u.s.core.NewMultipartUpload(ctx, u.s.bucket, u.key, opts)
		return u.s.translate(ctx, err)
	})
}

// Part uploads a part.
func (u *upload) Part(ctx context.Context, p parts.Part) error {
	crc, md5Base64, sha := u.s.sums(p.Data)
	opts := minio.PutObjectPartOptions{Md5Base64: md5Base64, Sha256Hex: sha, DisableContentSha256: true}
	var etag string
	err := u.s.o.Retry.Do(ctx, fmt.Sprintf("upload part %d of", p.N), u.key, func() error {
		if crc != "" {
			opts.CustomHeader = http.Header{crcHeader: {crc}}
		}
		part, err := u.s.core.PutObjectPart(ctx, u.s.bucket, u.key, u.id, p.N, bytes.NewReader(p.Data), int64(len(p.Data)), opts)
		etag = part.ETag
		return u.s.translate(ctx, err)
	})
	if err != nil {
		return fmt.Errorf("part %d: %w", p.N, err)
	}
	u.mu.Lock()
	u.done = append(u.done, minio.CompletePart{PartNumber: p.N, ETag: etag, ChecksumCRC32C: crc})
	u.mu.Unlock()
	return nil
}

func (u *upload) complete(ctx context.Context) error {
	slices.SortFunc(u.done, func(a, b minio.CompletePart) int { return a.PartNumber - b.PartNumber })
	var opts minio.PutObjectOptions
	if u.o.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	return u.settle(ctx, "complete upload of", func() error {
		_, err := u.s.core.CompleteMultipartUpload(ctx, u.s.bucket, u.key, u.id, u.done, opts)
		return err
	})
}

// patience is how long it may take to clean up.
const patience = 20 * time.Second

// abort removes the parts, also when ctx is done. What it cannot remove is left to Sweep.
func (u *upload) abort(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	err := u.s.o.Retry.Do(ctx, "abort upload of", u.key, func() error {
		err := u.s.translate(ctx, u.s.core.AbortMultipartUpload(ctx, u.s.bucket, u.key, u.id))
		if err != nil {
			return err
		}
		// The server may still be at a part whose request was given up here; that one appears afterwards.
		_, err = u.s.core.ListObjectParts(ctx, u.s.bucket, u.key, u.id, 0, 1)
		switch err = u.s.translate(ctx, err); {
		case err == nil:
			return errors.New("the upload is still there")
		case errors.Is(err, driver.ErrDenied): // not everybody may list parts
			return nil
		}
		return err
	})
	if err == nil || errors.Is(err, driver.ErrNotFound) {
		return nil
	}
	return fmt.Errorf("abort upload: %w", err)
}

// Get returns a part of an object.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	var opts minio.GetObjectOptions
	switch {
	case length == 0:
		if _, err := s.Stat(ctx, key); err != nil {
			return nil, err
		}
		return http.NoBody, nil
	case length > 0:
		opts.SetRange(offset, offset+length-1)
	case offset > 0:
		opts.SetRange(offset, 0)
	}
	body, info, header, err := s.core.GetObject(ctx, s.bucket, key, opts)
	if err != nil {
		return nil, s.translate(ctx, err)
	}
	size := info.Size
	if length > 0 || offset > 0 {
		if size, err = driver.CheckRange(header.Get("Content-Range"), offset, length); err != nil {
			body.Close()
			return nil, err
		}
	}
	return driver.ExpectLength(&stream{body, ctx, s}, size), nil
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
		err = b.s.translate(b.ctx, err)
	}
	return n, err
}

// Stat returns size and time of an object.
func (s *Store) Stat(ctx context.Context, key string) (driver.Info, error) {
	o, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return driver.Info{}, s.translate(ctx, err)
	}
	return driver.Info{Key: key, Size: o.Size, Modified: o.LastModified}, nil
}

// List lists objects, all of them in one page unless it is limited.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var l driver.Listing
	for o := range s.core.Client.ListObjects(inner, s.bucket, minio.ListObjectsOptions{Prefix: r.Prefix, Recursive: !r.Folders}) {
		switch {
		case o.Err != nil:
			return driver.Page{}, s.translate(ctx, o.Err)
		case r.Folders && strings.HasSuffix(o.Key, "/") && o.Key != r.Prefix:
			l.Folder(o.Key)
		default:
			l.Object(driver.Info{Key: o.Key, Size: o.Size, Modified: o.LastModified})
		}
	}
	if err := ctx.Err(); err != nil {
		return driver.Page{}, err
	}
	return l.Page(r), nil
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.translate(ctx, s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, driver.ErrNotFound) {
		return nil
	}
	return err
}

// Sweep aborts multipart uploads that were begun before the given time and not completed.
func (s *Store) Sweep(ctx context.Context, prefix string, before time.Time) (n int, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	for u := range s.core.Client.ListIncompleteUploads(inner, s.bucket, prefix, true) {
		if u.Err != nil {
			return n, s.translate(ctx, u.Err)
		}
		if !u.Initiated.Before(before) {
			continue
		}
		err := s.translate(ctx, s.core.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID))
		if err != nil && !errors.Is(err, driver.ErrNotFound) {
			return n, err
		}
		n++
	}
	return n, ctx.Err()
}

// Close does nothing.
func (s *Store) Close() error { return nil }
