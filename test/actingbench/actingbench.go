// Package actingbench has a hub that is not one, for unit tests of the controllers that write one condition of add-ons.
package actingbench

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/test/fixture"
)

// Leaf is the add-on on a managed cluster that a controller decides on.
var Leaf = types.NamespacedName{Namespace: "cluster1", Name: "leaf"}

// Hub is what a controller gets.
type Hub struct {
	client.WithWatch
	Clock        *clocktesting.FakeClock
	Reader       hubcache.Reader
	Loader       fleet.Loader
	Declarations *declarations.Store
	Conditions   condition.Writer
	// Writes counts writes of conditions. Refused is the error of the next ones.
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
	h := &Hub{Clock: clocktesting.NewFakeClock(fixture.Now.Time), Declarations: declarations.NewStore()}
	h.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).Build()
	h.Declarations.Set(evaluation.New(catalog.New(registered, templates...)))
	h.Reader = hubcache.NewReader(h.WithWatch)
	h.Loader = fleet.Loader{Offline: evaluation.OfflineHold, Reader: hubcache.Inputs{
		Reader: h.Reader, Lazy: fleet.Objects{Reader: h.WithWatch}, Ready: func(input.Set) bool { return true }, Reported: none{}, Served: none{},
	}}
	writer := interceptor.NewClient(h.WithWatch, interceptor.Funcs{SubResourceApply: h.apply})
	h.Conditions = condition.Writer{Status: writer, Live: writer}
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
