//go:build unix

package restore

import (
	"os"
	"sync"
	"syscall"
)

// umask is the process's file mode creation mask, read once: reading it means setting it.
var umask = sync.OnceValue(func() os.FileMode {
	m := syscall.Umask(0o077)
	syscall.Umask(m)
	return os.FileMode(m)
})
