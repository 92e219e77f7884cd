package localpg

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// attributes returns how a server program is started: as the account, in a
// process group of its own so that Ctrl-C at the terminal reaches only us, and
// told by the kernel to quit when we die. SIGQUIT is postgres' immediate
// shutdown (https://www.postgresql.org/docs/current/server-shutdown.html).
func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential(), Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}

// worksIn reports whether the process' working folder is dir. Every process of
// a server works in its data folder.
func worksIn(pid int, dir string) bool {
	cwd, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return cwd == dir
}

// processesIn returns the processes whose working folder is dir.
func processesIn(dir string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && worksIn(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// freeDisk returns the free bytes of the file system that dir is on, 0 if that
// is not known.
func freeDisk(dir string) int64 {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0
	}
	return int64(st.Bavail) * int64(st.Bsize)
}
