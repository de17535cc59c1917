// Package templateversion reads the version of each AddOnTemplate of a hub. Of a
// template it requests the metadata alone, from when a dependency has a version range.
package templateversion

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/hub/affected"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
)

var addOnTemplates = addonv1alpha1.GroupVersion.WithResource("addontemplates")

// Reader reads the versions once its watch is enabled.
type Reader struct {
	*lazywatch.Watch

	mutex    sync.Mutex
	versions map[string]string // by the template's name
}

// New returns a reader for the manager to run. It enqueues the add-ons whose
// verdicts depend on a version when all are read, and when one of them changes.
func New(mgr ctrl.Manager, addOns affected.AddOns) (*Reader, error) {
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client: %w", err)
	}
	synced := func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.Versions) }
	return newReader(objects, synced, addOns.EnqueueTemplated), nil
}

func newReader(objects metadata.Interface, synced func(context.Context) error, changed func(context.Context, string) error) *Reader {
	reader := &Reader{versions: map[string]string{}}
	reader.Watch = lazywatch.New(lazywatch.Options{
		What:     "AddOnTemplates",
		Informer: func(ctx context.Context) (lazywatch.Informer, error) { return start(ctx, objects) },
		Synced:   synced,
		Changed: func(ctx context.Context, before, after any) error {
			template, differs := reader.store(before, after)
			if !differs || !reader.Ready() {
				return nil // synced enqueues every add-on that needs a version
			}
			return changed(ctx, template)
		},
	})
	return reader
}

func start(ctx context.Context, objects metadata.Interface) (cache.SharedIndexInformer, error) {
	informer := metadatainformer.NewFilteredMetadataInformer(objects, addOnTemplates, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(lean); err != nil {
		return nil, err
	}
	go informer.RunWithContext(ctx)
	return informer, nil
}

// lean keeps the name and the version of a template.
func lean(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	kept := &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta}
	kept.Name, kept.UID, kept.ResourceVersion = full.Name, full.UID, full.ResourceVersion
	if version := versions.OfTemplate(full.Annotations, full.Labels); version != "" {
		metav1.SetMetaDataAnnotation(&kept.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, version)
	}
	return kept, nil
}

// Version returns the version of a template; empty: it has none, or does not exist.
func (r *Reader) Version(template string) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.versions[template]
}

// store keeps the version of a template that has changed, and reports whether it
// is another one.
func (r *Reader) store(before, after any) (template string, differs bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	object, exists := after.(*metav1.PartialObjectMetadata)
	if !exists {
		object = before.(*metav1.PartialObjectMetadata)
	}
	version := ""
	if exists {
		version = object.Annotations[addonv1alpha1.AddOnVersionAnnotation]
	}
	differs = r.versions[object.Name] != version
	if version == "" {
		delete(r.versions, object.Name)
	} else {
		r.versions[object.Name] = version
	}
	return object.Name, differs
}
