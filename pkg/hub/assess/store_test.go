package assess

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/outcome"
)

func on(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: "leaf"}
}

// of returns an assessment with a verdict on one edge, as a new value.
func of(verdict evaluation.Verdict, since time.Time) outcome.Assessment {
	found := evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{Name: "base"}, Verdict: verdict}
	if verdict == evaluation.NotAvailable {
		found.Available = &metav1.Condition{Type: "Available", LastTransitionTime: metav1.NewTime(since)}
	}
	return outcome.Assessment{Findings: []evaluation.Finding{found}}
}

func TestTheStoreKnowsWhatChanges(t *testing.T) {
	store, evaluator := NewStore(), evaluation.New(catalog.New(nil))
	for i, step := range []struct {
		found outcome.Assessment
		want  bool
	}{
		{of(evaluation.Satisfied, aTime), true},
		{of(evaluation.Satisfied, aTime), false},
		{of(evaluation.NotAvailable, aTime), true},
		{of(evaluation.NotAvailable, aTime), false},
		{of(evaluation.NotAvailable, aTime.Add(time.Minute)), true},
		{of(evaluation.Satisfied, aTime), true},
	} {
		if got := store.Set(leaf, evaluator, step.found).Differs(); got != step.want {
			t.Errorf("step %d: changed %t", i, got)
		}
	}
	if store.Set(leaf, evaluation.New(catalog.New(nil)), of(evaluation.Satisfied, aTime)).Differs() {
		t.Error("another catalog in which the same is found is a change")
	}
	store.Delete(leaf)
	if !store.Set(leaf, evaluator, of(evaluation.Satisfied, aTime)).Differs() {
		t.Error("after a deletion, the first one is no change")
	}
}

func TestSubscribers(t *testing.T) {
	store, evaluator := NewStore(), evaluation.New(catalog.New(nil))
	var got []string
	store.Subscribe(func(change Change) {
		got = append(
			got,
			fmt.Sprintf(
				"%s: %d findings, declared %t, differs %t",
				change.AddOn,
				len(change.Findings()),
				change.Evaluator != nil,
				change.Differs(),
			),
		)
	})
	store.Set(leaf, evaluator, of(evaluation.Satisfied, aTime))
	store.Set(leaf, evaluator, of(evaluation.Satisfied, aTime))
	store.Delete(leaf)
	store.Delete(leaf)
	want := []string{
		"cluster1/leaf: 1 findings, declared true, differs true",
		"cluster1/leaf: 1 findings, declared true, differs false",
		"cluster1/leaf: 0 findings, declared false, differs true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Most add-ons of a fleet are all satisfied: they share one value. What fails is of one managed cluster.
func TestEqualAssessmentsAreShared(t *testing.T) {
	store, evaluator := NewStore(), evaluation.New(catalog.New(nil))
	for _, cluster := range []string{"a", "b"} {
		store.Set(on(cluster), evaluator, of(evaluation.Satisfied, aTime))
	}
	if store.last[on("a")] != store.last[on("b")] {
		t.Error("two values")
	}
	before := store.last[on("a")]
	for i := range 2 * maxShared {
		store.Set(on("b"), evaluator, of(evaluation.NotAvailable, aTime.Add(time.Duration(i)*time.Minute)))
	}
	if store.Set(on("b"), evaluator, of(evaluation.Satisfied, aTime)); store.last[on("b")] != before {
		t.Error("what fails displaces what is shared")
	}
	store.Set(on("c"), evaluation.New(catalog.New(nil)), of(evaluation.Satisfied, aTime))
	if store.last[on("c")] == before {
		t.Error("shared with one of another catalog")
	}
}
