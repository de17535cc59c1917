//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// dialIn returns a dialer that makes its connections in the network namespace
// of the process pid. A socket stays in the namespace that it was made in.
func dialIn(pid int) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		type result struct {
			conn net.Conn
			err  error
		}
		results := make(chan result, 1)
		go func() {
			// The thread is never unlocked: it is in another namespace, and ends with this goroutine.
			runtime.LockOSThread()
			conn, err := dialAfterSetns(ctx, pid, network, address)
			results <- result{conn, err}
		}()
		r := <-results
		return r.conn, r.err
	}
}

func dialAfterSetns(ctx context.Context, pid int, network, address string) (net.Conn, error) {
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("enter the network namespace of process %d: %w", pid, err)
	}
	// An IP address is dialed on this very thread.
	return (&net.Dialer{}).DialContext(ctx, network, address)
}
