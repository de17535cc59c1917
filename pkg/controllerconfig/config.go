// Package controllerconfig has the settings of the controllers in every manager of
// Interlock.
package controllerconfig

import (
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

// syncTimeout: a manager waits for a hub that does not respond. There is no value for
// "forever", and a restart would change nothing.
const syncTimeout = 10 * 365 * 24 * time.Hour

// Of returns the settings. With repeated, several managers of one process may have a
// controller of the same name.
func Of(repeated bool) config.Controller {
	return config.Controller{
		CacheSyncTimeout: syncTimeout,
		// Until the release of controller-runtime with its pull request 3540, the
		// priority queue can deadlock at shutdown. The next leader would then wait
		// for the whole grace period.
		UsePriorityQueue:   ptr.To(false),
		SkipNameValidation: ptr.To(repeated),
	}
}
