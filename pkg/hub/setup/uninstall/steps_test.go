package uninstall

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// The steps that remove the agent and the guard report that they are done: "is not installed" and "is not in force" read like failures.
func TestRemovalsReportThatNothingIsLeft(t *testing.T) {
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	u := &uninstallation{hub: fake.NewClientBuilder().Build(), config: &rest.Config{Host: empty.URL}, options: Options{Timeout: time.Minute}}
	if summary, err := u.removeAgent(t.Context()); err != nil || summary != "no addon-agent is left as an add-on on any managed cluster" {
		t.Errorf("%q, %v", summary, err)
	}
	if summary, err := u.removeGuard(t.Context()); err != nil || summary != "neither the guard nor the gate rule is left" {
		t.Errorf("%q, %v", summary, err)
	}
}
