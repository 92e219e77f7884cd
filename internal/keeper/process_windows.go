package keeper

import "syscall"

// detachedProcess has no console, so nothing is sent to it when that of this program is closed.
const detachedProcess = 0x00000008

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
