package registry

import (
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

// A registry that gives no response at all is explained in one sentence, and not once for each way to reach it.
func TestRegistriesThatCannotBeReached(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it only finds a free port
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	plain, untrusted := httptest.NewServer(nil), httptest.NewTLSServer(nil)
	t.Cleanup(plain.Close)
	t.Cleanup(untrusted.Close)
	for host, want := range map[string]string{
		closed:                                   "the registry " + closed + " cannot be reached: connect: connection refused: ",
		strings.TrimPrefix(plain.URL, "http://"): " without TLS is refused; --insecure allows it for registries on loopback",
		strings.TrimPrefix(untrusted.URL, "https://"): " is not trusted: ",
		"registry.invalid":                            "there is no registry registry.invalid: its name is not known",
	} {
		client := Client{}
		reference, err := client.Reference(host + "/team/addons:1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Get(t.Context(), reference, layout.Blobs{}); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "Get ") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
