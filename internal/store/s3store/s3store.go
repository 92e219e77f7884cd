// Package s3store keeps objects in a bucket of Amazon S3 or of a service that speaks its
// protocol. What comes in and goes out is what package driver says.
//
// An object up to the size of a part is put in one request. A larger one, whose size need not be known,
// becomes a multipart upload: parts of 8 MiB, twice as large after every 1,000, so that
// an object can grow to the protocol's limit of 5 TiB in 10,000 parts while small ones need little memory. Parts go
// through [minio.Core], since the convenient calls of that module drop the condition of a
// conditional put when it becomes a multipart upload. Each part and object carries a CRC-32C that the server checks.
package s3store

import (
	"bytes"
	"context"
	"crypto/md5"
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
	"time"

	minio "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/store/driver"
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
	core, err := minio.NewCore(host, &minio.Options{
		Creds: o.Credentials, Secure: secure, Region: o.Region, BucketLookup: lookup, Transport: o.Transport,
		MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", bucket, err)
	}
	return &Store{core: core, bucket: bucket, secure: secure, o: o}, nil
}

// size returns the size of part n, counted from 1.
func (s *Store) size(n int) int64 {
	if s.o.EqualParts {
		return s.o.PartSize
	}
	return s.o.PartSize << ((n - 1) / partsStep)
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
	case r.Code == minio.NoSuchBucket:
		return driver.Permanent(fmt.Errorf("bucket %s does not exist", s.bucket))
	case r.StatusCode == http.StatusPreconditionFailed:
		return driver.ErrExists
	case r.StatusCode == http.StatusNotImplemented:
		return fmt.Errorf("%w by this service: %s", errors.ErrUnsupported, r.Message)
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s (%s)", driver.ErrDenied, r.Message, r.Code)
	case r.StatusCode == http.StatusRequestTimeout, r.StatusCode == http.StatusTooManyRequests,
		r.StatusCode == http.StatusConflict, r.Code == "RequestTimeout":
		return err
	case r.StatusCode == http.StatusBadRequest && (r.Code == "BadDigest" || r.Code == "XAmzContentSHA256Mismatch" || r.Code == "IncompleteBody"):
		return err // damaged on the way
	case r.StatusCode >= 400 && r.StatusCode < 500:
		return driver.Permanent(err)
	}
	return err
}

// buffers holds parts of the usual size.
var buffers = sync.Pool{New: func() any { b := make([]byte, partSize); return &b }}

func (s *Store) buffer(n int) *[]byte {
	size := s.size(n)
	if size == partSize {
		return buffers.Get().(*[]byte)
	}
	b := make([]byte, size)
	return &b
}

func release(b *[]byte) {
	if len(*b) == partSize {
		buffers.Put(b)
	}
}

// Put stores an object.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	if o.IfAbsent && s.o.Unconditional {
		return fmt.Errorf("put conditionally: %w by this service", errors.ErrUnsupported)
	}
	first := s.buffer(1)
	n, last, err := fill(body, *first)
	if err != nil {
		release(first)
		return err
	}
	if last {
		defer release(first)
		return s.putOne(ctx, key, (*first)[:n], o)
	}
	// A second part decides: a body of just one part's size is no multipart upload.
	second := s.buffer(2)
	n2, last, err := fill(body, *second)
	if err != nil || n2 == 0 {
		release(second)
		defer release(first)
		if err != nil {
			return err
		}
		return s.putOne(ctx, key, (*first)[:n], o)
	}
	return s.putParts(ctx, key, body, o, first, second, n2, last)
}

