// Package httpserver has servers whose clients cannot take all connections, and whose logs do not fill with failed handshakes.
package httpserver

import (
	"bytes"
	"log"
	"net/http"
	"time"

	"github.com/go-logr/logr"
)

// New returns a server that bounds the number of connections, and the time and size of headers. Each connection takes about 40 KiB.
func New(handler http.Handler, logger logr.Logger, connections int) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		MaxHeaderBytes:    16 << 10,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       90 * time.Second, // as the API server's client
		ConnState:         newConnections(connections).changed,
		ErrorLog:          log.New(serverErrors{logger}, "", 0),
	}
}

// serverErrors logs the errors of http.Server. It logs failed handshakes at a higher
// verbosity, because any client can cause many of them.
type serverErrors struct{ logr.Logger }

func (s serverErrors) Write(line []byte) (int, error) {
	level := 0
	if bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		level = 1
	}
	s.V(level).Info("Server error", "reason", string(bytes.TrimSpace(line)))
	return len(line), nil
}
