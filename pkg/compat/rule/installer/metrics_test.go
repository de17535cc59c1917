package installer

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestTheMetricIsNamedAsPrometheusAdvises(t *testing.T) {
	registry := prometheus.NewRegistry()
	NewMetrics(registry).inForce(FormPolicy)
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	if count, err := testutil.GatherAndCount(registry, NameGuard); err != nil || count != 1 {
		t.Errorf("%d series of %s, %v", count, NameGuard, err)
	}
}
