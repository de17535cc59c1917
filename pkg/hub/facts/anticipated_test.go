package facts

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestVersionsAreRequestedBeforeTheyAreNeeded: the version of an installed add-on is requested as soon as any registration compares
// it, where an agent can report it.
func TestVersionsAreRequestedBeforeTheyAreNeeded(t *testing.T) {
	const anticipates = `{"addOns":[{"name":"base"}],"apis":[]}`
	for name, test := range map[string]struct {
		agent    string
		reported bool
		by       string // the add-on that reported
		want     string
	}{
		"AgentAsAddOn":           {agent: names.AgentAddOn, want: anticipates},
		"NoAgent":                {},
		"AgentOfAnotherName":     {agent: "my-agent", reported: true, by: "my-agent", want: anticipates},
		"AgentThatIsNoAddOn":     {reported: true, want: anticipates},
		"AgentThatIsUninstalled": {reported: true, by: names.AgentAddOn},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, gone := range []string{"api", "version"} {
				if err := b.hub.Delete(t.Context(), installedAddOn(gone)); err != nil {
					t.Fatal(err)
				}
			}
			if test.agent != "" {
				if err := b.hub.Create(t.Context(), installedAddOn(test.agent)); err != nil {
					t.Fatal(err)
				}
			}
			if test.reported {
				b.reports(status{AgentAddOn: test.by, ObservedGeneration: 1})
				b.object.Spec = requested{}
			}
			b.reconcile(t)
			if got := fmt.Sprint(b.applies); test.want != "" && got != "["+test.want+"]" || test.want == "" && len(b.applies) > 0 {
				t.Errorf("requested %s, want %s", got, test.want)
			}
		})
	}
}

// TestSizeOfWhatIsRequested: a cluster with 50 add-ons, and a catalog of 200 that compare the versions of five others each.
func TestSizeOfWhatIsRequested(t *testing.T) {
	const registered, installed, maxBytes = 200, 50, 8 << 10
	var addOns []addonv1alpha1.ClusterManagementAddOn
	on := clusterAddOns{}
	for i := range registered {
		name := fmt.Sprintf("example-addon-%03d", i)
		addOn := fixture.Registration(name)
		for step := 1; step <= 5; step++ {
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, addonv1alpha1.AddonDependency{
				Name: fmt.Sprintf("example-addon-%03d", (i+step*7)%registered), Type: addonv1alpha1.DependencyTypeIfInstalled, Version: ">= 1",
			})
		}
		addOns = append(addOns, addOn)
		if i < installed {
			on.Own, on.local = append(on.Own, name), append(on.local, types.NamespacedName{Namespace: cluster, Name: name})
		}
	}
	on.local = append(on.local, types.NamespacedName{Namespace: cluster, Name: names.AgentAddOn})
	_, spec := desiredSpec(evaluation.New(catalog.New(addOns)), on, nil)
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d versions and %d APIs, %d bytes", len(spec.AddOns), len(spec.APIs), len(raw))
	if len(raw) > maxBytes || len(spec.AddOns) < installed {
		t.Errorf("%d versions in %d bytes, want at least %d in at most %d", len(spec.AddOns), len(raw), installed, maxBytes)
	}
}
