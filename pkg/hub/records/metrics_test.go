package records

import (
	"maps"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestEveryMetricIsExplained(t *testing.T) {
	registry := prometheus.NewRegistry()
	New(nil, nil, registry)
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	if count, err := testutil.GatherAndCount(registry, slices.Collect(maps.Keys(Help))...); err != nil || count != len(Help) {
		t.Errorf("%d metrics (%v), but %d are explained", count, err, len(Help))
	}
}
