package eventscmd

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet/follow"
	kinds "open-cluster-management.io/interlock/pkg/kube/events"
)

// pageSize is the number of events in a page of a list.
const pageSize = 500

// lists returns the lists of events on add-ons, on a managed cluster or on all, and of events on registrations. Events on objects
// without a namespace are in the namespace default.
func lists(cluster string) []follow.Watched {
	list := func(kind, namespace string) follow.Watched {
		regarding := client.MatchingFields{"regarding.kind": kind}
		return follow.Watched{List: &eventsv1.EventList{}, Namespace: namespace, Options: []client.ListOption{regarding}}
	}
	return []follow.Watched{list(kinds.ManagedClusterAddOn, cluster), list(kinds.ClusterManagementAddOn, metav1.NamespaceDefault)}
}

// read reads lists of events in pages.
func read(ctx context.Context, hub client.Reader, lists []follow.Watched) ([]eventsv1.Event, error) {
	var events []eventsv1.Event
	for _, list := range lists {
		for token := ""; ; {
			page := &eventsv1.EventList{}
			options := []client.ListOption{client.InNamespace(list.Namespace), client.Limit(pageSize), client.Continue(token)}
			if err := hub.List(ctx, page, append(options, list.Options...)...); err != nil {
				return nil, fmt.Errorf("list events: %w", err)
			}
			events = append(events, page.Items...)
			if token = page.Continue; token == "" {
				break
			}
		}
	}
	return events, nil
}

// types are the types of events.
var types = []string{corev1.EventTypeNormal, corev1.EventTypeWarning}
