package restore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pghaul/pghaul/pgarchive"
)

// Script writes the archive as an SQL script for psql, as pg_restore -f does.
func Script(ctx context.Context, r pgarchive.Reader, w io.Writer, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	for _, e := range r.Entries() {
		if e.CopyStmt != "" && isBinary(e.CopyStmt) {
			return fmt.Errorf("entry %s holds data in the binary format, which cannot stand in a script; restore into a database with -d", e)
		}
	}
	script := o.scriptOptions()
	entries := r.Entries()
	if o.ListFile != "" {
		var err error
		if entries, err = o.readList(entries, script); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(w, blockSize)
	if err := pgarchive.WriteScriptOrder(ctx, out, r, entries, script); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write script: %w", err)
	}
	return nil
}

// ScriptFile is Script into a file, which has its name only once it is complete and
// synced; what was there before stays until then. The path "-" is the standard output. A device or
// a pipe is written directly.
func ScriptFile(ctx context.Context, r pgarchive.Reader, path string, o Options) error {
	if path == "-" {
		return Script(ctx, r, os.Stdout, o)
	}
	return writeFile(path, func(w io.Writer) error { return Script(ctx, r, w, o) })
}

// ListFile is List into a file, in the same way.
func ListFile(r pgarchive.Reader, path string, o Options) error {
	if path == "-" {
		return List(r, os.Stdout, o)
	}
	return writeFile(path, func(w io.Writer) error { return List(r, w, o) })
}

// writeFile writes a file that appears when write has succeeded.
func writeFile(path string, write func(io.Writer) error) (err error) {
	failed := func(err error) error {
		return fmt.Errorf("could not open output file \"%s\": %w", path, pathCause(err))
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return failed(err)
		}
		if err := write(f); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.partial")
	if err != nil {
		return failed(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	// The mode that the file would have got, or had.
	mode := os.FileMode(0o666) &^ umask()
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		return fmt.Errorf("write \"%s\": %w", path, pathCause(err))
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write \"%s\": %w", path, pathCause(err))
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write \"%s\": %w", path, pathCause(err))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return failed(err)
	}
	return nil
}
