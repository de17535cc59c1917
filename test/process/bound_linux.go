package process

import "syscall"

// boundToParent returns attributes of a process with its own process group, so that Ctrl-C reaches its parent first.
// The process ends with its parent at the latest.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
