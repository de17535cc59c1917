package agentaddon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

// hubs answers each look with the next of its hubs, and with the last for ever.
type hubs struct {
	served []map[string][]string
	err    error
	looks  int
}

func (h *hubs) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	if h.err != nil {
		return nil, h.err
	}
	if strings.HasPrefix(groupVersion, "addon") { // the first of a look
		h.looks++
	}
	served, ok := h.served[min(h.looks, len(h.served))-1][groupVersion]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
	}
	list := &metav1.APIResourceList{}
	for _, name := range served {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	return list, nil
}

func TestMissing(t *testing.T) {
	without := map[string][]string{
		"addon.open-cluster-management.io/v1beta1": {"managedclusteraddons", "clustermanagementaddons"},
		"cluster.open-cluster-management.io/v1":    {"managedclusters"},
	}
	got, err := missing(&hubs{served: []map[string][]string{without}})
	want := "addondeploymentconfigs of addon.open-cluster-management.io/v1beta1, manifestworks of work.open-cluster-management.io/v1"
	if err != nil || got != want {
		t.Errorf("got %q, error %v", got, err)
	}
	if got, err := missing(&hubs{served: []map[string][]string{needed}}); err != nil || got != "" {
		t.Errorf("nothing is missing: got %q, error %v", got, err)
	}
	away := errors.New("connection refused")
	if _, err := missing(&hubs{err: away}); !errors.Is(err, away) {
		t.Errorf("got error %v", err)
	}
}

func TestAwaitServed(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	hub := &hubs{served: []map[string][]string{{}, {}, needed}}
	ended := make(chan error, 1)
	go func() { ended <- awaitServed(t.Context(), clock, hub) }()
	deadline := time.After(10 * time.Second)
	for done := false; !done; {
		select {
		case err := <-ended:
			if err != nil || hub.looks != 3 {
				t.Errorf("error %v after %d looks", err, hub.looks)
			}
			done = true
		case <-deadline:
			t.Fatal("waits although all is served")
		case <-time.After(time.Millisecond):
			clock.Step(lookLast)
		}
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := awaitServed(stopped, clock, &hubs{err: errors.New("away")}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop while the hub is away: %v", err)
	}
}
