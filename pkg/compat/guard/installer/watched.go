package installer

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"open-cluster-management.io/interlock/pkg/compat/guard"
)

// resources are the names of the kinds in an API server's paths.
var resources = map[string]string{
	guard.KindPolicy:    "mutatingadmissionpolicies",
	guard.KindBinding:   "mutatingadmissionpolicybindings",
	guard.KindWebhook:   "mutatingwebhookconfigurations",
	validatingKind.Kind: "validatingwebhookconfigurations",
}

// startWatching watches the one object of a kind, in the version in which it is written, and in no other.
func (i *Installer) startWatching(kind schema.GroupVersionKind) error {
	if i.watched[kind.Kind] == kind.Version {
		return nil
	}
	i.stopWatching(kind.Kind)
	name := guard.Name
	if kind == validatingKind {
		name = i.Served.Configuration
	}
	if err := i.watch(kind, name); err != nil {
		return fmt.Errorf("watch %s %s: %w", kind.Kind, name, err)
	}
	i.watched[kind.Kind] = kind.Version
	return nil
}

// forgetUnserved stops watching policies in a version that an API server of
// another release no longer has: a watch would ask for it for ever.
func (i *Installer) forgetUnserved(served string) {
	for _, kind := range []string{guard.KindPolicy, guard.KindBinding} {
		if i.watched[kind] != served {
			i.stopWatching(kind)
		}
	}
}

func (i *Installer) stopWatching(kind string) {
	if version, there := i.watched[kind]; there {
		i.unwatch(schema.GroupVersionKind{Group: guard.Group, Version: version, Kind: kind})
		delete(i.watched, kind)
	}
}

// watches wake the controller. Each is of a single object, as rights to it are
// given by its name.
type watches struct {
	ctx     context.Context // of the controller
	objects metadata.Interface
	queue   queue
	cancel  map[schema.GroupVersionKind]context.CancelFunc
}

// start wakes the controller from now on when the object comes, changes or
// goes; not at once: who insists is answered at a bounded rate.
func (w *watches) start(kind schema.GroupVersionKind, name string) error {
	resource := kind.GroupVersion().WithResource(resources[kind.Kind])
	informer := metadatainformer.NewFilteredMetadataInformer(w.objects, resource, metav1.NamespaceAll, 0, nil,
		func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}).Informer()
	wake := func() { w.queue.AddAfter(theOne, paceOfRepair) }
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { wake() },
		UpdateFunc: func(_, _ any) { wake() }, // without a resync, updates are changes
		DeleteFunc: func(any) { wake() },
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(w.ctx)
	w.cancel[kind] = cancel
	go informer.RunWithContext(ctx)
	return nil
}

func (w *watches) stop(kind schema.GroupVersionKind) {
	w.cancel[kind]()
	delete(w.cancel, kind)
}
