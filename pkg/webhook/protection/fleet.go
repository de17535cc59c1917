package protection

import (
	"context"
	"fmt"
	"slices"

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
	on, err := v.onFleet(ctx, removals{required, of.from}, under.read(under.dependentsOf(required)))
	if err != nil || len(on) == 0 {
		return found{}, err
	}
	return v.onClusters(ctx, under, on)
}

// read returns the add-ons that have to be read for the verdicts of dependents: themselves, and all that they need if
// conditions decide whether they are on a cycle, or if they have alternatives.
func (d declared) read(dependents []string) []string {
	read := sets.New(dependents...)
	for _, dependent := range dependents {
		if d.Tied(dependent) == nil && !d.hasAlternatives(dependent) {
			continue
		}
		for _, need := range d.Needs(dependent) {
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

// onCluster are the add-ons on a managed cluster: those that are removed, and those that stay.
type onCluster struct {
	removed sets.Set[string]
	stay    addOns
}

// onFleet returns add-ons on all managed clusters from which one is removed that is installed there.
func (v *fleetReviewer) onFleet(ctx context.Context, of removals, also []string) (map[string]onCluster, error) {
	on, err := v.removedFrom(ctx, of)
	if err != nil || len(on) == 0 {
		return nil, err
	}
	lists := make([][]*addonv1alpha1.ManagedClusterAddOn, len(also))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxLists)
	for i, name := range also {
		group.Go(func() (err error) {
			lists[i], err = v.list(ctx, name, func(cluster string) bool { return on[cluster].removed != nil && !of.from(name, cluster) })
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, stays := range slices.Concat(lists...) {
		on[stays.Namespace].stay[stays.Name] = stays
	}
	return on, nil
}

// removedFrom returns the managed clusters from which an add-on is removed that is installed there. One that is being
// deleted already is not.
func (v *fleetReviewer) removedFrom(ctx context.Context, of removals) (map[string]onCluster, error) {
	on := map[string]onCluster{}
	for _, removed := range of.addOns {
		var those metav1.PartialObjectMetadataList
		those.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
		if err := v.live.List(ctx, &those, named(removed)...); err != nil {
			return nil, fmt.Errorf("list add-on %s of the fleet: %w", removed, err)
		}
		for i := range those.Items {
			cluster := those.Items[i].Namespace
			if !those.Items[i].DeletionTimestamp.IsZero() || !of.from(removed, cluster) {
				continue
			}
			if on[cluster].removed == nil {
				on[cluster] = onCluster{sets.New[string](), addOns{}}
			}
			on[cluster].removed.Insert(removed)
		}
	}
	return on, nil
}

// list returns an add-on on the managed clusters that count.
func (v *fleetReviewer) list(ctx context.Context, name string, counts func(cluster string) bool) ([]*addonv1alpha1.ManagedClusterAddOn, error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := v.live.List(ctx, &all, named(name)...); err != nil {
		return nil, fmt.Errorf("list add-on %s of the fleet: %w", name, err)
	}
	var lean []*addonv1alpha1.ManagedClusterAddOn
	for i := range all.Items {
		if counts(all.Items[i].Namespace) {
			lean = append(lean, fleet.LeanAddOn(&all.Items[i]))
		}
	}
	return lean, nil
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

// onClusters finds what breaks on which cluster, by what is done there. What is refused counts first.
func (v *fleetReviewer) onClusters(ctx context.Context, under declared, on map[string]onCluster) (found, error) {
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return found{}, fmt.Errorf("list managed clusters: %w", err)
	}
	now := v.now()
	unread := func() (evaluation.Facts, error) { return awaited(now), nil } // to read them takes a request for each cluster
	broken := map[dependencyv1alpha1.Protection]protection.Broken{}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		there, removes := on[cluster.Name]
		if !removes || !cluster.DeletionTimestamp.IsZero() {
			continue
		}
		mode, _ := v.modeOf(under, cluster)
		if mode == dependencyv1alpha1.ProtectionOff {
			continue
		}
		if broken[mode] == nil {
			broken[mode] = protection.Broken{}
		}
		after := clusterReader{
			Objects: fleet.Objects{Reader: v.live}, templates: fleet.Objects{Reader: v.cache}, cluster: cluster, addOns: there.stay,
			facts: unread, ofFleet: true, now: now,
		}
		if err := after.breaks(ctx, under, there.removed, broken[mode]); err != nil {
			return found{}, err
		}
	}
	for _, mode := range []dependencyv1alpha1.Protection{dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn} {
		if message := broken[mode].Message(); message != "" {
			return found{request: toRemove, message: message, mode: mode}, nil
		}
	}
	return found{}, nil
}
