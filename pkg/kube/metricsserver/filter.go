package metricsserver

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// responseLifetime is the time for which the API server's response about a client is cached, for maxResponses clients at most.
	responseLifetime = time.Minute
	maxResponses     = 100
	// reviewTimeout is the timeout of both reviews of a client together.
	reviewTimeout = 10 * time.Second
)

// filter admits clients whose token the API server authenticates, and which RBAC allows to get the path. The filter of
// controller-runtime does the same with the libraries of the API server. They would make addon-agent half as large again, on
// each managed cluster.
type filter struct {
	tokens authenticationv1client.TokenReviewInterface
	access authorizationv1client.SubjectAccessReviewInterface
	// responses has the status codes of requests, by the hash of the request and its token.
	responses *cache.LRUExpireCache
}

// newFilter returns a provider of the filter.
func newFilter(config *rest.Config, requests *http.Client) (server.Filter, error) {
	tokens, err := authenticationv1client.NewForConfigAndClient(config, requests)
	if err != nil {
		return nil, fmt.Errorf("create client for reviews of tokens: %w", err)
	}
	access, err := authorizationv1client.NewForConfigAndClient(config, requests)
	if err != nil {
		return nil, fmt.Errorf("create client for reviews of access: %w", err)
	}
	return (&filter{tokens.TokenReviews(), access.SubjectAccessReviews(), cache.NewLRUExpireCache(maxResponses)}).wrap, nil
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
	token, isBearer := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if token = strings.TrimSpace(token); !isBearer || token == "" {
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
	authenticated, err := f.tokens.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return 0, fmt.Errorf("review a token: %w", err)
	case !authenticated.Status.Authenticated:
		return http.StatusUnauthorized, nil
	}
	user := authenticated.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	authorized, err := f.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		NonResourceAttributes: attributes,
		User:                  user.Username,
		UID:                   user.UID,
		Groups:                user.Groups,
		Extra:                 extra,
	}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("review the access of %s: %w", user.Username, err)
	}
	if !authorized.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
