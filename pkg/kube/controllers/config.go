// Package controllers has the shared setup of all controllers of Interlock: their settings
// in a manager, and the delays of retries.
package controllers

import (
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

// syncTimeout is the time that a manager waits for a hub that does not respond. There is no
// value for "forever", and a restart would not help.
const syncTimeout = 10 * 365 * 24 * time.Hour

// Config returns the settings. If repeated is true, several managers of a process may have
// controllers of the same name.
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
