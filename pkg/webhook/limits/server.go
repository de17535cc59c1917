package limits

import (
	"bytes"
	"log"
	"net/http"
	"time"

	"github.com/go-logr/logr"
)

// maxConnections is many times the number that the API servers of a hub open. Each
// connection takes about 40 KiB.
const maxConnections = 512

// NewServer returns a server that bounds the number of connections, and the time and
// headers of each request.
func NewServer(handler http.Handler, logger logr.Logger) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		MaxHeaderBytes:    16 << 10,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      40 * time.Second, // an API server waits for 30 s at most
		IdleTimeout:       90 * time.Second, // as the API server's client
		ConnState:         newConnections(maxConnections).changed,
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
