package catalog

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
