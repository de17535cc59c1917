package metricsserver

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"open-cluster-management.io/interlock/pkg/version"
)

// Name and meaning of the metric that every process has.
const (
	NameBuildInfo = "interlock_build_info"
	HelpBuildInfo = "1, with the component (addon-manager, webhook, console or addon-agent), its version and that of Go."
)

// RegisterBuildInfo registers the metric. It panics if the name is taken, which only a
// programming error can cause.
func RegisterBuildInfo(registry prometheus.Registerer, component string) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: NameBuildInfo, Help: HelpBuildInfo,
		ConstLabels: prometheus.Labels{"component": component, "version": version.Version, "goversion": runtime.Version()},
	}, func() float64 { return 1 }))
}
