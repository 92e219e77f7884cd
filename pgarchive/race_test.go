//go:build race

package pgarchive_test

// stride thins out the exhaustive tests of single-threaded code, which the race
// detector makes ten times slower and finds nothing in. Without it (make test RACE=) they are complete.
const stride = 11
