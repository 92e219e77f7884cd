package dump

import (
	"context"
	"io"

	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
	"github.com/pghaul/pghaul/pgarchive"
)

// Inspect reads a whole database as a dump does, with that many workers, keeps nothing
// of it, and says what is in it.
func Inspect(ctx context.Context, config *pg.Config, jobs int) (*manifest.Manifest, error) {
	r, err := Run(ctx, config, Options{
		Format:  pgarchive.FormatDirectory,
		Jobs:    jobs,
		Archive: func(pgarchive.WriterOptions) (pgarchive.Writer, error) { return discard{}, nil },
	}, NoProgress{})
	if err != nil {
		return nil, err
	}
	return r.Manifest, nil
}

// discard is an archive that keeps nothing.
type discard struct{}

var _ pgarchive.Writer = discard{}

func (discard) Properties() pgarchive.Properties { return pgarchive.Properties{ConcurrentData: true} }
func (discard) Add(*pgarchive.Entry) error       { return nil }
func (discard) Attach(string, []byte) error      { return nil }
func (discard) Abort() error                     { return nil }
func (discard) Close() error                     { return nil }

func (discard) Data(pgarchive.ID) (io.WriteCloser, error) { return discardData{io.Discard}, nil }

func (discard) LargeObjects(pgarchive.ID) (pgarchive.LargeObjectWriter, error) {
	return discard{}, nil
}

func (discard) Create(uint32) (io.WriteCloser, error) { return discardData{io.Discard}, nil }

type discardData struct{ io.Writer }

func (discardData) Close() error { return nil }
