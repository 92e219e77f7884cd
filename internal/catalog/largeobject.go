package catalog

import (
	"context"
	"fmt"
)

// LargeObject is, as KindLargeObject, the owner and privileges that a group of large objects has in common; as
// KindLargeObjectData, their contents. ID names the first of the group; Database.Find knows all.
// With Options.LegacyLargeObjects each large object is a group of its own, and one data object stands for all.
type LargeObject struct {
	Meta
	OIDs     []uint32
	Metadata *LargeObject // of a data object: what it holds the contents of; nil if these are several groups
}

// maxLargeObjectsPerEntry is how many large objects one entry may hold (MAX_BLOBS_PER_ARCHIVE_ENTRY in pg_dump.c).
const maxLargeObjectsPerEntry = 1000

type largeObjectRow struct {
	oid, owner   uint32
	acl, initial string
}

// largeObjectsStage reads the metadata of all large objects, those with the same owner and
// privileges side by side (getLOs in pg_dump.c).
func (r *reader) largeObjectsStage() stage {
	const sql = `SELECT oid, lomowner, lomacl, pg_catalog.acldefault('L', lomowner)
FROM pg_catalog.pg_largeobject_metadata
ORDER BY lomowner, lomacl::pg_catalog.text, oid`
	s := stage{name: "large objects"}
	if !r.db.Options.wantLargeObjects() && !r.db.Options.BinaryUpgrade {
		return s
	}
	var rows []largeObjectRow
	s.fetch = func(ctx context.Context, q Querier) error {
		return query(ctx, q, sql, func(row *row) {
			rows = append(rows, largeObjectRow{row.oid(), row.oid(), row.str(), row.str()})
		})
	}
	s.link = func() error {
		limit := maxLargeObjectsPerEntry
		if r.db.Options.LegacyLargeObjects {
			limit = 1
		}
		var legacy *LargeObject
		for len(rows) > 0 {
			n := 1
			for n < len(rows) && n < limit && rows[n].owner == rows[0].owner && rows[n].acl == rows[0].acl {
				n++
			}
			lo := r.largeObjectGroup(rows[:n])
			rows = rows[n:]
			if r.db.Options.LegacyLargeObjects {
				if legacy == nil {
					legacy = &LargeObject{Meta: Meta{Kind: KindLargeObjectData, Name: "BLOBS", Has: Data}}
				}
				legacy.OIDs = append(legacy.OIDs, lo.OIDs...)
				continue
			}
			data := &LargeObject{
				Meta:     Meta{Kind: KindLargeObjectData, Name: lo.Name, Has: Data, Owner: lo.Owner},
				OIDs:     lo.OIDs,
				Metadata: lo,
			}
			r.db.Add(data)
			data.AddDep(lo.DumpID)
			r.withoutDataInUpgrade(&data.Meta)
		}
		if legacy != nil {
			r.db.Add(legacy)
			r.withoutDataInUpgrade(&legacy.Meta)
		}
		return nil
	}
	return s
}

// withoutDataInUpgrade leaves the contents to pg_upgrade, which copies pg_largeobject.
func (r *reader) withoutDataInUpgrade(m *Meta) {
	if r.db.Options.BinaryUpgrade {
		m.Dump &^= Data
	}
}

func (r *reader) largeObjectGroup(rows []largeObjectRow) *LargeObject {
	first, last := rows[0], rows[len(rows)-1]
	lo := &LargeObject{Meta: Meta{Kind: KindLargeObject, ID: ID{ClassLargeObject, first.oid}, Has: Data}}
	lo.Name = fmt.Sprint(first.oid)
	if len(rows) > 1 {
		lo.Name = fmt.Sprintf("%d..%d", first.oid, last.oid)
	}
	lo.Owner = r.roleName(first.owner)
	lo.ACL = &ACL{Items: first.acl, Default: first.initial}
	if first.acl != "" {
		lo.Has |= ACLPart
	}
	r.db.Add(lo)
	for i, row := range rows {
		lo.OIDs = append(lo.OIDs, row.oid)
		if i > 0 {
			r.db.AddAlias(ID{ClassLargeObject, row.oid}, lo)
		}
	}
	r.withoutDataInUpgrade(&lo.Meta)
	return lo
}
