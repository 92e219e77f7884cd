package catalog

import "context"

// Policy is a row of pg_policy; with an empty PolicyName it stands for
// ALTER TABLE ... ENABLE ROW LEVEL SECURITY.
type Policy struct {
	Meta
	Table      *Table
	PolicyName string
	Cmd        byte // polcmd: * r a w d
	Permissive bool
	Roles      string // quoted and separated by commas, empty for PUBLIC
	Using      *string
	WithCheck  *string
}

type policyRow struct {
	Policy
	oid, table uint32
}

// policiesStage reads the policies of the tables to be dumped, and which of them have row
// security enabled, which they may without any policy.
func (r *reader) policiesStage() stage {
	return stage{name: "policies", fetch: r.fetchPolicies, link: r.linkPolicies}
}

func (r *reader) hasPolicies(t *Table) bool {
	return t.Dump&Policies != 0 && (t.RelKind == 'r' || t.RelKind == 'p') && !r.db.Options.NoPolicies
}

func (r *reader) fetchPolicies(ctx context.Context, q Querier) error {
	oids, found := r.tableOIDs(r.hasPolicies)
	if !found {
		return nil
	}
	sql := `SELECT p.oid, p.polrelid, p.polname, p.polcmd, p.polpermissive,
	CASE WHEN p.polroles <> '{0}' THEN pg_catalog.array_to_string(ARRAY(
		SELECT pg_catalog.quote_ident(rolname) FROM pg_catalog.pg_roles WHERE oid = ANY (p.polroles)), ', ') END,
	pg_catalog.pg_get_expr(p.polqual, p.polrelid), pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)
FROM pg_catalog.unnest(` + oids + `) AS src(tbloid)
JOIN pg_catalog.pg_policy p ON p.polrelid = src.tbloid
ORDER BY p.oid`
	return query(ctx, q, sql, func(v *row) {
		p := policyRow{oid: v.oid(), table: v.oid()}
		p.PolicyName, p.Cmd, p.Permissive, p.Roles = v.str(), v.char(), v.bool(), v.str()
		if s, ok := v.strNull(); ok {
			p.Using = &s
		}
		if s, ok := v.strNull(); ok {
			p.WithCheck = &s
		}
		r.policyRows = append(r.policyRows, p)
	})
}

func (r *reader) linkPolicies() error {
	for _, t := range r.db.Tables {
		if !t.RowSec || !r.hasPolicies(t) {
			continue
		}
		t.Has |= Policies
		// Not the table's own catalogue ID, so that no dependency of the table is taken for its.
		p := &Policy{Meta: newTableMeta(KindPolicy, ID{0, t.ID.OID}, t.Name, t), Table: t}
		r.db.Add(p)
	}
	for i := range r.policyRows {
		v := &r.policyRows[i]
		t, err := r.tableOf(v.table)
		if err != nil {
			return err
		}
		t.Has |= Policies
		p := new(Policy)
		*p = v.Policy
		p.Meta = newTableMeta(KindPolicy, ID{ClassPolicy, v.oid}, v.PolicyName, t)
		p.Table = t
		r.db.Add(p)
	}
	r.policyRows = nil
	return nil
}
