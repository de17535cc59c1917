package registry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
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

// A registry that stops in the middle of a body is given up, for reads and for writes.
func TestARegistryThatStopsInTheMiddle(t *testing.T) {
	closed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		switch {
		case request.URL.Path == "/v2/":
			return
		case request.Method == http.MethodGet:
			response.Header().Set("Content-Type", string(types.OCIManifestSchema1))
			response.Header().Set("Content-Length", "100")
			_, _ = response.Write([]byte("{"))
			response.(http.Flusher).Flush()
		case request.Method == http.MethodHead:
			response.WriteHeader(http.StatusNotFound)
			return
		case request.Method == http.MethodPost:
			response.Header().Set("Location", request.URL.Path)
			response.WriteHeader(http.StatusAccepted)
			return
		}
		<-closed // it reads no body
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(closed) })
	originals := [2]http.RoundTripper{readTransport, writeTransport}
	readTransport, writeTransport = newTransport(50*time.Millisecond), newTransport(50*time.Millisecond)
	t.Cleanup(func() { readTransport, writeTransport = originals[0], originals[1] })
	client := Client{Insecure: true}
	reference, err := client.Reference(strings.TrimPrefix(server.URL, "http://") + "/team/addons:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), reference, layout.Blobs{}); err == nil || !strings.Contains(err.Error(), "no progress in time") {
		t.Errorf("get: %v", err)
	}
	blobs := layout.Blobs{}
	config, err := blobs.Add("a/b", make([]byte, 64<<20)) // more than the buffers of a connection
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{SchemaVersion: 2, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Put(t.Context(), reference, artifact, blobs); err == nil || !strings.Contains(err.Error(), "no progress in time") {
		t.Errorf("put: %v", err)
	}
}
