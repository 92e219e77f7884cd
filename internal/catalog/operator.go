package catalog

import "context"

// Operator is a row of pg_operator.
type Operator struct {
	Meta
	OprKind     byte   // b infix, l prefix, r postfix (before 14)
	Left, Right uint32 // operand types, 0 for none
	Code        uint32 // oprcode, 0 for an operator that was only named as a commutator or negator
	Commutator  uint32
	Negator     uint32
	Details     *OperatorDetails // only of operators whose definition is dumped
}

// OperatorDetails is what CREATE OPERATOR says.
type OperatorDetails struct {
	Code, Restrict, Join string // regprocedure: "name(types)", or "-"
	LeftType, RightType  string // regtype
	CanMerge, CanHash    bool
}

func (r *reader) operatorsStage() stage {
	return stage{"operators", r.fetchOperators, func() error { addAll(r.db, r.operatorRows); return nil }}
}

func (r *reader) fetchOperators(ctx context.Context, q Querier) error {
	// built-in ones too: they may be commutators, negators and sort operators of others
	const list = `
SELECT oid, oprname, oprnamespace, oprowner, oprkind, oprleft, oprright, oprcode::pg_catalog.oid, oprcom, oprnegate
FROM pg_catalog.pg_operator ORDER BY oid`
	err := query(ctx, q, list, func(row *row) {
		o := &Operator{Meta: r.objectMeta(row, KindOperator, ClassOperator)}
		o.OprKind, o.Left, o.Right = row.char(), row.oid(), row.oid()
		o.Code, o.Commutator, o.Negator = row.oid(), row.oid(), row.oid()
		r.selectObject(&o.Meta)
		r.operatorRows = append(r.operatorRows, o)
	})
	if err != nil {
		return err
	}

	const sql = `
SELECT o.oid, o.oprcode::pg_catalog.regprocedure, o.oprrest::pg_catalog.regprocedure, o.oprjoin::pg_catalog.regprocedure,
  o.oprleft::pg_catalog.regtype, o.oprright::pg_catalog.regtype, o.oprcanmerge, o.oprcanhash
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_operator o ON o.oid = w.oid`
	return details(ctx, q, pick(r.operatorRows, r.defined), sql, func(o *Operator, row *row) {
		o.Details = &OperatorDetails{
			Code: row.str(), Restrict: row.str(), Join: row.str(), LeftType: row.str(), RightType: row.str(),
			CanMerge: row.bool(), CanHash: row.bool(),
		}
	})
}

// Operator returns the operator with that pg_operator OID, or nil.
func (db *Database) Operator(oid uint32) *Operator {
	o, _ := db.Find(ID{ClassOperator, oid}).(*Operator)
	return o
}
