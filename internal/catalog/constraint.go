package catalog

// Constraint is a row of pg_constraint. KindConstraint is a CHECK, not-null, primary key, unique or
// exclusion constraint; KindFKConstraint a foreign key.
type Constraint struct {
	Meta
	Table                *Table // nil for a constraint of a domain
	Domain               *Type
	Type                 byte   // contype: c f p u x n
	Def                  string // pg_get_constraintdef, empty for those made by an index
	ForeignTable         uint32 // confrelid
	Index                *Index
	Deferrable, Deferred bool
	IsLocal              bool
	Separate             bool // dumped by itself, not within CREATE TABLE
	Period               bool // conperiod: WITHOUT OVERLAPS
	Validated            bool
}
