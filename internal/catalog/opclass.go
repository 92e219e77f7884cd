package catalog

import "context"

// Opclass is a row of pg_opclass.
type Opclass struct {
	Meta
	Method  uint32 // pg_am OID
	AMName  string
	Details *OpclassDetails // only of operator classes whose definition is dumped
}

// OpclassDetails is what CREATE OPERATOR CLASS says.
type OpclassDetails struct {
	InType       string // regtype
	KeyType      string // regtype, or "-"
	Default      bool
	Family       string // empty if the family is missing
	FamilySchema string
	Members      FamilyMembers
}

// FamilyMembers are the operators and functions that pg_depend ties to an operator class
// or straight to an operator family.
type FamilyMembers struct {
	Operators []FamilyOperator // in the order of their strategy numbers
	Functions []FamilyFunction // in the order of their support numbers
}

// FamilyOperator is a row of pg_amop.
type FamilyOperator struct {
	Strategy   string
	Operator   string // regoperator
	SortFamily string // operator family it orders by, or empty
	SortSchema string
}

// FamilyFunction is a row of pg_amproc.
type FamilyFunction struct {
	Number      string
	Function    string // regprocedure
	Left, Right string // regtype
}

func (r *reader) opclassesStage() stage {
	return stage{"operator classes", r.fetchOpclasses, func() error { addAll(r.db, r.opclassRows); return nil }}
}

func (r *reader) fetchOpclasses(ctx context.Context, q Querier) error {
	const list = `
SELECT c.oid, c.opcname, c.opcnamespace, c.opcowner, c.opcmethod, a.amname
FROM pg_catalog.pg_opclass c LEFT JOIN pg_catalog.pg_am a ON a.oid = c.opcmethod ORDER BY c.oid`
	err := query(ctx, q, list, func(row *row) {
		o := &Opclass{Meta: r.objectMeta(row, KindOpclass, ClassOpclass), Method: row.oid(), AMName: row.str()}
		r.selectObject(&o.Meta)
		r.opclassRows = append(r.opclassRows, o)
	})
	if err != nil {
		return err
	}

	set := pick(r.opclassRows, r.defined)
	const sql = `
SELECT c.oid, c.opcintype::pg_catalog.regtype, c.opckeytype::pg_catalog.regtype, c.opcdefault, f.opfname, n.nspname
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_opclass c ON c.oid = w.oid
  LEFT JOIN pg_catalog.pg_opfamily f ON f.oid = c.opcfamily
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.opfnamespace`
	err = details(ctx, q, set, sql, func(o *Opclass, row *row) {
		o.Details = &OpclassDetails{
			InType: row.str(), KeyType: row.str(), Default: row.bool(), Family: row.str(), FamilySchema: row.str(),
		}
	})
	if err != nil {
		return err
	}
	members := make(map[uint32]*FamilyMembers)
	for oid, o := range set {
		if o.Details != nil {
			members[oid] = &o.Details.Members
		}
	}
	return fetchFamilyMembers(ctx, q, "pg_opclass", "opcfamily", members)
}

// fetchFamilyMembers reads the operators and functions that pg_depend ties to rows of catalog, which is
// pg_opclass or pg_opfamily; family is its column that names the family. Operators count only in that family.
//
// Several members may have the same number, and their order is then what the server's sort makes of it. For the sake
// of the same text as pg_dump's, each row's members are sorted for themselves, as its query for one row does.
func fetchFamilyMembers(ctx context.Context, q Querier, catalog, family string, set map[uint32]*FamilyMembers) error {
	operators := `
SELECT o.oid, l.*
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.` + catalog + ` o ON o.oid = w.oid, LATERAL (
  SELECT m.amopstrategy, m.amopopr::pg_catalog.regoperator, f.opfname, n.nspname
  FROM pg_catalog.pg_amop m
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_amop'::pg_catalog.regclass AND d.objid = m.oid
    LEFT JOIN pg_catalog.pg_opfamily f ON f.oid = m.amopsortfamily
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.opfnamespace
  WHERE d.refclassid = 'pg_catalog.` + catalog + `'::pg_catalog.regclass AND d.refobjid = o.oid AND m.amopfamily = o.` + family + `
  ORDER BY m.amopstrategy) l`
	err := details(ctx, q, set, operators, func(m *FamilyMembers, row *row) {
		m.Operators = append(m.Operators, FamilyOperator{
			Strategy: row.str(), Operator: row.str(), SortFamily: row.str(), SortSchema: row.str(),
		})
	})
	if err != nil {
		return err
	}
	functions := `
SELECT w.oid, l.*
FROM pg_catalog.unnest(%OIDS%) AS w(oid), LATERAL (
  SELECT m.amprocnum, m.amproc::pg_catalog.regprocedure,
    m.amproclefttype::pg_catalog.regtype, m.amprocrighttype::pg_catalog.regtype
  FROM pg_catalog.pg_amproc m, pg_catalog.pg_depend d
  WHERE d.refclassid = 'pg_catalog.` + catalog + `'::pg_catalog.regclass AND d.refobjid = w.oid
    AND d.classid = 'pg_catalog.pg_amproc'::pg_catalog.regclass AND d.objid = m.oid
  ORDER BY m.amprocnum) l`
	return details(ctx, q, set, functions, func(m *FamilyMembers, row *row) {
		m.Functions = append(m.Functions, FamilyFunction{
			Number: row.str(), Function: row.str(), Left: row.str(), Right: row.str(),
		})
	})
}
