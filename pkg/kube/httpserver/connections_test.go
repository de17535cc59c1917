package httpserver

import (
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// connected is a connection of an address that reports that it was closed.
type connected struct {
	net.Conn
	address string
	closed  *[]net.Conn
}

func (c *connected) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.address), Port: 1}
}

func (c *connected) Close() error {
	*c.closed = append(*c.closed, c)
	return nil
}

func TestTheConnectionThatIsClosed(t *testing.T) {
	const apiServer, second, third = "10.0.0.1", "10.0.0.2", "10.0.0.3"
	type open struct {
		address string
		state   http.ConnState
	}
	for _, test := range []struct {
		name   string
		open   []open // one fewer than there may be, oldest first
		closed int    // or -1 for the new connection of the API server
	}{
		{"of the address that has most", []open{{third, http.StateNew}, {second, http.StateActive}, {second, http.StateActive}}, 1},
		{"one that never had a request", []open{{apiServer, http.StateActive}, {apiServer, http.StateIdle}, {apiServer, http.StateNew}}, 2},
		{"one that is idle, not the new one's elders", []open{{apiServer, http.StateNew}, {apiServer, http.StateNew}, {third, http.StateNew}}, 0},
		{"the new one", []open{{apiServer, http.StateActive}, {apiServer, http.StateIdle}, {apiServer, http.StateIdle}}, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, closed := newConnections(len(test.open)), []net.Conn{}
				var conns []net.Conn
				for _, o := range test.open {
					conn := &connected{address: o.address, closed: &closed}
					conns = append(conns, conn)
					c.changed(conn, http.StateNew)
					time.Sleep(time.Second) //nolint:forbidigo // the clock of synctest
					if o.state != http.StateNew {
						c.changed(conn, o.state)
					}
				}
				newest := &connected{address: apiServer, closed: &closed}
				c.changed(newest, http.StateNew)
				want := net.Conn(newest)
				if test.closed >= 0 {
					want = conns[test.closed]
				}
				if !slices.Equal(closed, []net.Conn{want}) {
					t.Errorf("closed %v, want %v", closed, want)
				}
				c.changed(want, http.StateClosed)
				for _, conn := range append(conns, newest) {
					c.changed(conn, http.StateClosed)
				}
				if len(c.open) > 0 || len(c.counts) > 0 {
					t.Errorf("not forgotten: %v", c)
				}
			})
		})
	}
}
