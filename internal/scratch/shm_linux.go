package scratch

import "syscall"

// shmFree returns the free bytes of /dev/shm, 0 if there is none.
func shmFree() int64 {
	var st syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &st); err != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