// fill reads until the buffer is full or the body ends.
func fill(body io.Reader, b []byte) (n int, last bool, err error) {
	n, err = io.ReadFull(body, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		// The body's own io.ErrUnexpectedEOF cannot be told from that of ReadFull: ask again.
		if _, err := body.Read(make([]byte, 1)); err != io.EOF {
			return n, true, errors.Join(io.ErrUnexpectedEOF, err)
		}
		return n, true, nil
	}
	return n, false, err
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

func (s *Store) putOptions(key string, o driver.PutOptions) minio.PutObjectOptions {
	p := minio.PutObjectOptions{
		ContentType: contentType(key), StorageClass: s.o.StorageClass, DisableContentSha256: true,
		UserMetadata: map[string]string{},
	}
	if o.IfAbsent {
		p.SetMatchETagExcept("*")
	}
	return p
}

func contentType(key string) string {
	switch {
	case strings.HasSuffix(key, ".json"):
		return "application/json"
	case strings.HasSuffix(key, ".md"):
		return "text/markdown; charset=utf-8"
	}
	return "application/octet-stream"
}

func (s *Store) putOne(ctx context.Context, key string, data []byte, o driver.PutOptions) error {
	crc, md5Base64, sha := s.sums(data)
	opts := s.putOptions(key, o)
	if crc != "" {
		opts.UserMetadata[crcHeader] = crc
	}
	return s.o.Retry.Do(ctx, "put", key, func() error {
		_, err := s.core.PutObject(ctx, s.bucket, key, bytes.NewReader(data), int64(len(data)), md5Base64, sha, opts)
		return s.translate(ctx, err)
	})
}

// upload is a multipart upload under way.
type upload struct {
	s    *Store
	key  string
	id   string
	mu   sync.Mutex
	done []minio.CompletePart
	size int64
}

func (s *Store) putParts(ctx context.Context, key string, body io.Reader, o driver.PutOptions, first, second *[]byte, n2 int, last bool) error {
	u := &upload{s: s, key: key}
	opts := s.putOptions(key, driver.PutOptions{})
	if s.o.Checksum == CRC32C {
		opts.UserMetadata["X-Amz-Checksum-Algorithm"] = "CRC32C"
	}
	err := s.o.Retry.Do(ctx, "begin upload of", key, func() (err error) {
		u.id, err = s.core.NewMultipartUpload(ctx, s.bucket, key, opts)
		return s.translate(ctx, err)
	})
	if err == nil {
		err = u.parts(ctx, body, first, second, n2, last)
		if err == nil {
			err = u.complete(ctx, o)
		}
		if err != nil {
			err = errors.Join(err, u.abort(ctx))
		}
	}
	return err
}

// parts uploads all parts, several at a time.
func (u *upload) parts(ctx context.Context, body io.Reader, first, second *[]byte, n2 int, last bool) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(u.s.o.InFlight)
	send := func(n int, b *[]byte, size int) {
		u.size += int64(size)
		g.Go(func() error {
			defer release(b)
			return u.part(gctx, n, (*b)[:size])
		})
	}
	send(1, first, len(*first))
	send(2, second, n2)
	var err error
	for n := 3; !last && err == nil && gctx.Err() == nil; n++ {
		if n > maxParts {
			err = driver.Permanent(fmt.Errorf("more than %d parts", maxParts))
			break
		}
		b := u.s.buffer(n)
		var size int
		size, last, err = fill(body, *b)
		if err != nil || size == 0 {
			release(b)
			break
		}
		send(n, b, size)
	}
	werr := g.Wait()
	if err != nil {
		return err
	}
	return werr
}

func (u *upload) part(ctx context.Context, n int, data []byte) error {
	crc, md5Base64, sha := u.s.sums(data)
	opts := minio.PutObjectPartOptions{Md5Base64: md5Base64, Sha256Hex: sha, DisableContentSha256: true}
	var etag string
	err := u.s.o.Retry.Do(ctx, fmt.Sprintf("upload part %d of", n), u.key, func() error {
		if crc != "" {
			opts.CustomHeader = http.Header{crcHeader: {crc}}
		}
		p, err := u.s.core.PutObjectPart(ctx, u.s.bucket, u.key, u.id, n, bytes.NewReader(data), int64(len(data)), opts)
		etag = p.ETag
		return u.s.translate(ctx, err)
	})
	if err != nil {
		return fmt.Errorf("part %d: %w", n, err)
	}
	u.mu.Lock()
	u.done = append(u.done, minio.CompletePart{PartNumber: n, ETag: etag, ChecksumCRC32C: crc})
	u.mu.Unlock()
	return nil
}

func (u *upload) complete(ctx context.Context, o driver.PutOptions) error {
	slices.SortFunc(u.done, func(a, b minio.CompletePart) int { return a.PartNumber - b.PartNumber })
	var opts minio.PutObjectOptions
	if o.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	again := false
	return u.s.o.Retry.Do(ctx, "complete upload of", u.key, func() error {
		_, err := u.s.core.CompleteMultipartUpload(ctx, u.s.bucket, u.key, u.id, u.done, opts)
		err = u.s.translate(ctx, err)
		if again && errors.Is(err, driver.ErrNotFound) {
			// The upload is gone: the request before had been carried out, only its reply was lost.
			var st driver.Info
			serr := u.s.o.Retry.Do(ctx, "stat", u.key, func() (err error) {
				st, err = u.s.Stat(ctx, u.key)
				return err
			})
			if serr == nil && st.Size == u.size {
				return nil
			}
		}
		again = true
		return err
	})
}

// patience is how long it may take to clean up.
const patience = 20 * time.Second

// abort removes the parts, also when ctx is done. What it cannot remove is left to Sweep.
func (u *upload) abort(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	err := u.s.translate(ctx, u.s.core.AbortMultipartUpload(ctx, u.s.bucket, u.key, u.id))
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
	body, info, _, err := s.core.GetObject(ctx, s.bucket, key, opts)
	if err != nil {
		return nil, s.translate(ctx, err)
	}
	return driver.ExpectLength(&stream{body, ctx, s}, info.Size), nil
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
	var all []driver.Info
	for o := range s.core.Client.ListObjects(inner, s.bucket, minio.ListObjectsOptions{Prefix: r.Prefix, Recursive: !r.Folders}) {
		switch {
		case o.Err != nil:
			return driver.Page{}, s.translate(ctx, o.Err)
		case strings.HasSuffix(o.Key, "/"):
			// A folder, or an object that some programs put in its place.
			if r.Folders && o.Key != r.Prefix {
				all = append(all, driver.Info{Key: o.Key + "-"})
			}
		default:
			all = append(all, driver.Info{Key: o.Key, Size: o.Size, Modified: o.LastModified})
		}
	}
	if err := ctx.Err(); err != nil {
		return driver.Page{}, err
	}
	slices.SortFunc(all, func(a, b driver.Info) int { return strings.Compare(a.Key, b.Key) })
	return driver.PageOf(all, r), nil
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
