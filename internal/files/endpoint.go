package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	minio "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/pghaul/pghaul/internal/store/driver"
)

// Endpoint says where files are.
type Endpoint struct {
	// URL is that of the S3 protocol, which may have a path: https://<project>.storage.supabase.co/storage/v1/s3.
	URL    string
	Region string // "": us-east-1

	AccessKeyID, SecretAccessKey string
	SessionToken                 string // "": none

	Retry     driver.Backoff    // of each request
	Transport http.RoundTripper // nil: the usual
}

// Client speaks to an endpoint. Its methods may be called from several goroutines.
type Client struct {
	core  *minio.Core
	line  *signing
	name  string
	retry driver.Backoff
}

// ErrNotFound says that there is no such file or bucket.
var ErrNotFound = driver.ErrNotFound

// Open makes a client. It makes no request.
func Open(e Endpoint) (*Client, error) {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, errors.New("the endpoint of the files is not a URL such as https://project.storage.supabase.co/storage/v1/s3")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the endpoint of the files is a URL without credentials and options; keys come from the environment")
	case e.AccessKeyID == "" || e.SecretAccessKey == "":
		return nil, errors.New("the endpoint of the files needs an access key and a secret key")
	}
	if e.Region == "" {
		e.Region = "us-east-1"
	}
	secure := u.Scheme == "https"
	base := e.Transport
	if base == nil {
		t, err := minio.DefaultTransport(secure)
		if err != nil {
			return nil, err
		}
		base = t
	}
	// The module knows no endpoints with a path, and fewer names of buckets than a platform may. So it sends requests unsigned to the
	// host, with other names for the buckets, and they get their path and signature below it.
	line := &signing{base: base, e: e, prefix: strings.TrimSuffix(u.Path, "/")}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4("", "", ""), Secure: secure, Region: e.Region, BucketLookup: minio.BucketLookupPath, MaxRetries: 1,
		Transport: line,
	})
	if err != nil {
		return nil, fmt.Errorf("open endpoint %s: %w", u.Host, err)
	}
	return &Client{core, line, u.Host + line.prefix, e.Retry}, nil
}

// String is the endpoint's host and path.
func (c *Client) String() string { return c.name }

// signing gives requests the endpoint's path and the bucket's real name, and signs them.
type signing struct {
	base   http.RoundTripper
	e      Endpoint
	prefix string

	mu      sync.Mutex
	buckets []string // by the numbers in their other names
}

const aliasForm = "bucket-%d"

// alias returns the name by which the module is to call a bucket.
func (s *signing) alias(bucket string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := slices.Index(s.buckets, bucket)
	if n < 0 {
		n = len(s.buckets)
		s.buckets = append(s.buckets, bucket)
	}
	return fmt.Sprintf(aliasForm, n)
}

// path returns the path that the server is to see.
func (s *signing) path(path string) (string, error) {
	bucket, rest, slash := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if bucket == "" {
		return s.prefix + "/", nil
	}
	n := 0
	if _, err := fmt.Sscanf(bucket, aliasForm, &n); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || n >= len(s.buckets) {
		return "", fmt.Errorf("no bucket %d", n)
	}
	path = s.prefix + "/" + s.buckets[n]
	if slash {
		path += "/" + rest
	}
	return path, nil
}

type payloadHash struct{}

// withHash says what the SHA-256 of the request's body is, so that the server can check it.
func withHash(ctx context.Context, sum [sha256.Size]byte) context.Context {
	return context.WithValue(ctx, payloadHash{}, hex.EncodeToString(sum[:]))
}

func (s *signing) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	path, err := s.path(req.URL.Path)
	if err != nil {
		return nil, err
	}
	req.URL.Path = path
	req.URL.RawPath = s3utils.EncodePath(req.URL.Path)
	sum, ok := req.Context().Value(payloadHash{}).(string)
	if !ok {
		sum = "UNSIGNED-PAYLOAD"
	}
	req.Header.Set("X-Amz-Content-Sha256", sum)
	return s.base.RoundTrip(signer.SignV4(*req, s.e.AccessKeyID, s.e.SecretAccessKey, s.e.SessionToken, s.e.Region))
}

