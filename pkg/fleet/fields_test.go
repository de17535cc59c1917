package fleet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

var role = dependencyv1alpha1.API{Group: "rbac.example.io", Version: "v1", Kind: "Role"}

// requestingFields returns the facts of a cluster whose agent was requested to report two fields of the API.
func requestingFields(served metav1.ConditionStatus, fields ...dependencyv1alpha1.FieldFact) *dependencyv1alpha1.ManagedClusterFacts {
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	facts.Spec.APIs = []dependencyv1alpha1.APIRequest{{API: role, Fields: []string{"spec.a", "spec.b"}}}
	facts.Status = dependencyv1alpha1.ManagedClusterFactsStatus{
		ObservedGeneration: 2, APIs: []dependencyv1alpha1.APIFact{{API: role, Served: served, Message: "no schema", Fields: fields}},
	}
	return facts
}

func TestReportsOnFields(t *testing.T) {
	a := dependencyv1alpha1.FieldFact{Path: "spec.a", Found: metav1.ConditionTrue, Versions: []string{"v1"}}
	b := dependencyv1alpha1.FieldFact{Path: "spec.b", Found: metav1.ConditionUnknown}
	exists := evaluation.FieldFact{Exists: metav1.ConditionTrue, Versions: []string{"v1"}}
	old := evaluation.FieldFact{Exists: metav1.ConditionUnknown, Message: fieldsNotSupported}
	waiting := requestingFields(metav1.ConditionTrue, a)
	waiting.Status.ObservedGeneration = 1
	for name, test := range map[string]struct {
		object *dependencyv1alpha1.ManagedClusterFacts
		want   map[string]evaluation.FieldFact
	}{
		"reported": {requestingFields(metav1.ConditionTrue, a, b), map[string]evaluation.FieldFact{
			"spec.a": exists, "spec.b": {Exists: metav1.ConditionUnknown, Message: "no schema"},
		}},
		"not reported yet": {waiting, map[string]evaluation.FieldFact{"spec.a": exists}},
		"an agent that supports no fields": {requestingFields(metav1.ConditionTrue), map[string]evaluation.FieldFact{
			"spec.a": old, "spec.b": old,
		}},
		"an API that is not served": {requestingFields(metav1.ConditionFalse), nil},
	} {
		got := FactsOf(test.object).APIs[addonv1alpha1.AddonAPI(role)].Fields
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}

func TestUnrequestedFields(t *testing.T) {
	needed := func(fields ...string) catalog.Requests {
		return catalog.Requests{APIs: []addonv1alpha1.DependencyAPI{{AddonAPI: addonv1alpha1.AddonAPI(role), Fields: fields}}}
	}
	spec := requestingFields(metav1.ConditionTrue).Spec
	for name, test := range map[string]struct {
		spec   dependencyv1alpha1.ManagedClusterFactsSpec
		needed catalog.Requests
		want   catalog.Requests
	}{
		"requested fields":  {spec, needed("spec.b"), catalog.Requests{}},
		"unrequested field": {spec, needed("spec.a", "spec.c"), needed("spec.c")},
		"unrequested API":   {dependencyv1alpha1.ManagedClusterFactsSpec{}, needed("spec.a"), needed("spec.a")},
	} {
		got := Unrequested(test.spec, test.needed)
		if len(got.APIs) != len(test.want.APIs) || len(got.APIs) > 0 && !cmp.Equal(got.APIs, test.want.APIs) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

// TestFieldsWithoutRoom tests that a field without room in the object is not awaited forever.
func TestFieldsWithoutRoom(t *testing.T) {
	object := requestingFields(metav1.ConditionTrue)
	api := addonv1alpha1.AddonAPI(role)
	object.Spec.APIs[0].Fields = nil
	for range dependencyv1alpha1.MaxFields {
		object.Spec.APIs[0].Fields = append(object.Spec.APIs[0].Fields, "spec.a")
	}
	facts := FactsOf(object)
	needed := catalog.Requests{APIs: []addonv1alpha1.DependencyAPI{{AddonAPI: api, Fields: []string{"spec.z"}}}}
	if complete(facts, needed) {
		t.Error("complete without the field")
	}
	setLeftOut(facts, object.Spec, needed)
	if got := facts.APIs[api].Fields["spec.z"].Message; !strings.Contains(got, "at most 512 fields of APIs") {
		t.Errorf("message %q", got)
	}
	if !complete(facts, needed) {
		t.Error("waits for a field that is not requested")
	}
}
