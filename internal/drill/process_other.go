//go:build !unix

package drill

import (
	"os"
	"os/exec"
)

func prepareCommand(*exec.Cmd) {}

func onOwnThread(f func() error) error { return f() }

// terminate ends the process; there are no process groups on this system.
func terminate(p *os.Process) { _ = p.Kill() }

func endTree(pid int, _ string) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
