package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// After leaf is gone, base is the layer that is left of the removal of leaf as a unit.
func TestRecheck(t *testing.T) {
	all := hub{
		"base": "{" + manual + "}", "leaf": needing("{name: base}"), "other": needing("{name: base}"),
		"optional": "{" + manual + ", dependencies: [{name: base, type: Optional}]}",
	}
	left := []steps.Layer{{{AddOn: "base", Clusters: []string{"c1"}, Because: []string{"leaf"}}}}
	taken := on("c1", "base")
	taken.Owned, taken.Taken = sets.New("base"), sets.New("base")
	for name, test := range map[string]struct {
		on     steps.Cluster
		wanted steps.Removal
		want   []string
	}{
		"Unchanged":        {on("c1", "base"), steps.Removal{AddOns: []string{"leaf"}}, nil},
		"Gone":             {on("c1", ""), steps.Removal{AddOns: []string{"leaf"}}, nil},
		"AnotherCluster":   {on("c2", "base other"), steps.Removal{AddOns: []string{"leaf"}}, nil},
		"NamedAndOptional": {on("c1", "base optional"), steps.Removal{AddOns: []string{"leaf", "base"}}, nil},
		"RequiredByAnother": {on("c1", "base other"), steps.Removal{AddOns: []string{"leaf", "base"}}, []string{
			"'other', which stays, requires base (on 1 cluster: c1)",
		}},
		"RequiredByAnotherAndForced": {on("c1", "base other"), steps.Removal{AddOns: []string{"leaf", "base"}, Forced: true}, nil},
		"OptionalForAnother": {on("c1", "base optional"), steps.Removal{AddOns: []string{"leaf"}}, []string{
			"'optional' depends on 'base' (on 1 cluster: c1)",
		}},
		"TakenOver": {taken, steps.Removal{AddOns: []string{"leaf"}}, []string{
			"another writer has taken over 'base' (on 1 cluster: c1)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, problem := range steps.Recheck(all.evaluator(t), test.wanted, left, []steps.Cluster{test.on}) {
				got = append(got, problem.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
