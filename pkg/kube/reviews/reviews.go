// Package reviews has the API server of a cluster authenticate the clients of a server, and review their rights. The libraries of the API
// server do the same. They would make addon-agent half as large again, on each managed cluster.
package reviews

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// Reviewer requests reviews. The process needs the rights to create tokenreviews and subjectaccessreviews.
type Reviewer struct {
	tokens authenticationv1client.TokenReviewInterface
	access authorizationv1client.SubjectAccessReviewInterface
}

// New returns a reviewer that sends its requests with an HTTP client.
func New(config *rest.Config, requests *http.Client) (*Reviewer, error) {
	tokens, err := authenticationv1client.NewForConfigAndClient(config, requests)
	if err != nil {
		return nil, fmt.Errorf("create client for reviews of tokens: %w", err)
	}
	access, err := authorizationv1client.NewForConfigAndClient(config, requests)
	if err != nil {
		return nil, fmt.Errorf("create client for reviews of access: %w", err)
	}
	return NewFor(tokens.TokenReviews(), access.SubjectAccessReviews()), nil
}

// NewFor returns a reviewer that uses these clients.
func NewFor(tokens authenticationv1client.TokenReviewInterface, access authorizationv1client.SubjectAccessReviewInterface) *Reviewer {
	return &Reviewer{tokens, access}
}

// BearerToken returns the token of a request. It is empty without one.
func BearerToken(request *http.Request) string {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// User returns the user that a token authenticates. The bool is false if the API server does not accept the token. The token must be for
// one of the audiences. Without any, it must be for the API server.
func (r *Reviewer) User(ctx context.Context, token string, audiences ...string) (authenticationv1.UserInfo, bool, error) {
	review, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, false, fmt.Errorf("review a token: %w", err)
	}
	// An API server that does not support audiences returns none.
	isFor := len(audiences) == 0 || slices.ContainsFunc(review.Status.Audiences, func(audience string) bool {
		return slices.Contains(audiences, audience)
	})
	return review.Status.User, review.Status.Authenticated && isFor, nil
}

// Attributes are a right: either on a resource, or on a path.
type Attributes struct {
	Resource *authorizationv1.ResourceAttributes
	Path     *authorizationv1.NonResourceAttributes
}

// Allowed reports whether a user has a right.
func (r *Reviewer) Allowed(ctx context.Context, user authenticationv1.UserInfo, right Attributes) (bool, error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review, err := r.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes:    right.Resource,
		NonResourceAttributes: right.Path,
		User:                  user.Username,
		UID:                   user.UID,
		Groups:                user.Groups,
		Extra:                 extra,
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("review the access of %s: %w", user.Username, err)
	}
	return review.Status.Allowed, nil
}
