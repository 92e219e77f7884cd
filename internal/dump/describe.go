package dump

import (
	"context"
	"errors"
	"io"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// Describe returns the manifest of a database as it is: it does everything that Run does, but
// for writing an archive. Two databases, or a database and a backup, are compared by their
// manifests. The objects have their definitions. File, Format, Compression and Script are not looked at.
func Describe(ctx context.Context, config *pg.Config, opts Options, progress Progress) (*manifest.Manifest, error) {
	if opts.inserts() {
		return nil, errors.New("describe database: rows as INSERT statements have no digest")
	}
	opts.Format, opts.Script = pgarchive.FormatDirectory, nil
	opts.Archive = func(pgarchive.WriterOptions) (pgarchive.Writer, error) { return nowhere{}, nil }
	r, err := Run(ctx, config, opts, progress)
	if err != nil {
		return nil, err
	}
	return r.Manifest, nil
}

// nowhere is an archive that is not kept.
type nowhere struct{}

var _ pgarchive.Writer = nowhere{}

func (nowhere) Properties() pgarchive.Properties { return pgarchive.Properties{ConcurrentData: true} }
func (nowhere) Add(*pgarchive.Entry) error       { return nil }

func (nowhere) Data(pgarchive.ID) (io.WriteCloser, error) { return discarding{}, nil }

func (nowhere) LargeObjects(pgarchive.ID) (pgarchive.LargeObjectWriter, error) {
	return nowhereObjects{}, nil
}

func (nowhere) Attach(string, []byte) error { return nil }
func (nowhere) Close() error                { return nil }
func (nowhere) Abort() error                { return nil }

type nowhereObjects struct{}

func (nowhereObjects) Create(uint32) (io.WriteCloser, error) { return discarding{}, nil }
func (nowhereObjects) Close() error                          { return nil }

// discarding is a stream that is not kept, and so can be begun again.
type discarding struct{}

func (discarding) Write(b []byte) (int, error) { return len(b), nil }
func (discarding) Close() error                { return nil }
func (discarding) Discard() error              { return nil }
