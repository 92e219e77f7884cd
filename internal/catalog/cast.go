package catalog

// Cast is a row of pg_cast. Its name is those of the two types, separated by a space.
type Cast struct {
	Meta
	Source, Target uint32 // types
	Func           uint32 // 0 for none
	Context        byte   // e explicit, a assignment, i implicit
	Method         byte   // f function, b binary, i inout
}
