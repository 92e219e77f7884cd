package dump

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/pgarchive"
)

// Checkpoint is what a later dump must know of this one, beside the digests of finished items, to go on
// with it: it sees the same snapshot, but sizes of tables and clocks are no part of that.
type Checkpoint struct {
	Time time.Time `json:"time"` // of the snapshot
	LSN  string    `json:"lsn"`

	// Plan is the SHA-256, in hexadecimal digits, over entries, queries and settings. What a snapshot does not fix is
	// left out: the values of sequences and the planner's statistics.
	Plan string `json:"plan"`
	Cuts []Cut  `json:"cuts"` // the tables that were cut
}

// Cut is how a table was cut: into pieces of as many pages each, the last one without an end; or at values of its key.
type Cut struct {
	OID    uint32  `json:"oid"`
	Pages  uint32  `json:"pages"`
	Pieces int     `json:"pieces"`
	Keys   []int64 `json:"keys,omitempty"`
}

// Resume is how far an earlier dump came.
type Resume struct {
	Checkpoint

	// Done are the digests of the items whose data are in the archive already, by dump ID. The archive that
	// Options.Archive opens must have them, and a method Adopt(id) error that takes them for written.
	Done map[pgarchive.ID]digest.Sum
}

// ErrChanged says that a dump cannot be continued: what there is to dump is not what it was, although the
// snapshot is the same.
var ErrChanged = errors.New("the database, or the selection, is not what it was when the dump was begun")

// Checkpoint returns what a later dump must know of this one.
func (p *Plan) Checkpoint() Checkpoint { return p.checkpoint() }

// Adopted reports whether an item's data were in the archive before this dump began.
func (p *Plan) Adopted(i *Item) bool { return p.adopted[i.Entry.ID] }

func (d *dumper) checkpoint(p *Plan, from *planner) Checkpoint {
	c := Checkpoint{Time: d.facts.snapshot.Time, LSN: d.facts.snapshot.LSN, Cuts: []Cut{}}
	for _, i := range p.Items {
		switch {
		case i.Pages == nil && i.Keys == nil:
			continue
		case i.Pages != nil && i.Pages.From == 0:
			c.Cuts = append(c.Cuts, Cut{OID: i.Table.ID.OID, Pages: i.Pages.To})
		case i.Keys != nil && i.Keys.From == nil:
			c.Cuts = append(c.Cuts, Cut{OID: i.Table.ID.OID})
		}
		last := &c.Cuts[len(c.Cuts)-1]
		last.Pieces++
		if i.Keys != nil && i.Keys.To != nil {
			last.Keys = append(last.Keys, *i.Keys.To)
		}
	}
	h := planHash{sha256.New()}
	for _, name := range slices.Sorted(maps.Keys(d.facts.settings)) {
		h.text(name, d.facts.settings[name])
	}
	h.text(from.db.Info.VersionString, d.opts.Compression.String())
	for _, e := range p.Entries {
		h.number(int64(e.ID), int64(e.CatalogID.TableOID), int64(e.CatalogID.OID), int64(e.Section))
		h.text(e.Desc, e.Namespace, e.Tag, e.Owner, e.Tablespace, e.TableAM, e.CopyStmt)
		if e.Desc != "SEQUENCE SET" && e.Desc != "STATISTICS DATA" {
			h.text(e.Defn)
		}
	}
	for _, i := range p.Items {
		h.number(int64(i.Entry.ID), int64(len(i.objects)))
		h.text(i.Query)
		for _, oid := range i.objects {
			h.number(int64(oid))
		}
	}
	c.Plan = hex.EncodeToString(h.Sum(nil))
	return c
}

// planHash hashes texts and numbers so that no two lists of them are one.
type planHash struct{ hash.Hash }

