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

// page is the page size of lists. The API server serves pages from its watch cache,
// without a list of the whole fleet in memory.
const page = 500

// pageOfTemplates is smaller, because an AddOnTemplate has up to 1.5 MiB. Most of it is not decoded.
const pageOfTemplates = 20

// Named returns options that let the hub filter a list by the name of the objects. There are none for an empty name.
func Named(name string) []client.ListOption {
	if name == "" {
		return nil
	}
	return []client.ListOption{client.MatchingFields{metav1.ObjectNameField: name}}
}

// metadataOf has the types of metadata-only lists, by resource.
var metadataOf = map[string]metav1.TypeMeta{
	"clustermanagementaddons": {APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ClusterManagementAddOnList"},
	"managedclusters":         {APIVersion: clusterv1.GroupVersion.String(), Kind: "ManagedClusterList"},
}

// Each reads a list in pages, and calls a function with each page. The resource determines
// the type of a list of PartialObjectMetadata.
func Each[L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, hub client.Reader, resource, namespace string, read func(P), options ...client.ListOption) error {
	for next := ""; ; {
		list := P(new(L)) // decoding into the previous page would change the items that were kept
		if metadata, ok := any(list).(*metav1.PartialObjectMetadataList); ok {
			metadata.TypeMeta = metadataOf[resource]
		}
		listOptions := append([]client.ListOption{client.InNamespace(namespace), client.Limit(page), client.Continue(next)}, options...)
		switch err := hub.List(ctx, list, listOptions...); {
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

// renewed returns the token with which an expired list continues. It is empty for other errors. A list expires if it takes longer
// than the API server keeps its state, usually 5 minutes. Later changes may be missing then.
func renewed(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}
