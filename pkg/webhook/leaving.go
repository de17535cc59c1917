package webhook

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// leaving is a manager that goes on for some time after it is told to stop.
//
// The API server hears later that a replica is stopping, and calls it on
// connections that it keeps, by HTTP/1.1. A call on one that is closed at that
// moment fails: admission lets a registration pass, and conversion fails the
// request. So meanwhile everything is served, and the API server told with each
// answer to give up the connection: it opens the next one to another replica.
type leaving struct {
	ctrl.Manager
	after time.Duration
	told  atomic.Bool
}

// Start implements manager.Manager.
func (l *leaving) Start(ctx context.Context) error {
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		l.told.Store(true)
		select {
		case <-time.After(l.after):
			stop()
		case <-lasting.Done():
		}
	})()
	return l.Manager.Start(lasting)
}

// closing has the handler's connections closed once the manager is told to stop.
func (l *leaving) closing(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.told.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
