package installation

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/installation"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := NewMetrics(registry)
	metrics.Installed("base")
	metrics.Wait(installation.Plan{
		Unapproved: map[string]int{"base": 30}, Delayed: []installation.Target{{Cluster: "c1", AddOn: "other"}, {Cluster: "c2", AddOn: "other"}},
		GivenUp: []installation.Target{{Cluster: "c1", AddOn: "undone"}},
	})
	for labels, want := range map[[2]string]float64{{"base", "approval"}: 30, {"other", "budget"}: 2, {"undone", "given_up"}: 1} {
		if got := testutil.ToFloat64(metrics.waiting.gauge.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("%v: %v", labels, got)
		}
	}
	metrics.waiting.set(types.NamespacedName{Namespace: "c1", Name: "other"}, forBudget) // by the other controller
	if got := testutil.ToFloat64(metrics.waiting.gauge.WithLabelValues("other", "budget")); got != 3 {
		t.Errorf("of both controllers: %v", got)
	}
	metrics.Wait(installation.Plan{})
	metrics.waiting.set(types.NamespacedName{Namespace: "c1", Name: "other"}, "")
	if left := testutil.CollectAndCount(metrics.waiting.gauge); left != 0 {
		t.Errorf("%d series are left", left)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}
