package protection

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// maxLists is how many lists of a fleet are read at the same time: one is decoded while the API server makes the other.
const maxLists = 2

// fleetReviewer reviews what removes add-ons from many managed clusters.
type fleetReviewer struct {
	*responder
	reviewer
}

// removals are add-ons that are removed from managed clusters.
type removals struct {
	addOns []string
	// from reports whether an add-on is removed from a managed cluster where it is installed.
	from func(addOn, cluster string) bool
}

// reviewFleet finds what removals would break.
func (v *fleetReviewer) reviewFleet(ctx context.Context, under declared, of removals) (found, error) {
	required := slices.DeleteFunc(slices.Clone(of.addOns), func(addOn string) bool {
		return addOn == names.AgentAddOn || len(under.Dependents(addOn)) == 0
	})
	removed, err := v.removedFrom(ctx, removals{required, of.from})
	if err != nil || len(removed) == 0 {
		return found{}, err
	}
	dependents := under.dependentsOf(required)
	on, err := v.listAll(ctx, under.read(dependents), func(_, cluster string) bool { return removed[cluster] != nil })
	if err != nil {
		return found{}, err
	}
	now := v.now()
	message, mode, err := v.onClusters(ctx, under, fleetState{
		concerns: func(cluster string) bool { return removed[cluster] != nil }, addOns: on, ocm: unreadOCM, now: now,
		hub:   v.alternativesOfHub(ctx, under, dependents),
		facts: func(string) (evaluation.Facts, error) { return awaited(now), nil }, // to read them takes a request for each cluster
	}, func(as clusterReader, into protection.Broken) error {
		name := as.cluster.Name
		return as.breaks(ctx, under, removed[name], func(addOn string) bool { return of.from(addOn, name) }, into)
	})
	return found{request: toRemove, message: message, mode: mode}, err
}

// read returns the add-ons that have to be read for the verdicts of others: themselves, and all that they need if
// conditions decide whether they are on a cycle, or if they have alternatives.
func (d declared) read(addOns []string) []string {
	read := sets.New(addOns...)
	for _, addOn := range addOns {
		if d.Tied(addOn) == nil && !d.hasAlternatives(addOn) {
			continue
		}
		for _, need := range d.Needs(addOn) {
			read.Insert(need.Name)
		}
	}
	return sets.List(read)
}

// hasAlternatives reports whether an edge of the add-on has alternatives: another one may stay.
func (d declared) hasAlternatives(addOn string) bool {
	return slices.ContainsFunc(d.Declarations(addOn), func(one declaration.Declaration) bool {
		return slices.ContainsFunc(one.Edges, func(edge declaration.Edge) bool { return len(edge.Alternatives) > 0 })
	})
}

// removedFrom returns the add-ons that are removed from managed clusters where they are installed, by the names of
// these. One that is being deleted already is not.
func (v *fleetReviewer) removedFrom(ctx context.Context, of removals) (map[string]sets.Set[string], error) {
	from := map[string]sets.Set[string]{}
	for _, removed := range of.addOns {
		clusters, err := v.where(ctx, removed)
		if err != nil {
			return nil, err
		}
		for _, cluster := range clusters {
			if !of.from(removed, cluster) {
				continue
			}
			if from[cluster] == nil {
				from[cluster] = sets.New[string]()
			}
			from[cluster].Insert(removed)
		}
	}
	return from, nil
}

// where returns the managed clusters on which an add-on is installed, and not being deleted.
func (v *fleetReviewer) where(ctx context.Context, addOn string) (clusters []string, err error) {
	var those metav1.PartialObjectMetadataList
	those.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	if err := v.live.List(ctx, &those, named(addOn)...); err != nil {
		return nil, fmt.Errorf("list add-on %s of the fleet: %w", addOn, err)
	}
	for i := range those.Items {
		if those.Items[i].DeletionTimestamp.IsZero() {
			clusters = append(clusters, those.Items[i].Namespace)
		}
	}
	return clusters, nil
}

