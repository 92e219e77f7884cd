package catalog

import "context"

// Collation is a row of pg_collation.
type Collation struct {
	Meta
	Encoding int               // collencoding, -1 for all
	Details  *CollationDetails // only of collations whose definition is dumped
}

// CollationDetails is what CREATE COLLATION says. Nil texts are NULL in the catalogue.
type CollationDetails struct {
	Provider      byte // b builtin, c libc, i icu, d default
	Deterministic bool
	Collate       *string
	CType         *string
	Locale        *string // colllocale, before 17 colliculocale
	Rules         *string // collicurules
	Version       *string // for binary upgrade
}

func (r *reader) collationsStage() stage {
	return stage{"collations", r.fetchCollations, func() error { addAll(r.db, r.collationRows); return nil }}
}

func (r *reader) fetchCollations(ctx context.Context, q Querier) error {
	const list = `
SELECT oid, collname, collnamespace, collowner, collencoding FROM pg_catalog.pg_collation ORDER BY oid`
	err := query(ctx, q, list, func(row *row) {
		c := &Collation{Meta: r.objectMeta(row, KindCollation, ClassCollation), Encoding: row.int()}
		r.selectObject(&c.Meta)
		r.collationRows = append(r.collationRows, c)
	})
	if err != nil {
		return err
	}

	locale := "NULL"
	switch {
	case r.atLeast(17):
		locale = "c.colllocale"
	case r.atLeast(15):
		locale = "c.colliculocale"
	}
	// before 15 the two names were never NULL
	sql := `
SELECT c.oid, c.collprovider, ` + r.since(12, "c.collisdeterministic", "true") + `,
  ` + r.since(15, "c.collcollate, c.collctype", "NULLIF(c.collcollate, ''), NULLIF(c.collctype, '')") + `,
  ` + locale + `, ` + r.since(16, "c.collicurules", "NULL") + `, c.collversion
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_collation c ON c.oid = w.oid`
	return details(ctx, q, pick(r.collationRows, r.defined), sql, func(c *Collation, row *row) {
		c.Details = &CollationDetails{
			Provider: row.char(), Deterministic: row.bool(), Collate: row.strPtr(), CType: row.strPtr(),
			Locale: row.strPtr(), Rules: row.strPtr(), Version: row.strPtr(),
		}
	})
}

// Collation returns the collation with that pg_collation OID, or nil.
func (db *Database) Collation(oid uint32) *Collation {
	c, _ := db.Find(ID{ClassCollation, oid}).(*Collation)
	return c
}
