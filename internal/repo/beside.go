package repo

import "io"

// OpenFile opens a file beside the archive, of any size. Its size and hash are compared when its end is read.
func (s *Snapshot) OpenFile(name string) (io.ReadCloser, error) { return archiveFS{s: s}.Open(name) }

// Has reports whether the backup has a file of that name.
func (s *Snapshot) Has(name string) bool {
	_, ok := s.files[s.stored(name)]
	return ok
}
