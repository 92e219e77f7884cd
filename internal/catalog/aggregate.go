package catalog

import "context"

// Agg is an aggregate.
type Agg struct {
	Func
	AggDetails *AggDetails // only of aggregates of which something is dumped
}

// AggDetails is what CREATE AGGREGATE says. Functions are regproc texts, "-" for none; types are regtype texts.
type AggDetails struct {
	AggKind                          byte // n normal, o ordered set, h hypothetical set
	Args, IdentityArgs               string
	TransFunc, TransType, TransSpace string
	InitVal                          *string
	FinalFunc                        string
	FinalExtra                       bool
	FinalModify                      byte // r s w, 0 before 11
	CombineFunc                      string
	SerialFunc, DeserialFunc         string
	MTransFunc, MInvTransFunc        string
	MTransType, MTransSpace          string
	MInitVal                         *string
	MFinalFunc                       string
	MFinalExtra                      bool
	MFinalModify                     byte
	SortOp                           uint32 // pg_operator OID, 0 for none
	Parallel                         byte
}

func (r *reader) aggregatesStage() stage {
	return stage{"aggregates", r.fetchAggregates, func() error { addAll(r.db, r.aggRows); return nil }}
}

func (r *reader) fetchAggregates(ctx context.Context, q Querier) error {
	sql := `
SELECT p.oid, p.proname, p.pronamespace, p.proowner, p.proacl, pg_catalog.acldefault('f', p.proowner),
  p.proargtypes` + r.procSource() + `
  AND ` + r.since(11, "p.prokind = 'a'", "p.proisagg") + `
ORDER BY p.oid`
	err := query(ctx, q, sql, func(row *row) {
		a := &Agg{Func: Func{Meta: r.objectMeta(row, KindAgg, ClassProc)}}
		a.objectACL(row)
		a.ArgTypes = row.oids()
		r.selectObject(&a.Meta)
		r.aggRows = append(r.aggRows, a)
	})
	if err != nil {
		return err
	}

	sql = `
SELECT p.oid, a.aggkind, pg_catalog.pg_get_function_arguments(p.oid), pg_catalog.pg_get_function_identity_arguments(p.oid),
  a.aggtransfn, a.aggtranstype::pg_catalog.regtype, a.aggtransspace, a.agginitval,
  a.aggfinalfn, a.aggfinalextra, ` + r.since(11, "a.aggfinalmodify", "NULL") + `,
  a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
  a.aggmtransfn, a.aggminvtransfn, a.aggmtranstype::pg_catalog.regtype, a.aggmtransspace, a.aggminitval,
  a.aggmfinalfn, a.aggmfinalextra, ` + r.since(11, "a.aggmfinalmodify", "NULL") + `, a.aggsortop, p.proparallel
FROM pg_catalog.unnest(%OIDS%) AS w(oid) JOIN pg_catalog.pg_proc p ON p.oid = w.oid
  JOIN pg_catalog.pg_aggregate a ON a.aggfnoid = p.oid`
	return details(ctx, q, pick(r.aggRows, r.rendered), sql, func(a *Agg, row *row) {
		a.AggDetails = &AggDetails{
			AggKind: row.char(), Args: row.str(), IdentityArgs: row.str(),
			TransFunc: row.str(), TransType: row.str(), TransSpace: row.str(), InitVal: row.strPtr(),
			FinalFunc: row.str(), FinalExtra: row.bool(), FinalModify: row.char(),
			CombineFunc: row.str(), SerialFunc: row.str(), DeserialFunc: row.str(),
			MTransFunc: row.str(), MInvTransFunc: row.str(), MTransType: row.str(), MTransSpace: row.str(), MInitVal: row.strPtr(),
			MFinalFunc: row.str(), MFinalExtra: row.bool(), MFinalModify: row.char(),
			SortOp: row.oid(), Parallel: row.char(),
		}
	})
}
