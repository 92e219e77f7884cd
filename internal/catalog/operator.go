package catalog

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