func (h planHash) number(list ...int64) {
	var b [8]byte
	for _, n := range list {
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
}

func (h planHash) text(list ...string) {
	for _, s := range list {
		h.number(int64(len(s)))
		h.Write([]byte(s))
	}
}

// ranges returns the ranges of a table that was cut, nil for one that was not.
func (r *Resume) ranges(oid uint32) []manifest.PageRange {
	i := slices.IndexFunc(r.Cuts, func(c Cut) bool { return c.OID == oid })
	if i < 0 || r.Cuts[i].Pieces < 2 || r.Cuts[i].Pieces > maxPieces || r.Cuts[i].Pages == 0 {
		return nil
	}
	out := make([]manifest.PageRange, r.Cuts[i].Pieces)
	for n := range out {
		from := uint32(n) * r.Cuts[i].Pages
		out[n] = manifest.PageRange{From: from, To: from + r.Cuts[i].Pages}
	}
	out[len(out)-1].To = 0
	return out
}

// keys returns the values of its key at which a table was cut, nil of one that was not.
func (r *Resume) keys(oid uint32) []int64 {
	i := slices.IndexFunc(r.Cuts, func(c Cut) bool { return c.OID == oid })
	if i < 0 || len(r.Cuts[i].Keys) >= maxPieces || !slices.IsSorted(r.Cuts[i].Keys) {
		return nil
	}
	return r.Cuts[i].Keys
}

// resume returns the items whose data are still to be written, and gives the others their digests.
func (d *dumper) resume(p *Plan) ([]*Item, error) {
	r := d.opts.Resume
	if r == nil {
		return p.Items, nil
	}
	if r.Plan != p.checkpoint().Plan {
		return nil, ErrChanged
	}
	p.adopted = make(map[pgarchive.ID]bool)
	var rest []*Item
	for _, i := range p.Items {
		sum, ok := r.Done[i.Entry.ID]
		if !ok || i.Table == nil {
			rest = append(rest, i)
			continue
		}
		i.sum = sum
		p.adopted[i.Entry.ID] = true
	}
	return rest, nil
}

// adopt tells the archive, which has all entries, of which of them it has the data.
func (d *dumper) adopt(p *Plan) error {
	if len(p.adopted) == 0 {
		return nil
	}
	w, ok := d.writer.(interface{ Adopt(id pgarchive.ID) error })
	if !ok {
		return fmt.Errorf("continue dump: %w", errors.ErrUnsupported)
	}
	for _, i := range p.Items {
		if p.adopted[i.Entry.ID] {
			if err := w.Adopt(i.Entry.ID); err != nil {
				return fmt.Errorf("continue dump: %w", err)
			}
		}
	}
	return nil
}

// checkStorage fails if a table was rewritten, emptied or dropped after an imported snapshot was taken and before the table was
// locked: its rows would be missing without an error, as TRUNCATE and the rewriting forms of ALTER TABLE do not
// heed older snapshots (mvcc-caveats in PostgreSQL's documentation), and its pages would be others than those of an
// earlier dump. pg_class is read as the snapshot shows it, pg_relation_filenode says what is now.
func (d *dumper) checkStorage(ctx context.Context, tables []*catalog.Table) error {
	if d.opts.Snapshot == "" || len(tables) == 0 {
		return nil
	}
	var oids []string
	for _, t := range tables {
		oids = append(oids, strconv.FormatUint(uint64(t.ID.OID), 10))
	}
	sql := `SELECT n.nspname, c.relname FROM pg_catalog.unnest('{` + strings.Join(oids, ",") + `}'::pg_catalog.oid[]) AS t (oid)
JOIN pg_catalog.pg_class c ON c.oid = t.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_class x ON x.oid = c.reltoastrelid
WHERE c.relkind = 'r' AND c.relfilenode <> 0 AND pg_catalog.pg_relation_filenode(c.oid) IS DISTINCT FROM c.relfilenode
  OR c.relkind = 'r' AND x.relfilenode <> 0 AND pg_catalog.pg_relation_filenode(x.oid) IS DISTINCT FROM x.relfilenode
ORDER BY 1, 2 LIMIT 1`
	var changed string
	err := d.holder.conn.Query(ctx, sql, func(v [][]byte) error {
		changed = string(v[0]) + "." + string(v[1])
		return nil
	})
	if err != nil {
		return &Error{Op: "look for tables rewritten since the snapshot", Query: sql, Err: err}
	}
	if changed == "" {
		return nil
	}
	err = errors.New("it was truncated, rewritten or dropped since the snapshot was taken, which does not show its rows any more")
	if d.opts.Resume != nil {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &Error{Op: "dump table", Object: changed, Hint: "Take a new snapshot.", Err: err}
}
