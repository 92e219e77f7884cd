package catalog

import "context"

// Publication is a row of pg_publication.
type Publication struct {
	Meta
	AllTables                        bool
	Insert, Update, Delete, Truncate bool
	ViaRoot                          bool
	GenCols                          byte // n none, s stored (since 18)
}

// PublicationRel is a row of pg_publication_rel.
type PublicationRel struct {
	Meta
	Publication *Publication
	Table       *Table
	Where       *string  // row filter, nil for none
	Columns     []string // column list, nil for all
}

// PublicationSchema is a row of pg_publication_namespace. Meta.Name is the schema's name.
type PublicationSchema struct {
	Meta
	Publication *Publication
	Published   *Schema
}

type pubRelRow struct {
	rel                *PublicationRel
	publication, table uint32
}

type pubSchemaRow struct {
	id                  ID
	publication, schema uint32
}

func (r *reader) publicationsStage() stage {
	return stage{"publications", r.fetchPublications, func() error { addAll(r.db, r.publicationRows); return nil }}
}

func (r *reader) fetchPublications(ctx context.Context, q Querier) error {
	if r.db.Options.NoPublications {
		return nil
	}
	sql := `
SELECT p.oid, p.pubname, 0, p.pubowner, p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete,
  ` + r.since(11, "p.pubtruncate", "false") + `, ` + r.since(13, "p.pubviaroot", "false") + `, ` + r.since(18, "p.pubgencols", "'n'") + `
FROM pg_catalog.pg_publication p ORDER BY p.oid`
	return query(ctx, q, sql, func(row *row) {
		p := &Publication{Meta: r.objectMeta(row, KindPublication, ClassPublication)}
		p.AllTables, p.Insert, p.Update, p.Delete = row.bool(), row.bool(), row.bool(), row.bool()
		p.Truncate, p.ViaRoot, p.GenCols = row.bool(), row.bool(), row.char()
		r.selectObject(&p.Meta)
		r.publicationRows = append(r.publicationRows, p)
	})
}

func (r *reader) publicationRelsStage() stage {
	return stage{"tables of publications", r.fetchPublicationRels, r.linkPublicationRels}
}

func (r *reader) fetchPublicationRels(ctx context.Context, q Querier) error {
	if r.db.Options.NoPublications {
		return nil
	}
	sql := `SELECT p.oid, p.prpubid, p.prrelid, NULL, NULL FROM pg_catalog.pg_publication_rel p ORDER BY p.oid`
	if r.atLeast(15) {
		sql = `
SELECT p.oid, p.prpubid, p.prrelid, pg_catalog.pg_get_expr(p.prqual, p.prrelid), c.names
FROM pg_catalog.pg_publication_rel p
  LEFT JOIN (SELECT r.oid, pg_catalog.array_agg(a.attname ORDER BY k.pos) AS names
    FROM pg_catalog.pg_publication_rel r, LATERAL pg_catalog.unnest(r.prattrs::pg_catalog.int2[]) WITH ORDINALITY AS k(num, pos)
      JOIN pg_catalog.pg_attribute a ON a.attnum = k.num
    WHERE a.attrelid = r.prrelid GROUP BY r.oid) c ON c.oid = p.oid
ORDER BY p.oid`
	}
	return query(ctx, q, sql, func(row *row) {
		rel := &PublicationRel{Meta: Meta{Kind: KindPublicationRel, ID: ID{ClassPublicationRel, row.oid()}, Has: Definition}}
		pr := pubRelRow{rel: rel, publication: row.oid(), table: row.oid()}
		rel.Where, rel.Columns = row.strPtr(), row.strs()
		r.pubRelRows = append(r.pubRelRows, pr)
	})
}

func (r *reader) linkPublicationRels() error {
	for _, pr := range r.pubRelRows {
		p, ok := r.db.Find(ID{ClassPublication, pr.publication}).(*Publication)
		t := r.db.Table(pr.table)
		if !ok || t == nil {
			continue
		}
		rel := pr.rel
		rel.Publication, rel.Table = p, t
		rel.Name, rel.Schema = t.Name, t.Schema
		rel.Owner = p.Owner
		r.db.Add(rel)
		r.selectPublicationObject(&rel.Meta)
	}
	return nil
}

func (r *reader) publicationSchemasStage() stage {
	return stage{"schemas of publications", r.fetchPublicationSchemas, r.linkPublicationSchemas}
}

func (r *reader) fetchPublicationSchemas(ctx context.Context, q Querier) error {
	if r.db.Options.NoPublications || !r.atLeast(15) {
		return nil
	}
	const sql = `SELECT oid, pnpubid, pnnspid FROM pg_catalog.pg_publication_namespace ORDER BY oid`
	return query(ctx, q, sql, func(row *row) {
		r.pubSchemaRows = append(r.pubSchemaRows, pubSchemaRow{ID{ClassPublicationNamespace, row.oid()}, row.oid(), row.oid()})
	})
}

func (r *reader) linkPublicationSchemas() error {
	for _, ps := range r.pubSchemaRows {
		p, ok := r.db.Find(ID{ClassPublication, ps.publication}).(*Publication)
		s := r.schemaByOID[ps.schema]
		if !ok || s == nil {
			continue
		}
		o := &PublicationSchema{
			Meta:        Meta{Kind: KindPublicationSchema, ID: ps.id, Name: s.Name, Owner: p.Owner, Has: Definition},
			Publication: p, Published: s,
		}
		r.db.Add(o)
		r.selectPublicationObject(&o.Meta)
	}
	return nil
}
