// Package responsecache keeps responses of an API server for a short time, for a process that reads the same objects with each change of
// others: discovery documents, or an object that changes too often to be watched.
package responsecache

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Transport keeps successful responses to GET requests. All clients that use it must have the same user.
type Transport struct {
	Next http.RoundTripper
	// Lifetime is how long a response is kept.
	Lifetime time.Duration
	Clock    clock.PassiveClock

	mutex     sync.Mutex
	responses map[request]response
}

// request identifies requests with the same response.
type request struct{ url, accept string }

// response is a kept response.
type response struct {
	http.Response

	body []byte
	read time.Time
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
		return t.Next.RoundTrip(r)
	}
	key := request{r.URL.String(), r.Header.Get("Accept")}
	if kept, ok := t.kept(key); ok {
		return kept.copy(r), nil
	}
	received, err := t.Next.RoundTrip(r)
	if err != nil || received.StatusCode != http.StatusOK {
		return received, err
	}
	body, err := io.ReadAll(received.Body)
	if closeErr := received.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	keep := response{*received, body, t.Clock.Now()}
	t.keep(key, keep)
	return keep.copy(r), nil
}

// copy returns a response whose body can be read.
func (r response) copy(to *http.Request) *http.Response {
	copied := r.Response
	copied.Request, copied.Header = to, r.Header.Clone()
	copied.Body = io.NopCloser(bytes.NewReader(r.body))
	return &copied
}

func (t *Transport) kept(key request) (response, bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	kept, ok := t.responses[key]
	return kept, ok && t.Clock.Since(kept.read) < t.Lifetime
}

// keep keeps a response, and drops those that are too old.
func (t *Transport) keep(key request, received response) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.responses == nil {
		t.responses = map[request]response{}
	}
	for other, kept := range t.responses {
		if t.Clock.Since(kept.read) >= t.Lifetime {
			delete(t.responses, other)
		}
	}
	t.responses[key] = received
}
