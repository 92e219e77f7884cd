// Package azurestore keeps objects in a container of Azure Blob Storage. What comes in and goes out is
// what package driver says.
//
// An object up to the size of a part is put in one request. A larger one is a block blob whose blocks are staged side by side, each with
// an MD5 that the service checks, and committed together: before that there is no object. The service itself forgets blocks that
// were never committed after a week.
package azurestore

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/httpline"
	"github.com/pghaul/pghaul/internal/store/parts"
)

// Options say how to reach a container. The first of ConnectionString, Key and SAS that is not empty is the credential; without any
// it is that of the environment, the machine's identity, or the program az.
type Options struct {
	Endpoint string // URL of the account's blob service; "": https://ACCOUNT.blob.core.windows.net

	ConnectionString string
	Key              string // the account's shared key
	SAS              string // a shared access signature: the part of a URL after ?

	PartSize int64  // of the first 1,000 parts; 0: 8 MiB
	InFlight int    // parts of one object uploaded at a time; 0: 2
	Tier     string // access tier of the objects: Hot, Cool, Cold; "": the account's

	Retry     driver.Backoff    // of each request of an upload; other requests are not repeated here
	Transport http.RoundTripper // nil: the usual
}

// Store is a container.
type Store struct {
	c    *container.Client
	name string
	o    Options
	plan parts.Plan
	line http.RoundTripper
}

var _ driver.Store = (*Store)(nil)

const (
	partSize    = 8 << 20
	largestPart = 256 << 20
	maxParts    = 50_000 // the service's
	partsStep   = 1_000  // after so many parts, they get twice as large
)

func plan(o Options) parts.Plan {
	return parts.Plan{First: o.PartSize, Grow: partsStep, Max: largestPart, Count: maxParts, InFlight: o.InFlight}
}

// Open opens a container of an account. It makes no request.
func Open(account, name string, o Options) (*Store, error) {
	if o.PartSize <= 0 {
		o.PartSize = partSize
	}
	if o.InFlight <= 0 {
		o.InFlight = 2
	}
	if o.Transport == nil {
		o.Transport = httpline.New(0)
	}
	s := &Store{name: name, o: o, plan: plan(o), line: o.Transport}
	var err error
	if s.c, err = client(account, name, o); err != nil {
		return nil, fmt.Errorf("open container %s: %w", name, err)
	}
	return s, nil
}

// client makes the client with the credential that the options name. No error shows a secret.
func client(account, name string, o Options) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: o.Transport},
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{Disabled: true},
	}}
	if o.ConnectionString != "" {
		for part := range strings.SplitSeq(o.ConnectionString, ";") {
			if n, ok := strings.CutPrefix(part, "AccountName="); ok && n != account {
				return nil, fmt.Errorf("the connection string is for the account %s, the address for %s", n, account)
			}
		}
		c, err := container.NewClientFromConnectionString(o.ConnectionString, name, options)
		if err != nil {
			return nil, errors.New("the connection string is not valid")
		}
		return c, nil
	}
	endpoint := strings.TrimSuffix(o.Endpoint, "/")
	if endpoint == "" {
		endpoint = "https://" + account + ".blob.core.windows.net"
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" {
		return nil, errors.New("the endpoint is not the URL of a service")
	}
	address := endpoint + "/" + url.PathEscape(name)
	switch {
	case o.Key != "":
		key, err := container.NewSharedKeyCredential(account, o.Key)
		if err != nil {
			return nil, errors.New("the account's key is not valid: it is a text in base64")
		}
		return container.NewClientWithSharedKeyCredential(address, key, options)
	case o.SAS != "":
		return container.NewClientWithNoCredential(address+"?"+strings.TrimPrefix(o.SAS, "?"), options)
	}
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(address, identity, options)
}

// noIdentity is said when none of the ways to a credential leads anywhere.
const noIdentity = "no credentials for Azure: set AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, or run az login"

