package ondemand

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := NewMetrics(registry)
	metrics.Installed("base")
	clusters := []types.NamespacedName{{Namespace: "c1", Name: "base"}, {Namespace: "c2", Name: "base"}, {Namespace: "c1", Name: "other"}}
	for i, waitsFor := range []string{forApproval, forApproval, forPlacement} {
		metrics.waiting.set(clusters[i], waitsFor)
	}
	metrics.waiting.set(clusters[1], forBudget)
	for labels, want := range map[[2]string]float64{{"base", "approval"}: 1, {"base", "budget"}: 1, {"other", "placement"}: 1} {
		if got := testutil.ToFloat64(metrics.waiting.gauge.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("%v: %v", labels, got)
		}
	}
	for _, key := range clusters {
		metrics.waiting.set(key, "")
	}
	if count := testutil.CollectAndCount(metrics.waiting.gauge); count != 0 {
		t.Errorf("%d series are left", count)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}
