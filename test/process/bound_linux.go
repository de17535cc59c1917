package process

import "syscall"

// boundToParent: a process group of its own, as Ctrl-C is to reach whoever
// started it first, and an end with that one at the latest.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