// translate gives the service's error the meaning it has for a store.
func (s *Store) translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var where *url.Error // names the URL, which may hold a signature
	if errors.As(err, &where) {
		err = where.Err
	}
	if cause := ctx.Err(); cause != nil {
		if errors.Is(err, cause) {
			return err
		}
		return fmt.Errorf("%w (%w)", cause, err)
	}
	var r *azcore.ResponseError
	if !errors.As(err, &r) {
		var unavailable interface{ NonRetriable() }
		if errors.As(err, &unavailable) {
			return fmt.Errorf("%w: %s", driver.ErrDenied, noIdentity)
		}
		return err
	}
	short := fmt.Errorf("%s (status %d)", r.ErrorCode, r.StatusCode)
	switch {
	case r.ErrorCode == "ContainerNotFound", r.ErrorCode == "ContainerBeingDeleted":
		return driver.Permanent(fmt.Errorf("container %s does not exist", s.name))
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %w", driver.ErrNotFound, short)
	case r.ErrorCode == "BlobAlreadyExists", r.StatusCode == http.StatusPreconditionFailed:
		return driver.ErrExists
	case r.StatusCode == http.StatusUnauthorized, r.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: %w", driver.ErrDenied, short)
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout, r.StatusCode >= 500:
		if r.RawResponse != nil {
			return driver.After(short, driver.RetryAfter(r.RawResponse.Header))
		}
		return short
	case r.ErrorCode == "Md5Mismatch", r.ErrorCode == "InvalidXmlDocument":
		return short // damaged on the way
	case r.StatusCode >= 400:
		return driver.Permanent(short)
	}
	return err
}

// Get returns a part of an object.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if length == 0 {
		if _, err := s.Stat(ctx, key); err != nil {
			return nil, err
		}
		return http.NoBody, nil
	}
	// Zero bytes stand for all that follow.
	resp, err := s.c.NewBlobClient(key).DownloadStream(ctx, &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: offset, Count: max(0, length)}})
	if err != nil {
		return nil, s.translate(ctx, err)
	}
	size := int64(-1)
	if resp.ContentLength != nil {
		size = *resp.ContentLength
	}
	if length > 0 || offset > 0 {
		given := ""
		if resp.ContentRange != nil {
			given = *resp.ContentRange
		}
		if size, err = driver.CheckRange(given, offset, length); err != nil {
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
		err = b.s.translate(b.ctx, err)
	}
	return n, err
}

// Stat returns size and time of an object.
func (s *Store) Stat(ctx context.Context, key string) (driver.Info, error) {
	p, err := s.c.NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return driver.Info{}, s.translate(ctx, err)
	}
	i := driver.Info{Key: key}
	if p.ContentLength != nil {
		i.Size = *p.ContentLength
	}
	if p.LastModified != nil {
		i.Modified = *p.LastModified
	}
	return i, nil
}

// List lists objects, all of them in one page unless it is limited.
func (s *Store) List(ctx context.Context, r driver.ListRequest) (driver.Page, error) {
	var l driver.Listing
	objects := func(items []*container.BlobItem) {
		for _, b := range items {
			if b.Name == nil || b.Properties == nil || b.Properties.ContentLength == nil {
				continue
			}
			i := driver.Info{Key: *b.Name, Size: *b.Properties.ContentLength}
			if b.Properties.LastModified != nil {
				i.Modified = *b.Properties.LastModified
			}
			l.Object(i)
		}
	}
	if !r.Folders {
		pages := s.c.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &r.Prefix})
		for pages.More() {
			p, err := pages.NextPage(ctx)
			if err != nil {
				return driver.Page{}, s.translate(ctx, err)
			}
			objects(p.Segment.BlobItems)
		}
		return l.Page(r), nil
	}
	pages := s.c.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{Prefix: &r.Prefix})
	for pages.More() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			return driver.Page{}, s.translate(ctx, err)
		}
		objects(p.Segment.BlobItems)
		for _, f := range p.Segment.BlobPrefixes {
			l.Folder(*f.Name)
		}
	}
	return l.Page(r), nil
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := s.c.NewBlobClient(key).Delete(ctx, nil)
	if err = s.translate(ctx, err); errors.Is(err, driver.ErrNotFound) {
		return nil
	}
	return err
}

// Close ends idle connections.
func (s *Store) Close() error {
	(&http.Client{Transport: s.line}).CloseIdleConnections()
	return nil
}

// Put stores an object.
func (s *Store) Put(ctx context.Context, key string, body io.Reader, o driver.PutOptions) error {
	u := &upload{s: s, blob: s.c.NewBlockBlobClient(key), key: key, o: o, token: rand.Text()}
	if err := s.plan.Send(ctx, body, u); err != nil || u.last == 0 {
		return err
	}
	return u.commit(ctx)
}

// upload is a Put under way.
type upload struct {
	s     *Store
	blob  *blockblob.Client
	key   string
	o     driver.PutOptions
	token string

	mu   sync.Mutex
	last int // number of the last part
}

