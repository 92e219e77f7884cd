package estimate

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/pghaul/pghaul/internal/codec"
	"github.com/pghaul/pghaul/internal/pg"
)

// Options say what is to be backed up, and how. The zero value is everything, by the defaults of a backup.
type Options struct {
	Schemas, ExcludeSchemas []string // patterns, as for a dump
	Jobs                    int      // 0: 2
	Compression             codec.Spec
	// OldCompression takes the place of Compression for servers before 16, see dump.Options. nil: none does.
	OldCompression *codec.Spec
	PieceBytes     int64 // 0: 64 MiB, more than a dump takes of a small database

	// Bandwidth is how many bytes a second come from the server, and go to the store; 0: not known.
	Bandwidth int64

	NoSample   bool
	SampleTime time.Duration // for all samples; 0: 10 s

	Price *Price // nil: by the host
}

// Report is the estimate.
type Report struct {
	Database  string `json:"database"`
	Server    string `json:"server"`
	RoundTrip Millis `json:"round_trip_ms"`

	Tables       int   `json:"tables"`
	Rows         int64 `json:"rows"`
	LargeObjects int64 `json:"large_objects"`
	DiskBytes    int64 `json:"disk_bytes"`  // tables and large objects, without indexes
	IndexBytes   int64 `json:"index_bytes"` // which no backup holds
	DumpBytes    int64 `json:"dump_bytes"`  // rows as text, and large objects
	Pieces       int64 `json:"pieces"`      // entries with data

	Compression string           `json:"compression"`
	StoredBytes int64            `json:"stored_bytes"`
	Stored      map[string]int64 `json:"stored_bytes_by_method"`

	// Sampled is the share of the tables' disk whose rows were looked at, in tables of which a sample was taken.
	Sampled       float64 `json:"sampled_share"`
	SampledTables int     `json:"sampled_tables"`

	WireBytes int64   `json:"wire_bytes"` // that leave the server
	Price     Price   `json:"egress_price"`
	CostUSD   float64 `json:"egress_usd"`         // of one backup, nothing free
	MonthUSD  float64 `json:"egress_usd_a_month"` // of one a day, after what is free

	Jobs          int     `json:"jobs"`
	BackupSeconds float64 `json:"backup_seconds"` // without the network unless Bandwidth is given
	Bandwidth     int64   `json:"bandwidth"`
	Links         []Link  `json:"links"` // where it is not given: the time over usual ones

	RestoreSeconds float64 `json:"restore_seconds"`
	RestoreBytes   int64   `json:"restore_disk_bytes"` // what a restored copy needs at most, indexes and the largest sort included

	Locks     int64 `json:"locks"`
	LockRoom  int64 `json:"lock_room"`
	MaxLocks  int64 `json:"max_locks_per_transaction"`
	NeedLocks int64 `json:"needed_max_locks_per_transaction"` // 0: there is room

	Largest  []TableReport `json:"largest_tables"`
	Problems []string      `json:"problems"`
}

// Millis is a time that is written as a number of milliseconds.
type Millis time.Duration

// MarshalJSON writes milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(m).Seconds()*1000), nil
}

// Link is a way to the server.
type Link struct {
	Name    string  `json:"name"`
	Bytes   int64   `json:"bytes_a_second"`
	Seconds float64 `json:"backup_seconds"`
}

// TableReport is one of the largest tables.
type TableReport struct {
	Schema    string `json:"schema"`
	Name      string `json:"name"`
	Rows      int64  `json:"rows"`
	DiskBytes int64  `json:"disk_bytes"`
	DumpBytes int64  `json:"dump_bytes"`
	Sampled   bool   `json:"sampled"`
}

// Rates, in bytes a second. They were measured on one core of a 2024 x86 server (docs/benchmarks.md); what counts is the slowest.
const serverRate = 130e6 // text of one session

var codecRate = map[codec.Method]float64{codec.None: 1e9, codec.LZ4: 450e6, codec.Gzip: 60e6, codec.Zstd: 220e6} // each core of this machine

// Trips to the server: those of every dump, and of each piece.
const (
	dumpTrips  = 80
	pieceTrips = 4
)

// links are shown when the bandwidth is not known.
var links = []Link{{Name: "100 Mbit/s", Bytes: 12_500_000}, {Name: "1 Gbit/s", Bytes: 125_000_000}, {Name: "10 Gbit/s", Bytes: 1_250_000_000}}

