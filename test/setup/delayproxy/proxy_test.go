package delayproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"open-cluster-management.io/interlock/test/setup/delayproxy"
)

// echo returns the address of a server that sends back its input.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(connection, connection) }()
		}
	}()
	return listener.Addr().String()
}

func TestProxyDelaysEachDirection(t *testing.T) {
	proxy, err := delayproxy.Start(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	connection, err := net.Dial("tcp", proxy.Address())
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(connection)
	for i, delay := range []time.Duration{0, 50 * time.Millisecond, 0} {
		proxy.Delay(delay)
		sent, want := time.Now(), fmt.Sprintf("message %d\n", i)
		if _, err := io.WriteString(connection, want); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || got != want {
			t.Errorf("got %q (%v), want %q", got, err, want)
		}
		if took := time.Since(sent); took < 2*delay {
			t.Errorf("the answer took %s with a delay of %s in each direction", took, delay)
		}
	}
}

func TestProxyClosesConnections(t *testing.T) {
	proxy, err := delayproxy.Start(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", proxy.Address())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := proxy.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open after the proxy was closed")
	}
}
