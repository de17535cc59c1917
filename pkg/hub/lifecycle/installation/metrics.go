package installation

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/installation"
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
		"given_up or refused.",
	NameRemovals: "Removals of an add-on from a managed cluster, because no other add-on needs it any more, by add-on.",
	NameKept: "Removals of an add-on from managed clusters that wait, by add-on and by what for: delay, approval, budget, given_up " +
		"or refused.",
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
	forRefused       = "refused"
)

// Metrics are those of installations and of removals, of all controllers that install.
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

// Wait sets what waits by a plan of installations by Placements.
func (m *Metrics) Wait(plan installation.Plan) { m.waiting.plan(counted(plan)) }

// Keep sets what waits by a plan of removals of what Placements install.
func (m *Metrics) Keep(plan installation.RemovalPlan) {
	waits := counted(plan.Plan)
	for _, target := range plan.Kept {
		waits[series{target.AddOn, forDelay}]++
	}
	m.kept.plan(waits)
}

func counted(plan installation.Plan) map[series]int {
	waits := map[series]int{}
	for addOn, clusters := range plan.Unapproved {
		waits[series{addOn, forApproval}] = clusters
	}
	for _, target := range plan.Delayed {
		waits[series{target.AddOn, forBudget}]++
	}
	for _, target := range plan.GivenUp {
		waits[series{target.AddOn, forGivenUp}]++
	}
	return waits
}

// series are the labels of a gauge.
type series struct{ addOn, waitsFor string }

// waiting is a gauge of what waits. It is safe for concurrent use.
type waiting struct {
	gauge *prometheus.GaugeVec

	mutex sync.Mutex
	// by is what each add-on on a managed cluster waits for, and counts is their number.
	by     map[types.NamespacedName]string
	counts map[series]int
	// planned is what waits for Placements.
	planned map[series]int
}

// set replaces what an add-on on a managed cluster waits for; empty: nothing.
func (w *waiting) set(addOn types.NamespacedName, waitsFor string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	before := w.by[addOn]
	if before == waitsFor {
		return
	}
	if w.by == nil {
		w.by, w.counts = map[types.NamespacedName]string{}, map[series]int{}
	}
	delete(w.by, addOn)
	if before != "" {
		w.counts[series{addOn.Name, before}]--
		w.publish(series{addOn.Name, before})
	}
	if waitsFor != "" {
		w.by[addOn] = waitsFor
		w.counts[series{addOn.Name, waitsFor}]++
		w.publish(series{addOn.Name, waitsFor})
	}
}

// plan replaces what waits for Placements.
func (w *waiting) plan(waits map[series]int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	before := w.planned
	w.planned = waits
	for one := range before {
		w.publish(one)
	}
	for one := range waits {
		w.publish(one)
	}
}

func (w *waiting) publish(one series) {
	if w.counts[one] == 0 {
		delete(w.counts, one)
	}
	if count := w.counts[one] + w.planned[one]; count > 0 {
		w.gauge.WithLabelValues(one.addOn, one.waitsFor).Set(float64(count))
	} else {
		w.gauge.DeleteLabelValues(one.addOn, one.waitsFor)
	}
}
