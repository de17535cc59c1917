// Package follow keeps a snapshot of a hub current, for the verbs of the plugin that wait, and for the console. It watches the
// hub, and reads again only lists that it does not watch.
package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

// Failures is the number of consecutive failures of a list that end a verb that shows changes.
const Failures = 5

// settle is the time for which changes are collected before they are reported, because other
// conditions mostly follow a condition. Hub.Settle overrides it.
const settle = 250 * time.Millisecond

// Watched is a list to watch.
type Watched struct {
	List client.ObjectList
	// Namespace is empty for all namespaces.
	Namespace string
	// Options filter the list further.
	Options []client.ListOption
}

// Lists returns the lists that verdicts on a managed cluster depend on. An empty name means all
// clusters. Kinds without an object in the first snapshot are left out, because the hub may not
// serve them. The conditions of add-ons still show each change.
func Lists(cluster string, first *snapshot.Snapshot) []Watched {
	lists := []Watched{
		{List: &addonv1alpha1.ClusterManagementAddOnList{}},
		{List: &addonv1alpha1.ManagedClusterAddOnList{}, Namespace: cluster},
		{List: &clusterv1.ManagedClusterList{}, Options: snapshot.Named(cluster)},
	}
	if len(first.Content.Facts) > 0 {
		lists = append(lists, Watched{List: &dependencyv1alpha1.ManagedClusterFactsList{}, Namespace: cluster})
	}
	if len(first.Policies) > 0 {
		lists = append(lists, Watched{List: &dependencyv1alpha1.AddOnDependencyPolicyList{}})
	}
	if len(first.Installations) > 0 {
		lists = append(lists, Watched{List: &dependencyv1alpha1.AddOnInstallationList{}, Namespace: cluster})
	}
	if len(first.Configs) > 0 {
		lists = append(lists, Watched{List: &addonv1alpha1.AddOnDeploymentConfigList{}})
	}
	return lists
}

var _ snapshot.Store = &Hub{}

// Hub reads watched lists from memory, and all other objects from the hub.
type Hub struct {
	client.Reader
	// Placements is whether Placements and their decisions are read again with each change. They only explain verdicts.
	Placements bool
	// Settle is the time for which changes are collected before they are reported.
	Settle time.Duration

	informers map[string]toolscache.SharedIndexInformer
	reduced   snapshot.Reduced
	changed   chan struct{}
	failed    chan error
}

// Start watches lists until the context ends. It returns after all of them were read. It fails
// at an error that no retry can fix, such as a missing right to watch. It also fails after this
// number of consecutive failures of a list, and so does Next. If failures is 0, it retries forever.
func Start(ctx context.Context, hub client.WithWatch, lists []Watched, failures int) (*Hub, error) {
	h := &Hub{
		Reader:    hub,
		Settle:    settle,
		informers: map[string]toolscache.SharedIndexInformer{},
		changed:   make(chan struct{}, 1),
		failed:    make(chan error, 1),
	}
	for _, watched := range lists {
		informer, err := h.informer(hub, watched, failures)
		if err != nil {
			return nil, err
		}
		h.informers[key(watched.List, watched.Namespace)] = informer
		go informer.RunWithContext(ctx)
	}
	for _, informer := range h.informers {
		for !informer.HasSynced() {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case err := <-h.failed:
				return nil, err
			case <-time.After(settle):
			}
		}
	}
	return h, nil
}

// Next waits for a change, and then until changes pause. It returns an error if the context
// ends or a watch fails.
func (h *Hub) Next(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-h.failed:
		return err
	case <-h.changed:
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(h.Settle):
		return nil
	}
}

// NextWithin is Next, but returns without an error after the time if nothing changes.
func (h *Hub) NextWithin(ctx context.Context, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := h.Next(limited); ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// Discovery implements snapshot.Discoverer.
func (h *Hub) Discovery() (apidiscovery.API, error) {
	if discoverer, ok := h.Reader.(snapshot.Discoverer); ok {
		return discoverer.Discovery()
	}
	return apidiscovery.API{}, errors.New("this client does not discover APIs")
}

// List implements client.Reader. A watched list has a single page.
func (h *Hub) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	switch list.(type) {
	case *clusterv1beta1.PlacementDecisionList:
		if !h.Placements {
			return apierrors.NewNotFound(clusterv1beta1.Resource("placementdecisions"), "")
		}
	case *clusterv1beta1.PlacementList:
		if !h.Placements {
			return apierrors.NewNotFound(clusterv1beta1.Resource("placements"), "")
		}
	}
	var options client.ListOptions
	options.ApplyOptions(opts)
	objects, watched := stored[runtime.Object](h, list, options.Namespace)
	if !watched {
		return h.Reader.List(ctx, list, opts...)
	}
	return meta.SetList(list, objects)
}

