// Package witness tests, on a real API server, each defect that a witness finds.
package witness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/witness"
)

const (
	stock = client.FieldOwner("registration")
	agent = client.FieldOwner("interlock-addon-agent")
	label = "feature.open-cluster-management.io/addon-app"
)

// hub is a real API server with an audit log.
type hub struct {
	client.Client
	options witness.Options
	t       *testing.T
	ctx     context.Context
	cluster string
}

// TestOnHub makes each defect on purpose, on a real API server.
func TestOnHub(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	flags, log, err := witness.AuditFlags(t.TempDir())
	need(t, err)
	cluster, err := testenv.StartHub(ctx, testenv.Options{Name: "hub", Flags: flags})
	need(t, err)
	t.Cleanup(func() { check(t, cluster.Stop()) })
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.Install, addonv1alpha1.AddToScheme} {
		need(t, add(scheme))
	}
	administrator, err := client.New(cluster.Config, client.Options{Scheme: scheme})
	need(t, err)

	number := 0
	for name, test := range defects {
		number++
		t.Run(name, func(t *testing.T) {
			h := &hub{administrator, witness.Options{Hub: cluster.Config, AuditLog: log}, t, ctx, fmt.Sprintf("cluster%d", number)}
			h.prepare()
			w, err := witness.Start(ctx, h.options)
			need(t, err)
			defer w.Stop()
			test.make(h, w)
			findings, err := w.Findings(ctx)
			need(t, err)
			var kinds []witness.Kind
			for _, finding := range findings {
				kinds = append(kinds, finding.Kind)
			}
			if !slices.Equal(kinds, test.expected) {
				t.Errorf("want %q, got:\n%s", test.expected, witness.Report(findings))
			}
		})
	}
}

var defects = map[string]struct {
	make     func(*hub, *witness.Witness)
	expected []witness.Kind
}{
	"none: one transition, labels and declarations with a cause": {func(h *hub, w *witness.Witness) {
		h.available(agent, "False", "RequiredDependencyNotSatisfied")
		h.label("unhealthy")
		w.Cause("the dependency is installed", witness.AddOn(h.cluster, "app"))
		h.available(stock, "True", "ManagedClusterAddOnLeaseUpdated")
		h.label("available")
		w.Removed(h.registration())
		h.declare("a")
		h.quiet(w, 0, func() {})
	}, nil},
	"a write that the API server does not store": {func(h *hub, _ *witness.Witness) {
		h.available(agent, "False", "RequiredDependencyNotSatisfied")
		h.available(agent, "False", "RequiredDependencyNotSatisfied")
	}, []witness.Kind{witness.NoChange}},
	"a write of nothing but a time": {func(h *hub, _ *witness.Witness) {
		h.availableSince(agent, "True", "ManagedClusterAddOnLeaseUpdated", time.Unix(1, 0))
	}, []witness.Kind{witness.NoChange}},
	"a fight over a condition": {func(h *hub, _ *witness.Witness) {
		h.available(agent, "False", "RequiredDependencyNotSatisfied")
		h.available(stock, "Unknown", "ManagedClusterAddOnLeaseNotFound")
		h.available(agent, "False", "RequiredDependencyNotSatisfied")
		h.available(stock, "Unknown", "ManagedClusterAddOnLeaseNotFound")
	}, []witness.Kind{witness.Flip, witness.Flip}},
	"a label that flips": {func(h *hub, _ *witness.Witness) {
		h.label("unhealthy")
		h.label("available")
	}, []witness.Kind{witness.LabelMoved}},
	"a write, a condition and a label in a quiet period": {func(h *hub, w *witness.Witness) {
		h.quiet(w, 1, func() {
			h.label("unhealthy")
			h.available(agent, "False", "RequiredDependencyNotSatisfied")
		})
	}, []witness.Kind{witness.LabelMoved, witness.NotQuiet, witness.NotQuiet}},
	"a declaration that is lost": {func(h *hub, _ *witness.Witness) {
		h.declare("a")
	}, []witness.Kind{witness.DeclarationLost}},
	"an add-on that is uninstalled": {func(h *hub, _ *witness.Witness) {
		check(h.t, h.Delete(h.ctx, h.addOn()))
	}, []witness.Kind{witness.Deleted}},
}

func (h *hub) registration() string { return "app-of-" + h.cluster }

func (h *hub) addOn() *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: h.cluster, Name: "app"}}
}

func (h *hub) prepare() {
	h.t.Helper()
	declaration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: h.registration()}}
	declaration.Spec.InstallStrategy = stockv1alpha1.InstallStrategy{Type: stockv1alpha1.AddonInstallStrategyManual}
	declaration.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "a"}, {Name: "b"}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.cluster}},
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: h.cluster, Labels: map[string]string{label: "available"}}},
		declaration, h.addOn(),
	} {
		check(h.t, h.Create(h.ctx, object))
	}
	h.available(stock, "True", "ManagedClusterAddOnLeaseUpdated")
}

// available writes the condition as stock writers do, with a merge patch of the list.
func (h *hub) available(writer client.FieldOwner, status metav1.ConditionStatus, reason string) {
	h.t.Helper()
	h.availableSince(writer, status, reason, time.Unix(0, 0))
}

func (h *hub) availableSince(writer client.FieldOwner, status metav1.ConditionStatus, reason string, transition time.Time) {
	h.t.Helper()
	conditions := []metav1.Condition{{Type: "Available", Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(transition)}}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	check(h.t, err)
	check(h.t, h.Status().Patch(h.ctx, h.addOn(), client.RawPatch(types.MergePatchType, patch), writer))
}

func (h *hub) label(value string) {
	h.t.Helper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: h.cluster}}
	check(h.t, h.Patch(h.ctx, cluster,
		client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, label, value)), stock))
}

func (h *hub) declare(name string) {
	h.t.Helper()
	declaration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: h.registration()}}
	check(h.t, h.Patch(h.ctx, declaration,
		client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"dependencies":[{"name":%q}]}}`, name)), stock))
}

// quiet disturbs a quiet period with some writes of Interlock.
func (h *hub) quiet(w *witness.Witness, writes int, disturb func()) {
	h.t.Helper()
	disturbed := make(chan struct{})
	timer := time.AfterFunc(100*time.Millisecond, func() { defer close(disturbed); disturb() })
	defer timer.Stop()
	counts, err := w.Quiet(h.ctx, 2*time.Second)
	check(h.t, err)
	<-disturbed
	if counts.Interlock() != writes {
		h.t.Errorf("want %d writes by Interlock in:\n%s", writes, counts)
	}
}

// check may be called from any goroutine.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
