package metricsserver

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestBuildInfo(t *testing.T) {
	registry := prometheus.NewRegistry()
	RegisterBuildInfo(registry, "webhook")
	want := fmt.Sprintf("# HELP %[1]s %[2]s\n# TYPE %[1]s gauge\n%[1]s{component=\"webhook\",goversion=%[3]q,version=\"unknown\"} 1\n",
		NameBuildInfo, HelpBuildInfo, runtime.Version())
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}
