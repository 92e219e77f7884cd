package catalog

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
