package dump

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/ddl"
	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/pgarchive"
)

// Plan is what a dump will do: the archive's entries, and where the data of each come from.
type Plan struct {
	Entries []*pgarchive.Entry // the table of contents
	Items   []*Item            // the entries with data, in the same order
	Bytes   int64              // size of the data on disk, an estimate of what will be read

	checkpoint func() Checkpoint     // computed when it is asked for
	adopted    map[pgarchive.ID]bool // items that an earlier dump has written
}

// Item is one data entry: the rows of a table or of a range of its pages, or large objects.
type Item struct {
	Entry *pgarchive.Entry
	Table *catalog.Table // nil: large objects
	Query string         // the statement that reads the rows: COPY, or SELECT for INSERT statements
	Pages *manifest.PageRange
	Keys  *manifest.KeyRange // in place of Pages, of servers that do not read ranges of pages
	Bytes int64              // on disk

	Binary bool // the rows have COPY's binary form

	data    *catalog.TableData
	objects []uint32 // OIDs of large objects
	work    int64    // see workOf
	sum     digest.Sum
}

// Name is the item's name for messages: public.events, or public.events pages 0-4096.
func (i *Item) Name() string {
	if i.Table == nil {
		return "large objects " + i.Entry.Tag
	}
	name := i.Entry.Namespace + "." + i.Entry.Tag
	switch {
	case i.Keys != nil:
		from, to := "", ""
		if i.Keys.From != nil {
			from = strconv.FormatInt(*i.Keys.From, 10)
		}
		if i.Keys.To != nil {
			to = strconv.FormatInt(*i.Keys.To-1, 10)
		}
		return fmt.Sprintf("%s %s %s..%s", name, i.Keys.Column, from, to)
	case i.Pages == nil:
		return name
	case i.Pages.To == 0:
		return fmt.Sprintf("%s pages %d-", name, i.Pages.From)
	}
	return fmt.Sprintf("%s pages %d-%d", name, i.Pages.From, i.Pages.To-1)
}

// workOf is how long an item takes, in bytes on disk of ordinary rows. Numbers in floating point take the server three
// times as long to write as text, and are then three times as long.
func workOf(i *Item) int64 {
	if i.Table == nil || i.Binary {
		return i.Bytes
	}
	for k := range i.Table.Columns {
		_, name, qualified := strings.Cut(i.Table.Columns[k].TypeName, ".")
		if !qualified {
			name = i.Table.Columns[k].TypeName
		}
		name, _, _ = strings.Cut(name, "(")
		switch name {
		case "vector", "halfvec", "sparsevec", "real[]", "double precision[]":
			return 3 * i.Bytes
		}
	}
	return i.Bytes
}

// Sum is the digest of the item's data, known when it is finished.
func (i *Item) Sum() digest.Sum { return i.sum }

