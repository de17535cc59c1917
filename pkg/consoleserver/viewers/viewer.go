package viewers

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/cache"

	"open-cluster-management.io/interlock/pkg/consoleserver/access"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/reviews"
)

const (
	// maxViewers is the number of viewers whose rights are kept, and keptFor is for how long after their last request.
	maxViewers = 256
	keptFor    = 10 * time.Minute
	// reviewInterval is the mean time between two reviews of missing rights on managed clusters, for each viewer. So a missing right on a
	// cluster is reviewed each 10 seconds on a small hub, and each five minutes on a hub with 5,000 clusters.
	reviewInterval = 60 * time.Millisecond
)

// credentialID is the extra field of a user that identifies the token.
const credentialID = "authentication.kubernetes.io/credential-id"

// registry has the viewers by their identities.
type registry struct {
	options Options
	mutex   sync.Mutex
	viewers *cache.LRUExpireCache
}

func newRegistry(options Options) *registry {
	return &registry{options: options, viewers: cache.NewLRUExpireCacheWithClock(maxViewers, options.Clock)}
}

// viewer returns the viewer that is this user. Users with the same name and other groups are other viewers.
func (r *registry) viewer(user authenticationv1.UserInfo) *viewer {
	user.Extra = maps.Clone(user.Extra)
	delete(user.Extra, credentialID) // each token has another one, and all tokens of a user share the reviews
	encoded, err := json.Marshal(user)
	if err != nil {
		panic(err) // strings have an encoding
	}
	key := sha256.Sum256(encoded)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	entry, _ := r.viewers.Get(key)
	kept, ok := entry.(*viewer)
	if !ok {
		kept = &viewer{options: r.options, user: user, rights: map[access.Right]reviewed{}}
	}
	r.viewers.Add(key, kept, keptFor)
	return kept
}

// reviewed is the response about a right. It counts until a time.
type reviewed struct {
	allowed bool
	until   time.Time
}

// viewer has the reviewed rights of a user.
type viewer struct {
	options Options
	user    authenticationv1.UserInfo

	// deciding is held during a decision, so that streams of the same viewer share it.
	deciding sync.Mutex
	decided  snapshot.Permissions
	denied   error
	until    time.Time

	mutex  sync.Mutex
	rights map[access.Right]reviewed
	// clusters is the number of managed clusters of the hub.
	clusters int
}

// permissions returns the parts of a fleet of these managed clusters that the viewer may see. Its error is *access.Denied, or a failure.
func (v *viewer) permissions(ctx context.Context, clusters []string) (snapshot.Permissions, error) {
	v.deciding.Lock()
	defer v.deciding.Unlock()
	if v.options.Clock.Now().Before(v.until) {
		return v.decided, v.denied
	}
	v.forget(len(clusters))
	decided, err := access.Decide(ctx, v, clusters)
	lifetime := v.options.Lifetime
	if err != nil {
		if _, isDenial := err.(*access.Denied); !isDenial { //nolint:errorlint // Decide does not wrap it
			return decided, err
		}
		lifetime = min(lifetime, deniedLifetime)
	}
	v.decided, v.denied, v.until = decided, err, v.options.Clock.Now().Add(lifetime)
	return decided, err
}

// forget drops the responses that no longer count.
func (v *viewer) forget(clusters int) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	now := v.options.Clock.Now()
	maps.DeleteFunc(v.rights, func(_ access.Right, response reviewed) bool { return !now.Before(response.until) })
	v.clusters = clusters
}

// Allowed implements access.Reviewer.
func (v *viewer) Allowed(ctx context.Context, right access.Right) (bool, error) {
	v.mutex.Lock()
	response, ok := v.rights[right]
	v.mutex.Unlock()
	if ok && v.options.Clock.Now().Before(response.until) {
		return response.allowed, nil
	}
	allowed, err := v.options.Reviewer.Allowed(ctx, v.user, reviews.Attributes{Resource: &authorizationv1.ResourceAttributes{
		Verb: right.Verb, Group: right.Group, Resource: right.Resource, Namespace: right.Namespace, Name: right.Name,
	}})
	v.options.Metrics.count(reviewAccess, allowed, err)
	if err != nil {
		return false, err
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.rights[right] = reviewed{allowed, v.options.Clock.Now().Add(v.lifetime(right, allowed))}
	return allowed, nil
}

// lifetime returns how long a response about a right counts.
func (v *viewer) lifetime(right access.Right, allowed bool) time.Duration {
	denied := min(v.options.Lifetime, deniedLifetime)
	switch {
	case allowed:
		return v.options.Lifetime
	case right.OnCluster():
		return max(denied, time.Duration(v.clusters)*reviewInterval)
	default:
		return denied
	}
}
