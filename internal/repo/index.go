package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/store"
)

// Format and version of the index.
const (
	indexFormat  = "pghaul-index"
	indexVersion = 1
)

// index lists every object of a backup, the manifest too, as it is stored. It is there if the backup
// is encrypted or signed: it can be read without a key, and a signature is one over it. It tells
// what a list of the folder tells, and hashes of what is encrypted.
type index struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Backup  string          `json:"backup"` // Backup.String: an index proves nothing of another folder
	Objects []manifest.File `json:"objects"`
}

func newIndex(b Backup, files []manifest.File) *index {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b manifest.File) int { return strings.Compare(a.Name, b.Name) })
	return &index{Format: indexFormat, Version: indexVersion, Backup: nameInIndex(b), Objects: files}
}

// nameInIndex is the backup's name, in the form of the folder's since a database's name need not be UTF-8.
func nameInIndex(b Backup) string { return b.folder() }

func (x *index) encode() ([]byte, error) {
	var w bytes.Buffer
	fmt.Fprintf(&w, "{\n \"format\": %q,\n \"version\": %d,\n \"backup\": %q,\n \"objects\": [", x.Format, x.Version, x.Backup)
	for i := range x.Objects {
		b, err := json.Marshal(&x.Objects[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n  ")
		w.Write(b)
	}
	w.WriteString("]\n}\n")
	return w.Bytes(), nil
}

func decodeIndex(b []byte) (*index, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	switch {
	case head.Format != indexFormat:
		return nil, fmt.Errorf("format is %.40q, expected %q", head.Format, indexFormat)
	case head.Version > indexVersion:
		return nil, fmt.Errorf("%w: the index has version %d, this program reads up to %d; use a newer pghaul", manifest.ErrNewer, head.Version, indexVersion)
	case head.Version < 1:
		return nil, fmt.Errorf("version %d is not valid", head.Version)
	}
	x := new(index)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("data after the document")
	}
	seen := make(map[string]bool, len(x.Objects))
	for _, f := range x.Objects {
		switch {
		case store.CheckKey(f.Name) != nil || strings.Contains(f.Name, "/") || f.Name == IndexName || f.Name == SignatureName:
			return nil, fmt.Errorf("object name %.80q is not valid", f.Name)
		case seen[f.Name]:
			return nil, fmt.Errorf("object %.80q is listed twice", f.Name)
		case f.Bytes < 0:
			return nil, fmt.Errorf("object %s has a negative size", f.Name)
		}
		seen[f.Name] = true
	}
	return x, nil
}

// manifest returns the entry of the manifest, which there is one of.
func (x *index) manifest(name string) (manifest.File, error) {
	var out manifest.File
	for _, f := range x.Objects {
		switch f.Name {
		case name:
			out = f
		case ManifestName, sealedManifest:
			return out, fmt.Errorf("it lists %s, the backup has %s", f.Name, name)
		}
	}
	if out.Name == "" {
		return out, fmt.Errorf("it does not list %s", name)
	}
	return out, nil
}

// agrees says in what the index differs from the manifest's list of objects.
func (x *index) agrees(files []manifest.File) error {
	listed := make(map[string]manifest.File, len(x.Objects))
	for _, f := range x.Objects {
		if f.Name != ManifestName && f.Name != sealedManifest {
			listed[f.Name] = f
		}
	}
	for _, f := range files {
		got, ok := listed[f.Name]
		switch {
		case !ok:
			return fmt.Errorf("%s is in the manifest and not in the index", f.Name)
		case got != f:
			return fmt.Errorf("%s is another one in the index than in the manifest", f.Name)
		}
		delete(listed, f.Name)
	}
	for name := range listed {
		return fmt.Errorf("%s is in the index and not in the manifest", name)
	}
	return nil
}
