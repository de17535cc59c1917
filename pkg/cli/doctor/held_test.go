package doctor

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

func TestUnknownHubAPIs(t *testing.T) {
	fact := func(kind string, served metav1.ConditionStatus) dependencyv1alpha1.APIFact {
		return dependencyv1alpha1.APIFact{API: dependencyv1alpha1.API{Group: "a.io", Kind: kind}, Served: served, Message: "503"}
	}
	for name, test := range map[string]struct {
		reason string
		facts  []dependencyv1alpha1.APIFact
		want   string
	}{
		"None":  {"nothing requires an API of the hub", nil, ""},
		"Known": {"a missing API is no matter of the hub's health", []dependencyv1alpha1.APIFact{fact("A", "True"), fact("B", "False")}, ""},
		"Unknown": {
			"these verdicts are held",
			[]dependencyv1alpha1.APIFact{fact("A", "True"), fact("B", "Unknown")},
			`the kind B of the group "a.io", which dependencies require, is not known: 503`,
		},
	} {
		results := unknownHubAPIs(&hub{fleet: snapshot.New(snapshot.Content{HubAPIs: test.facts})})
		if (len(results) > 0) != (test.want != "") || len(results) > 0 && !strings.Contains(results[0].message, test.want) {
			t.Errorf("%s: %s: got %v", name, test.reason, results)
		}
	}
}
