package apidiscovery

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// apiServer serves the discovery documents that a test sets. Other documents are not found.
type apiServer struct {
	*httptest.Server

	mutex     sync.Mutex
	responses map[string]any // by path: an object, or a status to fail with
	requests  map[string]int
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{responses: map[string]any{}, requests: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.requests[r.URL.Path]++
	response, ok := s.responses[r.URL.Path]
	s.mutex.Unlock()
	if !ok {
		response = apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/json")
	switch response := response.(type) {
	case func(http.ResponseWriter):
		response(w)
		return
	case *apierrors.StatusError:
		w.WriteHeader(int(response.ErrStatus.Code))
		_ = json.NewEncoder(w).Encode(response.ErrStatus) // an incomplete response fails the test
	default:
		_ = json.NewEncoder(w).Encode(response)
	}
}

func (s *apiServer) set(path string, response any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.responses[path] = response
}

func (s *apiServer) count(path string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.requests[path]
}

func (s *apiServer) client(t *testing.T) rest.Interface {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: s.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client.RESTClient()
}

func groupOf(versions ...string) *metav1.APIGroup {
	group := &metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}}
	for _, version := range versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{Version: version})
	}
	return group
}

func resources(kinds ...string) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}}
	for _, kind := range kinds {
		list.APIResources = append(list.APIResources,
			metav1.APIResource{Name: kind + "s", Kind: kind}, metav1.APIResource{Name: kind + "s/scale", Kind: "Scale"})
	}
	return list
}

func TestDiscover(t *testing.T) {
	unavailable := apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	tests := []struct {
		name      string
		group     string
		responses map[string]any
		want      Group
		fails     bool
	}{
		{name: "a group that is not served", group: "a.io", want: Group{Discovered: true}},
		{
			name: "kinds in several versions, by preference, without subresources", group: "a.io",
			responses: map[string]any{
				"/apis/a.io": groupOf("v2", "v1"), "/apis/a.io/v2": resources("Thing"), "/apis/a.io/v1": resources("Thing", "Other"),
			},
			want: Group{
				Discovered: true, Kinds: map[string][]string{"Thing": {"v2", "v1"}, "Other": {"v1"}},
				Resources: map[string]string{"Thing": "Things", "Other": "Others"},
			},
		},
		{
			name: "the core group", group: "",
			responses: map[string]any{"/api": &metav1.APIVersions{Versions: []string{"v1"}}, "/api/v1": resources("Pod")},
			want:      Group{Discovered: true, Kinds: map[string][]string{"Pod": {"v1"}}, Resources: map[string]string{"Pod": "Pods"}},
		},
		{
			name: "a version whose aggregated API server is down", group: "a.io",
			responses: map[string]any{
				"/apis/a.io":    groupOf("v2", "v1"),
				"/apis/a.io/v2": unavailable,
				"/apis/a.io/v1": resources("Thing"),
			},
			want: Group{
				Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}, Resources: map[string]string{"Thing": "Things"},
				Failures: map[string]string{"v2": "503 ServiceUnavailable"},
			},
		},
		{
			name: "a version whose response is no discovery document", group: "a.io",
			responses: map[string]any{
				"/apis/a.io":    groupOf("v1"),
				"/apis/a.io/v1": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
			},
			want: Group{Discovered: true, Failures: map[string]string{"v1": "its response cannot be read"}},
		},
		{
			name: "a version that is no longer served", group: "a.io",
			responses: map[string]any{"/apis/a.io": groupOf("v1")},
			want:      Group{Discovered: true},
		},
		{
			name: "a version that drops the connection", group: "a.io",
			responses: map[string]any{
				"/apis/a.io":    groupOf("v1"),
				"/apis/a.io/v1": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
			},
			fails: true,
		},
		{
			name: "no right to discover", group: "a.io", responses: map[string]any{"/apis/a.io": forbidden},
			want: Group{Discovered: true, Forbidden: "addon-agent may not read /apis/a.io"},
		},
		{name: "an API server that is starting", group: "a.io", responses: map[string]any{"/apis/a.io": unavailable}, fails: true},
		{
			name: "credentials that have expired", group: "a.io",
			responses: map[string]any{"/apis/a.io": groupOf("v1"), "/apis/a.io/v1": apierrors.NewUnauthorized("")}, fails: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := newAPIServer(t)
			for path, response := range tt.responses {
				server.set(path, response)
			}
			got, err := discover(t.Context(), API{server.client(t), "addon-agent"}, tt.group)
			if (err != nil) != tt.fails {
				t.Fatalf("error %v, want an error: %t", err, tt.fails)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiscoverFailsWhileTheAPIServerIsDown(t *testing.T) {
	server := newAPIServer(t)
	client := server.client(t)
	server.Close()
	if got, err := discover(t.Context(), API{client, "addon-agent"}, "a.io"); err == nil {
		t.Errorf("got %+v without a response", got)
	}
}

func TestCauseOfTimeout(t *testing.T) {
	cause, err := causeOf(context.DeadlineExceeded)
	if err != nil || cause != "no response within 10s" {
		t.Errorf("a version that hangs: %q, %v", cause, err)
	}
}
