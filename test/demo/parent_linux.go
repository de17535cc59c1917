package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent makes the kernel end this process when its parent dies. `go run` does not pass SIGTERM on: it just
// dies.
func endWithParent() {
	// If it fails, Ctrl-C still works.
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0)
}
