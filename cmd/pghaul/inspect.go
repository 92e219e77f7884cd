package main

import (
	"context"

	"github.com/pghaul/pghaul/internal/drill"
	"github.com/pghaul/pghaul/internal/dump"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/pg"
)

// inspect is the drill's way to read the copy.
func inspect(ctx context.Context, c *pg.Config, o drill.Inspection) (*manifest.Manifest, error) {
	return dump.Describe(ctx, c, dump.Options{Jobs: o.Jobs, Settings: o.Settings, BinaryTables: o.Binary}, nil)
}
