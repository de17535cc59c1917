package lazywatch

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// source is where versions are.
type source struct {
	what     string
	resource schema.GroupVersionResource
	name     string // of the only object; empty: all
	// version reads the version of an object, annotation is where it is kept.
	version    func(annotations, labels map[string]string) string
	annotation string
}

var (
	templates = source{
		what: "AddOnTemplates", resource: addonv1alpha1.GroupVersion.WithResource("addontemplates"),
		version: versions.OfTemplate, annotation: addonv1alpha1.AddOnVersionAnnotation,
	}
	ocm = source{
		what:       "the CRD of ManagedCluster",
		resource:   schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		name:       fleet.OCMVersionCRD,
		version:    func(annotations, _ map[string]string) string { return annotations[names.OCMVersion] },
		annotation: names.OCMVersion,
	}
)

// Versions reads versions from the metadata of objects once its watch is enabled.
type Versions struct {
	*Watch
	source

	mutex    sync.Mutex
	versions map[string]string // by the object's name
}

// TemplateVersions returns a watch for the manager to run. It enqueues the add-ons whose
// verdicts depend on the version of a template when all are read, and when one changes.
func TemplateVersions(mgr ctrl.Manager, addOns AddOns) (*Versions, error) {
	synced := func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.Versions) }
	return newVersions(mgr, templates, synced, addOns.EnqueueTemplated)
}

// OCMVersion returns a watch for the manager to run. It enqueues the add-ons that require a
// version of OCM when it is read, and when it changes.
func OCMVersion(mgr ctrl.Manager, addOns AddOns) (*Versions, error) {
	synced := func(ctx context.Context) error { return addOns.EnqueueUsers(ctx, input.OCM) }
	return newVersions(mgr, ocm, synced, func(ctx context.Context, _ string) error { return synced(ctx) })
}

func newVersions(
	mgr ctrl.Manager, from source, synced func(context.Context) error, changed func(ctx context.Context, name string) error,
) (*Versions, error) {
	objects, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create metadata client: %w", err)
	}
	return from.newVersions(objects, synced, changed), nil
}

func (s source) newVersions(
	objects metadata.Interface, synced func(context.Context) error, changed func(ctx context.Context, name string) error,
) *Versions {
	reader := &Versions{source: s, versions: map[string]string{}}
	reader.Watch = New(Options{
		What:     s.what,
		Informer: func(ctx context.Context) (Informer, error) { return s.start(ctx, objects) },
		Synced:   synced,
		Changed: func(ctx context.Context, before, after any) error {
			name, differs := reader.store(before, after)
			if !differs || !reader.Ready() {
				return nil // synced enqueues every add-on that needs a version
			}
			return changed(ctx, name)
		},
	})
	return reader
}

func (s source) start(ctx context.Context, objects metadata.Interface) (cache.SharedIndexInformer, error) {
	var selected func(*metav1.ListOptions)
	if s.name != "" {
		selected = func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, s.name).String()
		}
	}
	informer := metadatainformer.NewFilteredMetadataInformer(objects, s.resource, metav1.NamespaceAll, 0, cache.Indexers{}, selected).Informer()
	if err := informer.SetTransform(s.lean); err != nil {
		return nil, err
	}
	go informer.RunWithContext(ctx)
	return informer, nil
}

// lean keeps the name and the version of an object.
func (s source) lean(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	kept := &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta}
	kept.Name, kept.UID, kept.ResourceVersion = full.Name, full.UID, full.ResourceVersion
	if version := s.version(full.Annotations, full.Labels); version != "" {
		metav1.SetMetaDataAnnotation(&kept.ObjectMeta, s.annotation, version)
	}
	return kept, nil
}

// Version returns the version of an object; empty: it has none, or does not exist.
func (r *Versions) Version(name string) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.versions[name]
}

// store keeps the version of an object that has changed, and reports whether it is
// another one.
func (r *Versions) store(before, after any) (name string, differs bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	object, exists := after.(*metav1.PartialObjectMetadata)
	if !exists {
		object = before.(*metav1.PartialObjectMetadata)
	}
	version := ""
	if exists {
		version = object.Annotations[r.annotation]
	}
	differs = r.versions[object.Name] != version
	if version == "" {
		delete(r.versions, object.Name)
	} else {
		r.versions[object.Name] = version
	}
	return object.Name, differs
}
