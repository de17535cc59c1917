// Package delayproxy forwards TCP connections late. It stands in for the distance between a managed cluster and its hub.
package delayproxy

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	chunkSize = 64 << 10
	// chunksUnderway is the maximum number of chunks on their way in a direction.
	chunksUnderway = 256
)

// Proxy is a listener on the loopback interface whose connections are forwarded to one address.
type Proxy struct {
	listener net.Listener
	target   string
	delay    atomic.Int64

	mutex       sync.Mutex
	connections map[net.Conn]bool
	closed      bool
}

// Start starts a proxy to an address, without a delay.
func Start(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for connections to %s: %w", target, err)
	}
	p := &Proxy{listener: listener, target: target, connections: map[net.Conn]bool{}}
	go p.accept()
	return p, nil
}

// Address returns the address on which the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Delay sets the delay in each direction, from now on, also on open connections.
func (p *Proxy) Delay(delay time.Duration) { p.delay.Store(int64(delay)) }

// Close closes the listener and all connections.
func (p *Proxy) Close() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.closed = true
	for connection := range p.connections {
		_ = connection.Close() // both ends notice it
	}
	return p.listener.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		go p.forward(client)
	}
}

func (p *Proxy) forward(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close() // the connection fails, as it would without a proxy
		return
	}
	if !p.keep(client, server) {
		return
	}
	var directions sync.WaitGroup
	directions.Go(func() { p.pump(client, server) })
	directions.Go(func() { p.pump(server, client) })
	directions.Wait()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.connections, client)
	delete(p.connections, server)
}

// keep registers the connections, so that Close closes them. If the proxy is closed, keep closes them at once, and
// returns false.
func (p *Proxy) keep(connections ...net.Conn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, connection := range connections {
		if p.closed {
			_ = connection.Close()
		} else {
			p.connections[connection] = true
		}
	}
	return !p.closed
}

// chunk is the result of one read, with the time at which it is due at the other end.
type chunk struct {
	content []byte
	due     time.Time
}

// pump forwards one direction until it ends, and then closes both connections.
func (p *Proxy) pump(source io.ReadCloser, target io.WriteCloser) {
	underway := make(chan chunk, chunksUnderway)
	go func() {
		defer close(underway)
		for {
			content := make([]byte, chunkSize)
			n, err := source.Read(content)
			if n > 0 {
				underway <- chunk{content: content[:n], due: time.Now().Add(time.Duration(p.delay.Load()))}
			}
			if err != nil {
				return
			}
		}
	}()
	for next := range underway {
		time.Sleep(time.Until(next.due))
		if _, err := target.Write(next.content); err != nil {
			break
		}
	}
	_, _ = source.Close(), target.Close()
	for range underway {
		continue // until the reader ends
	}
}
