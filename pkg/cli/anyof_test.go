package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// alternatives returns a hub where a needs b, c or an API, and none of them is available on c1.
func alternatives() snapshot.Content {
	content := small("a, b, c", "")
	tunnel := addonv1alpha1.AddonAPI{Kind: "Tunnel"}
	facts := requesting("c1", tunnel)
	facts.Status.APIs = []dependencyv1alpha1.APIFact{{API: dependencyv1alpha1.API(tunnel), Served: metav1.ConditionFalse}}
	content.Facts = []dependencyv1alpha1.ManagedClusterFacts{facts}
	content.Registrations[0].Spec.Dependencies = []addonv1alpha1.AddonDependency{{
		Name: "tunnel", Message: "No way in.", AnyOf: []addonv1alpha1.DependencyAlternative{
			{AddOn: "b", Version: ">= 1"}, {AddOn: "c"}, {API: &addonv1alpha1.DependencyAPI{AddonAPI: tunnel}},
		},
	}}
	content.AddOns = append(content.AddOns, installed("c1", "a", true, "Works", 1), installed("c1", "b", false, "Stopped", 1))
	return content
}

func TestVerbsShowAlternatives(t *testing.T) {
	const message = "addon 'c' or API 'Tunnel'; none is available. No way in. (b: Available=False, Stopped, since "
	path := file(t, alternatives())
	for name, test := range map[string]struct {
		verb []string
		want []string
	}{
		"describe": {[]string{"describe", "a"}, []string{"tunnel", "one of: add-on b >= 1; add-on c; API Tunnel"}},
		"tree": {[]string{"tree", "a", "-o", "wide"}, []string{
			"b, c or Tunnel (as tunnel)", "NoAlternative", "├── b ", "NotAvailable", "├── c ", "└── Tunnel",
		}},
		"tree of dependents": {[]string{"tree", "b", "--dependents", "-o", "wide"}, []string{
			"a (as tunnel)", "NoAlternative",
		}},
		"why":           {[]string{"why"}, []string{"b is not available: Stopped", "c is not installed", "Tunnel is not served"}},
		"why of one":    {[]string{"why", "a", "-n", "c1"}, []string{"b (as tunnel)", "c (as tunnel)", "← root cause"}},
		"graph":         {[]string{"graph"}, []string{`-.->|"tunnel: one of several, #gt;= 1, fails on 1 of 1"|`, `["Tunnel"]`}},
		"report":        {[]string{"report", "-o", "wide"}, []string{"NoAlternative"}},
		"status":        {[]string{"status", "-o", "wide"}, []string{"tunnel", "NoAlternative"}},
		"tree's reason": {[]string{"tree", "a", "-o", "json"}, []string{message, `"alternatives": [`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, append(test.verb, "--from", path)...)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}