// StoredAddOns implements snapshot.Store.
func (h *Hub) StoredAddOns(namespace string) ([]*addonv1alpha1.ManagedClusterAddOn, bool) {
	return stored[*addonv1alpha1.ManagedClusterAddOn](h, &addonv1alpha1.ManagedClusterAddOnList{}, namespace)
}

// Reduced implements snapshot.Store.
func (h *Hub) Reduced() *snapshot.Reduced { return &h.reduced }

// stored returns the stored objects of a list in a namespace, or in all if it is empty. It returns false if the list is not watched.
func stored[T any](h *Hub, list client.ObjectList, namespace string) ([]T, bool) {
	informer, watched := h.informers[key(list, namespace)]
	if all, ok := h.informers[key(list, "")]; ok && !watched {
		informer, watched = all, true
	}
	if !watched {
		return nil, false
	}
	var objects []T
	for _, item := range informer.GetStore().List() {
		if object, ok := item.(client.Object); ok && (namespace == "" || namespace == object.GetNamespace()) {
			objects = append(objects, item.(T)) //nolint:forcetypeassert // the informer has objects of this list only
		}
	}
	return objects, true
}

func key(list client.ObjectList, namespace string) string {
	return fmt.Sprintf("%T/%s", list, namespace)
}

// informer returns an informer for a list. client-go's informers watch from the version that
// was read, and watch again after each interruption, with growing intervals.
func (h *Hub) informer(hub client.WithWatch, watched Watched, failures int) (toolscache.SharedIndexInformer, error) {
	var failed atomic.Int64 // consecutive failures
	listed := func(options metav1.ListOptions) []client.ListOption {
		return append([]client.ListOption{&client.ListOptions{Raw: &options}, client.InNamespace(watched.Namespace)}, watched.Options...)
	}
	lists := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, _ := watched.List.DeepCopyObject().(client.ObjectList) // a copy has the type of its original
			return list, hub.List(ctx, list, append(listed(options), client.Limit(options.Limit), client.Continue(options.Continue))...)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			opened, err := hub.Watch(ctx, watched.List, listed(options)...)
			if err == nil {
				failed.Store(0)
			}
			return opened, err
		},
	}
	object, err := item(hub.Scheme(), watched.List)
	if err != nil {
		return nil, err
	}
	informer := toolscache.NewSharedIndexInformer(toolscache.ToListWatcherWithWatchListSemantics(lists, hub), object, 0, nil)
	_, handled := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { h.change() },
		UpdateFunc: func(any, any) { h.change() },
		DeleteFunc: func(any) { h.change() },
	})
	failing := func(_ context.Context, _ *toolscache.Reflector, err error) {
		if isFinal(err) || failed.Add(1) == int64(failures) {
			h.fail(err)
		}
	}
	for _, err := range []error{handled, informer.SetTransform(lean), informer.SetWatchErrorHandlerWithContext(failing)} {
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", watched.List, err)
		}
	}
	return informer, nil
}

// item returns an empty object of the type of a list's items.
func item(scheme *runtime.Scheme, list client.ObjectList) (runtime.Object, error) {
	kinds, _, err := scheme.ObjectKinds(list)
	if err != nil {
		return nil, err
	}
	kind := kinds[0]
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	return scheme.New(kind)
}

func (h *Hub) change() {
	select {
	case h.changed <- struct{}{}:
	default: // a change is pending already
	}
}

// isFinal reports whether a retry after this error cannot succeed.
func isFinal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}

func (h *Hub) fail(err error) {
	select {
	case h.failed <- fmt.Errorf("watch: %w", err):
	default: // the first error counts
	}
}

// lean removes the fields from an object that snapshots do not keep.
func lean(stored any) (any, error) {
	switch full := stored.(type) {
	case *addonv1alpha1.ClusterManagementAddOn:
		return fleet.LeanRegistration(full), nil
	case *addonv1alpha1.ManagedClusterAddOn:
		return snapshot.LeanAddOn(full), nil
	case *clusterv1.ManagedCluster:
		return snapshot.LeanCluster(full), nil
	case *addonv1alpha1.AddOnDeploymentConfig:
		return fleet.LeanConfig(full), nil
	case *addonv1alpha1.AddOnTemplate:
		return fleet.LeanTemplate(full), nil
	case *clusterv1beta1.PlacementDecision:
		return fleet.LeanDecision(full), nil
	default:
		return stored, nil
	}
}
