package apidiscovery

import (
	"reflect"
	"time"
)

// Group is the result of the discovery of an API group.
type Group struct {
	// Discovered is false until the API server has responded.
	Discovered bool
	// Kinds maps each kind to the versions in which it is served, in the API
	// server's order of preference. It is shared and must not be changed.
	Kinds map[string][]string
	// Resources maps each kind to its resource in the first of these versions, for requests for its objects. It is shared, too.
	Resources map[string]string
	// Failures maps each version whose discovery failed to the cause.
	Failures map[string]string
	// Schemas has the requested fields of the group's kinds.
	Schemas Schemas
	// Forbidden is the message about a resource that the client may not read. It is empty if
	// the client can read everything.
	Forbidden string
}

// incomplete reports whether a part of the group could not be discovered.
func (g Group) incomplete() bool {
	return len(g.Failures) > 0 || len(g.Schemas.Failures) > 0 || g.Forbidden != ""
}

// settling has the delays after which a group is discovered again when its definitions
// change, because the discovery documents follow the watch event with a delay.
var settling = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}

// A failed discovery is repeated after retryFirst, then with a growing delay. The delay
// grows to retryUnreachable if the API server did not respond, and to retryIncomplete if
// the API server could not reach the server of a version. An APIService that becomes
// available is also a watch event.
const (
	retryFirst       = time.Second
	retryUnreachable = 15 * time.Second
	retryIncomplete  = 5 * time.Minute
)

// confirmations is the number of consecutive failed or forbidden discoveries that replace
// the last result. An API server that starts also fails and forbids for moments.
const confirmations = 3

// group is the state of a group that is watched.
type group struct {
	fields   Fields // to look up
	result   Group  // of the last discovery that counts
	rechecks int    // discoveries since a definition changed
	failures int    // consecutive discoveries that failed or were incomplete
}

// discovered stores the result of a discovery. The error is not nil if the API server did
// not respond. It returns whether the result changed, and the delay of the next discovery.
// The delay is zero if the next discovery waits for a change of a definition.
func (g *group) discovered(result Group, err error) (bool, time.Duration) {
	incomplete := err == nil && result.incomplete()
	if err != nil || incomplete {
		g.failures++
	} else {
		g.failures = 0
	}
	unconfirmed := incomplete && !g.result.incomplete() && g.failures < confirmations
	changed := err == nil && !unconfirmed && !reflect.DeepEqual(g.result, result)
	if changed {
		g.result = result
	}
	return changed, g.delay(err != nil)
}

func (g *group) delay(unreachable bool) time.Duration {
	switch {
	case unreachable:
		return backoff(g.failures, retryUnreachable)
	case g.failures > 0:
		return backoff(g.failures, retryIncomplete)
	case g.rechecks < len(settling):
		g.rechecks++
		return settling[g.rechecks-1]
	default:
		return 0
	}
}

func backoff(failures int, limit time.Duration) time.Duration {
	return min(retryFirst<<min(failures-1, 16), limit)
}
