// Package objectwatch watches the metadata of single objects. Rights to such an
// object can be given by its name. It serves the graft and the guard, and ends
// with them.
package objectwatch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// New returns an informer of the one cluster-scoped object of that name. It has
// no resync, so that every update is a change. The caller adds handlers and runs it.
func New(objects metadata.Interface, resource schema.GroupVersionResource, name string) cache.SharedIndexInformer {
	return metadatainformer.NewFilteredMetadataInformer(objects, resource, metav1.NamespaceAll, 0, nil,
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}).Informer()
}
