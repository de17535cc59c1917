package planned

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Fleet has the current state of the managed clusters of a plan.
type Fleet struct {
	*snapshot.Snapshot
	Clusters []steps.Cluster
}

// fleet reads the managed clusters that the flags name.
func (o *Options) fleet(ctx context.Context, additions snapshot.Additions) (*Fleet, error) {
	cluster := ""
	if len(o.clusters) == 1 {
		cluster = o.clusters[0]
	}
	read, err := o.Source.Snapshot(ctx, cluster, additions)
	if err != nil {
		return nil, err
	}
	fleet := &Fleet{Snapshot: read}
	names := o.clusters
	if o.selector != nil {
		for i := range read.Clusters {
			if o.selector.Matches(labels.Set(read.Clusters[i].Labels)) {
				names = append(names, read.Clusters[i].Name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no managed cluster has the labels %s: kubectl get managedclusters --show-labels lists them", o.selector)
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		object := read.Object(name)
		if object == nil {
			return nil, source.NoCluster(name)
		}
		if object.DeletionTimestamp != nil {
			return nil, fmt.Errorf("managed cluster %q is being detached", name)
		}
		fleet.Clusters = append(fleet.Clusters, o.cluster(ctx, read, name))
	}
	return fleet, nil
}

// cluster returns the input of a plan on a managed cluster.
func (o *Options) cluster(ctx context.Context, read *snapshot.Snapshot, name string) steps.Cluster {
	owned, takenOver := sets.New[string](), sets.New[string]()
	for _, addOn := range read.Installed(name) {
		installer := addOn.Labels[addonv1alpha1.InstalledByLabel]
		if installer == "" {
			continue
		}
		owned.Insert(addOn.Name)
		if !o.Source.IsFile() && installation.TakenOver(addOn.ManagedFields, installer) { // a file does not have who has written what
			takenOver.Insert(addOn.Name)
		}
	}
	return steps.Cluster{
		Cluster: read.Whole(name), Owned: owned, Taken: takenOver, //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		Absent: func(placement types.NamespacedName) bool { return o.absent(ctx, placement) },
		Selected: func(addOn string) (selected, known bool) {
			selected, known, err := read.Selected(ctx, read.Declared.Install(addOn).Placements, name)
			return selected, known && err == nil && !o.Source.IsFile() // a file may lack the decisions of some Placements
		},
	}
}
