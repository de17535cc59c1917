package metricsserver

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/interlock/pkg/kube/reviews"
)

const (
	// responseLifetime is the time for which the API server's response about a client is cached, for maxResponses clients at most.
	responseLifetime = time.Minute
	maxResponses     = 100
	// reviewTimeout is the timeout of both reviews of a client together.
	reviewTimeout = 10 * time.Second
)

// filter admits clients whose token the API server authenticates, and which RBAC allows to get the path.
type filter struct {
	reviewer *reviews.Reviewer
	// responses has the status codes of requests, by the hash of the request and its token.
	responses *cache.LRUExpireCache
}

// newFilter returns a provider of the filter.
func newFilter(config *rest.Config, requests *http.Client) (server.Filter, error) {
	reviewer, err := reviews.New(config, requests)
	if err != nil {
		return nil, err
	}
	return (&filter{reviewer, cache.NewLRUExpireCache(maxResponses)}).wrap, nil
}

func (f *filter) wrap(log logr.Logger, handler http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		code, err := f.admit(request)
		if err != nil {
			log.Error(err, "Client of the metrics could not be checked", "path", request.URL.Path)
		}
		if code != http.StatusOK {
			http.Error(w, http.StatusText(code), code)
			return
		}
		handler.ServeHTTP(w, request)
	}), nil
}

// admit returns the status code for a request: OK, Unauthorized, Forbidden, or with an error InternalServerError.
func (f *filter) admit(request *http.Request) (int, error) {
	token := reviews.BearerToken(request)
	if token == "" {
		return http.StatusUnauthorized, nil
	}
	verb := strings.ToLower(request.Method)
	key := sha256.Sum256([]byte(verb + " " + request.URL.Path + "\n" + token))
	if code, ok := f.responses.Get(key); ok {
		return code.(int), nil
	}
	ctx, cancel := context.WithTimeout(request.Context(), reviewTimeout)
	defer cancel()
	code, err := f.review(ctx, token, &authorizationv1.NonResourceAttributes{Path: request.URL.Path, Verb: verb})
	if err != nil {
		return http.StatusInternalServerError, err
	}
	f.responses.Add(key, code, responseLifetime)
	return code, nil
}

// review requests both reviews from the API server.
func (f *filter) review(ctx context.Context, token string, attributes *authorizationv1.NonResourceAttributes) (int, error) {
	user, ok, err := f.reviewer.User(ctx, token)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return http.StatusUnauthorized, nil
	}
	switch allowed, err := f.reviewer.Allowed(ctx, user, reviews.Attributes{Path: attributes}); {
	case err != nil:
		return 0, err
	case !allowed:
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
