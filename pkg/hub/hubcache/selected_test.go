package hubcache

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/fleet"
)

func decision(name, placement string, clusters ...string) *clusterv1beta1.PlacementDecision {
	made := &clusterv1beta1.PlacementDecision{}
	made.Namespace, made.Name = "places", name
	made.Labels = map[string]string{clusterv1beta1.PlacementLabel: placement}
	for _, cluster := range clusters {
		made.Status.Decisions = append(made.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return made
}

// watches has only the watch of PlacementDecisions.
type watches struct{ ready, late bool }

func (w watches) Ready(inputs input.Set) bool  { return w.ready && inputs == input.Placements }
func (w watches) Demand(inputs input.Set) bool { return w.Ready(inputs) }
func (w watches) Late(input.Set) bool          { return w.late }

func TestSelected(t *testing.T) {
	index := DecisionIndexers()["field:"+IndexPlacement]
	lazy := hub(t, decision("east-1", "east", "c1", "c2"), decision("east-2", "east", "c3"), decision("west-1", "west", "c4")).
		WithIndex(&clusterv1beta1.PlacementDecision{}, IndexPlacement, func(object client.Object) []string {
			return []string{fleet.PlacementOf(object.(*clusterv1beta1.PlacementDecision)).String()}
		}).Build()
	if keys, err := index(decision("east-1", "east")); err != nil || len(keys) != 1 || keys[0] != "__all_namespaces/places/east" {
		t.Errorf("indexed by %q, error %v", keys, err)
	}
	east, west := types.NamespacedName{Namespace: "places", Name: "east"}, types.NamespacedName{Namespace: "places", Name: "west"}
	for name, test := range map[string]struct {
		placements     []types.NamespacedName
		cluster        string
		ready, late    bool
		selected, read bool
	}{
		"ByTheFirst":          {[]types.NamespacedName{east, west}, "c1", true, false, true, true},
		"ByTheSecondDecision": {[]types.NamespacedName{east}, "c3", true, false, true, true},
		"ByTheSecond":         {[]types.NamespacedName{east, west}, "c4", true, false, true, true},
		"ByNone":              {[]types.NamespacedName{east}, "c4", true, false, false, true},
		"NoPlacement":         {nil, "c1", false, false, false, true},
		"NotReadYet":          {[]types.NamespacedName{east}, "c1", false, false, false, false},
		"NotServed":           {[]types.NamespacedName{east}, "c1", false, true, true, true},
	} {
		inputs := Inputs{Lazy: fleet.Objects{Reader: lazy}, Watches: watches{ready: test.ready, late: test.late}}
		selected, read, err := inputs.Selected(t.Context(), test.placements, test.cluster)
		if selected != test.selected || read != test.read || err != nil {
			t.Errorf("%s: selected %t, read %t, error %v", name, selected, read, err)
		}
	}
}
