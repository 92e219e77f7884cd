package preflight

import "syscall"

// freeBytes is how much room the file system of a folder has for everybody; known is false if that cannot be asked.
func freeBytes(dir string) (n int64, known bool) {
	var st syscall.Statfs_t
	if dir == "" || syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
