//go:build unix

package dockerpg

import (
	"os/exec"
	"syscall"
)

// apart starts a command in a process group of its own, so that Ctrl-C at the
// terminal reaches only us.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
