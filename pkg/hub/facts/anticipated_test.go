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

// The version of an installed add-on is requested as soon as a registration compares it, if an agent can report it.
func TestVersionsAreRequestedBeforeTheyAreNeeded(t *testing.T) {
	const anticipates = `{"addOns":[{"name":"base"}],"apis":[]}`
	for name, test := range map[string]struct {
		agent    string
		reported bool
		reporter string // the add-on that reported
		want     string
	}{
		"AgentAsAddOn":           {agent: names.AgentAddOn, want: anticipates},
		"NoAgent":                {},
		"AgentOfAnotherName":     {agent: "my-agent", reported: true, reporter: "my-agent", want: anticipates},
		"AgentThatIsNoAddOn":     {reported: true, want: anticipates},
		"AgentThatIsUninstalled": {reported: true, reporter: names.AgentAddOn},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, deleted := range []string{"api", "version"} {
				if err := b.hub.Delete(t.Context(), installedAddOn(deleted)); err != nil {
					t.Fatal(err)
				}
			}
			if test.agent != "" {
				if err := b.hub.Create(t.Context(), installedAddOn(test.agent)); err != nil {
					t.Fatal(err)
				}
			}
			if test.reported {
				b.reports(status{AgentAddOn: test.reporter, ObservedGeneration: 1})
				b.object.Spec = requested{}
			}
			b.reconcile(t)
			if got := fmt.Sprint(b.applies); test.want != "" && got != "["+test.want+"]" || test.want == "" && len(b.applies) > 0 {
				t.Errorf("requested %s, want %s", got, test.want)
			}
		})
	}
}

// The cluster has 50 add-ons. Each of the 200 registrations compares the versions of five others.
func TestSizeOfRequests(t *testing.T) {
	const registrations, installations, maxBytes = 200, 50, 8 << 10
	var registered []addonv1alpha1.ClusterManagementAddOn
	addOns := clusterAddOns{}
	for i := range registrations {
		name := fmt.Sprintf("example-addon-%03d", i)
		addOn := fixture.Registration(name)
		for step := 1; step <= 5; step++ {
			addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, addonv1alpha1.AddonDependency{
				Name: fmt.Sprintf("example-addon-%03d", (i+step*7)%registrations), Type: addonv1alpha1.DependencyTypeIfInstalled, Version: ">= 1",
			})
		}
		registered = append(registered, addOn)
		if i < installations {
			addOns.Own, addOns.local = append(addOns.Own, name), append(addOns.local, types.NamespacedName{Namespace: cluster, Name: name})
		}
	}
	addOns.local = append(addOns.local, types.NamespacedName{Namespace: cluster, Name: names.AgentAddOn})
	_, spec := desiredSpec(evaluation.New(catalog.New(registered)), addOns, nil)
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d versions and %d APIs, %d bytes", len(spec.AddOns), len(spec.APIs), len(raw))
	if len(raw) > maxBytes || len(spec.AddOns) < installations {
		t.Errorf("%d versions in %d bytes, want at least %d in at most %d", len(spec.AddOns), len(raw), installations, maxBytes)
	}
}
