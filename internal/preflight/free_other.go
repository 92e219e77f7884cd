//go:build !linux

package preflight

// freeBytes is not known here.
func freeBytes(string) (n int64, known bool) { return 0, false }
