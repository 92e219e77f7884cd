//go:build unix && !linux

package localpg

import "syscall"

// attributes returns how a server program is started: as the account and in a
// process group of its own, so that Ctrl-C at the terminal reaches only us.
func attributes(a account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential(), Setpgid: true}
}

// worksIn is known on Linux only.
func worksIn(int, string) bool { return false }

// processesIn is known on Linux only.
func processesIn(string) []int { return nil }

// freeDisk is known on Linux only.
func freeDisk(string) int64 { return 0 }
