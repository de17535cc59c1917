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
	usual := transportOfAll
	transportOfAll = limited(50 * time.Millisecond)
	t.Cleanup(func() { transportOfAll = usual })
	if got := limited(patience).(*http.Transport).ResponseHeaderTimeout; got != 30*time.Second {
		t.Errorf("it waits for %s", got)
	}
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
