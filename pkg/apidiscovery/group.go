package apidiscovery

import (
	"reflect"
	"time"
)

// Group is what is known of an API group.
type Group struct {
	// Known is false until the API server has responded.
	Known bool
	// Kinds maps each kind to the versions in which it is served, in the API
	// server's order of preference. It is shared and must not be changed.
	Kinds map[string][]string
	// Resources maps each kind to its resource in the first of these versions, for requests of its objects. It is shared, too.
	Resources map[string]string
	// Failures maps each version whose discovery failed to the cause.
	Failures map[string]string
	// Schemas are what is known of the schemas of its kinds, as far as their fields are requested.
	Schemas Schemas
	// Forbidden is what the client cannot read, for example for lack of a right; empty:
	// it can read everything.
	Forbidden string
}

// incomplete reports whether something of the group could not be discovered.
func (g Group) incomplete() bool {
	return len(g.Failures) > 0 || len(g.Schemas.Failures) > 0 || g.Forbidden != ""
}

// settling is after how long a group is discovered again while its definitions
// change: the discovery documents follow the watch event with a delay.
var settling = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second}

// A discovery that failed is repeated after retryFirst, then with a growing delay:
// up to retryUnreachable where the API server did not respond, up to retryIncomplete
// where it could not reach the server of a version. The end of the latter is also a
// watch event on an APIService.
const (
	retryFirst       = time.Second
	retryUnreachable = 15 * time.Second
	retryIncomplete  = 5 * time.Minute
)

// confirmations is how often in a row something must fail, or be forbidden, before it
// replaces what is known: an API server that starts also fails and forbids for moments.
const confirmations = 3

// group is the state of a group that is watched.
type group struct {
	fields   Fields // that are looked up
	known    Group
	rechecks int // discoveries since a definition changed
	failures int // discoveries in a row that failed or were incomplete
}

// discovered keeps the result of a discovery. An error says that the API server did
// not respond. It returns whether what is known changed, and after how long to
// discover the group again; zero: not before a definition changes.
func (g *group) discovered(result Group, err error) (changed bool, again time.Duration) {
	incomplete := err == nil && result.incomplete()
	if err != nil || incomplete {
		g.failures++
	} else {
		g.failures = 0
	}
	unconfirmed := incomplete && !g.known.incomplete() && g.failures < confirmations
	if err == nil && !unconfirmed && !reflect.DeepEqual(g.known, result) {
		g.known, changed = result, true
	}
	return changed, g.next(err != nil)
}

func (g *group) next(unreachable bool) time.Duration {
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
