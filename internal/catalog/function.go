package catalog

// Func is a row of pg_proc that is not an aggregate.
type Func struct {
	Meta
	LangOID      uint32
	ArgTypes     []uint32
	RetType      uint32
	Lang         string
	Details      *FuncDetails // only of functions of which something is dumped
	PostponedDef bool         // function must be postponed into post-data, to break a loop
}

// FuncDetails is what CREATE FUNCTION and CREATE PROCEDURE say.
type FuncDetails struct {
	ProKind            byte    // f function, p procedure, w window
	Args               string  // pg_get_function_arguments
	IdentityArgs       string  // pg_get_function_identity_arguments
	Result             *string // pg_get_function_result, nil for procedures
	RetSet             bool
	Src, Bin           string
	SQLBody            *string // pg_get_function_sqlbody, then Src and Bin do not count
	Volatile           byte    // i s v
	Strict             bool
	SecurityDefiner    bool
	Leakproof          bool
	Cost, Rows         string
	Support            string   // regproc, "-" for none
	Parallel           byte     // s r u
	Config             []string // "name=value"
	TransformTypes     []uint32
	DependsOnExtension []string // names of the extensions it is marked to depend on
}
