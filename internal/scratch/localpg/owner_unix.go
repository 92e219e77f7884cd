//go:build unix

package localpg

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Every server's folder is called prefix + something, and holds the file owner,
// which says whose it is: our process number, and the folder of the socket if
// that is a different one. We hold a lock on the file; the system drops the lock
// when we end, however that happens. So a folder whose file is not locked is a
// leftover, and no number of a process has to be trusted for that.
const (
	prefix    = "pghaul-scratch-"
	ownerFile = "owner"
)

// claim writes the file owner into dir and locks it. The caller keeps the file
// open as long as the folder is in use.
func claim(dir, socketDir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, ownerFile+".new"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n%s\n", os.Getpid(), socketDir)
	}
	if err == nil {
		// Only now can another process find it, and then it is locked.
		err = os.Rename(f.Name(), filepath.Join(dir, ownerFile))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("claim folder %s: %w", dir, err)
	}
	return f, nil
}

// sweep removes what crashed processes of this user left in parent. It touches
// nothing that is not certainly such a leftover, and what it cannot remove it
// leaves to the next one.
func sweep(parent string) {
	dirs, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		sweepDir(dir)
	}
}

func sweepDir(dir string) {
	name := filepath.Join(dir, ownerFile)
	st, err := os.Lstat(name)
	if err != nil || !st.Mode().IsRegular() {
		return
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return
	}
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return // its owner lives
	}
	// A server that is kept for a look has no owner any more, but says so.
	if _, err := os.Lstat(filepath.Join(dir, keptFile)); err == nil {
		return
	}
	killServer(filepath.Join(dir, "data"))
	b, err := os.ReadFile(name)
	if err != nil {
		return
	}
	if lines := strings.Split(string(b), "\n"); len(lines) >= 2 && lines[1] != "" {
		// Written by us, but a name is only a name: take nothing else with it.
		if sock := lines[1]; strings.HasPrefix(filepath.Base(sock), prefix) && filepath.Dir(sock) != dir {
			os.RemoveAll(sock)
		}
	}
	os.RemoveAll(dir)
}

// killServer ends a server that runs in the data folder although its owner is
// gone. The process is recognised by its working folder where the system shows
// that (Linux); elsewhere it is left alone.
func killServer(data string) {
	b, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err == nil {
		line, _, _ := bytes.Cut(b, []byte("\n"))
		if pid, err := strconv.Atoi(string(line)); err == nil && pid > 1 && worksIn(pid, data) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for _, pid := range processesIn(data) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}
