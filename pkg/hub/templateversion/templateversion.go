// Package templateversion reads the version of each AddOnTemplate of a hub. Of a
// template it requests the metadata alone, from when the first dependency needs it.
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
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/hub/ondemand"
)

var addOnTemplates = addonv1alpha1.GroupVersion.WithResource("addontemplates")

// Reader knows the versions once one of them has been requested.
type Reader struct {
	watch *ondemand.Watch

	mutex    sync.Mutex
	versions map[string]string // by the template's name
}

// SetupWithManager returns a reader that the manager runs. It calls synced when
// all versions are known, and then changed with the name of each template whose
// version changes.
func SetupWithManager(mgr ctrl.Manager, synced func(context.Context) error, changed func(ctx context.Context, template string) error) (*Reader, error) {
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client: %w", err)
	}
	reader := newReader(objects, synced, changed)
	return reader, mgr.Add(reader.watch)
}

func newReader(objects metadata.Interface, synced func(context.Context) error, changed func(context.Context, string) error) *Reader {
	reader := &Reader{versions: map[string]string{}}
	reader.watch = &ondemand.Watch{
		What:     "AddOnTemplates",
		Informer: func(ctx context.Context) (ondemand.Informer, error) { return start(ctx, objects) },
		Synced:   synced,
	}
	reader.watch.Changed = func(ctx context.Context, before, after any) error {
		template, differs := reader.store(before, after)
		if !differs || !reader.watch.Ready() {
			return nil // synced enqueues every add-on that needs a version
		}
		return changed(ctx, template)
	}
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

// Ready reports whether the versions are known; its first call starts the watch.
func (r *Reader) Ready() bool { return r.watch.Ready() }

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
