package hub

import (
	"errors"
	"net/http"
)

var errNotSynced = errors.New("the cache of the hub's add-ons has not synced yet")

// readyOnce returns a readiness check that passes once the channel is closed.
func readyOnce(synced <-chan struct{}) func(*http.Request) error {
	return func(*http.Request) error {
		select {
		case <-synced:
			return nil
		default:
			return errNotSynced
		}
	}
}
