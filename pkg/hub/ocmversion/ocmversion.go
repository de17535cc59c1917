// Package ocmversion finds out which version of Open Cluster Management a hub
// has. OCM's operator writes its version to every CRD that it installs; that of
// ManagedCluster is on every hub, and Interlock never changes it.
package ocmversion

import (
	"context"
	"fmt"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/hub/ondemand"
)

const (
	// Annotation holds the version of OCM on its CRDs.
	Annotation = "operator.open-cluster-management.io/version"
	// CRDName is the CRD whose annotation counts.
	CRDName = "managedclusters.cluster.open-cluster-management.io"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Reader knows the version once somebody has asked for it.
type Reader struct {
	watch   *ondemand.Watch
	version atomic.Pointer[string]
}

// SetupWithManager returns a reader that the manager runs; wake is called when
// the version is known, and when it changes.
func SetupWithManager(mgr ctrl.Manager, wake func(context.Context) error) (*Reader, error) {
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client: %w", err)
	}
	reader := &Reader{}
	reader.watch = &ondemand.Watch{
		What:     "the CRD of ManagedCluster",
		Informer: func(ctx context.Context) (ondemand.Informer, error) { return reader.start(ctx, objects), nil },
		Synced:   wake,
	}
	reader.watch.Changed = func(ctx context.Context, before, after any) error {
		reader.version.Store(versionOf(after))
		if !reader.watch.Ready() || *versionOf(before) == *versionOf(after) {
			return nil
		}
		return wake(ctx)
	}
	return reader, mgr.Add(reader.watch)
}

func (r *Reader) start(ctx context.Context, objects metadata.Interface) cache.SharedIndexInformer {
	informer := metadatainformer.NewFilteredMetadataInformer(objects, crds, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, CRDName).String()
		}).Informer()
	go informer.RunWithContext(ctx)
	return informer
}

// Version returns the version, empty where the CRD does not tell it, and
// whether that is known yet.
func (r *Reader) Version() (version string, known bool) {
	if !r.watch.Ready() {
		return "", false
	}
	if stored := r.version.Load(); stored != nil {
		return *stored, true
	}
	return "", true
}

func versionOf(object any) *string {
	var version string
	if crd, ok := object.(*metav1.PartialObjectMetadata); ok {
		version = crd.Annotations[Annotation]
	}
	return &version
}
