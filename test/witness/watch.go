package witness

import (
	"context"
	"errors"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// resources are in the versions that the hub stores, so no conversion is involved.
var resources = []schema.GroupVersionResource{
	{Group: "addon.open-cluster-management.io", Version: "v1alpha1", Resource: addOns},
	{Group: "addon.open-cluster-management.io", Version: "v1alpha1", Resource: registrations},
	{Group: "cluster.open-cluster-management.io", Version: "v1", Resource: clusters},
}

func observedVersion(resource string) string {
	for _, gvr := range resources {
		if gvr.Resource == resource {
			return gvr.Version
		}
	}
	return ""
}

// observe starts the watches. Their first states are the base.
func (w *Witness) observe(ctx context.Context) error {
	watchCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	factory := dynamicinformer.NewDynamicSharedInformerFactory(w.dynamic, 0)
	synced := make([]cache.InformerSynced, 0, len(resources))
	for _, resource := range resources {
		handler, err := factory.ForResource(resource).Informer().AddEventHandler(w.handler(resource.Resource))
		if err != nil {
			stop()
			return err
		}
		synced = append(synced, handler.HasSynced)
	}
	factory.Start(watchCtx.Done())
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !cache.WaitForCacheSync(bounded.Done(), synced...) {
		stop()
		return errors.New("the hub does not serve the APIs of OCM")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record = record{since: time.Now(), base: maps.Clone(w.latest)}
	return nil
}

func (w *Witness) handler(resource string) cache.ResourceEventHandler {
	receive := func(object any, deleted bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		w.receive(resource, object.(*unstructured.Unstructured), deleted)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { receive(object, false) },
		UpdateFunc: func(_, object any) { receive(object, false) },
		DeleteFunc: func(object any) { receive(object, true) },
	}
}

func (w *Witness) receive(resource string, object *unstructured.Unstructured, deleted bool) {
	state, err := stateOf(object)
	if err != nil {
		panic(err) // the API server of Kubernetes has no such versions
	}
	state.Deleted = deleted
	key := Object{resource, object.GetNamespace(), object.GetName()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.latest[key].Version == state.Version && !deleted { // read again by a new list
		return
	}
	w.reached[key] = max(w.reached[key], state.Version)
	if deleted {
		delete(w.latest, key)
	} else {
		w.latest[key] = state
	}
	w.record.observations = append(w.record.observations, observation{key, state, time.Now()})
}
