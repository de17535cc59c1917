package hubcache

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/jsonprune"
)

// The decoder may only drop fields that the cache would strip too, for any content of an
// object.
func TestNothingIsPrunedThatTheCacheKeeps(t *testing.T) {
	for name, example := range map[string]client.Object{
		"managedclusteraddons":    &addonv1alpha1.ManagedClusterAddOn{},
		"managedclusters":         &clusterv1.ManagedCluster{},
		"clustermanagementaddons": &addonv1alpha1.ClusterManagementAddOn{},
	} {
		for seed := range int64(200) {
			full := newOf(example)
			randfill.NewWithSeed(seed).NilChance(0.1).NumElements(1, 3).MaxDepth(12).Funcs(
				func(fields *metav1.FieldsV1, _ randfill.Continue) { fields.Raw = []byte(`{"f:metadata":{}}`) },
				func(moment *metav1.Time, c randfill.Continue) { *moment = metav1.Unix(c.Int63n(1e10), 0) },
				func(condition *metav1.Condition, c randfill.Continue) {
					c.FillNoCustom(condition)
					types := []string{
						addonv1alpha1.ManagedClusterAddOnConditionAvailable,
						addonv1alpha1.ManagedClusterAddOnConditionDegraded,
						clusterv1.ManagedClusterConditionAvailable,
						"Other",
					}
					condition.Type = types[c.Intn(len(types))]
				},
				func(resource *ocmv1alpha1.ConfigGroupResource, c randfill.Continue) {
					resources := []ocmv1alpha1.ConfigGroupResource{configResource, templateResource, {Group: "other.io", Resource: "others"}}
					*resource = resources[c.Intn(len(resources))]
				},
				func(quantity *resource.Quantity, c randfill.Continue) { quantity.Set(c.Int63n(1e6)) },
			).Fill(full)
			raw, err := json.Marshal(map[string]any{"type": "ADDED", "object": full})
			if err != nil {
				t.Fatal(err)
			}
			drop := unread[name]
			if name == fleet.Registrations {
				drop = fleet.UnreadRegistration
			}
			pruned := jsonprune.Prune(nil, raw, inEvents(drop))
			if len(pruned) >= len(raw) {
				t.Fatalf("%s, seed %d: nothing was pruned", name, seed)
			}
			if diff := cmp.Diff(transformed(t, raw, example), transformed(t, pruned, example)); diff != "" {
				t.Fatalf("%s, seed %d: the cache would keep what is pruned: %s", name, seed, diff)
			}
		}
	}
}

// inEvents has the parts of a watch event that are dropped.
func inEvents(drop *jsonprune.Drop) *jsonprune.Drop {
	return &jsonprune.Drop{Members: members{"object": drop}}
}

func newOf(example client.Object) client.Object {
	return reflect.New(reflect.TypeOf(example).Elem()).Interface().(client.Object)
}

// transformed returns the object of a watch event as the cache stores it.
func transformed(t *testing.T, raw []byte, example client.Object) any {
	t.Helper()
	object := newOf(example)
	if err := json.Unmarshal(raw, &struct{ Object any }{object}); err != nil {
		t.Fatal(err)
	}
	for kind, options := range Options().ByObject {
		if reflect.TypeOf(kind) == reflect.TypeOf(example) {
			lean, err := options.Transform(object)
			if err != nil {
				t.Fatal(err)
			}
			return lean
		}
	}
	t.Fatalf("the cache has no transform for %T", example)
	return nil
}
