package snapshot

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// page is how many objects are read at once. The API server serves them from its watch
// cache, without holding a list of the whole fleet in memory.
const page = 500

// pageOfTemplates is less: an AddOnTemplate has up to 1.5 MiB. Most of it is not decoded.
const pageOfTemplates = 20

// Named lets the hub filter a list by the name of the objects; an empty name: all.
func Named(name string) []client.ListOption {
	if name == "" {
		return nil
	}
	return []client.ListOption{client.MatchingFields{metav1.ObjectNameField: name}}
}

// metadataOf are the types of lists, by resource. Only the metadata of their items is read.
var metadataOf = map[string]metav1.TypeMeta{
	"clustermanagementaddons": {APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ClusterManagementAddOnList"},
	"managedclusters":         {APIVersion: clusterv1.GroupVersion.String(), Kind: "ManagedClusterList"},
}

// Each reads a list in pages, and calls a function with each. Of a list of
// PartialObjectMetadata, the resource names the type.
func Each[L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, hub client.Reader, resource, namespace string, read func(P), options ...client.ListOption) error {
	for next := ""; ; {
		list := P(new(L)) // a page that is decoded into the one before would change what was kept of that
		if metadata, ok := any(list).(*metav1.PartialObjectMetadataList); ok {
			metadata.TypeMeta = metadataOf[resource]
		}
		all := append([]client.ListOption{client.InNamespace(namespace), client.Limit(page), client.Continue(next)}, options...)
		switch err := hub.List(ctx, list, all...); {
		case err != nil && renewed(err) != "" && renewed(err) != next:
			next = renewed(err)
			continue
		case err != nil:
			return fmt.Errorf("list %s: %w", resource, err)
		}
		read(list)
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}

// renewed is where a list goes on that took longer than the API server keeps its state, usually 5 minutes; empty: it
// does not. What was changed meanwhile may be missing, as in a list that ended then.
func renewed(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}
