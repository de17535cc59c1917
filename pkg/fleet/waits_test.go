package fleet

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// installing is the evaluator of a hub on which leaf has base installed, and its owner consents.
func installing(t *testing.T) *evaluation.Evaluator {
	t.Helper()
	addOns := []addonv1alpha1.ClusterManagementAddOn{
		{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}},
		{ObjectMeta: metav1.ObjectMeta{Name: "base", Annotations: map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}}},
	}
	for i, spec := range []string{"dependencies: [{name: base, install: Auto}]", "installStrategy: {type: Manual}"} {
		if err := yaml.UnmarshalStrict([]byte(spec), &addOns[i].Spec); err != nil {
			t.Fatal(err)
		}
	}
	return evaluation.New(catalog.New(addOns))
}

// waitingFor is leaf with the condition that says so.
func waitingFor(t *testing.T, declared *evaluation.Evaluator, wait evaluation.Wait) *addonv1alpha1.ManagedClusterAddOn {
	t.Helper()
	on := evaluation.Cluster{Waits: map[string]evaluation.Wait{"base": wait}}
	none := func(string) evaluation.Observation { return evaluation.Observation{} }
	findings := declared.Evaluate(leaf.Name, declared.State(leaf.Name, on, none))
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: leaf.Name}}
	addOn.Status.Conditions = []metav1.Condition{{
		Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue, Reason: "Fails",
		Message: condition.Message(findings, condition.MaxMessage),
	}}
	return addOn
}

// What an installation waits for is remembered by addon-manager. For any other program, and before its first plan, the condition says it.
func TestLoadWaits(t *testing.T) {
	declared := installing(t)
	remembers := func(wait evaluation.Wait, known bool) func(types.NamespacedName) (evaluation.Wait, bool) {
		return func(addOn types.NamespacedName) (evaluation.Wait, bool) {
			if addOn.Namespace != leaf.Namespace || addOn.Name != "base" {
				t.Errorf("asked for %s", addOn)
			}
			return wait, known
		}
	}
	const approval, pause = evaluation.WaitForApproval, evaluation.WaitGivenUp
	for name, test := range map[string]struct {
		stored    evaluation.Wait
		waits     func(types.NamespacedName) (evaluation.Wait, bool)
		installed bool
		want      evaluation.Wait
	}{
		"by the condition":   {stored: approval, want: approval},
		"the condition says": {stored: pause, want: pause},
		"nothing":            {},
		"due":                {stored: evaluation.WaitForInterlock, want: evaluation.WaitForInterlock},
		"remembered":         {stored: pause, waits: remembers(approval, true), want: approval},
		"no more":            {stored: pause, waits: remembers("", true)},
		"not planned yet":    {stored: pause, waits: remembers("", false), want: pause},
		"installed":          {stored: pause, installed: true},
	} {
		t.Run(name, func(t *testing.T) {
			objects := everything(metav1.ConditionTrue)[3:]
			objects = append(objects, waitingFor(t, declared, test.stored))
			if test.installed {
				objects = append(objects, installed("base"))
			}
			reader, _ := hub(t, nil, objects...)
			loader := Loader{Reader: newLive(reader), Waits: test.waits}
			state, err := loader.Load(t.Context(), declared, leaf, aTime)
			if err != nil || state.Cluster.Waits["base"] != test.want {
				t.Errorf("waits for %q, want %q, %v", state.Cluster.Waits["base"], test.want, err)
			}
			whole, _, err := loader.Whole(t.Context(), declared, leaf.Namespace, []string{leaf.Name, "base"}, aTime)
			if err != nil || whole.Waits["base"] != test.want {
				t.Errorf("of the whole cluster: waits for %q, want %q, %v", whole.Waits["base"], test.want, err)
			}
		})
	}
	away := errors.New("away")
	reader, _ := hub(t, away, everything(metav1.ConditionTrue)...)
	if _, err := (Loader{Reader: newLive(reader)}).waits(t.Context(), leaf, "base"); !errors.Is(err, away) {
		t.Errorf("error %v", err)
	}
}
