package files

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// Tables is what the tables storage.buckets and storage.objects of a database say.
type Tables struct {
	Buckets []Bucket
	Objects map[Ref]bool
}

// ErrNoTables says that a database has no tables about files, or that they may not be read.
var ErrNoTables = errors.New("the tables storage.buckets and storage.objects cannot be read")

// ReadTables reads what the database says of its files, in the snapshot that another session has exported, or as it is now if that is "".
// If there are no such tables, or the user may not read them, the error wraps ErrNoTables.
func ReadTables(ctx context.Context, cfg *pg.Config, snapshot string) (*Tables, error) {
	c, err := pg.Connect(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("read tables of files: %w", err)
	}
	defer c.Close(ctx)
	t, err := readTables(ctx, c, snapshot)
	switch {
	case pg.IsUndefined(err) || pg.IsPermissionDenied(err):
		return nil, fmt.Errorf("%w: %w", ErrNoTables, err)
	case err != nil:
		return nil, fmt.Errorf("read tables of files: %w", err)
	}
	return t, nil
}

func readTables(ctx context.Context, c *pg.Conn, snapshot string) (*Tables, error) {
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	if snapshot != "" {
		begin += "; SET TRANSACTION SNAPSHOT " + sqltext.EscapeLiteral(snapshot)
	}
	// With row security off, rows that a policy would hide are an error and not left out.
	if err := c.Exec(ctx, begin+"; SET LOCAL row_security = off; SET LOCAL statement_timeout = 0"); err != nil {
		return nil, err
	}
	t := &Tables{Objects: make(map[Ref]bool)}
	err := c.Query(ctx, "SELECT id, public, file_size_limit, allowed_mime_types FROM storage.buckets", func(v [][]byte) error {
		b := Bucket{Name: string(v[0]), Public: string(v[1]) == "t"}
		if v[2] != nil {
			n, err := strconv.ParseInt(string(v[2]), 10, 64)
			if err != nil {
				return err
			}
			b.SizeLimit = &n
		}
		if v[3] != nil {
			list, err := sqltext.ParseArray(string(v[3]))
			if err != nil {
				return err
			}
			b.AllowedTypes = list
		}
		t.Buckets = append(t.Buckets, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, c.Query(ctx, "SELECT bucket_id, name FROM storage.objects WHERE bucket_id IS NOT NULL AND name IS NOT NULL", func(v [][]byte) error {
		t.Objects[Ref{string(v[0]), string(v[1])}] = true
		return nil
	})
}

// Compare enters into the document what the database says of its buckets, and how its files differ from the rows.
func (d *Document) Compare(t *Tables) {
	d.Compared = true
	chosen := make(map[string]bool)
	for i := range d.Buckets {
		b := &d.Buckets[i]
		chosen[b.Name] = true
		for _, known := range t.Buckets {
			if known.Name == b.Name {
				*b = known
			}
		}
	}
	copied := make(map[Ref]bool, len(d.Files))
	for i := range d.Files {
		r := d.Files[i].ref()
		copied[r] = true
		if !t.Objects[r] {
			d.Unlisted = append(d.Unlisted, r)
		}
	}
	for r := range t.Objects {
		if chosen[r.Bucket] && !copied[r] {
			d.Missing = append(d.Missing, r)
		}
	}
	d.seal()
}
