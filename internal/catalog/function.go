package catalog

// Func is a row of pg_proc that is not an aggregate.
type Func struct {
	Meta
	LangOID      uint32
	ArgTypes     []uint32
	RetType      uint32
	Lang         string
	Details      *FuncDetails // only of functions whose definition is dumped
	PostponedDef bool         // function must be postponed into post-data, to break a loop
}

// Agg is an aggregate.
type Agg struct {
	Func
	AggDetails *AggDetails
}
