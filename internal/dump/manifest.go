package dump

import (
	"maps"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/digest"
	"github.com/pghaul/pghaul/internal/manifest"
	"github.com/pghaul/pghaul/pgarchive"
)

// manifest says what the dump holds. partial says that entries were left out.
func (d *dumper) manifest(db *catalog.Database, p *Plan, partial bool) *manifest.Manifest {
	m := &manifest.Manifest{
		Tool:     manifest.Tool{Name: "pghaul", Version: d.opts.ToolVersion},
		Server:   manifest.Server{Version: db.Info.VersionString, VersionNum: db.Info.Version, Standby: d.facts.snapshot.InRecovery},
		Database: manifest.Name(d.facts.database),
		Source:   d.facts.source(),
		Snapshot: manifest.Snapshot{Time: d.facts.snapshot.Time, LSN: d.facts.snapshot.LSN},
		Complete: !partial && d.opts.complete(),
		Settings: maps.Clone(d.facts.settings),
		Objects:  manifest.Inventory(p.Entries),
	}
	sequences := sequencesOf(db)
	owners := make(map[string]bool)
	extensions := make(map[string]bool)
	for _, e := range p.Entries {
		if e.Owner != "" {
			owners[e.Owner] = true
		}
		switch e.Desc {
		case "EXTENSION":
			extensions[e.Tag] = true
		case "SEQUENCE SET":
			if t := sequences[[2]string{e.Namespace, e.Tag}]; t != nil { // checked by checkSequences
				m.Sequences = append(m.Sequences, manifest.Sequence{
					Namespace: manifest.Name(e.Namespace), Name: manifest.Name(e.Tag),
					LastValue: t.Sequence.LastValue, IsCalled: t.Sequence.IsCalled,
				})
			}
		}
	}
	for _, x := range db.Extensions {
		if extensions[x.Name] {
			m.Extensions = append(m.Extensions, manifest.Extension{
				Name: manifest.Name(x.Name), Version: x.Version, Schema: manifest.Name(x.Namespace),
			})
		}
	}
	for _, r := range db.RoleDetails {
		owners[r.Name] = true
	}
	for r := range owners {
		m.Roles = append(m.Roles, manifest.Name(r))
	}
	m.Tables, m.LargeObjects = contents(p.Items)
	m.Seal()
	return m
}

// source is the identity of the database, if the server gives it.
func (f *serverFacts) source() *manifest.Source {
	if f.identity.System == "" {
		return nil
	}
	return &manifest.Source{System: f.identity.System, DatabaseOID: f.identity.OID}
}

// totals counts what a script holds.
func totals(p *Plan) manifest.Totals {
	m := manifest.Manifest{}
	m.Tables, m.LargeObjects = contents(p.Items)
	t := m.Count()
	t.Objects = manifest.CountObjects(p.Entries)
	for _, e := range p.Entries {
		if e.Desc == "SEQUENCE SET" {
			t.Sequences++
		}
	}
	return t
}

// complete says that the options leave nothing of the database out.
func (o *Options) complete() bool {
	patterns := len(o.IncludeSchemas) + len(o.ExcludeSchemas) + len(o.IncludeTables) + len(o.ExcludeTables) +
		len(o.IncludeTablesAndChildren) + len(o.ExcludeTablesAndChildren) + len(o.ExcludeTableData) +
		len(o.ExcludeTableDataAndChildren) + len(o.IncludeExtensions) + len(o.ExcludeExtensions)
	return patterns == 0 && !o.NoSchema && !o.NoData && !o.NoLargeObjects && !o.NoComments && !o.NoPrivileges &&
		!o.NoSecurityLabels && !o.NoPolicies && !o.NoPublications && !o.NoSubscriptions && !o.NoTablespaces &&
		!o.NoTableAccessMethod && !o.NoToastCompression && !o.NoUnloggedTableData && !o.EnableRowSecurity && !o.BinaryUpgrade
}

// contents gathers the digests of the items by table.
func contents(items []*Item) ([]manifest.Table, manifest.LargeObjects) {
	var tables []manifest.Table
	var objects digest.Sum
	index := make(map[pgarchive.CatalogID]int)
	sums := make(map[int]digest.Sum)
	for _, i := range items {
		if i.Table == nil {
			objects.Add(i.sum)
			continue
		}
		key := pgarchive.CatalogID{TableOID: catalog.ClassRelation, OID: i.Table.ID.OID}
		n, ok := index[key]
		if !ok {
			n = len(tables)
			index[key] = n
			tables = append(tables, manifest.Table{
				Namespace: manifest.Name(i.Entry.Namespace), Name: manifest.Name(i.Entry.Tag), Filter: i.data.Filter,
			})
			if i.Binary {
				tables[n].CopyFormat = manifest.BinaryCopy
			}
		}
		p := manifest.Piece{ID: int32(i.Entry.ID), Pages: i.Pages, Keys: i.Keys}
		p.SetSum(i.sum)
		tables[n].Pieces = append(tables[n].Pieces, p)
		sum := sums[n]
		sum.Add(i.sum)
		sums[n] = sum
	}
	for n := range tables {
		tables[n].SetSum(sums[n])
	}
	var lo manifest.LargeObjects
	lo.SetSum(objects)
	return tables, lo
}
