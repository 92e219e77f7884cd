package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/estimate"
	"github.com/pghaul/pghaul/internal/pgflags"
	"github.com/pghaul/pghaul/internal/ui"
)

// estimateOptions is the command line of pghaul estimate.
type estimateOptions struct {
	estimate.Options
	Compress  string
	Bandwidth sizeFlag
	Piece     sizeFlag
	Price     float64
	JSON      bool
}

func newEstimateCommand(env *environment) *cobra.Command {
	var o estimateOptions
	c := &cobra.Command{
		Use:   "estimate [DBNAME]",
		Short: "say how large a backup will be, how long it takes, and what leaves the server, before it is taken",
		Long: `Estimates a backup of a database: rows and bytes, what is stored of them by each way to
compress, time, egress and its price, locks, and the time and disk of a restore. DBNAME is
a name, a connection string, or a name in the configuration file; without it, the
environment's PGHAUL_DATABASE or what PGDATABASE and its kin say.

The catalogue is read in a few queries, and of each of the largest tables a few pages, for
at most --sample-time. Nothing is locked but these tables, for the moment they are read.
Times are those of the machines that docs/benchmarks.md describes.

Exit status: 0; 1 if the database could not be read; 2 if the command line is wrong;
130 if interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return &pgflags.UsageError{Text: fmt.Sprintf("%d arguments were given, at most one wanted: %s", len(args), cmd.UseLine()), TryHelp: true}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("egress-price") {
				o.Options.Price = &estimate.Price{Platform: "given", PerGB: o.Price}
			}
			if !cmd.Flags().Changed("compress") { // the default of a backup
				o.OldCompression = &codec.Spec{Method: codec.Gzip, Level: 1, HasLevel: true}
			}
			return runEstimate(cmd.Context(), env, operand(args), o)
		},
	}
	f := c.Flags()
	f.StringArrayVarP(&o.Schemas, "schema", "n", nil, "only schemas that match this PATTERN (repeat for more)")
	f.StringArrayVarP(&o.ExcludeSchemas, "exclude-schema", "N", nil, "no schemas that match this PATTERN (repeat for more)")
	f.IntVarP(&o.Jobs, "jobs", "j", 2, "sessions that read, and restore, at the same time")
	f.StringVarP(&o.Compress, "compress", "Z", "zstd:1", "`METHOD` of compression: none, gzip, lz4 or zstd, with a level; of servers before 16, gzip:1 unless given")
	f.Var(&o.Piece, "piece-size", "pieces that large tables are cut into (default 64 MiB; a dump takes less where that leaves few)")
	f.Var(&o.Bandwidth, "bandwidth", "how much comes from the server, and goes to the store, in a second, such as 12MB")
	f.Float64Var(&o.Price, "egress-price", 0, "US dollars for a GB that leaves the server's network; default: by its host name")
	f.DurationVar(&o.SampleTime, "sample-time", 10*time.Second, "how long samples of tables may take")
	f.BoolVar(&o.NoSample, "no-sample", false, "read no table, guess by the catalogue alone")
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON")
	return c
}

func runEstimate(ctx context.Context, env *environment, database string, o estimateOptions) error {
	spec, err := codec.Parse(o.Compress)
	switch {
	case err != nil:
		return &pgflags.UsageError{Text: "--compress: " + err.Error(), TryHelp: true}
	case o.Jobs < 1:
		return &pgflags.UsageError{Text: "--jobs is below 1", TryHelp: true}
	case o.Price < 0 || o.SampleTime <= 0:
		return &pgflags.UsageError{Text: "--egress-price is negative, or --sample-time is not above 0", TryHelp: true}
	}
	o.Compression, o.Options.Bandwidth, o.PieceBytes = spec, int64(o.Bandwidth), int64(o.Piece)
	if database == "" {
		database = os.Getenv(databaseVariable)
	}
	source, err := connection(&pgflags.Connection{DBName: database})
	if err != nil {
		return err
	}
	r, err := estimate.Run(ctx, source, o.Options)
	if err != nil {
		return err
	}
	if o.JSON {
		return writeJSON(env.stdout, r)
	}
	return writeEstimate(env.stdout, r)
}

func writeEstimate(w io.Writer, r *estimate.Report) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s "+format+"\n", append([]any{name}, args...)...)
	}
	seconds := func(s float64) string { return ui.Duration(time.Duration(s * float64(time.Second))) }
	line("database", "%s, PostgreSQL %s, %s away", r.Database, r.Server, time.Duration(r.RoundTrip).Round(10*time.Microsecond))
	line("contents", "about %s rows of %s tables, %s on disk and %s of indexes", ui.Count(r.Rows), ui.Count(int64(r.Tables)), ui.Bytes(r.DiskBytes), ui.Bytes(r.IndexBytes))
	line("dump", "about %s as text, in %s pieces", ui.Bytes(r.DumpBytes), ui.Count(r.Pieces))
	line("stored", "about %s with %s (lz4 %s, gzip %s, zstd %s)", ui.Bytes(r.StoredBytes), r.Compression, ui.Bytes(r.Stored["lz4"]), ui.Bytes(r.Stored["gzip"]), ui.Bytes(r.Stored["zstd"]))
	if r.Bandwidth > 0 {
		line("time", "about %s with %d jobs and %s/s", seconds(r.BackupSeconds), r.Jobs, ui.Bytes(r.Bandwidth))
	} else {
		var over []string
		for _, l := range r.Links {
			over = append(over, seconds(l.Seconds)+" over "+l.Name)
		}
		line("time", "about %s with %d jobs if the network is no limit; %s", seconds(r.BackupSeconds), r.Jobs, strings.Join(over, ", "))
	}
	cost := "nothing"
	if r.Price.PerGB > 0 {
		cost = fmt.Sprintf("$%.2f at $%.3g a GB", r.CostUSD, r.Price.PerGB)
		if r.Price.FreeGB > 0 {
			cost += fmt.Sprintf("; one a day, $%.2f a month after %.0f GB that are free", r.MonthUSD, r.Price.FreeGB)
		} else {
			cost += fmt.Sprintf("; one a day, $%.2f a month", r.MonthUSD)
		}
	}
	line("egress", "about %s leave the server, which costs %s (%s%s)", ui.Bytes(r.WireBytes), cost, r.Price.Platform, orNote(r.Price.Note))
	line("locks", "%s, and the server has room for %s", ui.Count(r.Locks), ui.Count(r.LockRoom))
	line("restore", "about %s with %d jobs on a server like that of docs/benchmarks-restore.md; up to %s of disk, and its WAL", seconds(r.RestoreSeconds), r.Jobs, ui.Bytes(r.RestoreBytes))
	line("sample", "a few pages of %d tables, which have %.0f %% of the data", r.SampledTables, 100*r.Sampled)
	if len(r.Largest) > 0 {
		b.WriteString("\nLargest tables:\n")
		for _, t := range r.Largest {
			fmt.Fprintf(&b, "  %s.%s: about %s rows, %s on disk, %s as text\n", t.Schema, t.Name, ui.Count(t.Rows), ui.Bytes(t.DiskBytes), ui.Bytes(t.DumpBytes))
		}
	}
	for i, p := range r.Problems {
		if i == 0 {
			b.WriteString("\nTo be seen to:\n")
		}
		b.WriteString("  - " + p + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orNote(note string) string {
	if note == "" {
		return ""
	}
	return ": " + note
}
