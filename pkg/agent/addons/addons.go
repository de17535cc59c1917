// Package addons has the cache of the hub: the ManagedClusterAddOns in the namespace of the agent's cluster, reduced to the fields
// that a decision needs.
package addons

import (
	"context"
	"net/http"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/informerstop"
)

// Kind is the kind of an add-on on a managed cluster.
var Kind = addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOn")

// Scheme returns the types that the agent uses on the hub.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(addonv1alpha1.AddToScheme, dependencyv1alpha1.AddToScheme, eventsv1.AddToScheme)
	return scheme, builder.AddToScheme(scheme)
}

// Mapper returns the resources that the agent uses on the hub, without discovery: the
// agent starts while the hub does not respond, and needs no right to discovery. It has
// the signature of a manager's option.
func Mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{addonv1alpha1.GroupVersion, eventsv1.SchemeGroupVersion})
	mapper.Add(Kind, meta.RESTScopeNamespace)
	mapper.AddSpecific(dependencyv1alpha1.Kind, dependencyv1alpha1.Resource, dependencyv1alpha1.Resource, meta.RESTScopeNamespace)
	mapper.Add(eventsv1.SchemeGroupVersion.WithKind("Event"), meta.RESTScopeNamespace)
	return mapper, nil
}

// CacheOptions limits the cache to the cluster's namespace. It keeps stripped objects.
// Reads return the cached object itself, which must not be changed.
func CacheOptions(cluster string) cache.Options {
	return cache.Options{
		DefaultNamespaces:            map[string]cache.Config{cluster: {}},
		DefaultUnsafeDisableDeepCopy: ptr.To(true),
		ReaderFailOnMissingInformer:  true,
		NewInformer:                  informerstop.NewInformer,
		ByObject:                     map[client.Object]cache.ByObject{&addonv1alpha1.ManagedClusterAddOn{}: {Transform: strip}},
	}
}

// FactsCacheOptions limits a cache to the cluster's ManagedClusterFacts. Its reflector
// retries with a growing delay of up to a minute while the hub lacks the CRD.
func FactsCacheOptions(hub cluster.Cluster, name string) cache.Options {
	return cache.Options{
		HTTPClient:                   hub.GetHTTPClient(),
		Scheme:                       hub.GetScheme(),
		Mapper:                       hub.GetRESTMapper(),
		DefaultNamespaces:            map[string]cache.Config{name: {FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name)}},
		DefaultUnsafeDisableDeepCopy: ptr.To(true),
		DefaultTransform:             cache.TransformStripManagedFields(),
		DefaultWatchErrorHandler:     logRefused,
		NewInformer:                  informerstop.NewInformer,
	}
}

// logRefused logs errors that are normal on a hub without the CRD at a higher verbosity.
func logRefused(ctx context.Context, reflector *toolscache.Reflector, err error) {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		log.FromContext(ctx).V(1).Info("The hub does not serve ManagedClusterFacts; retrying",
			"crd", dependencyv1alpha1.CRDName, "cause", err.Error())
		return
	}
	toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
}

func strip(object any) (any, error) {
	full, ok := object.(*addonv1alpha1.ManagedClusterAddOn)
	if !ok {
		return object, nil // the tombstone of a deleted object
	}
	lean := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: full.Namespace, Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
	}}
	if hosting := HostingCluster(full); hosting != "" {
		lean.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: hosting}
	}
	lean.Spec.InstallNamespace = full.Spec.InstallNamespace //nolint:staticcheck // deprecated, and still where OCM installs an add-on
	lean.Status.Namespace = full.Status.Namespace
	lean.Status.HealthCheck = full.Status.HealthCheck
	for _, kind := range []string{availability.ConditionAvailable, availability.ConditionDegraded} {
		if condition := meta.FindStatusCondition(full.Status.Conditions, kind); condition != nil {
			lean.Status.Conditions = append(lean.Status.Conditions, *condition)
		}
	}
	return lean, nil
}

// HostingCluster returns the cluster that hosts the add-on's agent. It is empty if the agent runs on the managed cluster itself.
func HostingCluster(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	return addOn.Annotations[ocmv1alpha1.HostingClusterNameAnnotationKey]
}

// Customized reports whether the add-on's own manager checks its health.
func Customized(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return addOn.Status.HealthCheck.Mode == ocmv1alpha1.HealthCheckModeCustomized
}
