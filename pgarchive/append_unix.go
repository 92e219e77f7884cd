//go:build unix

package pgarchive

import (
	"os"

	"golang.org/x/sys/unix"
)

// appends reports whether the file was opened for appending, so that it cannot be written anywhere else.
func appends(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err != nil || flags&unix.O_APPEND != 0
}

// unlink takes the name from a temporary file, so that it goes when it is closed, whatever happens.
func unlink(f *os.File) { os.Remove(f.Name()) }

// removeUnlinked removes a closed temporary file where unlink could not.
func removeUnlinked(*os.File) {}
