package fleet

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// memory reads like a cache without deep copies.
type memory struct {
	client.Reader
	addOns  map[string]*addonv1alpha1.ManagedClusterAddOn
	cluster *clusterv1.ManagedCluster
}

func (m memory) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	switch target := object.(type) {
	case *addonv1alpha1.ManagedClusterAddOn:
		if addOn, ok := m.addOns[key.Name]; ok {
			*target = *addOn
			return nil
		}
	case *clusterv1.ManagedCluster:
		*target = *m.cluster
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// BenchmarkLoad loads and evaluates the state of an add-on with satisfied dependencies.
// Events without a change of the verdicts cause this work.
func BenchmarkLoad(b *testing.B) {
	for _, edges := range []int{1, 5, 50} {
		read := memory{addOns: map[string]*addonv1alpha1.ManagedClusterAddOn{leaf.Name: installed(leaf.Name)}}
		read.cluster = &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace}}
		spec := "dependencies:\n"
		for i := range edges {
			name := fmt.Sprintf("addon-%d", i)
			read.addOns[name] = installed(name)
			spec += "- {name: " + name + "}\n"
		}
		evaluator := specified(b, spec)
		loader := Loader{Reader: newLive(read), Offline: evaluation.OfflineHold}
		b.Run(fmt.Sprintf("edges=%d", edges), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				state, err := loader.Load(b.Context(), evaluator, leaf, aTime)
				if err != nil {
					b.Fatal(err)
				}
				evaluator.Evaluate(leaf.Name, state)
			}
		})
	}
}
