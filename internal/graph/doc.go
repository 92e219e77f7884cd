// Package graph orders things that wait for each other. In come keys and edges
// ("to comes after from"), out goes either one deterministic order ([Graph.Sorted])
// or a set of keys that may be worked on now ([ReadySet]), for schedulers that
// run several at a time.
//
// Whenever several keys could come next, the caller's comparison decides, and
// where that is silent the order in which the keys were added. The same graph
// therefore always gives the same order. Keys on a cycle can never come first:
// [Graph.Cycles] names them.
package graph
