package drill

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// prepareCommand gives a command a process group of its own, and has the kernel kill its shell when we die.
func prepareCommand(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// onOwnThread runs f on a thread that lives as long as f runs: Pdeathsig is sent when the thread that started
// the process ends (prctl(2), PR_SET_PDEATHSIG).
func onOwnThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result <- f()
	}()
	return <-result
}

// terminate asks the process group to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// endTree kills the process group pid, every process that has the mark in its environment, whatever group or session
// it has moved to, and their children, until none is left.
func endTree(pid int, mark string) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	for range 100 { // a process may start others while we look; each round finds those
		found := marked(mark)
		if len(found) == 0 {
			return
		}
		for _, p := range found {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
	}
}

// marked returns the living processes with the mark in their environment, and the children of such.
func marked(mark string) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	parent := make(map[int]int)
	has := make(map[int]bool)
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		// pid (name) state parent …; the name may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		parent[pid], _ = strconv.Atoi(fields[1])
		environment, err := os.ReadFile(filepath.Join(dir, "environ"))
		has[pid] = err == nil && bytes.Contains(append([]byte{0}, environment...), append([]byte{0}, mark...))
	}
	var found []int
	for pid := range parent {
		for p, steps := pid, 0; p > 1 && steps < 1000; p, steps = parent[p], steps+1 {
			if has[p] {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}
