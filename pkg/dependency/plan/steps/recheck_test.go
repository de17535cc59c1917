package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// After the removal of leaf, base is the remaining layer of the removal of leaf as a unit.
func TestRecheck(t *testing.T) {
	addOns := hub{
		"base": "{" + manual + "}", "leaf": needing("{name: base}"), "other": needing("{name: base}"),
		"optional": "{" + manual + ", dependencies: [{name: base, type: Optional}]}",
	}
	layers := []steps.Layer{{{AddOn: "base", Clusters: []string{"c1"}, Because: []string{"leaf"}}}}
	takenOver := clusterWith("c1", "base")
	takenOver.Owned, takenOver.Taken = sets.New("base"), sets.New("base")
	for name, test := range map[string]struct {
		cluster steps.Cluster
		removal steps.Removal
		want    []string
	}{
		"Unchanged":        {clusterWith("c1", "base"), steps.Removal{AddOns: []string{"leaf"}}, nil},
		"Gone":             {clusterWith("c1", ""), steps.Removal{AddOns: []string{"leaf"}}, nil},
		"AnotherCluster":   {clusterWith("c2", "base other"), steps.Removal{AddOns: []string{"leaf"}}, nil},
		"NamedAndOptional": {clusterWith("c1", "base optional"), steps.Removal{AddOns: []string{"leaf", "base"}}, nil},
		"RequiredByAnother": {clusterWith("c1", "base other"), steps.Removal{AddOns: []string{"leaf", "base"}}, []string{
			"'other', which stays, requires base (on 1 cluster: c1)",
		}},
		"RequiredByAnotherAndForced": {clusterWith("c1", "base other"), steps.Removal{AddOns: []string{"leaf", "base"}, Forced: true}, nil},
		"OptionalForAnother": {clusterWith("c1", "base optional"), steps.Removal{AddOns: []string{"leaf"}}, []string{
			"'optional' depends on 'base' (on 1 cluster: c1)",
		}},
		"TakenOver": {takenOver, steps.Removal{AddOns: []string{"leaf"}}, []string{
			"another writer has taken over 'base' (on 1 cluster: c1)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, problem := range steps.Recheck(addOns.evaluator(t), test.removal, layers, []steps.Cluster{test.cluster}) {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
