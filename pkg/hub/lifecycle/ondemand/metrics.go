package ondemand

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// The names of the metrics.
const (
	NameInstallations = "interlock_installations_total"
	NameWaiting       = "interlock_waiting_installations"
	NameRemovals      = "interlock_removals_total"
	NameKept          = "interlock_waiting_removals"
)

// Help describes the metrics, by name.
var Help = map[string]string{
	NameInstallations: "Installations of an add-on on a managed cluster, because other add-ons need it, by add-on.",
	NameWaiting: "Installations of an add-on on managed clusters that wait, by add-on and by what for: approval, budget, contradiction, " +
		"given_up, placement or refused.",
	NameRemovals: "Removals of an add-on from a managed cluster, because no other add-on needs it any more, by add-on.",
	NameKept: "Removals of an add-on from managed clusters that wait, by add-on and by what for: delay, approval, budget or " +
		"refused.",
}

const (
	labelAddOn = "addon"
	labelFor   = "for"
)

// The values of the label for.
const (
	forApproval      = "approval"
	forBudget        = "budget"
	forContradiction = "contradiction"
	forDelay         = "delay"
	forGivenUp       = "given_up"
	forPlacement     = "placement"
	forRefused       = "refused"
)

// Metrics are the metrics of installations and removals.
type Metrics struct {
	installed, removed *prometheus.CounterVec
	waiting, kept      *waiting
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	counter := func(name string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: Help[name]}, []string{labelAddOn})
	}
	gauge := func(name string) *waiting {
		return &waiting{gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: Help[name]}, []string{labelAddOn, labelFor})}
	}
	m := &Metrics{counter(NameInstallations), counter(NameRemovals), gauge(NameWaiting), gauge(NameKept)}
	registry.MustRegister(m.installed, m.removed, m.waiting.gauge, m.kept.gauge)
	return m
}

// Installed counts an installation.
func (m *Metrics) Installed(addOn string) { m.installed.WithLabelValues(addOn).Inc() }

// Removed counts a removal.
func (m *Metrics) Removed(addOn string) { m.removed.WithLabelValues(addOn).Inc() }

// series are the label values of a gauge.
type series struct{ addOn, reason string }

// waiting is a gauge of changes that wait. It is safe for concurrent use.
type waiting struct {
	gauge *prometheus.GaugeVec

	mutex sync.Mutex
	// reasons has the reason for which each add-on on a managed cluster waits. counts has the numbers of such add-ons.
	reasons map[types.NamespacedName]string
	counts  map[series]int
}

// set replaces the reason for which an add-on on a managed cluster waits. It is empty if the add-on does not wait.
func (w *waiting) set(addOn types.NamespacedName, reason string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	old := w.reasons[addOn]
	if old == reason {
		return
	}
	if w.reasons == nil {
		w.reasons, w.counts = map[types.NamespacedName]string{}, map[series]int{}
	}
	delete(w.reasons, addOn)
	if old != "" {
		w.counts[series{addOn.Name, old}]--
		w.publish(series{addOn.Name, old})
	}
	if reason != "" {
		w.reasons[addOn] = reason
		w.counts[series{addOn.Name, reason}]++
		w.publish(series{addOn.Name, reason})
	}
}

func (w *waiting) publish(s series) {
	if count := w.counts[s]; count > 0 {
		w.gauge.WithLabelValues(s.addOn, s.reason).Set(float64(count))
		return
	}
	delete(w.counts, s)
	w.gauge.DeleteLabelValues(s.addOn, s.reason)
}
