package limits

import (
	"net/http"
	"time"

	"github.com/go-logr/logr"

	"open-cluster-management.io/interlock/pkg/kube/httpserver"
)

// maxConnections is many times the number that the API servers of a hub open.
const maxConnections = 512

// NewServer returns a server that bounds the number of connections, and the time and
// headers of each request.
func NewServer(handler http.Handler, logger logr.Logger) *http.Server {
	server := httpserver.New(handler, logger, maxConnections)
	server.ReadTimeout = 15 * time.Second
	server.WriteTimeout = 40 * time.Second // an API server waits for 30 s at most
	return server
}
