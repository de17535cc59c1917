package snapshot

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestClosedGates tests that a snapshot keeps the gate of an add-on, and evaluates the add-on with the AddOnTemplate that OCM is about to
// install.
func TestClosedGates(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{fleet.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	closed := map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	contradicting := map[string]string{
		addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed, addonv1alpha1.GateCauseAnnotation: "Contradiction",
	}
	available := metav1.Condition{Type: "Available", Status: metav1.ConditionUnknown, Reason: "NotReported"}
	registered := metav1.Condition{Type: ocmv1alpha1.ManagedClusterAddOnRegistrationApplied, Status: metav1.ConditionTrue, Reason: "Applied"}
	for name, test := range map[string]struct {
		annotations   map[string]string
		conditions    []metav1.Condition
		template      string
		closed, cause bool
		want          string
	}{
		"the template is about to be installed": {annotations: closed, template: "u-1", closed: true, want: "x"},
		"an agent has reported nothing yet": {
			annotations: closed, conditions: []metav1.Condition{available}, template: "u-1", closed: true, want: "x",
		},
		"a contradiction":                 {annotations: contradicting, template: "u-1", closed: true, cause: true, want: "x"},
		"a template without dependencies": {annotations: closed, template: "u-2", closed: true, want: "own"},
		"no template is chosen yet":       {annotations: closed, closed: true, want: "own"},
		"the installation has begun": {
			annotations: closed, conditions: []metav1.Condition{registered, available}, template: "u-1", want: "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			registration := fixture.Deployed(fixture.Specified(t, "u", "{ordering: Install, dependencies: [{name: own}]}"))
			declaring, silent := fixture.Template("u", "u-1", "[{name: x}]"), fixture.Template("u", "u-2", "[]")
			silent.Annotations = nil
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
				Namespace: "c1", Name: "u", Annotations: map[string]string{"secret": "x"},
			}}
			for key, value := range test.annotations {
				addOn.Annotations[key] = value
			}
			addOn.Status.Conditions = test.conditions
			if test.template != "" {
				addOn = fleet.WithRollout(addOn, test.template)
			}
			hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
				&registration, &declaring, &silent, addOn, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
			).Build()
			original, err := Take(t.Context(), hub, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, snapshot := range []*Snapshot{original, reread(t, original)} {
				stored := snapshot.AddOnOn(types.NamespacedName{Namespace: "c1", Name: "u"})
				if fleet.GateClosed(stored) != test.closed || fleet.HeldForContradiction(stored) != test.cause {
					t.Errorf("closed %t, contradicting %t", fleet.GateClosed(stored), fleet.HeldForContradiction(stored))
				}
				if len(stored.Annotations) != len(test.annotations) {
					t.Errorf("annotations %v", stored.Annotations)
				}
				var names []string
				for _, finding := range snapshot.Evaluated("c1")("u") {
					names = append(names, finding.Name())
					if held := finding.Verdict == evaluation.Held; held != (test.want == "") {
						t.Errorf("verdict %s", finding.Verdict)
					}
				}
				if got := strings.Join(names, " "); got != test.want {
					t.Errorf("findings on %q, want %q", got, test.want)
				}
			}
		})
	}
}
