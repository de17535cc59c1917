package events

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/follow"
	about "open-cluster-management.io/interlock/pkg/events"
)

// page is how many events are read at once.
const page = 500

// lists are the events that concern add-ons: those on a managed cluster, or on all, and
// those on registrations. Events on objects without a namespace are in the namespace default.
func lists(cluster string) []follow.Watched {
	on := func(kind, namespace string) follow.Watched {
		return follow.Watched{List: &eventsv1.EventList{}, Namespace: namespace, Options: []client.ListOption{client.MatchingFields{"regarding.kind": kind}}}
	}
	return []follow.Watched{on(about.ManagedClusterAddOn, cluster), on(about.ClusterManagementAddOn, metav1.NamespaceDefault)}
}

// read reads lists of events in pages.
func read(ctx context.Context, hub client.Reader, all []follow.Watched) (happened []eventsv1.Event, err error) {
	for _, one := range all {
		for next := ""; ; {
			list := &eventsv1.EventList{}
			options := append([]client.ListOption{client.InNamespace(one.Namespace), client.Limit(page), client.Continue(next)}, one.Options...)
			if err := hub.List(ctx, list, options...); err != nil {
				return nil, fmt.Errorf("list events: %w", err)
			}
			happened = append(happened, list.Items...)
			if next = list.Continue; next == "" {
				break
			}
		}
	}
	return happened, nil
}

// types are those of events.
var types = []string{corev1.EventTypeNormal, corev1.EventTypeWarning}
