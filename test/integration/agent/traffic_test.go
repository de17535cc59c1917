package agent

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// request is one that the agent sent, and the code of the response.
type request struct {
	method, path, query string
	code                int
}

func (r request) String() string {
	return fmt.Sprintf("%s %s?%s → %d", r.method, r.path, r.query, r.code)
}

// traffic is all that the agent sent to one API server.
type traffic struct {
	mutex    sync.Mutex
	requests []request
}

// watch returns a configuration whose requests are recorded.
func (t *traffic) watch(config *rest.Config) *rest.Config {
	watched := rest.CopyConfig(config)
	watched.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(r)
			sent := request{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery}
			if err == nil {
				sent.code = response.StatusCode
			}
			t.mutex.Lock()
			defer t.mutex.Unlock()
			t.requests = append(t.requests, sent)
			return response, err
		})
	})
	return watched
}

func (t *traffic) all() []request {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return slices.Clone(t.requests)
}

func (t *traffic) count(matches func(request) bool) int {
	count := 0
	for _, sent := range t.all() {
		if matches(sent) {
			count++
		}
	}
	return count
}

// written counts writes that were accepted.
func (t *traffic) written() int {
	return t.count(func(r request) bool { return r.method == http.MethodPatch && r.code == http.StatusOK })
}

func refused(r request) bool {
	return r.code == http.StatusForbidden || r.code == http.StatusUnauthorized
}

func besides(name string) func(request) bool {
	return func(r request) bool {
		return !strings.HasSuffix(r.path, "/leases/"+name) && !strings.Contains(r.query, "fieldSelector=metadata.name%3D"+name)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
