package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

// A registry that refuses a request is explained in words for users, and not in words about HTTP.
func TestRefusalsAreExplained(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusUnauthorized:     " wants a login for team/addons (401 Unauthorized): log in with docker login 127.0.0.1:",
		http.StatusForbidden:        " denies access to team/addons (403 Forbidden): log in with docker login ",
		http.StatusNotFound:         " does not have this in team/addons (404 Not Found): check the repository",
		http.StatusMethodNotAllowed: " refuses a request for team/addons: 405 Method Not Allowed",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			if request.URL.Path == "/v2/" {
				return
			}
			response.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		client := Client{Insecure: true}
		reference, err := client.Reference(strings.TrimPrefix(server.URL, "http://") + "/team/addons:1")
		if err != nil {
			t.Fatal(err)
		}
		blobs := layout.Blobs{}
		config, err := blobs.Add("a/b", []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		artifact, err := blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{SchemaVersion: 2, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		_, getErr := client.Get(t.Context(), reference, layout.Blobs{})
		for verb, err := range map[string]error{"push": client.Put(t.Context(), reference, artifact, blobs), "pull": getErr} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "HEAD") {
				t.Errorf("%s: %d: %v", verb, status, err)
			}
		}
	}
}

// TestConnectionsAreExplained tests that an error of a connection names the registry, and the next step.
func TestConnectionsAreExplained(t *testing.T) {
	repository, err := name.NewRepository("registry.example.com/team/addons")
	if err != nil {
		t.Fatal(err)
	}
	page := json.Unmarshal([]byte("<html>"), new(any))
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("GET: %w", errStalled), "the registry registry.example.com stopped in the middle: no progress in time: run this again"},
		{fmt.Errorf("GET: %w", os.ErrDeadlineExceeded), "the registry registry.example.com did not answer in time: check that it runs"},
		{fmt.Errorf("decode: %w", page), "registry.example.com does not answer as a registry does: "},
		{&transport.Error{StatusCode: http.StatusServiceUnavailable}, "503 Service Unavailable: run this again later"},
		{&transport.Error{StatusCode: http.StatusTooManyRequests}, "429 Too Many Requests: run this again later"},
	} {
		if got := explain(test.err, repository); !strings.Contains(got.Error(), test.want) || !errors.Is(got, test.err) {
			t.Errorf("got %v, want %s", got, test.want)
		}
	}
}
