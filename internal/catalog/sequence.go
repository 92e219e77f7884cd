package catalog

// Sequence is the definition and the state of a sequence.
type Sequence struct {
	Type                              string // smallint integer bigint
	Start, Increment, Min, Max, Cache int64
	Cycled                            bool
	LastValue                         int64
	IsCalled                          bool
	NullState                         bool // the state could not be read for want of a privilege
}