// List writes the plan, a line for each item with its size on disk.
func (p *Plan) List(w io.Writer) error {
	for _, i := range p.Items {
		if _, err := fmt.Fprintf(w, "%d; %d bytes; %s\n", i.Entry.ID, i.Bytes, i.Name()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d entries, %d with data, %d bytes\n", len(p.Entries), len(p.Items), p.Bytes)
	return err
}

// planner makes a Plan of the entries of a database.
type planner struct {
	db        *catalog.Database
	opts      *Options
	quote     sqltext.Quoter
	sizes     map[uint32]tableSize
	binary    map[*catalog.Table]bool
	blockSize int64
	piece     int64 // bytes of a piece of a large table
	lastID    pgarchive.ID
	readKeys  func(t *catalog.Table, column string, n int64) ([]int64, error) // see readKeys
}

// wantedEntries leaves out what the selection does not want. What depended on a removed entry
// depends on what that depended on. changed says that something was left out.
func wantedEntries(entries []*pgarchive.Entry, sel pgarchive.Selection) (kept []*pgarchive.Entry, changed bool, err error) {
	selected, err := sel.Select(entries)
	if err != nil {
		return nil, false, err
	}
	if !slices.ContainsFunc(entries, func(e *pgarchive.Entry) bool { return selected.Wanted(e.ID) == 0 }) {
		return entries, false, nil
	}
	removed := make(map[pgarchive.ID]*pgarchive.Entry)
	for _, e := range entries {
		if selected.Wanted(e.ID) == 0 {
			removed[e.ID] = e
		} else {
			kept = append(kept, e)
		}
	}
	for _, e := range kept {
		if slices.ContainsFunc(e.Dependencies, func(d pgarchive.ID) bool { return removed[d] != nil }) {
			e.Dependencies = throughRemoved(e, removed)
		}
	}
	return kept, true, nil
}

func throughRemoved(e *pgarchive.Entry, removed map[pgarchive.ID]*pgarchive.Entry) []pgarchive.ID {
	var out []pgarchive.ID
	seen := map[pgarchive.ID]bool{e.ID: true}
	var walk func(deps []pgarchive.ID)
	walk = func(deps []pgarchive.ID) {
		for _, d := range deps {
			if seen[d] {
				continue
			}
			seen[d] = true
			if r := removed[d]; r != nil {
				walk(r.Dependencies)
			} else {
				out = append(out, d)
			}
		}
	}
	walk(e.Dependencies)
	return out
}

// plan makes the plan of the entries, all of which will be in the archive.
func (p *planner) plan(entries []*pgarchive.Entry) (*Plan, error) {
	for _, e := range entries {
		p.lastID = max(p.lastID, e.ID)
	}
	var total int64
	for _, s := range p.sizes {
		total += s.heap + s.toast
	}
	p.piece = p.opts.pieceBytes(total)
	out := &Plan{Entries: make([]*pgarchive.Entry, 0, len(entries))}
	pieces := make(map[pgarchive.ID][]pgarchive.ID) // of a cut table: by the IDs of its data entry and of itself
	for _, e := range entries {
		switch e.Desc {
		case "TABLE DATA":
			items, err := p.tableItems(e)
			if err != nil {
				return nil, err
			}
			for _, i := range items {
				out.Entries = append(out.Entries, i.Entry)
			}
			out.Items = append(out.Items, items...)
			if len(items) > 1 {
				var ids []pgarchive.ID
				for _, i := range items {
					ids = append(ids, i.Entry.ID)
				}
				pieces[e.ID] = ids
				pieces[pgarchive.ID(items[0].Table.DumpID)] = ids
			}
			continue
		case "BLOBS":
			lo, ok := p.db.ByDumpID(catalog.DumpID(e.ID)).(*catalog.LargeObject)
			if !ok {
				return nil, fmt.Errorf("plan entry %s: its large objects are not known", e)
			}
			e.HasData = true
			out.Items = append(out.Items, &Item{Entry: e, objects: lo.OIDs, Bytes: e.DataBytes})
		}
		out.Entries = append(out.Entries, e)
	}
	if len(pieces) > 0 {
		waitForPieces(out.Entries, pieces)
	}
	for _, i := range out.Items {
		out.Bytes += i.Bytes
		i.work = workOf(i)
	}
	return out, nil
}

// waitForPieces makes what depends on the data of a cut table, and what comes after
// data and depends on the table, depend on every piece: pg_restore by itself would
// wait for one of them only (repoint_table_dependencies in pg_backup_archiver.c).
func waitForPieces(entries []*pgarchive.Entry, pieces map[pgarchive.ID][]pgarchive.ID) {
	isData := make(map[pgarchive.ID]bool)
	for _, e := range entries {
		isData[e.ID] = e.Desc == "TABLE DATA"
	}
	for _, e := range entries {
		have := make(map[pgarchive.ID]bool)
		for _, d := range e.Dependencies {
			have[d] = true
		}
		for _, d := range slices.Clone(e.Dependencies) {
			ids := pieces[d]
			if !isData[d] && e.Section != pgarchive.SectionPostData || slices.Contains(ids, e.ID) {
				continue
			}
			for _, id := range ids {
				if !have[id] {
					have[id] = true
					e.Dependencies = append(e.Dependencies, id)
				}
			}
		}
	}
}

// tableItems makes the items of a table's data entry: one, or several if it is cut.
func (p *planner) tableItems(e *pgarchive.Entry) ([]*Item, error) {
	data, ok := p.db.ByDumpID(catalog.DumpID(e.ID)).(*catalog.TableData)
	if !ok || data.Table == nil {
		return nil, fmt.Errorf("plan entry %s: its table is not known", e)
	}
	t := data.Table
	size := p.sizes[t.ID.OID]
	e.HasData = true
	e.DataBytes = size.heap + size.toast
	whole := &Item{Entry: e, Table: t, Bytes: e.DataBytes, data: data}
	if ddl.UsesInserts(&p.db.Options) {
		whole.Query = ddl.NewInserter(p.db, data).Query()
		return []*Item{whole}, nil
	}
	copySQL := func(sql string) string { return sql }
	if whole.Binary = p.binary[t]; whole.Binary {
		copySQL = binaryCopy
		e.CopyStmt = binaryCopy(e.CopyStmt)
	}
	ranges, err := p.parts(data, size)
	if err != nil {
		return nil, err
	}
	if ranges == nil {
		whole.Query = copySQL(ddl.CopyToSQL(p.db, data))
		return []*Item{whole}, nil
	}
	if e.Defn == "" {
		// pg_restore takes this comment as the sign that more than this entry goes into the table, and does not
		// truncate it (is_load_via_partition_root in pg_backup_archiver.c).
		e.Defn = ddl.LoadViaRootNote + sqltext.SanitizeLine(p.quote.Qualified(e.Namespace, e.Tag), true)
	}
	var items []*Item
	for i := range ranges {
		piece := *e
		if i > 0 {
			p.lastID++
			piece.ID = p.lastID
			piece.Dependencies = slices.Clone(e.Dependencies)
		}
		piece.DataBytes = e.DataBytes / int64(len(ranges))
		item := &Item{Entry: &piece, Table: t, data: data, Pages: ranges[i].pages, Keys: ranges[i].keys, Bytes: piece.DataBytes, Binary: whole.Binary}
		if k := item.Keys; k != nil {
			item.Query = copySQL(ddl.CopyKeysSQL(p.db, data, string(k.Column), k.From, k.To))
		} else {
			item.Query = copySQL(ddl.CopyRangeSQL(p.db, data, int64(item.Pages.From), int64(item.Pages.To)))
		}
		items = append(items, item)
	}
	return items, nil
}

// parts decides how to cut a table; nil is not at all.
func (p *planner) parts(data *catalog.TableData, size tableSize) ([]part, error) {
	if p.opts.format() == pgarchive.FormatPlain || !ddl.CanCopyRange(data) {
		return nil, nil
	}
	t := data.Table
	if p.db.Info.Version < minRangeVersion || p.opts.cutByKeys {
		return p.keyParts(t, size)
	}
	var ranges []manifest.PageRange
	if r := p.opts.Resume; r != nil { // the table may have grown, the pieces must be the same
		ranges = r.ranges(t.ID.OID)
	} else {
		ranges = cut(size, p.blockSize, p.piece)
	}
	var out []part
	for i := range ranges {
		out = append(out, part{pages: &ranges[i]})
	}
	return out, nil
}

// keyParts cuts a table by its key, if it is large and has one that serves.
func (p *planner) keyParts(t *catalog.Table, size tableSize) ([]part, error) {
	column := keyColumn(t)
	if column == nil {
		return nil, nil
	}
	if r := p.opts.Resume; r != nil {
		return keyParts(column.Name, r.keys(t.ID.OID)), nil
	}
	n := pieces(size, p.blockSize, p.piece)
	if n < 2 {
		return nil, nil
	}
	bounds, err := p.readKeys(t, column.Name, n)
	return keyParts(column.Name, bounds), err
}

// errMissing says that a sequence's state could not be read.
var errMissing = errors.New("its value could not be read: the role may lack SELECT on the sequence, or it was dropped meanwhile")

// checkSequences refuses sequences whose values could not be read.
func checkSequences(db *catalog.Database, entries []*pgarchive.Entry) error {
	sequences := sequencesOf(db)
	for _, e := range entries {
		if e.Desc != "SEQUENCE SET" {
			continue
		}
		t := sequences[[2]string{e.Namespace, e.Tag}]
		if t == nil || t.Sequence == nil || !t.Sequence.HasState {
			return &Error{Op: "dump sequence", Object: e.Namespace + "." + e.Tag, Err: errMissing}
		}
	}
	return nil
}

// sequencesOf returns the sequences by schema and name. A SEQUENCE SET entry has no
// catalogue row of its own, and what it depends on may have been left out.
func sequencesOf(db *catalog.Database) map[[2]string]*catalog.Table {
	m := make(map[[2]string]*catalog.Table)
	for _, t := range db.Tables {
		if t.RelKind == 'S' && t.Schema != nil {
			m[[2]string{t.Schema.Name, t.Name}] = t
		}
	}
	return m
}
