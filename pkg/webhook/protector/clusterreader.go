package protector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// addOns are the ManagedClusterAddOns on a managed cluster, by name.
type addOns map[string]*addonv1alpha1.ManagedClusterAddOn

// clusterReader reads the inputs of verdicts on a managed cluster. Its add-ons are set: those that are installed, or those that a
// change would leave. It reads all other inputs from the hub.
type clusterReader struct {
	fleet.Objects
	templates fleet.Objects
	// overrides replace AddOnTemplates in the cache.
	overrides      templateOverrides
	managedCluster *clusterv1.ManagedCluster
	addOns         addOns
	// facts returns the facts for a decision that can wait, unless withLastReportedFacts has replaced it.
	facts  func() (evaluation.Facts, error)
	stored func() (storedFacts, error)
	// hubAPIs returns the APIs that the hub serves. It may be nil: then they are not read.
	hubAPIs func() evaluation.APIFacts
	// ocmVersion returns the version of OCM. It may be nil: then the version is read from the hub.
	ocmVersion ocmVersion
	// installationWait is the reason why installations on the cluster wait.
	installationWait evaluation.Wait
	now              time.Time
}

var _ fleet.Reader = clusterReader{}

// ocmVersion returns the version of OCM on the hub, and whether it could be read.
type ocmVersion func(context.Context) (string, bool, error)

// skipOCMVersion is an ocmVersion that does not read the version. Few verdicts need it.
func skipOCMVersion(context.Context) (string, bool, error) { return "", false, nil }

// withLastReportedFacts returns the cluster for a decision that cannot wait.
func (r clusterReader) withLastReportedFacts() clusterReader {
	stored := r.stored
	r.facts = func() (evaluation.Facts, error) {
		facts, err := stored()
		return facts.lastReported(), err
	}
	return r
}

// withAddOn returns the cluster with another state of an add-on.
func (r clusterReader) withAddOn(addOn *addonv1alpha1.ManagedClusterAddOn) clusterReader {
	r.addOns = maps.Clone(r.addOns)
	r.addOns[addOn.Name] = addOn
	return r
}

// AddOn implements fleet.Reader.
func (r clusterReader) AddOn(_ context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return r.addOns[key.Name], nil
}

// Cluster implements fleet.Reader.
func (r clusterReader) Cluster(_ context.Context, name string) (*clusterv1.ManagedCluster, error) {
	if name != r.managedCluster.Name { // a hosting cluster is not read, see Facts
		return &clusterv1.ManagedCluster{}, nil
	}
	return r.managedCluster, nil
}

// TemplateVersion implements fleet.Reader.
func (r clusterReader) TemplateVersion(ctx context.Context, name string) (string, bool, error) {
	if override := r.overrides[name]; override != nil {
		return versions.OfTemplate(override.Annotations, override.Labels), true, nil
	}
	return r.templates.TemplateVersion(ctx, name)
}

// OCMVersion implements fleet.Reader.
func (r clusterReader) OCMVersion(ctx context.Context) (string, bool, error) {
	if r.ocmVersion != nil {
		return r.ocmVersion(ctx)
	}
	return r.Objects.OCMVersion(ctx)
}

// Selected implements fleet.Reader. It reads nothing, because selections only explain verdicts.
func (clusterReader) Selected(context.Context, []types.NamespacedName, string) (selected, read bool, err error) {
	return false, false, nil
}

// Setting implements fleet.Reader.
func (clusterReader) Setting(context.Context, types.NamespacedName) (settings.Outcome, error) {
	return settings.Outcome{}, nil
}

// Installation implements fleet.Reader.
func (r clusterReader) Installation(context.Context, types.NamespacedName) (evaluation.Wait, error) {
	return r.installationWait, nil
}

// Facts implements fleet.Reader. It does not read the facts of a hosting cluster: they only have APIs, and no API contradicts an
// add-on.
func (r clusterReader) Facts(_ context.Context, _ *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	if cluster != r.managedCluster.Name {
		return awaitedFacts(r.now), nil
	}
	return r.facts()
}

// HubAPIs implements fleet.Reader.
func (r clusterReader) HubAPIs(context.Context) (evaluation.APIFacts, error) {
	if r.hubAPIs == nil {
		return nil, nil
	}
	return r.hubAPIs(), nil
}

// load returns the inputs of the verdicts on the edges of an add-on.
func (r clusterReader) load(ctx context.Context, evaluator policyEvaluator, addOn string) (evaluation.State, error) {
	loader := fleet.Loader{Reader: r, Offline: evaluation.OfflineHold}
	key := types.NamespacedName{Namespace: r.managedCluster.Name, Name: addOn}
	state, err := loader.Load(ctx, evaluator.Evaluator, key, r.now)
	if err != nil {
		return evaluation.State{}, fmt.Errorf("load what %s rests on: %w", addOn, err)
	}
	return state, nil
}

// discovery discovers the APIs that the hub serves now.
type discovery interface {
	Discover(ctx context.Context, requests []dependencyv1alpha1.APIRequest) []dependencyv1alpha1.APIFact
}

// lazyAlternativeAPIs is lazyHubAPIs for the dependents that have alternatives: an API that the hub serves may satisfy an edge instead
// of a removed add-on. Other verdicts on a removal do not change with the APIs of the hub.
func (r reviewer) lazyAlternativeAPIs(ctx context.Context, evaluator policyEvaluator, dependents []string) func() evaluation.APIFacts {
	choosing := slices.DeleteFunc(slices.Clone(dependents), func(dependent string) bool { return !evaluator.hasAlternatives(dependent) })
	return r.lazyHubAPIs(ctx, evaluator, choosing)
}

// lazyHubAPIs returns a function that discovers the APIs that add-ons require of the hub when it is first called.
func (r reviewer) lazyHubAPIs(ctx context.Context, evaluator policyEvaluator, addOns []string) func() evaluation.APIFacts {
	return sync.OnceValue(func() evaluation.APIFacts {
		if len(addOns) == 0 {
			return nil
		}
		requests := fleet.APIRequests(evaluator.HubAPIs(addOns...))
		if len(requests) == 0 {
			return nil
		}
		return fleet.APIFactsOf(r.discovery.Discover(ctx, requests))
	})
}
