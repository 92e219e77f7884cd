package catalog

import (
	"context"
	"fmt"
)

// viewsStage reads the definitions of views and materialized views, and the options of
// foreign tables.
func (r *reader) viewsStage() stage {
	return stage{
		name: "view definitions",
		fetch: func(ctx context.Context, q Querier) error {
			if r.db.Options.NoSchema {
				return nil
			}
			if err := r.fetchViews(ctx, q); err != nil {
				return err
			}
			return r.fetchForeignOptions(ctx, q)
		},
		link: r.linkViews,
	}
}

func (r *reader) fetchViews(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(func(t *Table) bool {
		return (t.RelKind == 'v' || t.RelKind == 'm') && t.Dump&Definition != 0
	})
	if !found {
		return nil
	}
	r.viewDefs = make(map[uint32]string)
	sql := `SELECT tbloid, pg_catalog.pg_get_viewdef(tbloid) FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)`
	return query(ctx, q, sql, func(v *row) {
		oid := v.oid()
		r.viewDefs[oid] = v.str()
	})
}

func (r *reader) fetchForeignOptions(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(func(t *Table) bool { return t.RelKind == 'f' && t.Dump&Definition != 0 })
	if !found {
		return nil
	}
	r.foreignOpts = make(map[uint32]string)
	sql := `SELECT ft.ftrelid, (
	SELECT pg_catalog.string_agg(pg_catalog.quote_ident(option_name) || ' ' || pg_catalog.quote_literal(option_value),
		E',\n    ' ORDER BY option_name)
	FROM pg_catalog.pg_options_to_table(ft.ftoptions))
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_foreign_table ft ON ft.ftrelid = src.tbloid`
	return query(ctx, q, sql, func(v *row) {
		oid := v.oid()
		r.foreignOpts[oid] = v.str()
	})
}

func (r *reader) linkViews() error {
	for oid, def := range r.viewDefs {
		t, err := r.tableOf(oid)
		if err != nil {
			return err
		}
		if def == "" {
			return fmt.Errorf("definition of view %q appears to be empty (length zero)", t.Name)
		}
		// Other clauses may follow the query, so the final semicolon goes.
		if def[len(def)-1] == ';' {
			def = def[:len(def)-1]
		}
		t.ViewDef = def
	}
	for oid, opts := range r.foreignOpts {
		t, err := r.tableOf(oid)
		if err != nil {
			return err
		}
		t.FTOptions = opts
	}
	r.viewDefs, r.foreignOpts = nil, nil
	return nil
}
