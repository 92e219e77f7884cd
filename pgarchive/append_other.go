//go:build !unix

package pgarchive

import "os"

// appends cannot be told here; only files that we opened ourselves are known not to append.
func appends(f *os.File) bool { return f == os.Stdout }

// unlink cannot take the name from an open file here.
func unlink(*os.File) {}

// removeUnlinked removes a temporary file after it was closed.
func removeUnlinked(f *os.File) { os.Remove(f.Name()) }
