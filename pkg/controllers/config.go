// Package controllers has what all controllers of Interlock share: their settings in a
// manager, and how often they repeat what failed.
package controllers

import (
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

// syncTimeout: a manager waits for a hub that does not respond. There is no value for
// "forever", and a restart would change nothing.
const syncTimeout = 10 * 365 * 24 * time.Hour

// Config returns the settings. With repeated, several managers of one process may have a
// controller of the same name.
func Config(repeated bool) config.Controller {
	return config.Controller{
		CacheSyncTimeout: syncTimeout,
		// Until the release of controller-runtime with its pull request 3540, the
		// priority queue can deadlock at shutdown. The next leader would then wait
		// for the whole grace period.
		UsePriorityQueue:   ptr.To(false),
		SkipNameValidation: ptr.To(repeated),
	}
}
