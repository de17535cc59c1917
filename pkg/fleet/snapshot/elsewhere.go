package snapshot

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/apidiscovery"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Discoverer is a client of a hub that also discovers its APIs. With another client, they are not known.
type Discoverer interface {
	Discovery() (apidiscovery.API, error)
}

// hubAPIs reads whether the hub serves the APIs that edges require of it.
func (t *taking) hubAPIs(ctx context.Context, declared *evaluation.Evaluator) error {
	discoverer, discovers := t.hub.(Discoverer)
	if !discovers {
		return nil
	}
	api, err := discoverer.Discovery()
	if err != nil {
		return err
	}
	t.into.HubAPIs = api.Discover(ctx, fleet.APIRequests(declared.HubAPIs()))
	return ctx.Err()
}

// hosting reads the managed clusters that run agents of the one that the snapshot is of. An annotation may name what is
// no cluster.
func (t *taking) hosting(ctx context.Context, declared *evaluation.Evaluator) error {
	if t.namespace == "" {
		return nil // all are read
	}
	hosts := sets.New[string]()
	for i := range t.into.AddOns {
		addOn := &t.into.AddOns[i]
		host := fleet.HostingCluster(addOn)
		if fleet.Hosted(addOn) && declared.OwnInputs(addOn.Name).Any(input.Hosting) && len(validation.IsDNS1123Subdomain(host)) == 0 {
			hosts.Insert(host)
		}
	}
	for _, host := range sets.List(hosts) {
		of := &taking{hub: t.hub, namespace: host, into: &Content{}, unread: t.unread}
		if err := errors.Join(of.addOns(ctx), of.clusters(ctx), of.facts(ctx)); err != nil {
			return err
		}
		into := &t.into.Hosting
		into.AddOns, into.Clusters = append(into.AddOns, of.into.AddOns...), append(into.Clusters, of.into.Clusters...)
		into.Facts = append(into.Facts, of.into.Facts...)
	}
	return nil
}
