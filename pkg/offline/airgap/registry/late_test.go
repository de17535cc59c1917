package registry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A registry that accepts connections and never responds gets one request.
func TestARegistryThatDoesNotAnswer(t *testing.T) {
	var requests atomic.Int32
	closed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		<-closed
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(closed) })
	for transport, want := range map[http.RoundTripper]time.Duration{readTransport: 30 * time.Second, writeTransport: 5 * time.Minute} {
		if got := transport.(*http.Transport).ResponseHeaderTimeout; got != want {
			t.Errorf("it waits for %s, want %s", got, want)
		}
	}
	original := readTransport
	readTransport = newTransport(50 * time.Millisecond)
	t.Cleanup(func() { readTransport = original })
	client := Client{Insecure: true}
	reference, err := client.Reference(strings.TrimPrefix(server.URL, "http://") + "/addons:1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Get(t.Context(), reference, nil)
	if err == nil || !strings.Contains(err.Error(), "GET "+server.URL+"/v2/: no answer in time: ") || requests.Load() != 1 {
		t.Errorf("asked %d times: %v", requests.Load(), err)
	}
}
