//go:build !linux

package pg

import (
	"errors"
	"io/fs"
	"net"
	"syscall"
	"time"
)

// setUserTimeout does nothing: libpq too ignores tcp_user_timeout where the system does not have it.
func setUserTimeout(syscall.RawConn, time.Duration) error { return nil }

func peerUID(*net.UnixConn) (int, error) {
	return 0, errors.New("requirepeer parameter is not supported on this platform")
}

func ownedByRoot(fs.FileInfo) bool { return false }
