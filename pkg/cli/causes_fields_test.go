package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// TestWhyHasNextStepsForFields tests an add-on that requires a field of the schema of an API that c1 serves.
func TestWhyHasNextStepsForFields(t *testing.T) {
	api := addonv1alpha1.AddonAPI{Group: "g.io", Version: "v1", Kind: "Kind"}
	lacking := func(fields []dependencyv1alpha1.FieldFact) snapshot.Content {
		content := small("a, b", "a")
		content.Registrations[0].Spec.Dependencies = []addonv1alpha1.AddonDependency{
			{Name: "kinds", API: &addonv1alpha1.DependencyAPI{AddonAPI: api, Fields: []string{"spec.new"}}},
		}
		facts := requesting("c1", api)
		facts.Spec.APIs[0].Fields = []string{"spec.new"}
		facts.Status.APIs = []dependencyv1alpha1.APIFact{
			{API: dependencyv1alpha1.API(api), Served: metav1.ConditionTrue, Versions: []string{"v1"}, Fields: fields},
		}
		content.Facts = []dependencyv1alpha1.ManagedClusterFacts{facts}
		return content
	}
	missing := []dependencyv1alpha1.FieldFact{{Path: "spec.new", Found: metav1.ConditionFalse}}
	provided := lacking(missing)
	provided.Registrations[1].Spec.Provides = []addonv1alpha1.AddonAPI{api}
	provided.AddOns = append(provided.AddOns, installed("c1", "b", true, "Works", 1))
	for name, test := range map[string]struct {
		content snapshot.Content
		want    []string
	}{
		"an older schema": {lacking(missing), []string{
			"Kind.g.io/v1 does not have the required fields",
			"message    Required API 'Kind.g.io/v1' does not have the required fields. (served, but its schema has no field spec.new)",
			"note       upgrade what serves the API on the managed cluster",
		}},
		"of an add-on": {provided, []string{
			"note       b provides the API, and is installed there: upgrade it to a version whose API has the fields",
		}},
		"an older addon-agent": {lacking(nil), []string{
			"Kind.g.io/v1 is not known to have the required fields", "addon-agent is too old to report fields of APIs: upgrade it",
			"note       addon-agent has to report which fields the API has", "run        kubectl get managedclusterfacts c1 -n c1 -o yaml\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "why", "--from", file(t, test.content))
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}
