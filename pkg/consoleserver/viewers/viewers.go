// Package viewers admits the viewers of the console. The API server of the hub authenticates their tokens, and reviews their rights. All
// viewers that may see the same parts of the fleet share a view.
package viewers

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/consoleserver/access"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/reviews"
	"open-cluster-management.io/interlock/pkg/report/console"
)

// Reviewer requests reviews of the API server. *reviews.Reviewer implements it.
type Reviewer interface {
	User(ctx context.Context, token string, audiences ...string) (authenticationv1.UserInfo, bool, error)
	Allowed(ctx context.Context, user authenticationv1.UserInfo, right reviews.Attributes) (bool, error)
}

// Options are the inputs of the admission.
type Options struct {
	Reviewer Reviewer
	Fleet    *console.Fleet
	// Lifetime is how long a response of the API server about a viewer counts.
	Lifetime time.Duration
	Clock    clock.Clock
	Metrics  *Metrics
}

// Viewers admits viewers.
type Viewers struct {
	options  Options
	tokens   *tokens
	registry *registry

	mutex sync.Mutex
	// views has the views by their permissions.
	views map[string]*view
}

// view is a view that several viewers may share.
type view struct {
	*console.View

	used time.Time
}

// maxViews is the largest number of views. Each keeps the overview of its part of the fleet.
const maxViews = 64

// New returns an admission without viewers.
func New(options Options) *Viewers {
	return &Viewers{options: options, tokens: newTokens(options), registry: newRegistry(options), views: map[string]*view{}}
}

var _ console.Viewers = &Viewers{}

// challenge is the header of a response to a viewer without an accepted token. The page then shows its form.
const challenge = `Bearer realm="hub"`

func refuse(status int, text string) error {
	refusal := &console.Refusal{Status: status, Text: text}
	if status == http.StatusUnauthorized {
		refusal.Challenge = challenge
	}
	return refusal
}

// Admit implements console.Viewers.
func (v *Viewers) Admit(r *http.Request) (console.Admission, error) {
	token := reviews.BearerToken(r)
	if token == "" {
		return console.Admission{}, refuse(http.StatusUnauthorized, "sign in with a token of the hub")
	}
	user, ok, err := v.tokens.user(r.Context(), token)
	switch {
	case errors.Is(err, errBusy):
		return console.Admission{}, refuse(http.StatusTooManyRequests, "too many viewers sign in at the same time: try again later")
	case err != nil:
		return console.Admission{}, err
	case !ok:
		return console.Admission{}, refuse(http.StatusUnauthorized,
			"the API server of the hub does not accept this token: it has expired, is incomplete, or is of another cluster")
	}
	hub := v.options.Fleet.Hub()
	if hub == nil {
		return console.Admission{}, refuse(http.StatusServiceUnavailable, "the fleet has not been read yet")
	}
	permitted, err := v.registry.viewer(user).permissions(r.Context(), hub.Names())
	if denied := (*access.Denied)(nil); errors.As(err, &denied) {
		return console.Admission{}, refuse(http.StatusForbidden, denied.Error())
	}
	if err != nil {
		return console.Admission{}, err
	}
	shared := v.view(permitted)
	if shared == nil {
		return console.Admission{}, refuse(http.StatusServiceUnavailable, "too many viewers with different rights have this page open: try again later")
	}
	return console.Admission{View: shared, Viewer: user.Username}, nil
}

// view returns the view of these permissions. It is nil if there are too many others.
func (v *Viewers) view(permitted snapshot.Permissions) *console.View {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	now := v.options.Clock.Now()
	v.drop(now)
	key := keyOf(permitted)
	shared := v.views[key]
	if shared == nil {
		if len(v.views) >= maxViews {
			return nil
		}
		shared = &view{View: console.NewView(v.options.Fleet, limitTo(permitted))}
		v.views[key] = shared
	}
	shared.used = now
	return shared.View
}

// drop drops the views that no viewer has used for some time. A stream uses its view once in a lifetime.
func (v *Viewers) drop(now time.Time) {
	for key, shared := range v.views {
		if now.Sub(shared.used) > 3*v.options.Lifetime {
			delete(v.views, key)
		}
	}
}

// Count returns the number of views.
func (v *Viewers) Count() int {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.drop(v.options.Clock.Now())
	return len(v.views)
}

// limitTo returns the function that limits a fleet to permissions. It is nil if they are all permissions.
func limitTo(permitted snapshot.Permissions) func(*snapshot.Snapshot) *snapshot.Snapshot {
	if isEverything(permitted) {
		return nil
	}
	return func(hub *snapshot.Snapshot) *snapshot.Snapshot { return snapshot.New(hub.Permit(permitted)) }
}
