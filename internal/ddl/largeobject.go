package ddl

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/pgarchive"
)

// largeObject renders a group of large objects: BLOB METADATA, whose definition is the list of their OIDs, with comments,
// labels and privileges; or BLOBS, their contents (dumpLO, and dumpDumpableObject for the data, in pg_dump.c).
func (r *renderer) largeObject(lo *catalog.LargeObject) error {
	if lo.Kind == catalog.KindLargeObjectData {
		r.largeObjectData(lo)
		return nil
	}
	if lo.Dump&catalog.Definition != 0 {
		r.largeObjectMetadata(lo)
	}
	dep := pgarchive.ID(lo.DumpID)
	for _, oid := range lo.OIDs {
		id := catalog.SubID{ID: catalog.ID{Class: lo.ID.Class, OID: oid}}
		if lo.Dump&catalog.Comment != 0 {
			r.comment("LARGE OBJECT", fmt.Sprint(oid), "", lo.Owner, id, dep)
		}
		if lo.Dump&catalog.SecLabel != 0 {
			r.secLabel("LARGE OBJECT", fmt.Sprint(oid), "", lo.Owner, id, dep)
		}
	}
	if lo.Dump&catalog.ACLPart == 0 {
		return nil
	}
	tag := ""
	if n := len(lo.OIDs); n > 1 {
		// pg_restore knows by this tag that the statements, which name the first, are meant for all
		tag = fmt.Sprintf("LARGE OBJECTS %d..%d", lo.OIDs[0], lo.OIDs[n-1])
	}
	_, err := r.acl(dep, 0, "LARGE OBJECT", fmt.Sprint(lo.OIDs[0]), "", "", tag, lo.Owner, lo.ACL)
	return err
}

func (r *renderer) largeObjectMetadata(lo *catalog.LargeObject) {
	if r.opt.LegacyLargeObjects {
		oid := lo.OIDs[0]
		r.add(&lo.Meta, pgarchive.Entry{
			Desc:     "BLOB",
			Section:  pgarchive.SectionPreData,
			Defn:     fmt.Sprintf("SELECT pg_catalog.lo_create('%d');\n", oid),
			DropStmt: fmt.Sprintf("SELECT pg_catalog.lo_unlink('%d');\n", oid),
		})
		return
	}
	var b strings.Builder
	for _, oid := range lo.OIDs {
		fmt.Fprintf(&b, "%d\n", oid)
	}
	r.add(&lo.Meta, pgarchive.Entry{
		Desc:     "BLOB METADATA",
		Section:  pgarchive.SectionData,
		Defn:     b.String(),
		DropStmt: "-- dummy",
	})
}

func (r *renderer) largeObjectData(lo *catalog.LargeObject) {
	if lo.Dump&catalog.Data == 0 {
		return
	}
	e := pgarchive.Entry{
		Desc:      "BLOBS",
		Section:   pgarchive.SectionData,
		HasData:   true,
		DataBytes: int64(len(lo.OIDs)) * 8192, // a guess: sizes would have to be read from each
	}
	if lo.Metadata != nil {
		e.Dependencies = []pgarchive.ID{pgarchive.ID(lo.Metadata.DumpID)}
	}
	r.add(&lo.Meta, e)
}
