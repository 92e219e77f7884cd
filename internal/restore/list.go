package restore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/pghaul/pghaul/pgarchive"
)

// List writes the archive's list of contents as pg_restore -l does: all entries the options
// select, in order; with Verbose all entries, and what they depend on. The output,
// edited, is what ListFile takes.
func List(r pgarchive.Reader, w io.Writer, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	script := o.scriptOptions()
	entries := r.Entries()
	if o.ListFile != "" {
		var err error
		if entries, err = o.readList(entries, script); err != nil {
			return err
		}
	}
	return pgarchive.WriteList(w, r.Header(), entries, script)
}

// pathCause is the reason of an error about a file, without the file's name.
func pathCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
