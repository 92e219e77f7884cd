// Package scratchtest is what every provider of throwaway servers must pass. In
// comes a [Harness], which says how one provider's servers are looked at from
// outside; [Run] does the rest. A test binary that uses it calls [Main].
package scratchtest
