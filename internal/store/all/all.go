// Package all opens a store by its address. What comes in is a URL or the path of a folder; what
// goes out is a store of the kind that it names, asked again when it fails, and slowed down if wanted. Only
// commands import it: everything else works with any store.
package all

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/store"
	"github.com/pghaul/pghaul/internal/store/azurestore"
	"github.com/pghaul/pghaul/internal/store/driver"
	"github.com/pghaul/pghaul/internal/store/filestore"
	"github.com/pghaul/pghaul/internal/store/gcsstore"
	"github.com/pghaul/pghaul/internal/store/limitstore"
	"github.com/pghaul/pghaul/internal/store/retrystore"
	"github.com/pghaul/pghaul/internal/store/s3store"
)

// Options say how to open a store. The zero value opens one that is there, for reading.
type Options struct {
	Create   bool           // a folder may be made
	Up, Down int64          // bytes per second; 0: no limit
	Retry    driver.Backoff // how patient to be

	// Getenv reads the environment; nil: os.Getenv.
	Getenv func(string) string
}

// IsAddress reports whether the text is the URL of a store, as opposed to a path.
func IsAddress(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\:`)
}

// Open opens the store of an address: file:///folder, the path of a folder, s3://bucket/prefix, gs://bucket/prefix or
// azure://account/container/prefix, with the options that docs/stores.md lists.
func Open(address string, o Options) (*store.Store, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	s, err := open(address, o)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", Redact(address), err)
	}
	return s, nil
}

// Redact is the address without what may be secret in it.
func Redact(address string) string {
	if !IsAddress(address) {
		return address
	}
	base, _, _ := strings.Cut(address, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	host, tail, slash := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if slash {
		host += "/" + tail
	}
	return scheme + "://" + host
}

func open(address string, o Options) (*store.Store, error) {
	if address == "" {
		return nil, errors.New("the address is empty")
	}
	if !IsAddress(address) {
		return folder(address, address, o)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address is not a valid URL") // the error would show all of it
	}
	if u.User != nil {
		return nil, errors.New("credentials do not belong in an address: docs/stores.md says where each kind of store looks for them; for S3, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use ~/.aws/credentials")
	}
	if u.Fragment != "" {
		return nil, errors.New("the address has a part after #; write %23 for a # in a name")
	}
	name := Redact(address)
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return nil, errors.New("the address of a folder is file:///path")
		}
		if u.RawQuery != "" {
			return nil, errors.New("a folder has no options")
		}
		return folder(filepath.FromSlash(u.Path), name, o)
	case "s3":
		s, err := bucket(u, o)
		if err != nil {
			return nil, err
		}
		return store.New(wrap(s, o), u.Path, name), nil
	case "gs":
		s, err := googleBucket(u, o)
		if err != nil {
			return nil, err
		}
		return store.New(wrap(s, o), u.Path, name), nil
	case "azure":
		container, prefix, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		s, err := azureContainer(u, container, o)
		if err != nil {
			return nil, err
		}
		return store.New(wrap(s, o), prefix, name), nil
	}
	return nil, fmt.Errorf("stores of kind %q are not known; there are file, s3, gs and azure", u.Scheme)
}

func folder(path, name string, o Options) (*store.Store, error) {
	open := filestore.OpenExisting
	if o.Create {
		open = filestore.Open
	}
	s, err := open(path, filestore.Options{})
	if err != nil {
		return nil, err
	}
	return store.New(wrap(s, o), "", name), nil
}

// wrap puts a limit and patience around a driver.
func wrap(s driver.Store, o Options) driver.Store {
	if o.Up > 0 || o.Down > 0 {
		s = limitstore.New(s, limitstore.Options{Up: o.Up, Down: o.Down})
	}
	return retrystore.New(s, retrystore.Options{Backoff: o.Retry})
}

// options are the options that an address can have.
type options[O any] map[string]func(o *O, v string) error

// read sets what stands in the address.
func (known options[O]) read(u *url.URL, o *O) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("the options after ? are not valid")
	}
	for name, values := range query {
		set, ok := known[name]
		if !ok {
			return fmt.Errorf("option %q is not known; there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := set(o, values[len(values)-1]); err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
	}
	return nil
}

// first returns the first of the environment's variables that is set.
func (o *Options) first(names ...string) string {
	for _, n := range names {
		if v := o.Getenv(n); v != "" {
			return v
		}
	}
	return ""
}

var s3Options = options[s3store.Options]{
	"endpoint":      func(o *s3store.Options, v string) error { o.Endpoint = v; return nil },
	"region":        func(o *s3store.Options, v string) error { o.Region = v; return nil },
	"storage-class": func(o *s3store.Options, v string) error { o.StorageClass = v; return nil },
	"path-style": func(o *s3store.Options, v string) (err error) {
		o.PathStyle, err = strconv.ParseBool(v)
		o.HostStyle = !o.PathStyle
		return err
	},
	"equal-parts": func(o *s3store.Options, v string) (err error) { o.EqualParts, err = strconv.ParseBool(v); return err },
	"part-mib": func(o *s3store.Options, v string) error {
		n, err := strconv.ParseInt(v, 10, 32)
		o.PartSize = n << 20
		return err
	},
	"conditional": func(o *s3store.Options, v string) error {
		b, err := strconv.ParseBool(v)
		o.Unconditional = !b
		return err
	},
	"checksum": func(o *s3store.Options, v string) error {
		switch v {
		case "crc32c":
			o.Checksum = s3store.CRC32C
		case "md5":
			o.Checksum = s3store.MD5
		case "none":
			o.Checksum = s3store.NoChecksum
		default:
			return errors.New("crc32c, md5 or none")
		}
		return nil
	},
}

func bucket(u *url.URL, o Options) (driver.Store, error) {
	if u.Host == "" {
		return nil, errors.New("the address of a bucket is s3://bucket or s3://bucket/prefix")
	}
	s3 := s3store.Options{
		Endpoint: o.first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), Region: o.first("AWS_REGION", "AWS_DEFAULT_REGION"), Retry: o.Retry,
	}
	if e := u.Query().Get("endpoint"); e != "" {
		s3.Endpoint = e
	}
	customs(&s3)
	if err := s3Options.read(u, &s3); err != nil {
		return nil, err
	}
	return s3store.Open(u.Host, s3)
}

// customs sets what is known of a service by its name; the address may say otherwise.
func customs(o *s3store.Options) {
	host := strings.TrimPrefix(strings.TrimPrefix(o.Endpoint, "https://"), "http://")
	host, _, _ = strings.Cut(host, "/")
	if strings.HasSuffix(host, ".r2.cloudflarestorage.com") {
		o.EqualParts = true // it takes no others
		if o.Region == "" {
			o.Region = "auto"
		}
	}
	if rest, ok := strings.CutSuffix(host, ".backblazeb2.com"); ok {
		o.Checksum, o.Unconditional = s3store.MD5, true // it refuses the headers of both
		if o.Region == "" {
			o.Region = strings.TrimPrefix(rest, "s3.")
		}
	}
}

var googleOptions = options[gcsstore.Options]{
	"storage-class": func(o *gcsstore.Options, v string) error { o.StorageClass = v; return nil },
}

func googleBucket(u *url.URL, o Options) (driver.Store, error) {
	if u.Host == "" {
		return nil, errors.New("the address of a bucket is gs://bucket or gs://bucket/prefix")
	}
	g := gcsstore.Options{Retry: o.Retry}
	if host := o.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		if g.Endpoint = host; !IsAddress(host) {
			g.Endpoint = "http://" + host
		}
	}
	if err := googleOptions.read(u, &g); err != nil {
		return nil, err
	}
	return gcsstore.Open(u.Host, g)
}

var azureOptions = options[azurestore.Options]{
	"endpoint": func(o *azurestore.Options, v string) error { o.Endpoint = v; return nil },
	"tier":     func(o *azurestore.Options, v string) error { o.Tier = v; return nil },
}

func azureContainer(u *url.URL, container string, o Options) (driver.Store, error) {
	if u.Host == "" || container == "" {
		return nil, errors.New("the address of a container is azure://account/container or azure://account/container/prefix")
	}
	a := azurestore.Options{
		ConnectionString: o.Getenv("AZURE_STORAGE_CONNECTION_STRING"), Key: o.Getenv("AZURE_STORAGE_KEY"), SAS: o.Getenv("AZURE_STORAGE_SAS_TOKEN"), Retry: o.Retry,
	}
	if err := azureOptions.read(u, &a); err != nil {
		return nil, err
	}
	return azurestore.Open(u.Host, container, a)
}