var _ parts.Sink = (*upload)(nil)

// tokenKey is the metadata of an object that says which Put stored it, for the case that a reply is lost.
const tokenKey = "pghaul_put"

func (u *upload) metadata() map[string]*string { return map[string]*string{tokenKey: &u.token} }

func (u *upload) headers() *blob.HTTPHeaders {
	return &blob.HTTPHeaders{BlobContentType: to.Ptr(driver.ContentType(u.key))}
}

func (u *upload) tier() *blob.AccessTier {
	if u.s.o.Tier == "" {
		return nil
	}
	return to.Ptr(blob.AccessTier(u.s.o.Tier))
}

// condition is that of a put into a free place.
func (u *upload) condition() *blob.AccessConditions {
	if !u.o.IfAbsent {
		return nil
	}
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
}

// there reports whether there is an object, and whether it is this upload.
func (u *upload) there(ctx context.Context) (exists, ours bool) {
	err := u.s.o.Retry.Do(ctx, "stat", u.key, func() error {
		p, err := u.blob.GetProperties(ctx, nil)
		for name, value := range p.Metadata { // as a header it has lost its case
			if strings.EqualFold(name, tokenKey) && value != nil && *value == u.token {
				ours = true
			}
		}
		return u.s.translate(ctx, err)
	})
	return err == nil, err == nil && ours
}

// errBlocks is what the service says of a commit when another writer has committed the key in between, which drops all staged blocks.
const errBlocks = "InvalidBlockList"

// settle makes the request that stores the object until it is known whether it does.
func (u *upload) settle(ctx context.Context, op string, request func() error) error {
	again := false
	return u.s.o.Retry.Do(ctx, op, u.key, func() error {
		err := request()
		var r *azcore.ResponseError
		dropped := errors.As(err, &r) && r.ErrorCode == errBlocks
		err = u.s.translate(ctx, err)
		if again && errors.Is(err, driver.ErrExists) || dropped {
			switch exists, ours := u.there(ctx); {
			case ours:
				return nil // an earlier request had been carried out, only its reply was lost
			case dropped && exists && u.o.IfAbsent:
				return driver.ErrExists
			}
		}
		again = true
		return err
	})
}

func reader(data []byte) io.ReadSeekCloser { return streaming.NopCloser(bytes.NewReader(data)) }

// One puts the object in one request.
func (u *upload) One(ctx context.Context, data []byte) error {
	sum := md5.Sum(data)
	return u.settle(ctx, "put", func() error {
		_, err := u.blob.Upload(ctx, reader(data), &blockblob.UploadOptions{
			Metadata: u.metadata(), HTTPHeaders: u.headers(), Tier: u.tier(), AccessConditions: u.condition(),
			TransactionalValidation: blob.TransferValidationTypeMD5(sum[:]),
		})
		return err
	})
}

// Begin has nothing to do: blocks can be staged at any time.
func (u *upload) Begin(context.Context) error { return nil }

// id is the name of a block. All of a blob have the same length, and no two uploads have the same.
func (u *upload) id(n int) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32([]byte(u.token[:20]), uint32(n)))
}

// Part stages a block.
func (u *upload) Part(ctx context.Context, p parts.Part) error {
	sum := md5.Sum(p.Data)
	err := u.s.o.Retry.Do(ctx, fmt.Sprintf("upload part %d of", p.N), u.key, func() error {
		_, err := u.blob.StageBlock(ctx, u.id(p.N), reader(p.Data), &blockblob.StageBlockOptions{
			TransactionalValidation: blob.TransferValidationTypeMD5(sum[:]),
		})
		return u.s.translate(ctx, err)
	})
	if err != nil {
		return fmt.Errorf("part %d: %w", p.N, err)
	}
	if p.Last {
		u.mu.Lock()
		u.last = p.N
		u.mu.Unlock()
	}
	return nil
}

// commit makes the blocks an object.
func (u *upload) commit(ctx context.Context) error {
	ids := make([]string, u.last)
	for i := range ids {
		ids[i] = u.id(i + 1)
	}
	return u.settle(ctx, "complete upload of", func() error {
		_, err := u.blob.CommitBlockList(ctx, ids, &blockblob.CommitBlockListOptions{
			Metadata: u.metadata(), HTTPHeaders: u.headers(), Tier: u.tier(), AccessConditions: u.condition(),
		})
		return err
	})
}
