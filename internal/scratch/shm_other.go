//go:build !linux

package scratch

// shmFree is asked on Linux only; elsewhere shared memory has no such limit.
func shmFree() int64 { return -1 }
