package overview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestPredict tests the sentence and the groups of changes of a fleet where gateway requires proxy, and portal has an Optional cache.
func TestPredict(t *testing.T) {
	stopped := []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
	for name, test := range map[string]struct {
		declarations   string
		change         func(*snapshot.Content)
		addOn, version string
		want           string
	}{
		"a Required dependency": {
			"gateway: proxy, proxy:", nil, "proxy", "",
			"gateway stops working on 1 managed cluster. Stops gateway/proxy Satisfied NotInstalled",
		},
		"an Optional dependency": {
			"gateway: proxy?, proxy:", nil, "proxy", "",
			"No add-on stops working; an Optional dependency fails on 1 managed cluster. LosesOption gateway/proxy Satisfied NotInstalled",
		},
		"one that fails already": {
			"gateway: proxy, proxy:", func(content *snapshot.Content) { content.AddOns[1].Status.Conditions = stopped }, "proxy", "",
			"No add-on stops working. StaysBroken gateway/proxy NotAvailable NotInstalled",
		},
		"one of an add-on that fails already": {
			"gateway: proxy cache, proxy:, cache:", func(content *snapshot.Content) { content.AddOns[1].Status.Conditions = stopped }, "cache", "",
			"No add-on stops working. StaysBroken gateway/cache Satisfied NotInstalled",
		},
		"no dependency": {
			"gateway: proxy, proxy:", nil, "gateway", "", "No add-on stops working; no dependency changes.",
		},
		"a version without a range": {
			"gateway: proxy, proxy:", nil, "proxy", "1.2.3",
			"No dependency has a requirement on its version, so none changes. Whether it works itself in this version is not checked. " +
				"Installed version: not known on 1 managed cluster.",
		},
		"a version that a dependency needs": {
			"gateway: proxy, proxy:", func(content *snapshot.Content) { content.Registrations[0].Spec.Dependencies[0].Version = ">= 2" },
			"proxy", "2.1.0",
			"No add-on stops working; a dependency becomes satisfied on 1 managed cluster. Installed version: not known on 1 managed cluster. " +
				"Checked version requirements: >= 2 of gateway. Recovers gateway/proxy Held Satisfied",
		},
	} {
		content := snapshot.Content{
			Taken: fixture.Now.Time, Registrations: fixture.Registrations(test.declarations), Clusters: oneCluster().Clusters,
		}
		for _, registration := range content.Registrations {
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: registration.Name}}
			addOn.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionTrue, "Running")}
			content.AddOns = append(content.AddOns, addOn)
		}
		if test.change != nil {
			test.change(&content)
		}
		prediction := overview.New(snapshot.New(content), options(content)).Predict(test.addOn, test.version)
		parts := slices.Concat([]string{prediction.Sentence}, prediction.Notes)
		for _, group := range prediction.Groups {
			for _, edge := range group.Edges {
				parts = append(parts, fmt.Sprintf("%s %s/%s %s %s", group.Effect, edge.AddOn, edge.Edge, edge.Before, edge.After))
			}
		}
		if got := strings.Join(parts, " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
