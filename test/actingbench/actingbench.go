// Package actingbench has a hub that is not one, for unit tests of the controllers that write one condition of add-ons.
package actingbench

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/acting"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/trigger"
	"open-cluster-management.io/interlock/test/fixture"
)

// Leaf is the add-on on a managed cluster that a controller decides on.
var Leaf = types.NamespacedName{Namespace: "cluster1", Name: "leaf"}

// Hub is what a controller gets.
type Hub struct {
	client.WithWatch
	AddOns acting.AddOns
	// Writer counts what it applies in Writes, and fails with Refused.
	Writer  client.WithWatch
	Writes  int
	Refused error
}

// New returns a hub with these registrations and AddOnTemplates, a managed cluster that is lost or not, and add-ons there.
func New(
	t *testing.T,
	registered []addonv1alpha1.ClusterManagementAddOn,
	templates []addonv1alpha1.AddOnTemplate,
	lost bool,
	addOns ...client.Object,
) *Hub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: Leaf.Namespace}}
	status := metav1.ConditionTrue
	if lost {
		status = metav1.ConditionUnknown
	}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	objects := append([]client.Object{cluster}, addOns...)
	for i := range templates {
		objects = append(objects, templates[i].DeepCopy())
	}
	h := &Hub{}
	h.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).Build()
	h.Writer = interceptor.NewClient(h.WithWatch, interceptor.Funcs{SubResourceApply: h.apply})
	now, reader := clocktesting.NewFakeClock(fixture.Now.Time), hubcache.NewReader(h.WithWatch)
	h.AddOns = acting.AddOns{
		Clock: now, Fleet: reader, Declarations: declarations.NewStore(), Conditions: condition.Writer{Status: h.Writer, Live: h.Writer},
		Loader: fleet.Loader{Offline: evaluation.OfflineHold, Reader: hubcache.Inputs{
			Reader: reader, Lazy: fleet.Objects{Reader: h.WithWatch}, Ready: func(input.Set) bool { return true }, Reported: none{}, Served: none{},
		}},
		Backoff: backoff.New(now), Evaluate: trigger.New(),
	}
	h.AddOns.Declarations.Set(evaluation.New(catalog.New(registered, templates...)))
	return h
}

// apply stores what is applied as an API server does. The fake client replaces the list of conditions.
func (h *Hub) apply(
	ctx context.Context,
	hub client.Client,
	_ string,
	of runtime.ApplyConfiguration,
	_ ...client.SubResourceApplyOption,
) error {
	if h.Refused != nil {
		return h.Refused
	}
	h.Writes++
	applied, stored := &addonv1alpha1.ManagedClusterAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}
	content, err := json.Marshal(of)
	if err = errors.Join(err, json.Unmarshal(content, applied), hub.Get(ctx, client.ObjectKeyFromObject(applied), stored)); err != nil {
		return err
	}
	for _, condition := range applied.Status.Conditions {
		meta.SetStatusCondition(&stored.Status.Conditions, condition)
	}
	if applied.Status.HealthCheck.Mode != "" {
		stored.Status.HealthCheck = applied.Status.HealthCheck
	}
	return hub.Status().Update(ctx, stored)
}

// Settle reconciles Leaf until nothing is written any more, and returns it.
func (h *Hub) Settle(t *testing.T, by reconcile.Reconciler) *addonv1alpha1.ManagedClusterAddOn {
	t.Helper()
	for before := -1; before != h.Writes; {
		before = h.Writes
		if _, err := by.Reconcile(t.Context(), reconcile.Request{NamespacedName: Leaf}); err != nil {
			t.Fatal(err)
		}
		if before > 5 {
			t.Fatal("it does not settle")
		}
	}
	found := &addonv1alpha1.ManagedClusterAddOn{}
	if err := h.Get(t.Context(), Leaf, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// Faults has the write of a controller fail, each time on a hub of its own. says is the error of the one that the hub refuses. Without the
// failure, Leaf becomes as it has to be.
func Faults(t *testing.T, says string, start func(*testing.T) (*Hub, reconcile.Reconciler), asItHasToBe func(*addonv1alpha1.ManagedClusterAddOn) bool) {
	t.Helper()
	resource, broken := schema.GroupResource{Resource: "managedclusteraddons"}, errors.New("the hub is busy")
	for name, test := range map[string]struct {
		refused error
		again   bool
		fails   string
	}{
		"Conflict": {apierrors.NewConflict(resource, Leaf.Name, broken), true, ""},
		"NotFound": {apierrors.NewNotFound(resource, Leaf.Name), false, ""},
		"Refused":  {broken, false, says + ": the hub is busy"},
	} {
		t.Run(name, func(t *testing.T) {
			hub, by := start(t)
			hub.Refused = test.refused
			result, err := by.Reconcile(t.Context(), reconcile.Request{NamespacedName: Leaf})
			if (err == nil) != (test.fails == "") || err != nil && err.Error() != test.fails || result.IsZero() == test.again {
				t.Errorf("%+v, %v", result, err)
			}
			hub.Refused = nil
			if found := hub.Settle(t, by); !asItHasToBe(found) {
				t.Errorf("after it: %+v", found.Status.Conditions)
			}
		})
	}
}

// Insist has another writer set these conditions again and again, and fails if the controller corrects them at once, each time.
func (h *Hub) Insist(t *testing.T, by reconcile.Reconciler, conditions ...metav1.Condition) {
	t.Helper()
	waited := false
	for range 3 {
		found := h.Settle(t, by)
		found.Status.Conditions = conditions
		if err := h.Status().Update(t.Context(), found); err != nil {
			t.Fatal(err)
		}
		result, err := by.Reconcile(t.Context(), reconcile.Request{NamespacedName: Leaf})
		if err != nil {
			t.Fatal(err)
		}
		waited = waited || result.RequeueAfter > 0
	}
	if !waited {
		t.Error("it is written again at once, each time")
	}
}

// AddOn is one on the managed cluster.
func AddOn(name string, conditions ...metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: Leaf.Namespace, Name: name}}
	addOn.Status.Conditions = conditions
	return addOn
}

// Condition has been so for an hour.
func Condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type:               kind,
		Status:             status,
		Reason:             reason,
		Message:            message,
		LastTransitionTime: metav1.NewTime(fixture.Now.Add(-time.Hour)),
	}
}

// none is what no agent reports, and the hub does not serve.
type none struct{}

func (none) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return evaluation.Facts{}, nil
}

func (none) Known() evaluation.APIFacts { return nil }
