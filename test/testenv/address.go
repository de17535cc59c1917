package testenv

import (
	"fmt"
	"net"
)

// FreeAddress returns an address of the loopback interface on which no process listens. Another process may take it
// before it is used, but seldom does. It panics on a machine without a free port, where no test can run.
func FreeAddress() *net.TCPAddr {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("find a free port: %v", err))
	}
	defer func() { _ = listener.Close() }() // no client has connected
	return listener.Addr().(*net.TCPAddr)
}
