package registry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A registry that accepts connections, and answers nothing, is asked once.
func TestARegistryThatDoesNotAnswer(t *testing.T) {
	var asked atomic.Int32
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-over
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	for transport, want := range map[http.RoundTripper]time.Duration{reading: 30 * time.Second, writing: 5 * time.Minute} {
		if got := transport.(*http.Transport).ResponseHeaderTimeout; got != want {
			t.Errorf("it waits for %s, want %s", got, want)
		}
	}
	usual := reading
	reading = limited(50 * time.Millisecond)
	t.Cleanup(func() { reading = usual })
	client := Client{Insecure: true}
	reference, err := client.Reference(strings.TrimPrefix(server.URL, "http://") + "/addons:1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Get(t.Context(), reference, nil)
	if err == nil || !strings.Contains(err.Error(), "GET "+server.URL+"/v2/: no answer in time: ") || asked.Load() != 1 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
