package protection

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// addOns are those on a managed cluster, by their names.
type addOns map[string]*addonv1alpha1.ManagedClusterAddOn

// clusterReader reads a managed cluster. Its add-ons are given: as they are, or as a change would leave them. What
// else verdicts rest on is read from the hub.
type clusterReader struct {
	fleet.Objects
	templates fleet.Objects
	// changed are the AddOnTemplates that count instead of those in the cache: as a change would leave them, or newer.
	changed newTemplates
	cluster *clusterv1.ManagedCluster
	addOns  addOns
	// facts are what the cluster's agent has reported, for a decision that can wait unless withKnownFacts says otherwise.
	facts  func() (evaluation.Facts, error)
	stored func() (storedFacts, error)
	// hub returns the APIs that the hub serves; nil: they are not read.
	hub func() evaluation.APIFacts
	// ocm returns the version of OCM, and whether it is known; nil: it is read from the hub.
	ocm ocmVersion
	// waits is what installations on the cluster wait for.
	waits evaluation.Wait
	now   time.Time
}

var _ fleet.Reader = clusterReader{}

// ocmVersion returns the version of OCM on the hub; it is not read where that is not known.
type ocmVersion func(context.Context) (version string, read bool, err error)

// unreadOCM does not read it. Few verdicts need it.
func unreadOCM(context.Context) (string, bool, error) { return "", false, nil }

// withKnownFacts returns the cluster for a decision that cannot wait.
func (s clusterReader) withKnownFacts() clusterReader {
	stored := s.stored
	s.facts = func() (evaluation.Facts, error) {
		facts, err := stored()
		return facts.known(), err
	}
	return s
}

// AddOn implements fleet.Reader.
func (s clusterReader) AddOn(_ context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return s.addOns[key.Name], nil
}

// Cluster implements fleet.Reader.
func (s clusterReader) Cluster(_ context.Context, name string) (*clusterv1.ManagedCluster, error) {
	if name != s.cluster.Name { // a hosting cluster: it is not read, see Facts
		return &clusterv1.ManagedCluster{}, nil
	}
	return s.cluster, nil
}

// TemplateVersion implements fleet.Reader.
func (s clusterReader) TemplateVersion(ctx context.Context, name string) (version string, read bool, err error) {
	if changed := s.changed[name]; changed != nil {
		return versions.OfTemplate(changed.Annotations, changed.Labels), true, nil
	}
	return s.templates.TemplateVersion(ctx, name)
}

// OCMVersion implements fleet.Reader.
func (s clusterReader) OCMVersion(ctx context.Context) (version string, read bool, err error) {
	if s.ocm != nil {
		return s.ocm(ctx)
	}
	return s.Objects.OCMVersion(ctx)
}

// Selected implements fleet.Reader. It is not read, because it explains verdicts and changes none.
func (clusterReader) Selected(context.Context, []types.NamespacedName, string) (selected, read bool, err error) {
	return false, false, nil
}

// Installation implements fleet.Reader.
func (s clusterReader) Installation(context.Context, types.NamespacedName) (evaluation.Wait, error) {
	return s.waits, nil
}

// Facts implements fleet.Reader. Those of a hosting cluster are not read: they only have APIs, which contradict
// nothing.
func (s clusterReader) Facts(_ context.Context, _ *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	if cluster != s.cluster.Name {
		return awaited(s.now), nil
	}
	return s.facts()
}

// HubAPIs implements fleet.Reader.
func (s clusterReader) HubAPIs(context.Context) (evaluation.APIFacts, error) {
	if s.hub == nil {
		return nil, nil
	}
	return s.hub(), nil
}

// state loads what the verdicts on an add-on's edges rest on.
func (s clusterReader) state(ctx context.Context, under declared, addOn string) (evaluation.State, error) {
	loader := fleet.Loader{Reader: s, Offline: evaluation.OfflineHold}
	state, err := loader.Load(ctx, under.Evaluator, types.NamespacedName{Namespace: s.cluster.Name, Name: addOn}, s.now)
	if err != nil {
		return evaluation.State{}, fmt.Errorf("load what %s rests on: %w", addOn, err)
	}
	return state, nil
}

// finding returns an add-on on a managed cluster; nil where it is not installed.
type finding func(name string) (*addonv1alpha1.ManagedClusterAddOn, error)

// discovery discovers APIs as they are now.
type discovery interface {
	Discover(ctx context.Context, requests []dependencyv1alpha1.APIRequest) []dependencyv1alpha1.APIFact
}

// alternativesOfHub discovers once, when they are first needed, the APIs of the hub that dependents with alternatives require
// of it: one that is served may satisfy an edge instead of a removed add-on. Nothing else that is reviewed rests on them: an
// API that is not served contradicts nothing.
func (r reviewer) alternativesOfHub(ctx context.Context, under declared, dependents []string) func() evaluation.APIFacts {
	choosing := slices.DeleteFunc(slices.Clone(dependents), func(dependent string) bool { return !under.hasAlternatives(dependent) })
	return r.apisOfHub(ctx, under, choosing)
}

// apisOfHub discovers once, when they are first needed, the APIs that add-ons require of the hub.
func (r reviewer) apisOfHub(ctx context.Context, under declared, addOns []string) func() evaluation.APIFacts {
	return sync.OnceValue(func() evaluation.APIFacts {
		if len(addOns) == 0 {
			return nil
		}
		requests := fleet.APIRequests(under.HubAPIs(addOns...))
		if len(requests) == 0 {
			return nil
		}
		return fleet.APIFactsOf(r.discovery.Discover(ctx, requests))
	})
}
