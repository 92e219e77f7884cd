package ddl

import (
	"bytes"
	"fmt"

	"github.com/pghaul/pghaul/internal/catalog"
)

// upgradeTypeOIDs appends, in binary upgrade, the calls that give the next type the OIDs it has now: its own, that of its
// array, and with a range also those of the multirange. forceArray is for domains, which got arrays in 11: one that has
// none yet is given a free OID (binary_upgrade_set_type_oids_by_type_oid in pg_dump.c).
func (r *renderer) upgradeTypeOIDs(b *bytes.Buffer, oid uint32, forceArray bool, ranged *catalog.RangeType) {
	if !r.opt.BinaryUpgrade {
		return
	}
	set := func(what, function string, oid uint32) {
		fmt.Fprintf(b, "\n-- For binary upgrade, must preserve %s\nSELECT pg_catalog.binary_upgrade_set_next_%s('%d'::pg_catalog.oid);\n\n",
			what, function, oid)
	}
	set("pg_type oid", "pg_type_oid", oid)
	var array uint32
	if t := r.db.Type(oid); t != nil {
		array = t.ArrayOID
	}
	if array == 0 && forceArray {
		array = r.freeTypeOID()
	}
	if array != 0 {
		set("pg_type array oid", "array_pg_type_oid", array)
	}
	if ranged == nil {
		return
	}
	multirange, multirangeArray := ranged.MultirangeOID, ranged.MultirangeArrayOID
	if r.db.Info.Version < 140000 {
		multirange, multirangeArray = r.freeTypeOID(), r.freeTypeOID()
	}
	set("multirange pg_type oid", "multirange_pg_type_oid", multirange)
	set("multirange pg_type array oid", "multirange_array_pg_type_oid", multirangeArray)
}

// freeTypeOID returns an OID that no type has and that was not returned before.
func (r *renderer) freeTypeOID() uint32 {
	if r.lastFreeType == 0 {
		r.lastFreeType = firstNormalOID
	}
	for {
		r.lastFreeType++
		if r.db.Type(r.lastFreeType) == nil {
			return r.lastFreeType
		}
	}
}

// firstNormalOID is FirstNormalObjectId in access/transam.h.
const firstNormalOID = 16384
