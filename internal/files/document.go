package files

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/manifest"
)

// DocumentName is the name of the document beside a backup.
const DocumentName = "storage.json"

const (
	documentFormat  = "pghaul-storage"
	documentVersion = 1
)

// Document lists the files of a backup. docs/format.md describes it.
type Document struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // when the copying began

	Buckets []Bucket `json:"buckets"` // sorted by name
	Files   []File   `json:"files"`   // sorted by bucket and key

	// Missing are files that a row of the database speaks of and that were not there, Unlisted those
	// without a row. Compared says whether the database's rows could be read; otherwise both are empty.
	Compared bool  `json:"compared"`
	Missing  []Ref `json:"missing"`
	Unlisted []Ref `json:"unlisted"`

	Bytes int64 `json:"bytes"` // of the files together
}

// Bucket is a bucket, with what the database says of it.
type Bucket struct {
	Name         string   `json:"name"`
	Public       bool     `json:"public,omitempty"`
	SizeLimit    *int64   `json:"file_size_limit,omitempty"` // of one file
	AllowedTypes []string `json:"allowed_mime_types,omitempty"`
}

// Ref names a file.
type Ref struct {
	Bucket string `json:"bucket"`
	Key    string `json:"key"`
}

func (r Ref) String() string { return r.Bucket + "/" + r.Key }

func compareRefs(a, b Ref) int {
	return cmp.Or(strings.Compare(a.Bucket, b.Bucket), strings.Compare(a.Key, b.Key))
}

// File is a file with its metadata.
type File struct {
	Bucket string        `json:"bucket"`
	Key    string        `json:"key"`
	Bytes  int64         `json:"bytes"`
	SHA256 manifest.Hash `json:"sha256"`

	Pack string `json:"pack"` // the object of the backup that it is in
	Path string `json:"path"` // its name there

	ContentType        string            `json:"content_type,omitempty"`
	CacheControl       string            `json:"cache_control,omitempty"`
	ContentEncoding    string            `json:"content_encoding,omitempty"`
	ContentDisposition string            `json:"content_disposition,omitempty"`
	ContentLanguage    string            `json:"content_language,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"` // the user's, names in lower case
	Modified           time.Time         `json:"modified"`

	// MD5 is what most servers have as the ETag of a file. It only spares reading files that are there already.
	MD5 string `json:"md5"`
	// etag is what the server said.
	etag string
}

func (f *File) ref() Ref { return Ref{f.Bucket, f.Key} }

// String names the file.
func (f *File) String() string { return f.ref().String() }

// sameMetadata says whether a file on a server has the metadata of f. What f has not does not count: servers add defaults.
func (f *File) sameMetadata(there *File) bool {
	for _, p := range [][2]string{
		{f.ContentType, there.ContentType}, {f.CacheControl, there.CacheControl}, {f.ContentEncoding, there.ContentEncoding},
		{f.ContentDisposition, there.ContentDisposition}, {f.ContentLanguage, there.ContentLanguage},
	} {
		if p[0] != "" && p[0] != p[1] {
			return false
		}
	}
	for k, v := range f.Metadata {
		if there.Metadata[k] != v {
			return false
		}
	}
	return true
}

// seal sorts the lists and adds up.
func (d *Document) seal() {
	d.Format, d.Version = documentFormat, documentVersion
	slices.SortFunc(d.Buckets, func(a, b Bucket) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(d.Files, func(a, b File) int { return compareRefs(a.ref(), b.ref()) })
	slices.SortFunc(d.Missing, compareRefs)
	slices.SortFunc(d.Unlisted, compareRefs)
	d.Bytes = 0
	for i := range d.Files {
		d.Bytes += d.Files[i].Bytes
	}
}

// Encode returns the document as JSON.
func (d *Document) Encode() ([]byte, error) {
	d.seal()
	b, err := json.MarshalIndent(d, "", " ")
	return append(b, '\n'), err
}

// Decode reads a document and checks that it is one. A newer version, or members that are not known, are refused.
func Decode(b []byte) (*Document, error) {
	d, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", DocumentName, err)
	}
	return d, nil
}

func decode(b []byte) (*Document, error) {
	var head struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format != documentFormat:
		return nil, fmt.Errorf("it is of format %.40q, not %s", head.Format, documentFormat)
	case head.Version > documentVersion:
		return nil, fmt.Errorf("it is of version %d, this program knows %d: use a newer one", head.Version, documentVersion)
	}
	var d Document
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is something after its end")
	}
	return &d, d.check()
}

func (d *Document) check() error {
	known := make(map[string]bool)
	for _, b := range d.Buckets {
		if b.Name == "" || known[b.Name] {
			return fmt.Errorf("bucket %q has no name or is listed twice", b.Name)
		}
		known[b.Name] = true
	}
	seen := make(map[Ref]bool, len(d.Files))
	places := make(map[[2]string]bool, len(d.Files))
	var bytes int64
	for i := range d.Files {
		f := &d.Files[i]
		place := [2]string{f.Pack, f.Path}
		switch {
		case f.Key == "" || !known[f.Bucket]:
			return fmt.Errorf("file %q is in none of its buckets", f)
		case f.Bytes < 0 || bytes+f.Bytes < bytes:
			return fmt.Errorf("file %q has a size of %d", f, f.Bytes)
		case seen[f.ref()] || places[place]:
			return fmt.Errorf("file %q, or its place, is listed twice", f)
		case !isPack(f.Pack) || f.Path == "":
			return fmt.Errorf("file %q is in no pack", f)
		}
		seen[f.ref()], places[place] = true, true
		bytes += f.Bytes
	}
	if bytes != d.Bytes {
		return fmt.Errorf("its files have %d bytes, it says %d", bytes, d.Bytes)
	}
	return nil
}
