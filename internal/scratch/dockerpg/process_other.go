//go:build !unix

package dockerpg

import "os/exec"

// apart does nothing on this system.
func apart(*exec.Cmd) {}
