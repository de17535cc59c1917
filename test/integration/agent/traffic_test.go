package agent

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// request is a request of the agent, and the code of the response.
type request struct {
	method, path, query string
	code                int
}

func (r request) String() string {
	return fmt.Sprintf("%s %s?%s → %d", r.method, r.path, r.query, r.code)
}

// traffic records all requests of the agent to one API server.
type traffic struct {
	mutex    sync.Mutex
	requests []request
}

// watch returns a configuration whose requests are recorded.
func (t *traffic) watch(config *rest.Config) *rest.Config {
	recordedConfig := rest.CopyConfig(config)
	recordedConfig.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(r)
			recordedRequest := request{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery}
			if err == nil {
				recordedRequest.code = response.StatusCode
			}
			t.mutex.Lock()
			defer t.mutex.Unlock()
			t.requests = append(t.requests, recordedRequest)
			return response, err
		})
	})
	return recordedConfig
}

func (t *traffic) recordedRequests() []request {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return slices.Clone(t.requests)
}

func (t *traffic) count(matches func(request) bool) int {
	count := 0
	for _, request := range t.recordedRequests() {
		if matches(request) {
			count++
		}
	}
	return count
}

// writes counts writes that were accepted.
func (t *traffic) writes() int {
	return t.count(func(r request) bool { return r.method == http.MethodPatch && r.code == http.StatusOK })
}

func isRefused(r request) bool {
	return r.code == http.StatusForbidden || r.code == http.StatusUnauthorized
}

func notAbout(name string) func(request) bool {
	return func(r request) bool {
		return !strings.HasSuffix(r.path, "/leases/"+name) && !strings.Contains(r.query, "fieldSelector=metadata.name%3D"+name)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
