package hub

import (
	"testing"

	"k8s.io/client-go/rest"
)

// A timeout of requests would end all watches.
func TestRequestsOfAManagerHaveNoTimeout(t *testing.T) {
	config := &rest.Config{Host: "https://hub.test"}
	mgr, _, err := newManager(config, Options{MetricsAddress: "0", LeaderElection: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := mgr.GetConfig().Timeout; got != 0 {
		t.Errorf("requests have a timeout of %s", got)
	}
}
