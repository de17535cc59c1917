//go:build unix && !linux

package process

import "syscall"

// boundToParent: a process group of its own, as Ctrl-C is to reach whoever
// started it first. Only Linux ends a process with the one that started it.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
