// Package ocmversion reads which version of Open Cluster Management a hub has.
// OCM's operator writes its version to every CRD that it installs. The CRD of
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

	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/hub/affected"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
)

const (
	// Annotation holds the version of OCM on its CRDs.
	Annotation = "operator.open-cluster-management.io/version"
	// CRDName is the CRD whose annotation counts.
	CRDName = "managedclusters.cluster.open-cluster-management.io"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Reader reads the version once its watch is enabled.
type Reader struct {
	*lazywatch.Watch
	version atomic.Pointer[string]
}

// New returns a reader for the manager to run. It enqueues the add-ons that
// require a version when it is read and when it changes.
func New(mgr ctrl.Manager, addOns affected.AddOns) (*Reader, error) {
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client: %w", err)
	}
	reader := &Reader{}
	enqueue := func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.OCM) }
	reader.Watch = lazywatch.New(lazywatch.Options{
		What:     "the CRD of ManagedCluster",
		Informer: func(ctx context.Context) (lazywatch.Informer, error) { return start(ctx, objects), nil },
		Synced:   enqueue,
		Changed: func(ctx context.Context, before, after any) error {
			reader.version.Store(versionOf(after))
			if !reader.Ready() || *versionOf(before) == *versionOf(after) {
				return nil
			}
			return enqueue(ctx)
		},
	})
	return reader, nil
}

func start(ctx context.Context, objects metadata.Interface) cache.SharedIndexInformer {
	informer := metadatainformer.NewFilteredMetadataInformer(objects, crds, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, CRDName).String()
		}).Informer()
	go informer.RunWithContext(ctx)
	return informer
}

// Version returns the version, and whether the CRD has been read. The version is
// empty where the CRD does not have it.
func (r *Reader) Version() (version string, read bool) {
	if !r.Ready() {
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
