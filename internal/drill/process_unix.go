//go:build unix && !linux

package drill

import (
	"os"
	"os/exec"
	"syscall"
)

// prepareCommand gives a command a process group of its own.
func prepareCommand(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func onOwnThread(f func() error) error { return f() }

// terminate asks the process group to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// endTree kills the process group. Who has left it cannot be found on this system.
func endTree(pid int, _ string) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