// Run makes the estimate.
func Run(ctx context.Context, config *pg.Config, o Options) (*Report, error) {
	wanted, err := schemas(o.Schemas, o.ExcludeSchemas)
	if err != nil {
		return nil, err
	}
	if o.Jobs <= 0 {
		o.Jobs = 2
	}
	if o.PieceBytes <= 0 {
		o.PieceBytes = 64 << 20
	}
	if o.SampleTime <= 0 {
		o.SampleTime = 10 * time.Second
	}
	c, err := pg.Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if err := c.Exec(ctx, "SET default_transaction_read_only = on; SET search_path = ''; SET extra_float_digits = 3; SET lock_timeout = '2s'"); err != nil {
		return nil, err
	}
	if o.OldCompression != nil && c.Version() < 160000 {
		o.Compression = *o.OldCompression
	}
	f, err := read(ctx, c, wanted)
	if err != nil {
		return nil, err
	}
	r := &Report{Problems: []string{}, Largest: []TableReport{}, Links: []Link{}, Stored: make(map[string]int64), Jobs: o.Jobs, Bandwidth: o.Bandwidth}
	if !o.NoSample {
		specs := make(map[codec.Method]codec.Spec)
		for _, m := range methods {
			specs[m] = codec.Spec{Method: m}
		}
		specs[o.Compression.Method] = o.Compression
		if r.Problems, err = takeSamples(ctx, c, f, o.SampleTime, specs); err != nil {
			return nil, err
		}
		if r.Problems == nil {
			r.Problems = []string{}
		}
	}
	host, _ := c.Host()
	return r, r.fill(f, o, host.Name)
}

func (r *Report) fill(f *facts, o Options, host string) error {
	stored := f.extend()
	r.Database, r.Server, r.RoundTrip = f.database, f.version, Millis(f.roundTrip)
	r.Tables, r.LargeObjects = len(f.tables), f.largeObjects
	var sampledDisk, tableDisk, largestIndex int64
	for _, t := range f.tables {
		r.Rows += t.rows
		r.DumpBytes += t.bytes
		tableDisk += t.disk()
		r.Pieces += t.pieces(f.blockSize, o.PieceBytes)
		if t.sample != nil {
			r.SampledTables++
			sampledDisk += t.disk()
		}
	}
	for _, i := range f.indexes {
		r.IndexBytes += i.bytes
		largestIndex = max(largestIndex, i.bytes)
	}
	if f.largeObjects > 0 {
		r.Pieces++
	}
	if r.Sampled = 1; tableDisk > 0 {
		r.Sampled = float64(sampledDisk) / float64(tableDisk)
	}
	r.DiskBytes = tableDisk + f.largeObjectsB
	r.DumpBytes += f.largeObjectsB
	for _, m := range methods {
		r.Stored[m.String()] = stored[m]
	}
	r.Compression, r.StoredBytes = o.Compression.String(), stored[o.Compression.Method]
	r.RestoreBytes = r.DiskBytes + r.IndexBytes + largestIndex

	// Each row is a message with a head of five bytes.
	r.WireBytes = r.DumpBytes + 5*r.Rows
	if r.Price = priceOf(host); o.Price != nil {
		r.Price = *o.Price
	}
	gb := float64(r.WireBytes) / 1e9
	r.CostUSD = gb * r.Price.PerGB
	r.MonthUSD = max(0, 30*gb-r.Price.FreeGB) * r.Price.PerGB

	r.BackupSeconds = r.seconds(o, o.Bandwidth)
	if o.Bandwidth == 0 {
		for _, l := range links {
			l.Seconds = r.seconds(o, l.Bytes)
			r.Links = append(r.Links, l)
		}
	}
	entries, sizes := f.toc(o.PieceBytes)
	d, err := restoreTime(entries, sizes, o.Jobs)
	if err != nil {
		return err
	}
	r.RestoreSeconds = d.Seconds()

	r.Locks, r.MaxLocks = f.relations, f.maxLocks
	r.LockRoom = f.maxLocks * max(1, f.slots)
	if r.Locks > r.LockRoom {
		r.NeedLocks = r.Locks/max(1, f.slots) + 1
		r.NeedLocks = max(r.NeedLocks+r.NeedLocks/4, 2*r.MaxLocks)
		r.Problems = append(r.Problems, fmt.Sprintf("the backup locks %d tables, and the server has room for about %d locks: set max_locks_per_transaction to %d", r.Locks, r.LockRoom, r.NeedLocks))
	}
	r.largest(f.tables)
	return nil
}

// shownTables is how many of the largest tables are listed.
const shownTables = 5

func (r *Report) largest(tables []*table) {
	sorted := slices.Clone(tables)
	slices.SortStableFunc(sorted, func(a, b *table) int { return int(min(max(b.bytes-a.bytes, -1), 1)) })
	for _, t := range sorted[:min(shownTables, len(sorted))] {
		r.Largest = append(r.Largest, TableReport{t.schema, t.name, t.rows, t.disk(), t.bytes, t.sample != nil})
	}
}

// seconds is how long the backup takes over a link; 0 is one that is never what it waits for.
func (r *Report) seconds(o Options, bandwidth int64) float64 {
	jobs := float64(o.Jobs)
	rate := codecRate[o.Compression.Method] * min(jobs, float64(runtime.NumCPU()))
	s := max(float64(r.DumpBytes)/(serverRate*jobs), float64(r.DumpBytes)/rate)
	if bandwidth > 0 {
		s = max(s, float64(r.WireBytes)/float64(bandwidth), float64(r.StoredBytes)/float64(bandwidth))
	}
	trips := dumpTrips + pieceTrips*float64(r.Pieces)/jobs
	return s + trips*time.Duration(r.RoundTrip).Seconds()
}
