package installer

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestTheMetricIsNamedAsPrometheusAdvises(t *testing.T) {
	registry := prometheus.NewRegistry()
	NewMetrics(registry).inForce(FormPolicy)
	NewGateMetrics(registry).inForce(FormWebhook)
	(*Metrics)(nil).inForce(FormNone) // as without the lifecycle
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	if count, err := testutil.GatherAndCount(registry, NameGuard, NameGate); err != nil || count != 2 {
		t.Errorf("%d series of %s and %s, %v", count, NameGuard, NameGate, err)
	}
}
