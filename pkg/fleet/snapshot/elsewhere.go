package snapshot

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

// Discoverer is a client of a hub that also discovers its APIs. With any other client, the APIs of the hub are unknown.
type Discoverer interface {
	Discovery() (apidiscovery.API, error)
}

// hubAPIs reads whether the hub serves the APIs that edges require of it.
func (t *taking) hubAPIs(ctx context.Context, evaluator *evaluation.Evaluator) error {
	discoverer, discovers := t.hub.(Discoverer)
	if !discovers {
		return nil
	}
	api, err := discoverer.Discovery()
	if err != nil {
		return err
	}
	t.content.HubAPIs = api.Discover(ctx, fleet.APIRequests(evaluator.HubAPIs()))
	return ctx.Err()
}

// hosting reads the hosting clusters of the add-ons, if the snapshot has a single managed cluster. Annotations with names that
// no cluster can have are ignored.
func (t *taking) hosting(ctx context.Context, evaluator *evaluation.Evaluator) error {
	if t.namespace == "" {
		return nil // all are read
	}
	hosts := sets.New[string]()
	for _, addOn := range t.content.AddOns {
		host := fleet.HostingCluster(addOn)
		if fleet.Hosted(addOn) && evaluator.OwnInputs(addOn.Name).Any(input.Hosting) && len(validation.IsDNS1123Subdomain(host)) == 0 {
			hosts.Insert(host)
		}
	}
	for _, host := range sets.List(hosts) {
		part := &taking{hub: t.hub, namespace: host, content: &Content{}, unread: t.unread}
		if err := errors.Join(part.addOns(ctx), part.clusters(ctx), part.facts(ctx)); err != nil {
			return err
		}
		hosting := &t.content.Hosting
		hosting.AddOns = append(hosting.AddOns, part.content.AddOns...)
		hosting.Clusters = append(hosting.Clusters, part.content.Clusters...)
		hosting.Facts = append(hosting.Facts, part.content.Facts...)
	}
	return nil
}
