package manifest

import (
	"errors"
	"fmt"
	"strings"
)

// File is one object of a backup in a store, as it is stored. The manifest of an archive
// that is a single file, or was not written to a store, has none.
type File struct {
	Name   string `json:"name"` // within the backup's folder, without a slash
	Bytes  int64  `json:"bytes"`
	SHA256 Hash   `json:"sha256"`
}

// checkFiles checks names and sizes. That the list is of the objects that are there is for who reads them.
func checkFiles(files []File) error {
	seen := make(map[string]bool, len(files))
	for i := range files {
		f := &files[i]
		switch {
		case f.Name == "" || f.Name == "." || f.Name == ".." || f.Name == AttachmentName || strings.ContainsAny(f.Name, "/\\\x00"):
			return fmt.Errorf("file name %.80q is not valid", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("file %.80q is listed twice", f.Name)
		case f.Bytes < 0:
			return errors.New("file " + f.Name + ": negative size")
		}
		seen[f.Name] = true
	}
	return nil
}