// listAll returns the add-ons that count, by the names of their managed clusters. Of several that cannot be listed, the
// error is that of the first name, whichever failed first.
func (v *fleetReviewer) listAll(ctx context.Context, addOnNames []string, counts func(addOn, cluster string) bool) (map[string]addOns, error) {
	lists, errs := make([][]*addonv1alpha1.ManagedClusterAddOn, len(addOnNames)), make([]error, len(addOnNames))
	var group errgroup.Group
	group.SetLimit(maxLists)
	for i, name := range addOnNames {
		group.Go(func() error {
			lists[i], errs[i] = v.list(ctx, name, func(cluster string) bool { return counts(name, cluster) })
			return nil
		})
	}
	_ = group.Wait()
	if at := slices.IndexFunc(errs, func(err error) bool { return err != nil }); at >= 0 {
		return nil, errs[at]
	}
	on := map[string]addOns{}
	for _, one := range slices.Concat(lists...) {
		if on[one.Namespace] == nil {
			on[one.Namespace] = addOns{}
		}
		on[one.Namespace][one.Name] = one
	}
	return on, nil
}

// list returns an add-on on the managed clusters that count.
func (v *fleetReviewer) list(ctx context.Context, name string, counts func(cluster string) bool) ([]*addonv1alpha1.ManagedClusterAddOn, error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := v.live.List(ctx, &all, named(name)...); err != nil {
		return nil, fmt.Errorf("list add-on %s of the fleet: %w", name, err)
	}
	var kept []*addonv1alpha1.ManagedClusterAddOn
	for i := range all.Items {
		if counts(all.Items[i].Namespace) {
			lean := fleet.LeanAddOn(&all.Items[i])
			lean.Spec.Configs = all.Items[i].Spec.Configs // which AddOnTemplate it names
			kept = append(kept, lean)
		}
	}
	return kept, nil
}

// fromCache reads a list from the API server's cache: it would read all of a resource from etcd to answer. The
// client writes its other options to what is returned.
func fromCache() *client.ListOptions {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
}

// named lists objects of one name in all namespaces.
func named(name string) []client.ListOption {
	return []client.ListOption{client.MatchingFields{"metadata.name": name}, fromCache()}
}

// fleetState is what the verdicts on many managed clusters rest on.
type fleetState struct {
	// concerns reports whether a managed cluster is to be reviewed.
	concerns func(cluster string) bool
	// addOns are those that are read, by the names of their managed clusters.
	addOns map[string]addOns
	ocm    ocmVersion
	facts  func(cluster string) (evaluation.Facts, error)
	// hub returns the APIs that the hub serves; nil: they are not read.
	hub func() evaluation.APIFacts
	now time.Time
}

// onClusters says what breaks on which cluster, by what is done there. What is refused counts first.
func (v *fleetReviewer) onClusters(
	ctx context.Context, under declared, state fleetState, breaks func(on clusterReader, into protection.Broken) error,
) (message string, mode dependencyv1alpha1.Protection, err error) {
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return "", "", fmt.Errorf("list managed clusters: %w", err)
	}
	broken := map[dependencyv1alpha1.Protection]protection.Broken{
		dependencyv1alpha1.ProtectionEnforce: {}, dependencyv1alpha1.ProtectionWarn: {},
	}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		if !state.concerns(cluster.Name) || !cluster.DeletionTimestamp.IsZero() || fleet.ClusterStatus(cluster) == "" { // it never joined
			continue
		}
		into := broken[v.modeIn(under, cluster)]
		if into == nil { // nothing is done there
			continue
		}
		if err := ctx.Err(); err != nil { // what follows may not read anything
			return "", "", fmt.Errorf("review the fleet: %w", err)
		}
		if err := breaks(clusterReader{
			Objects: fleet.Objects{Reader: v.live}, templates: fleet.Objects{Reader: v.cache}, cluster: cluster, addOns: state.addOns[cluster.Name],
			facts: func() (evaluation.Facts, error) { return state.facts(cluster.Name) }, ocm: state.ocm, hub: state.hub, now: state.now,
		}, into); err != nil {
			return "", "", err
		}
	}
	for _, mode := range []dependencyv1alpha1.Protection{dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn} {
		if message := broken[mode].Message(); message != "" {
			return message, mode, nil
		}
	}
	return "", "", nil
}

func (r reviewer) modeIn(under declared, cluster *clusterv1.ManagedCluster) dependencyv1alpha1.Protection {
	mode, _ := r.modeOf(under, cluster)
	return mode
}
