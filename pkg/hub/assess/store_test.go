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
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

func leafOn(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: "leaf"}
}

// assessmentWith returns a new assessment with a verdict on one edge.
func assessmentWith(verdict evaluation.Verdict, since time.Time) outcome.Assessment {
	finding := evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{Name: "base"}, Verdict: verdict}
	if verdict == evaluation.NotAvailable {
		finding.Available = &metav1.Condition{Type: "Available", LastTransitionTime: metav1.NewTime(since)}
	}
	return outcome.Assessment{Findings: []evaluation.Finding{finding}}
}

func TestStoreReportsDifferences(t *testing.T) {
	store, evaluator := NewStore(), evaluation.New(catalog.New(nil))
	for i, step := range []struct {
		assessment outcome.Assessment
		want       bool
	}{
		{assessmentWith(evaluation.Satisfied, aTime), true},
		{assessmentWith(evaluation.Satisfied, aTime), false},
		{assessmentWith(evaluation.NotAvailable, aTime), true},
		{assessmentWith(evaluation.NotAvailable, aTime), false},
		{assessmentWith(evaluation.NotAvailable, aTime.Add(time.Minute)), true},
		{assessmentWith(evaluation.Satisfied, aTime), true},
	} {
		if got := store.Set(leaf, evaluator, step.assessment).Differs(); got != step.want {
			t.Errorf("step %d: changed %t", i, got)
		}
	}
	if store.Set(leaf, evaluation.New(catalog.New(nil)), assessmentWith(evaluation.Satisfied, aTime)).Differs() {
		t.Error("another catalog in which the same is found is a change")
	}
	store.Delete(leaf)
	if !store.Set(leaf, evaluator, assessmentWith(evaluation.Satisfied, aTime)).Differs() {
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
	store.Set(leaf, evaluator, assessmentWith(evaluation.Satisfied, aTime))
	store.Set(leaf, evaluator, assessmentWith(evaluation.Satisfied, aTime))
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

// Most add-ons of a fleet are satisfied, and share one value. Assessments with a failing edge are not shared.
func TestEqualAssessmentsAreShared(t *testing.T) {
	store, evaluator := NewStore(), evaluation.New(catalog.New(nil))
	for _, cluster := range []string{"a", "b"} {
		store.Set(leafOn(cluster), evaluator, assessmentWith(evaluation.Satisfied, aTime))
	}
	if store.last[leafOn("a")] != store.last[leafOn("b")] {
		t.Error("two values")
	}
	previous := store.last[leafOn("a")]
	for i := range 2 * maxShared {
		store.Set(leafOn("b"), evaluator, assessmentWith(evaluation.NotAvailable, aTime.Add(time.Duration(i)*time.Minute)))
	}
	if store.Set(leafOn("b"), evaluator, assessmentWith(evaluation.Satisfied, aTime)); store.last[leafOn("b")] != previous {
		t.Error("what fails displaces what is shared")
	}
	store.Set(leafOn("c"), evaluation.New(catalog.New(nil)), assessmentWith(evaluation.Satisfied, aTime))
	if store.last[leafOn("c")] == previous {
		t.Error("shared with one of another catalog")
	}
}
