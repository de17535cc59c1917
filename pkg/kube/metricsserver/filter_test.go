package metricsserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"open-cluster-management.io/interlock/pkg/kube/reviews"
)

var errDown = errors.New("the API server is down")

// reviewed has the responses of an API server, and the reviews that it has received.
type reviewed struct {
	tokens, access int

	authenticated, allowed bool

	tokensFail  bool
	accessFails bool
	user        authenticationv1.UserInfo
	spec        authorizationv1.SubjectAccessReviewSpec
}

func (r *reviewed) filter() *filter {
	clients := fake.NewClientset()
	clients.PrependReactor("create", "tokenreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		r.tokens++
		review := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
		review.Status.Authenticated, review.Status.User = r.authenticated && review.Spec.Token == "right", r.user
		if r.tokensFail {
			return true, nil, errDown
		}
		return true, review, nil
	})
	clients.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		r.access++
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		r.spec, review.Status.Allowed = review.Spec, r.allowed
		if r.accessFails {
			return true, nil, errDown
		}
		return true, review, nil
	})
	return &filter{
		reviews.NewFor(clients.AuthenticationV1().TokenReviews(), clients.AuthorizationV1().SubjectAccessReviews()),
		cache.NewLRUExpireCache(maxResponses),
	}
}

// get sends a request with that header, and returns the status code.
func get(t *testing.T, f *filter, method, authorization string) int {
	t.Helper()
	served, err := f.wrap(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), method, "/metrics", http.NoBody)
	request.Header.Set("Authorization", authorization)
	response := httptest.NewRecorder()
	served.ServeHTTP(response, request)
	return response.Code
}

func TestFilterAdmitsAuthorizedClients(t *testing.T) {
	for name, test := range map[string]struct {
		server        reviewed
		authorization string
		want          int
	}{
		"Allowed":          {reviewed{authenticated: true, allowed: true}, "Bearer right", http.StatusOK},
		"Denied":           {reviewed{authenticated: true}, "Bearer right", http.StatusForbidden},
		"WrongToken":       {reviewed{authenticated: true, allowed: true}, "Bearer wrong", http.StatusUnauthorized},
		"NoToken":          {reviewed{authenticated: true, allowed: true}, "Bearer ", http.StatusUnauthorized},
		"OtherScheme":      {reviewed{authenticated: true, allowed: true}, "Basic right", http.StatusUnauthorized},
		"NoHeader":         {reviewed{authenticated: true, allowed: true}, "", http.StatusUnauthorized},
		"TokensFail":       {reviewed{authenticated: true, allowed: true, tokensFail: true}, "Bearer right", http.StatusInternalServerError},
		"AccessFails":      {reviewed{authenticated: true, allowed: true, accessFails: true}, "Bearer right", http.StatusInternalServerError},
		"NotAuthenticated": {reviewed{allowed: true}, "Bearer right", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			if got := get(t, test.server.filter(), http.MethodGet, test.authorization); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

func TestFilterCachesResponses(t *testing.T) {
	server := reviewed{authenticated: true, allowed: true}
	f := server.filter()
	for range 3 {
		get(t, f, http.MethodGet, "Bearer right")
		get(t, f, http.MethodGet, "Bearer wrong")
	}
	if server.tokens != 2 || server.access != 1 {
		t.Errorf("%d reviews of tokens and %d of access, want 2 and 1", server.tokens, server.access)
	}
	server.allowed = false
	if got := get(t, f, http.MethodPost, "Bearer right"); got != http.StatusForbidden {
		t.Errorf("the response about get is used for post: %d", got)
	}
}

func TestFilterDoesNotCacheFailures(t *testing.T) {
	server := reviewed{authenticated: true, allowed: true, accessFails: true}
	f := server.filter()
	get(t, f, http.MethodGet, "Bearer right")
	server.accessFails = false
	if got := get(t, f, http.MethodGet, "Bearer right"); got != http.StatusOK {
		t.Errorf("after a failure: %d", got)
	}
}

func TestFilterReviewsWholeUser(t *testing.T) {
	server := reviewed{authenticated: true, user: authenticationv1.UserInfo{
		Username: "prometheus", UID: "1", Groups: []string{"monitoring"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"read"}},
	}}
	get(t, server.filter(), http.MethodGet, "Bearer right")
	spec := server.spec
	if spec.User != "prometheus" || spec.UID != "1" || !slices.Equal(spec.Groups, []string{"monitoring"}) ||
		!slices.Equal(spec.Extra["scope"], []string{"read"}) {
		t.Errorf("%+v", spec)
	}
	if attributes := spec.NonResourceAttributes; attributes == nil || attributes.Path != "/metrics" || attributes.Verb != "get" {
		t.Errorf("%+v", attributes)
	}
}
