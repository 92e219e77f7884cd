package restore

import (
	"bufio"
	"context"
	"fmt"
	"io"

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
	entries, _, err := o.mapRoles(entries)
	if err != nil {
		return err
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
