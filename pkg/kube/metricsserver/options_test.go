package metricsserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// managed returns the configuration for an API server that authenticates the users prometheus
// and stranger by their tokens, and allows prometheus to read metrics.
func managed(t *testing.T) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(request.URL.Path, "/tokenreviews") {
			var review authenticationv1.TokenReview
			_ = json.NewDecoder(request.Body).Decode(&review)
			review.Status.User.Username = review.Spec.Token
			review.Status.Authenticated = true
			_ = json.NewEncoder(w).Encode(review)
			return
		}
		var review authorizationv1.SubjectAccessReview
		_ = json.NewDecoder(request.Body).Decode(&review)
		attributes := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "prometheus" && attributes != nil && attributes.Path == "/metrics" && attributes.Verb == "get"
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

func TestOptionsOnReviewsTokensOnCluster(t *testing.T) {
	options := OptionsOn(managed(t), ":8443", true)
	hub := &rest.Config{Host: "http://hub.invalid"}
	filter, err := options.FilterProvider(hub, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	served, err := filter(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]int{
		"": http.StatusUnauthorized, "stranger": http.StatusForbidden, "prometheus": http.StatusOK,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response := httptest.NewRecorder()
		if served.ServeHTTP(response, request); response.Code != want {
			t.Errorf("token %q: %d, want %d", token, response.Code, want)
		}
	}
}

func TestOptionsOnWithoutTLS(t *testing.T) {
	if options := OptionsOn(&rest.Config{}, ":8080", false); options.SecureServing || options.FilterProvider != nil {
		t.Errorf("%+v", options)
	}
}
