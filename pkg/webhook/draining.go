package webhook

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// draining is a manager that continues to serve for some time after its context ends.
//
// The API server observes late that a replica stops, and reuses HTTP/1.1
// connections. A request on a connection that closes at that moment fails: then
// admission accepts the registration unchecked, and conversion fails the request.
// So the manager continues to serve, and each response closes its connection. The
// API server opens the next connection to another replica.
type draining struct {
	ctrl.Manager
	// period is how long the manager serves after its context ends.
	period   time.Duration
	stopping atomic.Bool
}

// Start implements manager.Manager.
func (d *draining) Start(ctx context.Context) error {
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		d.stopping.Store(true)
		select {
		case <-time.After(d.period):
			stop()
		case <-lasting.Done():
		}
	})()
	return d.Manager.Start(lasting)
}

// closeConnections returns a handler that closes the connection of each request once the manager is stopping.
func (d *draining) closeConnections(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
