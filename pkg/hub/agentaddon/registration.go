package agentaddon

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 30 * time.Second
	// paceOfRepair bounds how often the registration is put back where somebody
	// insists on taking it away.
	paceOfRepair = time.Second
)

type (
	queue        = workqueue.TypedRateLimitingInterface[reconcile.Request]
	registration = *addonv1alpha1.ClusterManagementAddOn
)

// registrar keeps the add-on registered on the hub.
type registrar struct {
	client client.Client
	live   client.Reader
	// placement selects the clusters that get the add-on; empty for none.
	placement types.NamespacedName
}

// Reconcile applies the registration where it is not what it should be. What
// an administrator adds to it stays: other placements, configurations, a
// rollout strategy.
func (r *registrar) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	existing := &addonv1alpha1.ClusterManagementAddOn{}
	err := r.live.Get(ctx, client.ObjectKey{Name: Name}, existing)
	if err != nil && !apierrors.IsNotFound(err) {
		return reconcile.Result{}, fmt.Errorf("read ClusterManagementAddOn %s: %w", Name, err)
	}
	if err == nil && r.registered(existing) {
		return reconcile.Result{}, nil
	}
	wanted, err := r.wanted()
	if err != nil {
		return reconcile.Result{}, err
	}
	err = r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(FieldManager), client.ForceOwnership)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("apply ClusterManagementAddOn %s: %w", Name, err)
	}
	log.FromContext(ctx).Info("addon-agent is registered as an add-on", "addOn", Name, "placement", r.placement.String())
	return reconcile.Result{}, nil
}

func (r *registrar) wanted() (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := read("clustermanagementaddon.yaml", &object.Object); err != nil {
		return nil, err
	}
	strategy := map[string]any{"type": ocmv1alpha1.AddonInstallStrategyManual}
	if r.placement.Name != "" {
		strategy = map[string]any{"type": ocmv1alpha1.AddonInstallStrategyPlacements, "placements": []any{
			map[string]any{"namespace": r.placement.Namespace, "name": r.placement.Name},
		}}
	}
	return object, unstructured.SetNestedMap(object.Object, strategy, "spec", "installStrategy")
}

// registered reports whether an existing registration has all that is wanted.
func (r *registrar) registered(existing registration) bool {
	supported := existing.Spec.SupportedConfigs //nolint:staticcheck // deprecated, and what v1alpha1 has
	configurable := slices.ContainsFunc(supported, func(config ocmv1alpha1.ConfigMeta) bool {
		return config.Group == configResource.Group && config.Resource == configResource.Resource
	})
	strategy := existing.Spec.InstallStrategy
	placed := strategy.Type == ocmv1alpha1.AddonInstallStrategyManual
	if r.placement.Name != "" {
		placed = strategy.Type == ocmv1alpha1.AddonInstallStrategyPlacements &&
			slices.ContainsFunc(strategy.Placements, func(placement ocmv1alpha1.PlacementStrategy) bool {
				return placement.Namespace == r.placement.Namespace && placement.Name == r.placement.Name
			})
	}
	managed := existing.Annotations[ocmv1alpha1.AddonLifecycleAnnotationKey] == ocmv1alpha1.AddonLifecycleAddonManagerAnnotationValue
	return configurable && placed && managed && existing.Labels[managedByLabel] == managedByValue
}

func (r *registrar) setupWithManager(mgr ctrl.Manager) error {
	c, err := controller.New("agent-registration", mgr, controller.Options{
		Reconciler:  r,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryFirst, retryLast),
	})
	if err != nil {
		return fmt.Errorf("create controller of the agent's registration: %w", err)
	}
	first := source.Func(func(_ context.Context, q queue) error {
		q.Add(theOne)
		return nil
	})
	changed := source.Kind(mgr.GetCache(), &addonv1alpha1.ClusterManagementAddOn{}, wakeOnChange())
	for _, s := range []source.Source{first, changed} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for the agent's registration: %w", err)
		}
	}
	return nil
}

var theOne = reconcile.Request{NamespacedName: types.NamespacedName{Name: Name}}

// wakeOnChange wakes the controller when the registration changed or went.
func wakeOnChange() handler.TypedFuncs[registration, reconcile.Request] {
	wake := func(object registration, q queue) {
		if object.Name == Name {
			q.AddAfter(theOne, paceOfRepair)
		}
	}
	return handler.TypedFuncs[registration, reconcile.Request]{
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[registration], q queue) {
			if e.ObjectNew.ResourceVersion != e.ObjectOld.ResourceVersion {
				wake(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[registration], q queue) { wake(e.Object, q) },
	}
}
