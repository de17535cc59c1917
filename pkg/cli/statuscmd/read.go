package statuscmd

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// maxLists is the largest number of selected clusters whose add-ons are listed by cluster. For more clusters, a list of all add-ons
// takes less time.
const maxLists = 20

// hub reads the add-ons of a hub.
type hub struct {
	client.WithWatch
	host string
	*filter
}

// list reads the add-ons of the filter in pages.
func (h *hub) list(ctx context.Context) ([]addonv1alpha1.ManagedClusterAddOn, error) {
	var addOns []addonv1alpha1.ManagedClusterAddOn
	namespaces := []string{h.namespace}
	if h.namespace == "" && h.selected != nil && len(h.selected) <= maxLists {
		namespaces = nil
		for cluster := range h.selected {
			namespaces = append(namespaces, cluster)
		}
	}
	for _, namespace := range namespaces {
		err := snapshot.Each(ctx, h, "managedclusteraddons", namespace, func(page *addonv1alpha1.ManagedClusterAddOnList) {
			for i := range page.Items {
				if h.hasCluster(page.Items[i].Namespace) {
					addOns = append(addOns, *snapshot.LeanAddOn(&page.Items[i]))
				}
			}
		}, h.listOptions()...)
		if err != nil {
			return nil, source.HubError(err, h.host)
		}
	}
	return addOns, nil
}

// listOptions returns options with which the hub filters by name. A list of a single cluster has all names, because other add-ons show
// that the cluster exists.
func (f *filter) listOptions() []client.ListOption {
	if f.namespace != "" {
		return nil
	}
	return snapshot.Named(f.name)
}

// selectClusters lets the hub select the managed clusters.
func (h *hub) selectClusters(ctx context.Context) error {
	if h.selector == nil {
		return nil
	}
	h.selected = map[string]bool{}
	err := snapshot.Each(ctx, h, "managedclusters", "", func(page *clusterv1.ManagedClusterList) {
		for i := range page.Items {
			h.selected[page.Items[i].Name] = true
		}
	}, client.MatchingLabelsSelector{Selector: h.selector})
	return source.HubError(err, h.host)
}

// checkCluster returns an error unless the managed cluster exists. Only a
// check needs the right to read ManagedClusters.
func (h *hub) checkCluster(ctx context.Context, isCheck bool) error {
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: clusterv1.GroupName, Version: "v1", Kind: "ManagedCluster"})
	err := h.Get(ctx, client.ObjectKey{Name: h.namespace}, cluster)
	switch {
	case apierrors.IsNotFound(err) && h.implied:
		return cmdline.UsageError(fmt.Errorf(
			"no managed cluster named: the kubeconfig's namespace %q is none on this hub; name one with -n CLUSTER, or list all with -A",
			h.namespace))
	case apierrors.IsNotFound(err):
		return fmt.Errorf("no managed cluster %q on this hub: name another with -n, or list all with -A", h.namespace)
	case err != nil && isCheck:
		return source.HubError(fmt.Errorf("no add-ons found in namespace %q, and whether it is a managed cluster is not known: %w",
			h.namespace, err), h.host)
	default:
		return nil
	}
}

// selectIn selects the managed clusters of a snapshot.
func (f *filter) selectIn(hub *snapshot.Snapshot) {
	if f.selector == nil {
		return
	}
	f.selected = map[string]bool{}
	for i := range hub.Clusters {
		if f.selector.Matches(labels.Set(hub.Clusters[i].Labels)) {
			f.selected[hub.Clusters[i].Name] = true
		}
	}
}