// classify gives the server's error its meaning for a retry.
func classify(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == minio.NoSuchKey, r.Code == minio.NoSuchBucket, r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w (%s)", ErrNotFound, r.Code)
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s (%s); look at the keys and the region", driver.ErrDenied, r.Message, r.Code)
	case r.StatusCode == http.StatusRequestTimeout, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusConflict:
		return err
	case r.StatusCode >= 400 && r.StatusCode < 500:
		return driver.Permanent(err)
	}
	return err
}

// do asks until there is an answer.
func (c *Client) do(ctx context.Context, op, bucket, key string, f func() error) error {
	name := "the buckets"
	if bucket != "" {
		name = strconv.Quote(strings.TrimSuffix(bucket+"/"+key, "/"))
	}
	name += " of " + c.name
	if err := c.retry.Do(ctx, op, name, func() error { return classify(ctx, f()) }); err != nil {
		return fmt.Errorf("%s %s: %w", op, name, err)
	}
	return nil
}

// Buckets returns the names of the buckets, sorted.
func (c *Client) Buckets(ctx context.Context) ([]string, error) {
	var names []string
	err := c.do(ctx, "list", "", "", func() error {
		names = names[:0]
		list, err := c.core.ListBuckets(ctx)
		for _, b := range list {
			names = append(names, b.Name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// Listed is what a list tells of a file.
type Listed struct {
	Key   string
	Bytes int64
}

// List returns the files of a bucket.
func (c *Client) List(ctx context.Context, bucket string) (list []Listed, err error) {
	err = c.do(ctx, "list", bucket, "", func() error {
		o := minio.ListObjectsOptions{Recursive: true}
		if len(list) > 0 { // the second try goes on where the first broke off
			o.StartAfter = list[len(list)-1].Key
		}
		inner, stop := context.WithCancel(ctx)
		defer stop()
		for i := range c.core.Client.ListObjects(inner, c.line.alias(bucket), o) {
			if i.Err != nil {
				return i.Err
			}
			list = append(list, Listed{i.Key, i.Size})
		}
		return ctx.Err()
	})
	return list, err
}

// Stat returns a file without its contents; of the File, Bucket, Key, Bytes and what the server says of it are set.
func (c *Client) Stat(ctx context.Context, bucket, key string) (f File, err error) {
	err = c.do(ctx, "look at", bucket, key, func() error {
		o, err := c.core.StatObject(ctx, c.line.alias(bucket), key, minio.StatObjectOptions{})
		f = fileOf(bucket, key, o)
		return err
	})
	return f, err
}

// read reads a file: use gets it with its metadata and its contents, and is called again if it, or the transfer, fails.
func (c *Client) read(ctx context.Context, bucket, key string, use func(File, io.Reader) error) error {
	return c.do(ctx, "get", bucket, key, func() error {
		body, info, header, err := c.core.GetObject(ctx, c.line.alias(bucket), key, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		if info.Metadata == nil {
			info.Metadata = header
		}
		if info.Size < 0 {
			return driver.Permanent(errors.New("the server does not say how large the file is"))
		}
		return use(fileOf(bucket, key, info), driver.ExpectLength(body, info.Size))
	})
}

func fileOf(bucket, key string, o minio.ObjectInfo) File {
	f := File{
		Bucket: bucket, Key: key, Bytes: o.Size, etag: strings.Trim(o.ETag, `"`), Modified: o.LastModified.UTC(),
		ContentType: o.ContentType, CacheControl: o.Metadata.Get("Cache-Control"), ContentEncoding: o.Metadata.Get("Content-Encoding"),
		ContentDisposition: o.Metadata.Get("Content-Disposition"), ContentLanguage: o.Metadata.Get("Content-Language"),
	}
	for k, v := range o.UserMetadata {
		if f.Metadata == nil {
			f.Metadata = make(map[string]string)
		}
		f.Metadata[strings.ToLower(k)] = v
	}
	return f
}

func (f *File) putOptions() minio.PutObjectOptions {
	o := minio.PutObjectOptions{
		ContentType: f.ContentType, CacheControl: f.CacheControl, ContentEncoding: f.ContentEncoding,
		ContentDisposition: f.ContentDisposition, ContentLanguage: f.ContentLanguage,
		UserMetadata: f.Metadata, DisableContentSha256: true,
	}
	return o
}

// partBytes is the size of the parts of a file that is uploaded in more than one request. They are larger if there would be too many.
var partBytes int64 = 16 << 20

const maxParts = 10_000 // the protocol's

// put uploads a file, whose size and hash are those of f.
func (c *Client) put(ctx context.Context, f *File, body io.Reader) error {
	if f.Bytes > partBytes {
		return c.putParts(ctx, f, body)
	}
	data := make([]byte, f.Bytes)
	if _, err := io.ReadFull(body, data); err != nil {
		return err
	}
	return c.do(ctx, "put", f.Bucket, f.Key, func() error {
		_, err := c.core.PutObject(withHash(ctx, f.SHA256), c.line.alias(f.Bucket), f.Key, bytes.NewReader(data), f.Bytes, "", "", f.putOptions())
		return err
	})
}

func (c *Client) putParts(ctx context.Context, f *File, body io.Reader) (err error) {
	var id string
	err = c.do(ctx, "begin upload of", f.Bucket, f.Key, func() (err error) {
		id, err = c.core.NewMultipartUpload(ctx, c.line.alias(f.Bucket), f.Key, f.putOptions())
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer stop()
			err = errors.Join(err, c.core.AbortMultipartUpload(ctx, c.line.alias(f.Bucket), f.Key, id))
		}
	}()
	size := max(partBytes, (f.Bytes+maxParts-1)/maxParts)
	part := make([]byte, size)
	var done []minio.CompletePart
	for left := f.Bytes; left > 0; left -= size {
		data := part[:min(size, left)]
		if _, err := io.ReadFull(body, data); err != nil {
			return err
		}
		n := len(done) + 1
		err := c.do(ctx, fmt.Sprintf("upload part %d of", n), f.Bucket, f.Key, func() error {
			p, err := c.core.PutObjectPart(withHash(ctx, sha256.Sum256(data)), c.line.alias(f.Bucket), f.Key, id, n, bytes.NewReader(data), int64(len(data)),
				minio.PutObjectPartOptions{DisableContentSha256: true})
			if err == nil {
				done = append(done, minio.CompletePart{PartNumber: n, ETag: p.ETag})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.do(ctx, "complete upload of", f.Bucket, f.Key, func() error {
		_, err := c.core.CompleteMultipartUpload(ctx, c.line.alias(f.Bucket), f.Key, id, done, minio.PutObjectOptions{})
		return err
	})
}

// makeBucket makes a bucket if there is none of that name.
func (c *Client) makeBucket(ctx context.Context, bucket string) error {
	return c.do(ctx, "make bucket", bucket, "", func() error {
		err := c.core.MakeBucket(ctx, c.line.alias(bucket), minio.MakeBucketOptions{})
		if code := minio.ToErrorResponse(err).Code; code == "BucketAlreadyOwnedByYou" || code == "BucketAlreadyExists" {
			return nil
		}
		return err
	})
}

// Check asks whether the endpoint can be used, and has these buckets; nil: the list of all can be read.
func (c *Client) Check(ctx context.Context, buckets []string) error {
	if len(buckets) == 0 {
		_, err := c.Buckets(ctx)
		return err
	}
	for _, b := range buckets {
		err := c.do(ctx, "look at bucket", b, "", func() error {
			there, err := c.core.BucketExists(ctx, c.line.alias(b))
			if err == nil && !there {
				err = ErrNotFound
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
