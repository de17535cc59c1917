package dependent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// plainAddOn is an author's add-on that consists of a ConfigMap.
type plainAddOn struct{ options agent.AgentAddonOptions }

func (p plainAddOn) Manifests(context.Context, *clusterv1.ManagedCluster, *addonv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	return []runtime.Object{&corev1.ConfigMap{}}, nil
}
func (p plainAddOn) GetAgentAddonOptions() agent.AgentAddonOptions { return p.options }

// hubWith returns a hub with these objects and the add-on "gateway", which requires "accounts".
func hubWith(t *testing.T, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(objects, func(o client.Object) bool { return o.GetName() == "gateway" }) {
		objects = append(objects, registration("accounts"))
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
}

func registration(required string) *addonv1alpha1.ClusterManagementAddOn {
	registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	registered.Spec.Dependencies = []addonv1alpha1.AddonDependency{
		{Name: required, Message: "No credentials."}, {Name: "luxury", Type: addonv1alpha1.DependencyTypeOptional},
	}
	return registered
}

func accounts(available metav1.ConditionStatus) *addonv1alpha1.ManagedClusterAddOn {
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "accounts"}}
	installed.Status.Conditions = []metav1.Condition{{Type: "Available", Status: available, Reason: "Lease"}}
	return installed
}

func gateway(conditions ...metav1.Condition) *addonv1beta1.ManagedClusterAddOn {
	installed := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "cluster1", Name: "gateway", CreationTimestamp: metav1.NewTime(now.Add(-time.Second)),
	}}
	installed.Status.Conditions = conditions
	return installed
}

func ordered(hub client.Reader) *addOn {
	wrapped := Wrap(plainAddOn{}, Ordered(hub)).(*addOn)
	wrapped.clock = clocktesting.NewFakePassiveClock(now)
	return wrapped
}

func TestOrderedInstallation(t *testing.T) {
	broken := accounts("True")
	broken.Status.Conditions = append(broken.Status.Conditions, *degraded("True", "RequiredDependencyNotSatisfied", "missing"))
	for _, test := range []struct {
		name       string
		hub        []client.Object
		conditions []metav1.Condition
		installs   bool
		condition  string // the status of Installable, and the end of its message
		retries    bool
	}{
		{name: "the dependency is not installed", condition: "False No credentials. (not installed)", retries: true},
		{
			name: "the dependency is not available", hub: []client.Object{accounts("False")},
			condition: "False (Available=False, Lease)", retries: true,
		},
		{
			name: "the dependency misses a dependency of its own", hub: []client.Object{broken},
			condition: "False No credentials. (a Required dependency of its own is not satisfied)", retries: true,
		},
		{name: "the dependency is available", hub: []client.Object{accounts("True")}, installs: true, condition: "True from now on."},
		{
			name: "addon-manager reports that the dependency is not satisfied", hub: []client.Object{accounts("True")},
			conditions: []metav1.Condition{*degraded("True", "RequiredDependencyNotSatisfied", "not yet")},
			condition:  "False not yet",
		},
		{
			name: "the dependency is no longer satisfied",
			conditions: []metav1.Condition{
				{Type: ConditionInstallable, Status: "True"}, *degraded("True", "RequiredDependencyNotSatisfied", "gone"),
			}, installs: true,
			condition: "True ",
		},
		{
			name: "the declaration cannot be used", retries: true, condition: "False its events have the reason",
			hub: []client.Object{&addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
				Name: "gateway", Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: "nonsense"},
			}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			installed := gateway(test.conditions...)
			objects, err := ordered(hubWith(t, test.hub...).Build()).Manifests(t.Context(), &clusterv1.ManagedCluster{}, installed)
			if (err != nil) != test.retries || (len(objects) > 0) != test.installs {
				t.Errorf("%d objects, error %v", len(objects), err)
			}
			condition := meta.FindStatusCondition(installed.Status.Conditions, ConditionInstallable)
			if condition == nil {
				t.Fatal("Installable is not set")
			}
			got := string(condition.Status) + " " + condition.Message
			if !strings.HasPrefix(got, test.condition[:5]) || !strings.HasSuffix(got, test.condition[5:]) {
				t.Errorf("Installable %q, want %q", got, test.condition)
			}
		})
	}
}

