package cli

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// requiring returns a fleet where a on c1 requires the API of another API server. b provides the API on managed clusters.
func requiring(server addonv1alpha1.APIServer, api addonv1alpha1.AddonAPI) snapshot.Content {
	content := small("a, b", "a")
	content.Registrations[0].Spec.Dependencies = []addonv1alpha1.AddonDependency{
		{Name: "kinds", API: &addonv1alpha1.DependencyAPI{AddonAPI: api, ServedBy: server}},
	}
	content.Registrations[1].Spec.Provides = []addonv1alpha1.AddonAPI{api}
	return content
}

func TestWhyHasNextStepsForOtherClusters(t *testing.T) {
	api := addonv1alpha1.AddonAPI{Group: "g.io", Version: "v1", Kind: "Kind"}
	notServed := dependencyv1alpha1.APIFact{API: dependencyv1alpha1.API(api), Served: metav1.ConditionFalse}
	onHub := requiring(addonv1alpha1.APIServerHub, api)
	onHub.HubAPIs = []dependencyv1alpha1.APIFact{notServed}
	broken := requiring(addonv1alpha1.APIServerHub, api)
	broken.HubAPIs = []dependencyv1alpha1.APIFact{{API: notServed.API, Served: metav1.ConditionUnknown, Message: "503"}}

	hosted := requiring(addonv1alpha1.APIServerHostingCluster, api)
	hosted.AddOns[0].Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "east"}
	registered := hosted
	registered.Clusters = append(registered.Clusters, *registered.Clusters[0].DeepCopy())
	registered.Clusters[len(registered.Clusters)-1].Name = "east"
	facts := requesting("east", api)
	facts.Status.APIs = []dependencyv1alpha1.APIFact{notServed}
	registered.Facts = []dependencyv1alpha1.ManagedClusterFacts{facts}
	for name, test := range map[string]struct {
		content snapshot.Content
		verb    []string
		want    []string
		not     string
	}{
		"the hub": {onHub, []string{"why"}, []string{
			"1. Kind.g.io/v1 on the hub is not served", "is not served by the hub. (not served)",
			"note       the hub does not serve the API: install",
		}, "b provides"},
		"the hub, as a tree":     {onHub, []string{"tree", "a"}, []string{"Kind.g.io/v1 on the hub"}, "provided"},
		"the hub, described":     {onHub, []string{"describe", "a"}, []string{"API Kind.g.io/v1 on the hub"}, ""},
		"the hub, as a graph":    {onHub, []string{"graph"}, []string{"Kind.g.io/v1 on the hub"}, ""},
		"the hub, reported":      {onHub, []string{"report", "-n", "c1"}, []string{"Kind.g.io/v1 on the hub"}, ""},
		"a hub without response": {broken, []string{"tree", "a"}, []string{"whether the hub serves the API Kind.g.io/v1 is not known: 503"}, ""},
		"no such hosting cluster": {hosted, []string{"why"}, []string{
			"Kind.g.io/v1 on hosting cluster east is not known to be served", "which is no managed cluster",
			"run        kubectl get managedclusters",
		}, ""},
		"a hosting cluster": {registered, []string{"why"}, []string{
			"Kind.g.io/v1 on hosting cluster east is not served", "note       b provides the API",
			"run        clusteradm addon enable --names b --clusters east",
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, append(test.verb, "--from", file(t, test.content))...)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if test.not != "" && strings.Contains(got, test.not) {
				t.Errorf("%q in\n%s", test.not, got)
			}
		})
	}

	var causes report.RootCauses
	if err := json.Unmarshal([]byte(run(t, "why", "-o", "json", "--from", file(t, registered))), &causes); err != nil {
		t.Fatal(err)
	}
	if len(causes.Items) != 1 || causes.Items[0].ServedBy != addonv1alpha1.APIServerHostingCluster ||
		causes.Items[0].HostingCluster != "east" {
		t.Errorf("got %+v", causes.Items)
	}
}
