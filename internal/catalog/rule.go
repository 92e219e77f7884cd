package catalog

import (
	"context"
	"fmt"
)

// Rule is a row of pg_rewrite.
type Rule struct {
	Meta
	Table    *Table
	Type     byte // ev_type: 1 select, 2 update, 3 insert, 4 delete (as characters)
	Instead  bool
	Enabled  byte   // O D R A
	Def      string // pg_get_ruledef; empty for ON SELECT rules of views
	Separate bool   // dumped for itself: always, but for the rule that makes a view
}

type ruleRow struct {
	oid, table   uint32
	name, def    string
	typ, enabled byte
	instead      bool
}

// rulesStage reads all rules. The rule that makes a view sorts before the view, so that
// what the rule needs comes before both.
func (r *reader) rulesStage() stage {
	return stage{name: "rules", fetch: r.fetchRules, link: r.linkRules}
}

func (r *reader) fetchRules(ctx context.Context, q Querier) error {
	def := `NULL`
	oids, found := r.tableOIDs(func(t *Table) bool { return t.HasRules && t.Dump&Definition != 0 })
	if found && !r.db.Options.NoSchema {
		def = `CASE WHEN src.tbloid IS NOT NULL AND NOT (w.ev_type = '1' AND w.is_instead AND c.relkind IN ('v', 'm'))
	THEN pg_catalog.pg_get_ruledef(w.oid) END`
	}
	sql := `SELECT w.oid, w.rulename, w.ev_class, w.ev_type, w.is_instead, w.ev_enabled, ` + def + `
FROM pg_catalog.pg_rewrite w
JOIN pg_catalog.pg_class c ON c.oid = w.ev_class
LEFT JOIN pg_catalog.unnest(` + oids + `) AS src(tbloid) ON src.tbloid = w.ev_class
ORDER BY w.oid`
	return query(ctx, q, sql, func(v *row) {
		r.ruleRows = append(r.ruleRows, ruleRow{oid: v.oid(), name: v.str(), table: v.oid(),
			typ: v.char(), instead: v.bool(), enabled: v.char(), def: v.str()})
	})
}

func (r *reader) linkRules() error {
	for _, v := range r.ruleRows {
		t := r.db.Table(v.table)
		if t == nil {
			return fmt.Errorf("failed sanity check, parent table with OID %d of pg_rewrite entry with OID %d not found", v.table, v.oid)
		}
		rule := &Rule{
			Meta:  newTableMeta(KindRule, ID{ClassRewrite, v.oid}, v.name, t),
			Table: t, Type: v.typ, Instead: v.instead, Enabled: v.enabled, Def: v.def,
		}
		r.db.Add(rule)
		rule.Dump = t.Dump
		if (t.RelKind == 'v' || t.RelKind == 'm') && rule.Type == '1' && rule.Instead {
			t.AddDep(rule.DumpID)
			t.rare().ViewRule = rule
		} else {
			rule.AddDep(t.DumpID)
			rule.Separate = true
		}
	}
	r.ruleRows = nil
	return nil
}
