package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent has this process asked to end when its parent dies. `go run`
// does not pass SIGTERM on: it just dies.
func endWithParent() {
	// Should it fail, Ctrl-C still works.
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0)
}
