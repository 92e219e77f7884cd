package catalog

import "context"

// UpgradeClass is what of a relation's storage must stay the same in a binary upgrade.
type UpgradeClass struct {
	RelKind                 byte
	FileNode                uint32
	ToastOID, ToastFileNode uint32 // 0: no TOAST table
	ToastIndexOID           uint32
	ToastIndexNode          uint32
}

// upgradeStage reads file nodes and TOAST tables of all relations, only for a binary
// upgrade (collectBinaryUpgradeClassOids).
func (r *reader) upgradeStage() stage {
	s := stage{name: "file nodes"}
	if !r.db.Options.BinaryUpgrade {
		return s
	}
	r.db.UpgradeClasses = make(map[uint32]UpgradeClass)
	s.fetch = func(ctx context.Context, q Querier) error {
		return query(ctx, q, `SELECT c.oid, c.relkind, c.relfilenode, c.reltoastrelid, t.relfilenode, ti.oid, ti.relfilenode
FROM pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid
LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.reltoastrelid AND i.indisvalid
LEFT JOIN pg_catalog.pg_class ti ON ti.oid = i.indexrelid`, func(v *row) {
			oid := v.oid()
			r.db.UpgradeClasses[oid] = UpgradeClass{RelKind: v.char(), FileNode: v.oid(), ToastOID: v.oid(), ToastFileNode: v.oid(),
				ToastIndexOID: v.oid(), ToastIndexNode: v.oid()}
		})
	}
	return s
}
