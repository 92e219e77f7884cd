package catalog

import (
	"context"
	"fmt"
	"slices"
)

type viewRow struct {
	table uint32
	def   string
}

// viewsStage reads the definitions of views and materialized views, and the options of
// foreign tables, unless definitions are not wanted.
func (r *reader) viewsStage() stage {
	s := stage{name: "view definitions", link: r.linkViews}
	if r.db.Options.NoSchema {
		return s
	}
	s.fetch = r.fetchForeignOptions
	lists := r.tableParts(func(t *Table) bool {
		return (t.RelKind == 'v' || t.RelKind == 'm') && t.Dump&Definition != 0
	})
	r.viewParts = make([][]viewRow, len(lists))
	for i, oids := range lists {
		r.inParts(s.name, func(ctx context.Context, q Querier) error {
			if err := r.awaitLock(ctx); err != nil {
				return err
			}
			return query(ctx, q, `SELECT tbloid, pg_catalog.pg_get_viewdef(tbloid) FROM pg_catalog.unnest(`+oids+`) AS src(tbloid)`,
				func(v *row) {
					r.viewParts[i] = append(r.viewParts[i], viewRow{v.oid(), v.str()})
				})
		})
	}
	return s
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
	for _, v := range slices.Concat(r.viewParts...) {
		t, err := r.tableOf(v.table)
		if err != nil {
			return err
		}
		def := v.def
		if def == "" {
			return fmt.Errorf("definition of view %q appears to be empty (length zero)", t.Name)
		}
		// Other clauses may follow the query, so the final semicolon goes.
		if def[len(def)-1] == ';' {
			def = def[:len(def)-1]
		}
		t.rare().ViewDef = def
	}
	for oid, opts := range r.foreignOpts {
		t, err := r.tableOf(oid)
		if err != nil {
			return err
		}
		t.rare().FTOptions = opts
	}
	r.viewParts, r.foreignOpts = nil, nil
	return nil
}
