package httpserver

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections limits how many connections are open. For each further connection, it
// closes one of the address with the most connections: first connections without a
// request yet, then idle ones, then those whose request takes longest. Without that
// order, slow clients could keep the API server out.
type connections struct {
	limit int
	mu    sync.Mutex
	open  map[net.Conn]connection
	// counts are the numbers of open connections, by address.
	counts map[string]int
}

type connection struct {
	address string
	state   http.ConnState
	since   time.Time
}

func newConnections(limit int) *connections {
	return &connections{limit: limit, open: map[net.Conn]connection{}, counts: map[string]int{}}
}

// changed implements the hook http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stored, ok := c.open[conn]
	switch {
	case state == http.StateNew:
		address := HostOf(conn.RemoteAddr().String())
		c.open[conn] = connection{address, state, time.Now()}
		c.counts[address]++
		if len(c.open) > c.limit {
			c.closeLast()
		}
	case !ok: // closeLast has closed it
	case state == http.StateClosed || state == http.StateHijacked:
		c.forget(conn)
	default:
		c.open[conn] = connection{stored.address, state, time.Now()}
	}
}

func (c *connections) closeLast() {
	var last net.Conn
	for conn, candidate := range c.open {
		if chosen := c.open[last]; last == nil || cmp.Or(
			-cmp.Compare(c.counts[candidate.address], c.counts[chosen.address]),
			cmp.Compare(rank(candidate.state), rank(chosen.state)),
			candidate.since.Compare(chosen.since)) < 0 {
			last = conn
		}
	}
	c.forget(last)
	if encrypted, ok := last.(*tls.Conn); ok {
		last = encrypted.NetConn() // its Close would wait for the client
	}
	_ = last.Close() // its request fails
}

func rank(state http.ConnState) int {
	switch state {
	case http.StateNew:
		return 0
	case http.StateIdle:
		return 1
	default:
		return 2
	}
}

func (c *connections) forget(conn net.Conn) {
	address := c.open[conn].address
	delete(c.open, conn)
	if c.counts[address]--; c.counts[address] == 0 {
		delete(c.counts, address)
	}
}

// HostOf returns the host of an address, or the address itself if it has no port.
func HostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
