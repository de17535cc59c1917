package limits

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections closes a connection for each one that is too many: of the address that
// has most, first those that never carried a request, then idle ones, then those whose
// request takes longest. A limit without that order would let slow clients keep the
// API server out.
type connections struct {
	most int
	mu   sync.Mutex
	open map[net.Conn]connection
	of   map[string]int // open ones by address
}

type connection struct {
	address string
	state   http.ConnState
	since   time.Time
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]connection{}, of: map[string]int{}}
}

// changed implements the hook http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, found := c.open[conn]
	switch {
	case state == http.StateNew:
		address := hostOf(conn.RemoteAddr().String())
		c.open[conn] = connection{address, state, time.Now()}
		c.of[address]++
		if len(c.open) > c.most {
			c.closeLast()
		}
	case !found: // closed by us
	case state == http.StateClosed || state == http.StateHijacked:
		c.forget(conn)
	default:
		c.open[conn] = connection{known.address, state, time.Now()}
	}
}

func (c *connections) closeLast() {
	var last net.Conn
	for conn, this := range c.open {
		if other := c.open[last]; last == nil || cmp.Or(
			-cmp.Compare(c.of[this.address], c.of[other.address]),
			cmp.Compare(rank(this.state), rank(other.state)),
			this.since.Compare(other.since)) < 0 {
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
	if c.of[address]--; c.of[address] == 0 {
		delete(c.of, address)
	}
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