// TestGateDecides tests add-ons with a gate. Only the gate decides. The library does not write Installable, because addon-manager does.
func TestGateDecides(t *testing.T) {
	for value, installs := range map[string]bool{addonv1alpha1.GateOpen: true, addonv1alpha1.GateClosed: false} {
		t.Run(value, func(t *testing.T) {
			waits := metav1.Condition{Type: ConditionInstallable, Status: "False", Reason: ReasonWaiting, Message: "by addon-manager"}
			installed := gateway(waits, *degraded("True", "RequiredDependencyNotSatisfied", "not yet"))
			installed.Annotations = map[string]string{addonv1alpha1.GateAnnotation: value}
			objects, err := ordered(hubWith(t).Build()).Manifests(t.Context(), &clusterv1.ManagedCluster{}, installed)
			if err != nil || (len(objects) > 0) != installs {
				t.Errorf("%d objects, error %v", len(objects), err)
			}
			if got := meta.FindStatusCondition(installed.Status.Conditions, ConditionInstallable); *got != waits {
				t.Errorf("Installable %+v", got)
			}
		})
	}
}

func TestFailedReadIsRetried(t *testing.T) {
	broken := errors.New("away")
	hub := hubWith(t).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		},
	}).Build()
	installed := gateway()
	objects, err := ordered(hub).Manifests(t.Context(), &clusterv1.ManagedCluster{}, installed)
	if !errors.Is(err, broken) || len(objects) > 0 || !strings.Contains(err.Error(), "gateway are satisfied on cluster1") {
		t.Errorf("%d objects, error %v", len(objects), err)
	}
}

func TestWrapWithoutOrderReadsNothing(t *testing.T) {
	objects, err := Wrap(plainAddOn{}).Manifests(
		t.Context(), &clusterv1.ManagedCluster{}, gateway(*degraded("True", "RequiredDependencyNotSatisfied", "x")),
	)
	if err != nil || len(objects) != 1 {
		t.Errorf("%d objects, error %v", len(objects), err)
	}
}

func TestProber(t *testing.T) {
	sick := errors.New("sick")
	own := func([]agent.FieldResult, *clusterv1.ManagedCluster, *addonv1beta1.ManagedClusterAddOn) error {
		return sick
	}
	failing := gateway(*degraded("True", "RequiredDependencyNotSatisfied", "because"))
	for _, test := range []struct {
		name   string
		prober *agent.HealthProber
		fields int
		own    error
	}{
		{
			"works, with a check",
			&agent.HealthProber{Type: agent.HealthProberTypeWork, WorkProber: &agent.WorkHealthProber{HealthChecker: own}}, 0,
			sick,
		},
		{"works, without", &agent.HealthProber{Type: agent.HealthProberTypeWork}, 0, nil},
		{"Deployments", &agent.HealthProber{Type: agent.HealthProberTypeDeploymentAvailability}, 1, nil},
		{"workloads", &agent.HealthProber{Type: agent.HealthProberTypeWorkloadAvailability}, 2, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Wrap(plainAddOn{agent.AgentAddonOptions{HealthProber: test.prober}}).GetAgentAddonOptions().HealthProber
			if got.Type != agent.HealthProberTypeWork || len(got.WorkProber.ProbeFields) != test.fields {
				t.Fatalf("got %+v", got)
			}
			err := got.WorkProber.HealthChecker(nil, nil, failing)
			if err == nil || err.Error() != "RequiredDependencyNotSatisfied: because" {
				t.Errorf("while a Required dependency fails: %v", err)
			}
			if err := got.WorkProber.HealthChecker(nil, nil, gateway()); !errors.Is(err, test.own) {
				t.Errorf("with satisfied dependencies: %v, want %v", err, test.own)
			}
			if test.prober.WorkProber != nil && test.prober.WorkProber.HealthChecker(nil, nil, failing) != sick { //nolint:errorlint // the very same
				t.Error("the author's own prober was changed")
			}
		})
	}
	for _, untouched := range []*agent.HealthProber{nil, {Type: agent.HealthProberTypeLease}, {Type: agent.HealthProberTypeNone}} {
		if got := Wrap(plainAddOn{agent.AgentAddonOptions{HealthProber: untouched}}).GetAgentAddonOptions().HealthProber; got != untouched {
			t.Errorf("%+v became %+v", untouched, got)
		}
	}
}
