//go:build unix && !linux

package process

import "syscall"

// boundToParent returns attributes of a process with its own process group, so that Ctrl-C reaches its parent first.
// Only Linux ends a process with its parent.
func boundToParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
