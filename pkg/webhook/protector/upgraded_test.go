package protector

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestUpgraded(t *testing.T) {
	registered := fixture.Deployed(fixture.Specified(t, "leaf", "{ordering: InstallAndUpgrade, dependencies: [{name: base}]}"))
	v1 := fixture.Template("leaf", "v1", "[]")
	v2 := fixture.Template("leaf", "v2", "[{name: other}]")
	plain := fixture.Template("leaf", "v3", "")
	delete(plain.Annotations, addonv1alpha1.TemplateDependenciesAnnotation)
	installed := fleet.WithTemplate(addOn("leaf"), "v1")
	for name, test := range map[string]struct {
		template string
		objects  []client.Object
		fails    failing
		want     string // verdicts by dependency, or empty if no verdict is known
		err      string
	}{
		"Missing":         {"v2", []client.Object{reached("True"), installed}, failing{}, "other NotInstalled", ""},
		"Satisfied":       {"v2", []client.Object{reached("True"), installed, available(addOn("other"))}, failing{}, "other Satisfied", ""},
		"OfRegistration":  {"v3", []client.Object{reached("True"), installed}, failing{}, "base NotInstalled", ""},
		"Lost":            {"v2", []client.Object{reached("Unknown"), installed}, failing{}, " Held", ""},
		"NoSuchTemplate":  {"v4", []client.Object{reached("True"), installed}, failing{}, "no template", ""},
		"NotInstalled":    {"v2", []client.Object{reached("True")}, failing{}, "", ""},
		"NoCluster":       {"v2", []client.Object{installed}, failing{}, "", ""},
		"Detaching":       {"v2", []client.Object{deleting(reached("True")), installed}, failing{}, "", ""},
		"ClusterFails":    {"v2", []client.Object{reached("True"), installed}, failing{get: "cluster"}, "", "the hub is busy"},
		"AddOnsFail":      {"v2", []client.Object{reached("True"), installed}, failing{list: "add-ons"}, "", "the hub is busy"},
		"DeclarationFail": {"v2", []client.Object{reached("True"), installed}, failing{list: "registrations"}, "", "the hub is busy"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append([]client.Object{&registered, &v1, &v2, &plain}, test.objects...)
			for i := range objects {
				objects[i] = objects[i].DeepCopyObject().(client.Object)
			}
			findings, upgrade, err := creationsOn(t, test.fails, objects...).
				Upgraded(t.Context(), types.NamespacedName{Namespace: "cluster1", Name: "leaf"}, test.template)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v", err)
			}
			var got []string
			if upgrade != nil && upgrade.Missing {
				got = []string{"no template"}
			}
			for _, finding := range findings {
				got = append(got, finding.Name()+" "+string(finding.Verdict))
			}
			isKnown := upgrade != nil
			if strings.Join(got, ", ") != test.want || isKnown != (test.want != "") || isKnown && upgrade.Template != test.template {
				t.Errorf("%q, %+v", got, upgrade)
			}
		})
	}
}
